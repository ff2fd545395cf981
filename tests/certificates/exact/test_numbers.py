"""The numbers of the checker: every bound is on the side that it says."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headwright.certificates.exact.keys import Reject
from headwright.certificates.exact.numbers import (
    LARGEST_EXPONENT,
    exp_between,
    ln_below,
    normal_tail,
    sqrt_above,
    sqrt_between,
)
from headwright.certificates.exact.values import read_fraction

positive = (
    st.fractions(min_value=0)
    .filter(bool)
    .flatmap(lambda q: st.integers(-900, 900).map(lambda e: q * Fraction(2) ** e))
)
LN2 = Fraction("0.6931471805599453094172321214581765680755")
arguments = st.one_of(
    st.fractions(min_value=-6000, max_value=LARGEST_EXPONENT),
    st.fractions(min_value=-2, max_value=2),
    st.builds(
        lambda i, j: Fraction(i, 2**j), st.integers(-1000, 1000), st.integers(0, 400)
    ),
    st.builds(
        lambda k, off: k * LN2 + Fraction(off, 2**160),
        st.integers(-7000, 7000),
        st.integers(-9, 9),
    ),
)  # the last: where the power of two changes


def _mp(x: Fraction | int) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


@given(arguments, st.integers(0, 5000))
@example(x=Fraction(-1, 10**9), bits=1)
@example(x=Fraction(5000), bits=5000)
@example(x=Fraction(-5000), bits=5000)
def test_exp_is_between_its_bounds(x: Fraction, bits: int) -> None:
    low, high = exp_between(x.numerator, x.denominator, bits)
    with mpmath.workdps(2500):
        truth = mpmath.exp(_mp(x)) * mpmath.mpf(2) ** bits
        assert 0 <= low <= truth <= high


@given(arguments)
def test_exp_errs_as_little_as_its_proof_says(x: Fraction) -> None:
    bits = 5000
    low, high = exp_between(x.numerator, x.denominator, bits)
    with mpmath.workdps(100):
        truth = mpmath.exp(_mp(x)) * mpmath.mpf(2) ** bits
        if truth > 2**200:
            assert abs(mpmath.mpf(low + high) / 2 / truth - 1) < mpmath.mpf(2) ** -136
    assert high - low <= (high >> 118) + 5


@given(st.integers(0, 5000))
def test_exp_of_0_is_exact(bits: int) -> None:
    assert exp_between(0, 7, bits) == (2**bits, 2**bits)


def test_exp_of_very_little_is_0_or_a_few_units() -> None:
    for x in (-70, -80, -101, -200, -7000, -(10**6), -(10**3000)):
        low, high = exp_between(x, 1, 100)
        assert 0 == low < high <= 3


def test_exp_up_to_what_is_checked_is_bounded() -> None:
    low, high = exp_between(LARGEST_EXPONENT, 1, 0)
    with mpmath.workdps(2300):
        assert low < mpmath.exp(LARGEST_EXPONENT) < high


def test_exp_beyond_what_is_checked_rejects() -> None:
    with pytest.raises(Reject, match="beyond what is checked"):
        exp_between(5001, 1, 100)
    with pytest.raises(Reject, match="beyond what is checked"):
        exp_between(10**3000, 1, 0)


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
    assert (
        -Fraction(2, 10**90) < ln_below(1 - Fraction(1, 10**90)) < -Fraction(1, 10**90)
    )
    assert 0 < ln_below(1 + Fraction(1, 10**90)) < Fraction(1, 10**90)


def test_ln_near_one_is_bounded_from_below_and_good_to_all_its_digits() -> None:
    """Quotients that do not end would be rounded up as often as down."""
    far = [Fraction(k + 1, k) for k in range(2, 300)] + [
        Fraction(k, k + 1) for k in range(2, 300)
    ]
    for x in (
        *far,
        1 - Fraction(1, 10**90),
        1 + Fraction(1, 10**90),
        1 + Fraction(1, 7 * 10**90),
    ):
        with mpmath.workdps(200):
            truth = mpmath.log(_mp(x))
            assert truth - abs(truth) * mpmath.mpf(10) ** -33 < _mp(ln_below(x)) < truth


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
    low, high = sqrt_between(
        Fraction(49, 64) + Fraction(1, 10**300)
    )  # so near that only the remainder tells
    assert low == Fraction(7, 8) < high


def test_square_root_with_the_least_remainder_is_rounded_up() -> None:
    """x = (s^2 + 1/7) / 4^128, where s is a root of -1/7 modulo 4^128."""
    s = 1
    for k in range(3, 256):
        s += (7 * s * s + 1 >> k & 1) << (k - 1)
    assert (7 * s * s + 1) % 4**128 == 0
    low, high = sqrt_between(Fraction((7 * s * s + 1) >> 256, 7))
    assert low == Fraction(s, 2**128) < high


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
    assert read_fraction(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nan",
        "inf",
        "-inf",
        "1/0",
        "0x1/0x0",
        "1_000",
        " 1",
        "1 ",
        "+1",
        "1.",
        ".5",
        "1e5000",
        "1e-5000",
        "٣",
        "0x1.8",
        "0X1P1",
        "0x2p1",
        "1/2/3",
        "1e3/2",
        "1" * 5000,
        "0x" + "f" * 60_000 + "/0x1",
        1,
        1.5,
        None,
        True,
        ["1"],
    ],
)
def test_anything_else_is_no_number(text: object) -> None:
    with pytest.raises(Reject, match="not a number of the format"):
        read_fraction(text)
