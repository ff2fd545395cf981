"""The numbers of the checker: every bound is on the side that it says."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.trusted.numbers import (
    Reject,
    exp_between,
    ln_below,
    normal_tail_above,
    rational,
    sqrt_above,
)

wide = st.fractions(min_value=-800, max_value=800)
positive = (
    st.fractions(min_value=0).filter(bool).flatmap(lambda q: st.integers(-900, 900).map(lambda e: q * Fraction(2) ** e))
)


def _mp(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


@given(wide)
def test_exp_lies_strictly_between_its_bounds(x: Fraction) -> None:
    low, high = exp_between(x.numerator, x.denominator)
    with mpmath.workdps(80):
        assert mpmath.mpf(str(low)) < mpmath.exp(_mp(x)) < mpmath.mpf(str(high)) or x == low - 1 == high - 1 == 0
    assert Fraction(high) - Fraction(low) <= Fraction(high) / 10**30


def test_exp_underflows_to_a_bound_and_not_to_nothing() -> None:
    for x in (-7000, -(10**6), -(10**30)):
        low, high = exp_between(x, 1)
        assert 0 == low < high < Fraction(1, 10**2900)


@given(st.integers(0, 2990), st.integers(1, 10**40), st.integers(1, 10**3))
def test_exp_of_numbers_beyond_all_digits_has_no_lower_bound_but_0(power: int, more: int, below: int) -> None:
    """Once the two factors of the lower bound were both negative, and exp(-1e2999) was 'at least 1e-71'."""
    low, high = exp_between(-(10**power) * 10**4 * below - more * below - 1, below)
    assert 0 == low < high < Fraction(1, 10**2900)


def test_exp_beyond_what_is_checked_rejects() -> None:
    with pytest.raises(Reject, match="beyond what is checked"):
        exp_between(5001, 1)


@given(positive)
def test_ln_is_bounded_from_below(x: Fraction) -> None:
    bound = ln_below(x)
    with mpmath.workdps(150):
        truth = mpmath.log(_mp(x))
        assert _mp(bound) < truth
        assert truth - _mp(bound) <= mpmath.mpf(10) ** -30 * max(1, abs(truth))


@given(positive)
def test_square_root_is_bounded_from_above(x: Fraction) -> None:
    root = sqrt_above(x)
    assert root**2 >= x
    assert root**2 <= x * (1 + Fraction(1, 2**120))
    assert sqrt_above(x * x) == x or sqrt_above(x * x) ** 2 > x * x


def test_square_root_of_a_square_is_exact() -> None:
    assert sqrt_above(Fraction(0)) == 0
    assert sqrt_above(Fraction(49, 64)) == Fraction(7, 8)


@given(st.fractions(min_value=0, max_value=9))
def test_normal_tail_is_bounded_from_above(z: Fraction) -> None:
    with mpmath.workdps(120):
        truth = mpmath.ncdf(-_mp(z))
        bound = _mp(normal_tail_above(z))
        assert truth <= bound <= truth + mpmath.mpf(10) ** -30


@pytest.mark.parametrize("z", [Fraction(-1), Fraction(41)])
def test_normal_tail_out_of_range_rejects(z: Fraction) -> None:
    with pytest.raises(Reject, match="deviations"):
        normal_tail_above(z)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", Fraction(3)),
        ("-7/2", Fraction(-7, 2)),
        ("0.05", Fraction(1, 20)),
        ("1e-30", Fraction(1, 10**30)),
        ("2.5e3", Fraction(2500)),
        ("0x1.8p+1", Fraction(3)),
        ("-0x1p-1074", Fraction(-1, 2**1074)),
        ("0x0.0p+0", Fraction(0)),
        ("0x1.8p-1074", Fraction(3, 2**1075)),  # between two floats
        ("0x1p-9999", Fraction(1, 2**9999)),
        ("0x1.fffffffffffffp+9999", Fraction(2**53 - 1) * 2**9947),
        ("-0x3/0x1b", Fraction(-3, 27)),
    ],
)
def test_exact_numbers_are_read_exactly(text: str, value: Fraction) -> None:
    assert rational(text) == value


@pytest.mark.parametrize(
    "text",
    ["", "nan", "inf", "-inf", "1/0", "0x1/0x0", "1_000", " 1", "1 ", "+1", "1.", ".5", "1e5000", "1e-5000", "٣",
     "0x1.8", "0X1P1", "0x2p1", "1/2/3", "1e3/2", "1" * 5000, "0x" + "f" * 60_000 + "/0x1", 1, 1.5, None, True, ["1"]],
)  # fmt: skip
def test_anything_else_is_no_number(text: object) -> None:
    with pytest.raises(Reject, match="not a number of the format"):
        rational(text)
