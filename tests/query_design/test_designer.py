"""Designs: what is said is verified, boundary cases are decided, and the textbook is not trusted."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import headwright
from headwright import InputError
from headwright.certificates import floating
from headwright.certificates.exact.verify import verify
from headwright.query_design import Design, at_least, average, copy, design
from headwright.uncertainty import (
    Ball,
    Between,
    Isotropic,
    Noise,
    Normal,
    OneOf,
    Uncertainty,
)

RNG = np.random.default_rng(3)


def _checked(found: Design) -> Design:
    """Every claim has a certificate that both checkers accept, and its words; without one there is no claim."""
    if found.certificate is None:
        assert found.word == "undecided"
        assert found.norm_lower_bound == 0
    else:
        verdict = verify(found.certificate)
        assert verdict.word == "verified"
        assert verdict.words in found.words
        assert floating.verify(found.certificate).word == "verified"
        assert found.checkers == ("exact", "float")
    assert found.norm >= found.norm_lower_bound
    return found


small_integers = st.integers(-3, 3).map(float)
awkward = st.one_of(
    small_integers, st.sampled_from([0.0, 1e-8, 1.0, 1.0 + 2**-40, 100.0])
)


@given(
    st.integers(1, 5).flatmap(
        lambda n: st.integers(1, 3).flatmap(
            lambda d: arrays(np.float64, (n, d), elements=small_integers)
        )
    )
)
@settings(max_examples=60)
def test_integer_keys_are_always_decided(keys: np.ndarray) -> None:
    found = _checked(design(keys, copy(0, eps=0.1)))
    assert found.word in ("designed", "impossible")
    if found.word == "designed":
        assert found.gap < 1e-8


@given(
    st.integers(2, 6).flatmap(
        lambda n: st.integers(1, 3).flatmap(
            lambda d: arrays(np.float64, (n, d), elements=awkward)
        )
    ),
    st.sampled_from([1e-150, 1.0, 1e150]),
)
@settings(max_examples=40)
def test_ties_duplicates_and_scales_never_crash_and_never_lie(
    keys: np.ndarray, size: float
) -> None:
    found = _checked(design(keys * size, average([0, 1], eps=0.5)))
    if (
        found.word == "designed"
    ):  # exact differences of scores: those of floats may be of their rounding's size
        rows, query = (keys * size).tolist(), found.queries[0].tolist()
        scores = [
            sum(
                (Fraction(x) - Fraction(y)) * Fraction(z)
                for x, y, z in zip(row, rows[0], query, strict=True)
            )
            for row in rows
        ]
        alpha = headwright.attention.pattern(np.array([scores], dtype=float))[0]
        assert min(alpha[:2]) >= 0.4 - 1e-9


def test_shortest_query_for_two_keys_has_its_closed_form() -> None:
    found = design(np.array([[1.0], [-1.0]]), copy(0, eps=0.01))
    assert found.norm == pytest.approx(math.log(100) / 2, rel=1e-10)
    assert found.norm_lower_bound <= math.log(100) / 2 <= found.norm


def test_textbook_average_is_longer_than_the_shortest() -> None:
    n, eps = 10, 0.01
    textbook = math.log((n - 2) / eps) * math.sqrt(2)
    found = _checked(design(np.eye(n), average([0, 1], eps=eps)))
    assert found.norm < 0.9 * textbook
    assert found.queries[0, 2:].max() < 0  # distractors are pushed away


def test_one_head_can_average_a_key_of_random_length_by_not_looking_at_it() -> None:
    uncertainty = Uncertainty({0: Noise(scale=OneOf((0.5, 1.5)))})
    one = _checked(design(np.eye(8), average([0, 1]), uncertainty=uncertainty))
    assert one.word == "designed"
    assert np.abs(one.queries[0, :2]).max() < 1e-6
    assert one.queries[0, 2:].max() < -6
    two = _checked(design(np.eye(8), average([0, 1]), uncertainty=uncertainty, heads=2))
    assert two.norm < 0.8 * one.norm
    assert [share.targets for share in two.shares] == [(0,), (1,)]


def test_impossible_says_what_is_possible_from_both_sides() -> None:
    # The middle of a segment: weights of the three are 1 : e^t : e^-t, so at best 1/3.
    found = _checked(
        design(np.array([[0.0, 0.0], [1.0, 1.0], [-1.0, -1.0], [3.0, 0.0]]), copy(0))
    )
    assert found.word == "impossible"
    assert found.best_eps is not None
    low, high = found.best_eps
    assert low < 2 < high
    assert high - low < 1e-4


def test_duplicates_are_impossible_above_one_half_only() -> None:
    keys = np.array([[1.0, 0.3], [1.0, 0.3], [0.0, 1.0]])
    assert _checked(design(keys, at_least({0: "0.4999"}))).word == "designed"
    assert _checked(design(keys, at_least({0: "0.5001"}))).word == "impossible"


@pytest.mark.parametrize("distance", [1e-2, 1e-4, 1e-6])
def test_near_duplicates_are_designed_to_the_same_gap(distance: float) -> None:
    keys = RNG.normal(size=(200, 12))
    keys[1] = keys[0] + distance * RNG.normal(size=12)
    found = _checked(design(keys, copy(0)))
    assert found.word == "designed"
    assert found.gap < 1e-9


@pytest.mark.parametrize("eps", ["1e-30", "1e-100"])
def test_tiny_eps_is_exact(eps: str) -> None:
    found = _checked(
        design(
            RNG.normal(size=(50, 8)) * np.r_[5.0, np.ones(49)][:, None],
            copy(0, eps=eps),
        )
    )
    assert found.word == "designed"
    assert found.gap < 1e-9


def test_several_targets_must_leave_a_billionth_to_the_others() -> None:
    assert _checked(design(np.eye(4), average([0, 1], eps="3e-9"))).gap < 1e-6
    with pytest.raises(
        InputError, match=r"leave 5e-10 to the other keys: expected 1e-09 or more"
    ):
        design(np.eye(4), average([0, 1], eps="1e-9"))


UNCERTAINTIES: dict[str, Uncertainty] = {
    "between": Uncertainty({0: Noise(scale=Between(0.8, 1.2))}),
    "balls": Uncertainty(others=Noise(spread=Ball(0.03))),
    "scenarios": Uncertainty(
        scenarios=(np.eye(5), np.eye(5) + 0.05 * RNG.normal(size=(5, 5)))
    ),
    "gaussian": Uncertainty(others=Noise(spread=Isotropic(1e-4))),
    "gaussian length": Uncertainty({0: Noise(scale=Normal(1.0, 0.01))}),
}
EXACT = (
    "between",
    "balls",
    "scenarios",
)  # with several random keys the guard is conservative, the bound about any query


@pytest.mark.parametrize(
    "targets", [copy(0), average([0, 1], eps=0.5)], ids=["copy", "average"]
)
@pytest.mark.parametrize("name", UNCERTAINTIES)
def test_uncertainties_cost_length_and_keep_the_gap(name: str, targets: Any) -> None:
    fixed = design(np.eye(5), targets)
    found = _checked(design(np.eye(5), targets, uncertainty=UNCERTAINTIES[name]))
    assert found.word == "designed"
    assert found.gap < (1e-9 if name in EXACT else 0.2)
    assert found.norm > fixed.norm * 0.99
    assert (
        "wherever" in found.words
        or "probability" in found.words
        or "scenario" in found.words
    )


def test_one_gaussian_key_is_designed_to_hold_exactly_as_often_as_asked() -> None:
    found = design(
        np.eye(5),
        copy(0),
        uncertainty=Uncertainty({0: Noise(spread=Isotropic(0.02))}),
        confidence=0.9,
    )
    assert found.probability is not None
    assert not found.probability.conservative
    low, high = found.probability.interval
    assert low - 0.003 <= 0.9 <= high + 0.003


def test_several_gaussian_keys_hold_more_often_than_proven_and_that_is_said() -> None:
    found = design(
        np.eye(5),
        copy(0),
        uncertainty=Uncertainty(others=Noise(spread=Isotropic(0.02))),
        confidence=0.8,
    )
    assert found.probability is not None
    assert found.probability.conservative
    assert found.probability.interval[0] > 0.8


def test_robust_impossibility_in_balls_is_proved() -> None:
    found = _checked(
        design(
            np.eye(6),
            average([0, 1], eps=1),
            uncertainty=Uncertainty(others=Noise(spread=Ball(0.1))),
        )
    )
    assert found.word == "impossible"


def test_scale_and_sign_only_rescale_the_query() -> None:
    keys = RNG.normal(size=(20, 6))
    plain, scaled = design(keys, copy(0)), design(keys, copy(0), scale="-1/4")
    assert scaled.norm == pytest.approx(4 * plain.norm, rel=1e-9)
    np.testing.assert_allclose(scaled.queries, -4 * plain.queries, rtol=1e-5, atol=1e-7)


def test_targets_that_nothing_needs_to_be_done_for() -> None:
    for keys, targets in ((np.ones((1, 1)), copy(0)), (np.eye(3), at_least({0: 0.2}))):
        found = _checked(design(keys, targets))
        assert (found.word, found.norm, found.gap) == ("designed", 0.0, 0.0)


def test_the_verb_can_be_called_and_draws_itself() -> None:
    found = headwright.design(RNG.normal(size=(6, 2)) + np.eye(6)[:, :2] * 5, copy(0))
    assert found.word == "designed"
    assert cast("Any", found.picture()).to_dict()["layer"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: design(np.eye(3), average([0, 1, 2], eps=0)), "eps is 0"),
        (lambda: design(np.eye(3), average([0, 0])), "each key once"),
        (lambda: design(np.eye(3), copy(3)), "target 3, and there are 3 keys"),
        (lambda: design(np.eye(3), copy(-1)), "target -1"),
        (lambda: design(np.eye(3), at_least({0: 0.6, 1: 0.5})), "1.1 in all"),
        (lambda: design(np.eye(3), at_least({0: 0.5, 1: 0.5})), "1 in all"),
        (lambda: design(np.eye(3), at_least({})), "no target"),
        (lambda: design(np.eye(3), at_least({0: 0})), "above 0"),
        (lambda: design(np.eye(3), at_least({0: "x"})), "expected a number"),
        (lambda: design(np.empty((0, 3)), copy(0)), "empty"),
        (lambda: design(np.array([[np.nan]]), copy(0)), "nan"),
        (lambda: design(np.eye(3), copy(0), scale=0), "scale is 0"),
        (lambda: design(np.eye(3), copy(0), confidence=1), "confidence is 1"),
        (
            lambda: design(np.eye(3), copy(0), confidence="0.49"),
            "confidence is 0.49: expected at least 1/2",
        ),
        (lambda: design(np.eye(3), copy(0), heads=0), "0 heads"),
        (
            lambda: design(np.eye(3), copy(0), uncertainty=Uncertainty({7: Noise()})),
            "names key 7",
        ),
        (
            lambda: design(
                np.eye(3),
                copy(0),
                uncertainty=Uncertainty({0: Noise(scale=Normal(1, 1), spread=Ball(1))}),
            ),
            "both random, or both sets",
        ),
    ],
)
def test_bad_questions_are_refused_in_words(call: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()


def test_numbers_of_a_targets_are_read_as_decimals() -> None:
    assert copy(0, eps=0.1).least[0] == Fraction(10, 11)
    assert at_least({0: 0.3}).least[0] == Fraction(3, 10)
