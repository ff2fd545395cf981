"""The numbers of the checker: every bound is on the side that it says."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headwright.trusted.certificate import rational
from headwright.trusted.keys import Reject
from headwright.trusted.numbers import (
    POINT,
    exp_above,
    exp_between,
    exp_fixed,
    ln_below,
    normal_tail,
    sqrt_above,
    sqrt_between,
)

wide = st.fractions(min_value=-800, max_value=800)
positive = (
    st.fractions(min_value=0).filter(bool).flatmap(lambda q: st.integers(-900, 900).map(lambda e: q * Fraction(2) ** e))
)
arguments = st.one_of(
    st.integers(-6000 << POINT, 5000 << POINT),
    st.integers(-2 << POINT, 2 << POINT),
    st.integers(-1000, 1000),
    st.builds(lambda k, off: int(k * Fraction("0.6931471805599453094172321214581765680755") * 2**POINT) + off,
              st.integers(-7000, 7000), st.integers(-9, 9)),  # where the power of two changes
    st.builds(lambda i, shift, off: (i << POINT - shift) + off,
              st.integers(-4096, 4096), st.sampled_from([8, 16, 24]), st.integers(-9, 9)),  # where a table is left
)  # fmt: skip


def _mp(x: Fraction | int) -> mpmath.mpf:
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
    with pytest.raises(Reject, match="beyond what is checked"):
        exp_fixed((5000 << POINT) + 1, 0)


@given(arguments.filter(lambda x: x <= 5000 << POINT), st.integers(0, 600))
@example(x=-878_668_439_483_319_573_618_263_538_049, bits=1)  # 1 + 2e-31, computed as a little less and cut to 0
def test_exp_by_tables_is_between_its_bounds_over_the_whole_step(x: int, bits: int) -> None:
    low, high = exp_fixed(x, bits)
    with mpmath.workdps(60):
        unit, scale = mpmath.mpf(2) ** -POINT, mpmath.mpf(2) ** bits
        assert 0 <= low <= mpmath.exp(x * unit) * scale
        assert mpmath.exp((x + 1) * unit) * scale <= high


@given(arguments.filter(lambda x: abs(x) <= 5000 << POINT))
def test_exp_by_tables_errs_as_little_as_its_proof_says(x: int) -> None:
    low, high = exp_fixed(x, 8000)
    with mpmath.workdps(60):
        truth = mpmath.exp(mpmath.mpf(x) / 2**POINT) * mpmath.mpf(2) ** 8000
        assert abs(mpmath.mpf(low + high) / 2 / truth - 1) < mpmath.mpf(2) ** -86
    assert high - low <= (high >> 78) + 2


def test_exp_by_tables_of_very_little_is_0_or_one_unit() -> None:
    assert exp_fixed(-200 << POINT, 100) == (0, 1)
    assert exp_fixed(-(10**9) << POINT, 6000) == (0, 2**1000)


def test_exp_above_is_exact_for_0() -> None:
    assert exp_above(Fraction(0), 90) == 2**90
    assert 2**90 < exp_above(Fraction(1, 10**40), 90) <= 2**90 + 2**12


@given(positive)
def test_ln_is_bounded_from_below(x: Fraction) -> None:
    bound = ln_below(x)
    with mpmath.workdps(150):
        truth = mpmath.log(_mp(x))
        assert _mp(bound) < truth or x == 1
        assert truth - _mp(bound) <= mpmath.mpf(10) ** -30 * max(1, abs(truth))


def test_ln_of_one_is_exact_and_near_it_is_bounded() -> None:
    """Once the bound for 1 was a number of a million digits."""
    assert ln_below(Fraction(1)) == 0
    assert -Fraction(2, 10**90) < ln_below(1 - Fraction(1, 10**90)) < -Fraction(1, 10**90)
    assert 0 < ln_below(1 + Fraction(1, 10**90)) < Fraction(1, 10**90)


def test_ln_of_numbers_beyond_all_floats_is_bounded() -> None:
    for x in (Fraction(10**20_000), Fraction(1, 10**20_000)):
        with mpmath.workdps(60):
            assert abs(_mp(ln_below(x)) - mpmath.log(_mp(x))) < mpmath.mpf(10) ** -25


@given(positive)
def test_square_root_is_bounded_from_both_sides(x: Fraction) -> None:
    low, high = sqrt_between(x)
    assert low**2 <= x <= high**2 == sqrt_above(x) ** 2
    assert high**2 <= x * (1 + Fraction(1, 2**120))
    assert low == high or low**2 >= x * (1 - Fraction(1, 2**120))
    assert sqrt_above(x * x) >= x


def test_square_root_of_a_square_is_exact() -> None:
    assert sqrt_between(Fraction(0)) == (Fraction(0), Fraction(0))
    assert sqrt_between(Fraction(49, 64)) == (Fraction(7, 8), Fraction(7, 8))
    low, high = sqrt_between(Fraction(49, 64) + Fraction(1, 10**300))  # so near that only the remainder tells
    assert low == Fraction(7, 8) < high


@given(st.fractions(min_value=0, max_value=9))
def test_normal_tail_is_bounded_from_both_sides(z: Fraction) -> None:
    low, high = normal_tail(z)
    with mpmath.workdps(120):
        truth, hair = mpmath.ncdf(-_mp(z)), mpmath.mpf(10) ** -30
        assert truth - hair <= _mp(low) <= truth <= _mp(high) <= truth + hair


def test_normal_tail_is_exact_at_0_and_bounded_at_40() -> None:
    assert normal_tail(Fraction(0)) == (Fraction(1, 2), Fraction(1, 2))
    low, high = normal_tail(Fraction(40))
    with mpmath.workdps(400):
        assert _mp(low) <= mpmath.ncdf(-40) <= _mp(high)


@pytest.mark.parametrize("z", [Fraction(-1), Fraction(41), Fraction(10**500)])
def test_normal_tail_out_of_range_rejects(z: Fraction) -> None:
    with pytest.raises(Reject, match="deviations"):
        normal_tail(z)


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
