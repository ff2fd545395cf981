"""Enclosures: the bounds are bounds, also where floats end."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

from headwright.enclosure import Enclosure, shown_above, shown_below

rationals = st.fractions().flatmap(lambda q: st.integers(-1200, 1200).map(lambda e: q * Fraction(2) ** e))


@given(rationals)
def test_bounds_enclose_every_rational(value: Fraction) -> None:
    with ctx.workprec(200):
        found = Enclosure.of(arb(fmpq(value.numerator, value.denominator)))
    assert found.lower == -math.inf or Fraction(found.lower) <= value
    assert found.upper == math.inf or value <= Fraction(found.upper)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_below_the_last_binade_is_enclosed_by_itself(value: float) -> None:
    found = Enclosure.of(arb(value))
    if 1e-300 < abs(value) < 2.0**1022 or value == 0:
        assert found.lower == value == found.upper
    assert found.lower <= value <= found.upper


def test_an_unknown_number_has_no_bounds() -> None:
    assert Enclosure.of(arb.nan()) == Enclosure(-math.inf, math.inf)


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 12))
def test_shown_bounds_are_still_bounds(value: float, digits: int) -> None:
    assert Fraction(shown_below(value, digits)) <= Fraction(value) <= Fraction(shown_above(value, digits))
