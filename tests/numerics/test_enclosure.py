"""Enclosures: the bounds are bounds, also where floats end."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

from headwright.numerics.enclosure import (
    Enclosure,
    fixed_above,
    fixed_below,
    printed_above,
    printed_below,
    shown_above,
    shown_below,
)

rationals = st.fractions().flatmap(
    lambda q: st.integers(-1200, 1200).map(lambda e: q * Fraction(2) ** e)
)


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
    huge = 2**5000  # as a mantissa beyond all floats
    assert Enclosure.of(arb(huge - 1)) == Enclosure(2.0**1023, math.inf)
    assert Enclosure.of(arb(1 - huge)) == Enclosure(-math.inf, -(2.0**1023))
    assert Enclosure.of(arb.nan()) == Enclosure(-math.inf, math.inf)


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 12))
def test_shown_bounds_are_still_bounds(value: float, digits: int) -> None:
    assert (
        Fraction(shown_below(value, digits))
        <= Fraction(value)
        <= Fraction(shown_above(value, digits))
    )


@given(st.fractions(), st.integers(1, 12))
def test_shown_bounds_of_fractions_are_still_bounds_and_near(
    value: Fraction, digits: int
) -> None:
    low, high = (
        Fraction(shown_below(value, digits)),
        Fraction(shown_above(value, digits)),
    )
    assert low <= value <= high
    assert high - low <= abs(value) * Fraction(10) ** (1 - digits)


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 12))
def test_bounds_with_so_many_decimals_are_still_bounds_and_near(
    value: float, decimals: int
) -> None:
    low, high = fixed_below(value, decimals), fixed_above(value, decimals)
    assert Fraction(low) <= Fraction(value) <= Fraction(high)
    assert Fraction(high) - Fraction(low) <= Fraction(10) ** -decimals
    assert all(len(text.partition(".")[2]) == decimals for text in (low, high))


@given(st.fractions(min_value=-(10**6), max_value=10**6))
def test_a_float_that_stands_for_a_bound_is_printed_on_its_safe_side(
    value: Fraction,
) -> None:
    low, high = printed_below(value), printed_above(value)
    assert Fraction(repr(low)) <= value <= Fraction(repr(high))
    assert high <= math.nextafter(math.nextafter(low, math.inf), math.inf)


@given(st.decimals(-1000, 1000, places=6))
def test_a_short_decimal_is_printed_as_it_is(value: Decimal) -> None:
    assert (
        printed_below(Fraction(value)) == printed_above(Fraction(value)) == float(value)
    )
