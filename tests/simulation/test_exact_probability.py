"""Exact probabilities and moments: against references, high precision and samples."""

from __future__ import annotations

import itertools
import re
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright import InputError
from headwright.simulation import (
    exact,
    probability_met,
    simulate,
    targets_met,
    why_not_exact,
)
from headwright.uncertainty import (
    Ball,
    Between,
    Isotropic,
    Noise,
    Normal,
    OneOf,
    Scale,
    Uncertainty,
)


def _moving(scale: Scale) -> Uncertainty:
    return Uncertainty({0: Noise(scale=scale)})


def test_gaussian_scale_has_the_reference_moments() -> None:
    # t = <mu_a, q> = 20, C = sum of the others' exp = 1000, g ~ N(1, 1/2).
    others = np.log(1000 / 4)
    keys = np.array([[1.0, 0.0]] + [[0.0, 1.0]] * 4)
    found = exact(keys, np.array([[20.0, others]]), _moving(Normal(1.0, 0.5)), [0])
    assert (
        found.means[0].lower - 1e-15
        <= 0.82076012464435309535
        <= found.means[0].upper + 1e-15
    )
    assert found.deviations[0].midpoint ** 2 == pytest.approx(
        0.128757966255648117, abs=1e-15
    )
    assert found.means[0].width < 1e-15


@pytest.mark.parametrize("length", [0.5, 7.0, 300.0, 1e6, 1e100])
def test_one_head_has_the_closed_form_of_a_normal_tail(length: float) -> None:
    # Both weights within 0.05 of 1/2  <=>  |t (g - 1)| <= ln(0.55/0.45) for two keys.
    found = exact(
        np.eye(2), length * np.ones((1, 2)), _moving(Normal(1.0, 0.5)), [0, 1]
    )
    with mpmath.workdps(40):
        z = (
            mpmath.log(mpmath.mpf(55) / 45)
            / mpmath.mpf(length)
            / mpmath.sqrt(mpmath.mpf(1) / 2)
        )
        truth = mpmath.erf(z / mpmath.sqrt(2))
        assert found.near_average.lower <= truth <= found.near_average.upper
    assert found.near_average.width < 1e-15


@given(
    st.lists(
        st.lists(st.floats(-8, 8), min_size=3, max_size=3), min_size=1, max_size=3
    ),
    st.floats(-2, 2),
    st.floats(0.01, 2),
)
@settings(max_examples=15, deadline=None)
def test_moments_agree_with_quadrature_in_high_precision(
    queries: list[list[float]], mean: float, variance: float
) -> None:
    found = exact(np.eye(3), np.array(queries), _moving(Normal(mean, variance)), [0, 1])

    def weight(target: int, g: mpmath.mpf) -> mpmath.mpf:
        total = mpmath.mpf(0)
        for q in queries:
            e = [
                mpmath.exp(g * q[0]),
                mpmath.exp(mpmath.mpf(q[1])),
                mpmath.exp(mpmath.mpf(q[2])),
            ]
            total += e[target] / sum(e)
        return total / len(queries)

    deviation = mpmath.sqrt(mpmath.mpf(variance))
    points = [mean + k * deviation for k in range(-10, 11)]
    for target in (0, 1):
        first, second = (
            mpmath.quad(
                lambda g, target=target, power=power: (
                    weight(target, g) ** power
                    * mpmath.npdf(g, mpmath.mpf(mean), deviation)
                ),
                points,
            )
            for power in (1, 2)
        )
        assert found.means[target].midpoint == pytest.approx(float(first), abs=1e-9)
        assert found.deviations[target].midpoint ** 2 == pytest.approx(
            float(second - first**2), abs=1e-9
        )


@given(
    st.lists(
        st.lists(st.floats(-30, 30), min_size=3, max_size=3), min_size=1, max_size=3
    ),
    st.integers(0, 2),
)
@settings(max_examples=20, deadline=None)
def test_sampled_numbers_lie_in_their_intervals(
    queries: list[list[float]], law: int
) -> None:
    laws: list[Scale] = [Normal(1.0, 0.5), Between(-1.0, 2.0), OneOf((0.5, 1.5))]
    uncertainty = Uncertainty(
        {0: Noise(scale=laws[law]), 1: Noise(scale=OneOf((1.0, 2.0)))}
    )
    found = simulate(
        np.eye(3),
        np.array(queries),
        uncertainty,
        [0, 1],
        samples=4000,
        seed=3,
        confidence=0.9999999,
    )
    assert found.exact is not None
    low, high = found.near_average_interval
    assert low <= found.exact.near_average.upper
    assert found.exact.near_average.lower <= high
    for target, mean in zip(found.targets, found.exact.means, strict=True):
        slack = 6 * max(target.deviation, 0.01) / np.sqrt(4000)
        assert mean.lower - slack <= target.mean <= mean.upper + slack


def test_finite_uncertainties_are_enumerated() -> None:
    scales = (0.5, 1.0, 1.5)
    uncertainty = Uncertainty(
        {0: Noise(scale=OneOf(scales)), 1: Noise(scale=OneOf(scales))}
    )
    found = exact(
        np.eye(3), np.array([[4.0, 4.0, 0.0]]), uncertainty, [0, 1], tolerance=0.1
    )
    near = []
    for c0, c1 in itertools.product(scales, scales):
        e = np.exp([4 * c0, 4 * c1, 0.0])
        near.append(np.all(np.abs(e[:2] / e.sum() - 0.5) <= 0.1))
    assert found.near_average.lower == pytest.approx(np.mean(near))
    assert found.near_average.upper == pytest.approx(np.mean(near))


