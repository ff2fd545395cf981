"""The float primitives hold what they promise, against Arb in high precision."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from headwright.certificates.floating.exact_numbers import (
    combination,
    rational,
    signs,
)
from headwright.certificates.floating.key_products import (
    inner_products,
    sharp_products,
    weighted_sum,
)
from headwright.numerics.balls import Balls, ImprecisionError, gamma
from headwright.numerics.exponential import (
    EXP_ERROR,
    exp_above,
    exp_below,
    exp_near,
    total,
    total_above,
)

MODEST = st.floats(-1e100, 1e100)
ANY = st.floats(allow_nan=False, allow_infinity=False)


@given(hnp.arrays(np.float64, st.integers(1, 50), elements=st.floats(-700, 700)))
def test_exp_errs_by_less_than_it_says(x: np.ndarray) -> None:
    with ctx.workprec(200):
        for given_x, found in zip(x.tolist(), exp_near(x).tolist(), strict=True):
            true = arb(given_x).exp()
            assert abs(arb(found) - true) < arb(EXP_ERROR) * true


def test_exp_is_much_better_than_it_says() -> None:
    x = np.linspace(-700, 700, 20_001)
    with ctx.workprec(120):
        errors = [
            abs(arb(f) / arb(g).exp() - 1)
            for g, f in zip(x.tolist(), exp_near(x).tolist(), strict=True)
        ]
    assert float(max(errors, key=float)) < 4 * 2.0**-53


@given(hnp.arrays(np.float64, st.integers(1, 40), elements=st.floats(-1e4, 1e4)))
def test_exp_from_both_sides(x: np.ndarray) -> None:
    reference = float(x.max())
    above, below = exp_above(x, reference), exp_below(x, reference)
    with ctx.workprec(200):
        for one, high, low in zip(
            x.tolist(), above.tolist(), below.tolist(), strict=True
        ):
            true = (arb(one) - arb(reference)).exp()
            assert arb(low) <= true <= arb(high)
            assert one - reference < -699 or high <= low * (1 + 1e-12)


def test_exp_refuses_what_it_cannot_bound() -> None:
    for wrong in (np.array([1.0]), np.array([np.nan])):
        with pytest.raises(ImprecisionError, match="beyond their reference"):
            exp_above(wrong, 0.0)
    with pytest.raises(ImprecisionError, match="beyond their reference"):
        exp_below(np.array([-np.inf]), -math.inf)


@given(hnp.arrays(np.float64, st.integers(1, 600), elements=MODEST))
def test_sums_are_enclosed(x: np.ndarray) -> None:
    exact = sum(map(Fraction, x.tolist()))
    assert abs(exact - Fraction(float(total(x).mid()))) <= Fraction(
        float(total(x).rad())
    ) * (1 + Fraction(1, 2**20))
    assert Fraction(total_above(np.abs(x))) >= sum(map(abs, map(Fraction, x.tolist())))


@st.composite
def balls(draw: st.DrawFn) -> tuple[Balls, Fraction]:
    mid, rad = draw(MODEST), draw(st.floats(0, 1e50))
    within = Fraction(draw(st.integers(-8, 8)), 8) * Fraction(rad)
    return Balls(np.array([mid]), np.array([rad])), Fraction(mid) + within


def holds(ball: Balls, true: Fraction) -> bool:
    return abs(Fraction(float(ball.mid[0])) - true) <= Fraction(float(ball.rad[0]))


@given(balls(), balls())
def test_balls_hold_the_truth(
    one: tuple[Balls, Fraction], other: tuple[Balls, Fraction]
) -> None:
    (x, a), (y, b) = one, other
    assert holds(x + y, a + b)
    assert holds(x * y, a * b)
    assert holds(x.max(y), max(a, b))
    assert x.lower()[0] <= a <= x.upper()[0]
    if a >= 0:
        root = x.sqrt()
        middle, rad = Fraction(float(root.mid[0])), Fraction(float(root.rad[0]))
        assert max(middle - rad, Fraction(0)) ** 2 <= a <= (middle + rad) ** 2


@pytest.mark.parametrize(
    "wrong", [(np.nan, 0.0), (0.0, np.nan), (0.0, np.inf), (np.inf, np.inf)]
)
def test_what_is_no_number_says_nothing(wrong: tuple[float, float]) -> None:
    ball, one = Balls(np.array([wrong[0]]), np.array([wrong[1]])), Balls.of(np.ones(1))
    for unknown in (ball, ball + one, ball * one, ball.max(one), ball.sqrt()):
        assert unknown.upper()[0] == np.inf
        assert not unknown.lower()[0] > 0 or wrong[0] == np.inf


def test_gamma_knows_its_limit() -> None:
    assert Fraction(gamma(100)) >= Fraction(100, 2**53) / (1 - Fraction(100, 2**53))
    with pytest.raises(ValueError, match="roundings"):
        gamma(2**30)


@given(st.data())
@settings(deadline=None, max_examples=150)
def test_both_passes_enclose_the_exact_sums(data: st.DataObject) -> None:
    n, d = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 5))
    elements = data.draw(
        st.sampled_from(
            [
                ANY,
                st.floats(-2, 2),
                st.floats(-1e-200, 1e-200),
                st.floats(-1e200, 1e200),
            ]
        )
    )
    keys = data.draw(hnp.arrays(np.float64, (n, d), elements=elements))
    q = data.draw(hnp.arrays(np.float64, d, elements=ANY))
    weights = data.draw(hnp.arrays(np.float64, n, elements=st.floats(-1, 1)))
    row = data.draw(st.integers(0, n - 1))
    centred, (found,) = inner_products(keys, row, [q])
    D = [
        [Fraction(x) - Fraction(y) for x, y in zip(k, keys[row].tolist(), strict=True)]
        for k in keys.tolist()
    ]
    for i, differences in enumerate(D):
        true = sum(
            x * Fraction(y) for x, y in zip(differences, q.tolist(), strict=True)
        )
        mid, rad = float(found.balls.mid[i]), float(found.balls.rad[i])
        assert (
            abs(Fraction(mid) * Fraction(2) ** found.exponent - true)
            <= Fraction(rad) * Fraction(2) ** found.exponent
        )
        assert (
            sum(x * x for x in differences)
            <= (Fraction(float(centred.norms[i])) * Fraction(2) ** centred.exponent)
            ** 2
        )
    with ctx.workprec(300):
        sharp = sharp_products(keys, row, q)
    for i, differences in enumerate(D):
        true = sum(
            x * Fraction(y) for x, y in zip(differences, q.tolist(), strict=True)
        )
        near, within = (
            Fraction(float(x[i])) * Fraction(2) ** sharp.exponent
            for x in (sharp.balls.mid, sharp.balls.rad)
        )
        assert abs(near - true) <= within
    sums, error = weighted_sum(centred, weights)
    unit = Fraction(2) ** centred.exponent
    exact = [
        sum(Fraction(w) * D[i][j] for i, w in enumerate(weights.tolist())) / unit
        for j in range(d)
    ]
    miss = sum(
        (Fraction(x) - y) ** 2 for x, y in zip(sums.tolist(), exact, strict=True)
    )
    assert miss <= Fraction(error) ** 2


def test_large_passes_are_enclosed_and_near() -> None:
    rng = np.random.default_rng(0)
    keys, q, w = (
        rng.standard_normal((5000, 64)) + 1e6,
        rng.standard_normal(64),
        rng.random(5000),
    )
    centred, (found,) = inner_products(keys, 3, [q])
    true = ((keys - keys[3]).astype(np.longdouble) @ q) / 2.0**found.exponent
    assert (np.abs(found.balls.mid - true) <= found.balls.rad).all()
    assert found.balls.rad.max() < 1e-12
    with ctx.workprec(256):
        sharp = sharp_products(keys, 3, q)
    true = ((keys - keys[3]).astype(np.longdouble) @ q) / 2.0**sharp.exponent
    assert (
        np.abs(sharp.balls.mid - true) <= sharp.balls.rad + 1e-19 * np.abs(true)
    ).all()
    assert (
        sharp.balls.rad <= 2.0**-51 * np.abs(true) + 1e-18
    ).all()  # whatever cancels
    sums, error = weighted_sum(centred, w)
    assert (
        np.linalg.norm(sums - w @ (keys - keys[3]).astype(np.longdouble))
        <= error
        < 1e-8
    )


@given(st.data())
@settings(deadline=None, max_examples=60)
def test_signs_and_combinations_are_exact(data: st.DataObject) -> None:
    n, d = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 4))
    elements = data.draw(
        st.sampled_from([ANY, st.integers(-3, 3).map(float), st.floats(-2, 2)])
    )
    keys = data.draw(hnp.arrays(np.float64, (n, d), elements=elements))
    q = data.draw(hnp.arrays(np.float64, d, elements=elements))
    exact = [
        sum(Fraction(x) * Fraction(y) for x, y in zip(k, q.tolist(), strict=True))
        for k in keys.tolist()
    ]
    assert signs(keys, np.arange(n), q).tolist() == [(x > 0) - (x < 0) for x in exact]
    factors = data.draw(
        st.lists(st.fractions(-3, 3, max_denominator=50), min_size=n, max_size=n)
    )
    found = combination(keys, {i: rational(x) for i, x in enumerate(factors)})
    assert found == [
        rational(
            sum(
                (
                    x * Fraction(k[j])
                    for x, k in zip(factors, keys.tolist(), strict=True)
                ),
                Fraction(0),
            )
        )
        for j in range(d)
    ]