def test_two_heads_tend_to_the_probability_of_a_positive_length() -> None:
    found = exact(np.eye(4), 1e9 * np.eye(4)[:2], _moving(Normal(1.0, 0.5)), [0, 1])
    with mpmath.workdps(30):
        limit = mpmath.ncdf(mpmath.sqrt(2))
    assert 0 < limit - found.near_average.upper < 1e-8


def test_weight_on_the_border_of_the_tolerance_stays_undecided() -> None:
    # Four equal keys: every weight is 1/4 exactly, and 1/4 from 1/2 is just within a tolerance of 1/4.
    found = exact(
        np.zeros((4, 2)),
        np.zeros((1, 2)),
        Uncertainty(),
        [0, 1],
        tolerance=Fraction(1, 4),
    )
    assert (found.near_average.lower, found.near_average.upper) == (0.0, 1.0)


def test_a_single_key_gets_everything() -> None:
    found = exact(np.ones((1, 1)), np.ones((1, 1)), _moving(Normal(0.0, 1.0)), [0])
    assert found.near_average.lower > 1 - 1e-15
    assert found.means[0].lower > 1 - 1e-15


@pytest.mark.parametrize(
    ("uncertainty", "heads", "reason"),
    [
        (
            Uncertainty({1: Noise(spread=Isotropic(0.1))}),
            2,
            r"key 1 is uncertain in more than its length (isotropic)",
        ),
        (
            Uncertainty({1: Noise(spread=Ball(0.1))}),
            1,
            "key 1 is uncertain in more than its length (ball)",
        ),
        (
            Uncertainty({1: Noise(Between(0, 1), Isotropic(0.1))}),
            1,
            "key 1 is uncertain in more than its length",
        ),
        (
            Uncertainty({0: Noise(scale=Normal(1, 1)), 1: Noise(scale=Between(0, 1))}),
            1,
            "2 keys are uncertain",
        ),
        (Uncertainty(others=Noise(scale=Normal(1, 1))), 1, "12 keys are uncertain"),
        (
            Uncertainty({i: Noise(scale=OneOf((0.0, 1.0))) for i in range(11)}),
            1,
            "2048 cases",
        ),
    ],
)
def test_what_cannot_be_followed_is_said(
    uncertainty: Uncertainty, heads: int, reason: str
) -> None:
    keys = np.eye(12)
    assert reason in why_not_exact(keys, keys[:heads], uncertainty)
    with pytest.raises(InputError, match=re.escape(reason)):
        exact(keys, keys[:heads], uncertainty, [0])
    with pytest.raises(InputError, match=re.escape(reason)):
        probability_met(keys, keys[:heads], uncertainty, {0: Fraction(1, 2)})
    assert simulate(keys, keys[:heads], uncertainty, [0], samples=10).exact is None


def test_keys_too_many_to_follow_are_said() -> None:
    keys = np.zeros((2**17, 33))
    assert "more than 4194304" in why_not_exact(keys, keys[:1], Uncertainty())


def test_numbers_of_a_uncertainty_are_the_decimals_they_print_as() -> None:
    # 0.1 is a little less than the float 0.1: at a border the two differ.
    found = probability_met(
        np.eye(2),
        np.array([[10.0, 1.0]]),
        Uncertainty({0: Noise(OneOf((0.1,)))}),
        {0: Fraction(1, 2)},
    )
    # 10 * 0.1 is 1 exactly, so the weights are equal; ball arithmetic cannot tell equal from a little more.
    assert found.lower == 0.0
    more = probability_met(
        np.eye(2),
        np.array([[10.0, 1.0]]),
        Uncertainty({0: Noise(OneOf((0.1,)))}),
        {0: Fraction(1, 2) - Fraction(1, 10**40)},
    )
    assert (more.lower, more.upper) == (1.0, 1.0)
    less = probability_met(
        np.eye(2),
        np.array([[10.0, 1.0]]),
        Uncertainty({0: Noise(OneOf((0.1,)))}),
        {0: Fraction(1, 2) + Fraction(1, 10**40)},
    )
    assert (less.lower, less.upper) == (0.0, 0.0)


def test_several_targets_and_several_heads_are_followed() -> None:
    uncertainty = Uncertainty({0: Noise(scale=Normal(1.0, 0.5))})
    least = {0: Fraction(2, 5), 1: Fraction(2, 5)}
    for queries in (5 * np.ones((1, 3)) - 5 * np.eye(3)[2:], 9 * np.eye(3)[:2]):
        found = targets_met(
            np.eye(3), queries, uncertainty, least, samples=50_000, confidence=0.9999
        )
        assert found.exact is not None
        assert 0.01 < found.exact.midpoint < 0.99
        assert found.exact.width < 1e-15
        assert found.interval[0] <= found.exact.midpoint <= found.interval[1]


def test_simulate_counts_what_met_counts() -> None:
    uncertainty, query = (
        Uncertainty({0: Noise(spread=Isotropic(0.2))}),
        np.array([[4.0, 1.0, 0.0]]),
    )
    least = {1: Fraction(1, 100), 0: Fraction(1, 2)}
    alone = targets_met(np.eye(3), query, uncertainty, least, samples=5000, seed=7)
    beside = simulate(
        np.eye(3), query, uncertainty, [0, 2, 1], least=least, samples=5000, seed=7
    )
    assert beside.met == alone
    assert 0 < alone.probability < 1
    with pytest.raises(InputError, match=r"the targets are about \[0, 1\]"):
        simulate(np.eye(3), query, uncertainty, [0], least=least)


def test_a_degenerate_normal_scale_is_a_number() -> None:
    found = exact(np.eye(2), np.array([[3.0, 0.0]]), _moving(Normal(2.0, 0.0)), [0])
    assert found.means[0].midpoint == pytest.approx(1 / (1 + np.exp(-6.0)), abs=1e-15)
    assert found.deviations[0].upper < 1e-15
