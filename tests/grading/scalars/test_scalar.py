"""Normal forms: what is equal becomes the same, and what is not known stays."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from headwright.errors import InputError
from headwright.grading.scalars import (
    POSITIVE,
    Range,
    Scalar,
    Thing,
    TooBig,
    Where,
    absolute,
    cos,
    derivative,
    exp,
    ln,
    number,
    parameter,
    pi,
    prove,
    sin,
    sqrt,
)
from headwright.grading.scalars.forms import of_atom
from headwright.grading.scalars.numbers import Symbol, ball_of
from tests.grading.scalars.names import LOG, beta, c, eps, g, lam, n, t

HALF = Fraction(1, 2)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (exp(LOG), n / eps),
        (exp(LOG / 2), sqrt(n / eps)),
        (exp((Fraction(3, 2) - 1) * LOG), sqrt(n / eps)),
        (exp((HALF - 1) * LOG), sqrt(eps / n)),
        (exp((c - 1) * LOG), (n / eps) ** (c - 1)),
        (exp(lam + t), exp(lam) * exp(t)),
        (exp(2 * lam), exp(lam) ** 2),
        (ln(exp(lam) / 3), lam - ln(3)),
        (ln(number(12)), 2 * ln(2) + ln(3)),
        (sqrt(8), 2 * sqrt(2)),
        (1 / sqrt(2), sqrt(2) / 2),
        (sqrt(6), sqrt(2) * sqrt(3)),
        (sqrt(n - 1) ** 2, n - 1),
        (exp(ln(n - 1)), n - 1),
        (1 / sqrt(n - 1) ** 3, sqrt(n - 1) / (n - 1) ** 2),
        ((n**2 - 1) / (n - 1), n + 1),
        (sqrt((n - 1) ** 2), n - 1),
        (sqrt(LOG**2 * 2), sqrt(2) * LOG),
        (ln(n**2 - 1), ln(n - 1) + ln(n + 1)),
        (ln((n - 2) / eps), ln(n - 2) - ln(eps)),
        (sqrt(g**2), absolute(g)),
        (absolute(g) ** 2, g**2),
        (absolute(-g * n), n * absolute(g)),
        (absolute(eps - 1), 1 - eps),
        (sqrt(g * n) ** 2, g * n),
        (2**n * 2**t, number(2) ** (n + t)),
        (exp(lam / (n + g)), exp(1 / (n + g) * lam)),
        (sin(-g), -sin(g)),
        (cos(-g), cos(g)),
        (sqrt(2) / (sqrt(2) * n + sqrt(2)), 1 / (n + 1)),
        (n / (n**2 + n), 1 / (n + 1)),
        (number(0) * lam, number(0)),
    ],
)
def test_equal_numbers_have_one_form(left: Scalar, right: Scalar) -> None:
    assert left == right
    assert hash(left) == hash(right)


def test_square_of_a_number_of_unknown_sign_keeps_its_absolute_value() -> None:
    assert sqrt(g**2) != g
    assert ln(g**2) != 2 * ln(g)


def test_logarithm_of_a_product_of_unknown_signs_is_kept_whole() -> None:
    h = parameter("h")
    assert ln(g * h) != ln(g) + ln(h)
    assert sqrt(g * h) != sqrt(g) * sqrt(h)
    assert sqrt(g * h) ** 2 == g * h


def test_range_is_used_when_it_becomes_known() -> None:
    x = parameter("x")
    assert Where({"x": POSITIVE}).settled(sqrt(x**2)) == parameter("x", POSITIVE)


def test_rejects_a_name_that_promises_more_than_is_declared() -> None:
    with pytest.raises(InputError, match="x was used as"):
        Where().settled(parameter("x", POSITIVE))


def test_put_replaces_everywhere() -> None:
    pattern = exp(lam) / (2 * exp(lam) + n - 2)
    assert pattern.put({"lambda": LOG}) == n / (2 * n + (n - 2) * eps)
    assert sqrt(g - 1).put({"g": 5}) == 2
    assert exp(g * ln(n)).put({"g": Fraction(1, 2)}) == sqrt(n)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (ln((n - 2) / eps), "ln((n - 2)/epsilon)"),
        (2 * LOG, "2 ln(n/epsilon)"),
        (LOG**2, "ln(n/epsilon)^2"),
        (n / (2 * n + (n - 2) * eps), "n/(epsilon n - 2 epsilon + 2 n)"),
        (exp(1 / sqrt(2)), "e^(1/sqrt(2))"),
        (sqrt(n / eps), "sqrt(n/epsilon)"),
        ((n - 1) * exp(-t / 2), "(n - 1) e^(-t/2)"),
        ((n - 1) * eps / n, "(n - 1) epsilon/n"),
        (exp(beta**2) / (exp(beta**2) + 2), "e^(beta^2)/(e^(beta^2) + 2)"),
        (2 * sqrt(2) * LOG, "2 sqrt(2) ln(n/epsilon)"),
        (1 - eps, "1 - epsilon"),
        (-n, "-n"),
        (-1 / (n + 1), "-1/(n + 1)"),
        (number(0), "0"),
        (number(Fraction(-3, 4)), "-3/4"),
        ((n / eps) ** c, "(n/epsilon)^c"),
        (absolute(g), "|g|"),
        (pi() / 2, "pi/2"),
        (sin(g), "sin(g)"),
        (exp(number(1)), "e"),
        (number(2) ** Fraction(1, 3), "2^(1/3)"),
        ((lam + 1) / (2 * eps), "(lambda + 1)/(2 epsilon)"),
        (parameter("k_1"), "k_1"),
    ],
)
def test_written_as_a_teacher_would(value: Scalar, plain: str) -> None:
    assert str(value) == plain


def test_value_is_a_ball_around_the_number_and_leaves_the_precision_alone() -> None:
    before = ctx.prec
    ball = (exp(lam) / (2 * exp(lam) + n - 2)).value(
        {"lambda": Fraction(1), "n": 3}, bits=200
    )
    assert ctx.prec == before
    assert ball.overlaps(arb(1).exp() / (2 * arb(1).exp() + 1))
    assert ball.rad() < 1e-50


def test_value_wants_all_names() -> None:
    with pytest.raises(InputError, match="no value was given for n"):
        n.value({})


@pytest.mark.parametrize(
    "hostile",
    [
        lambda: number(9) ** (number(9) ** (number(9) ** number(9))),
        lambda: number(9) ** 10**9,
        lambda: number(10**100) ** 10**4,
        lambda: (n + eps + lam + t + 1) ** 200,
        lambda: (n + 1) ** 10_001,
        lambda: n**9_999 * n**9_999,
    ],
)
def test_refuses_what_would_be_too_long(hostile: object) -> None:
    with pytest.raises(TooBig):
        hostile()  # type: ignore[operator]


def test_refuses_towers_of_functions() -> None:
    tower = n
    with pytest.raises(TooBig, match="nested"):
        for _ in range(100):
            tower = exp(tower)


def test_towers_of_numbers_are_not_worked_out() -> None:
    tower = exp(exp(exp(exp(number(1000)))))
    assert not tower.value().is_finite()
    assert exp(number(10) ** 50).value() > 10**100


def test_large_whole_numbers_under_roots_are_not_factored_for_long() -> None:
    long = (2**89 - 1) * (2**107 - 1)
    assert sqrt(number(long)) ** 2 == long
    assert sqrt(number(4 * long)) == 2 * sqrt(number(long))


@pytest.mark.parametrize(
    "undefined",
    [
        lambda: ln(0),
        lambda: ln(-1),
        lambda: sqrt(-2),
        lambda: n / 0,
        lambda: ln(eps - 1),
        lambda: number(0) ** -1,
    ],
)
def test_rejects_what_is_not_defined(undefined: object) -> None:
    with pytest.raises(InputError):
        undefined()  # type: ignore[operator]


def test_a_scalar_is_no_truth_value() -> None:
    with pytest.raises(InputError, match="truth value"):
        bool(n)


@pytest.mark.parametrize("name", ["", "x[]", "x^2", "~ln(x)", "#pi"])
def test_rejects_names_that_could_be_mistaken_for_formulas(name: str) -> None:
    with pytest.raises(InputError, match="the name is"):
        parameter(name)


def test_rejects_an_empty_range() -> None:
    with pytest.raises(InputError, match="empty"):
        Range(1, 0)


def test_a_thing_is_known_by_its_key_and_its_range_alone() -> None:
    one, other = of_atom(Thing("a", None, Range(0))), of_atom(Thing("b", None))
    assert sqrt(one**2) == one
    assert sqrt(other**2) != other
    assert prove(one + 1, ">", 0) is not None
    assert prove(other, ">=", 0) is None
    assert prove(ln(one), ">=", 0) is None  # it is no constant
    with pytest.raises(InputError, match="has no value"):
        one.value()


def test_a_symbol_of_the_checkers_own_is_no_name_that_can_be_written() -> None:
    own, written = parameter(Symbol("score", "a", "k_a^T q")), parameter("score")
    assert own != written
    assert str(own + 1) == "k_a^T q + 1"


@given(st.fractions(Fraction(1, 4), 3))
def test_a_derivative_is_the_slope(at: Fraction) -> None:
    step = Fraction(1, 2**64)
    for value in (
        exp(2 * lam) / (lam + 1),
        sqrt(lam) * ln(lam + 1),
        sin(lam) * cos(lam**2),
        1 / (lam + exp(-lam)),
    ):
        slope = derivative(value, "lambda").value({"lambda": at}, bits=300)
        rise = value.value({"lambda": at + step}, bits=300) - value.value(
            {"lambda": at - step}, bits=300
        )
        assert abs(slope - rise / (2 * ball_of(step))) < 1e-12


@pytest.mark.parametrize(
    "kinked", [absolute(g), sqrt(g**2), absolute(g - 1) * g, sqrt(g**2 * (g + 1))]
)
def test_where_there_is_a_kink_there_is_no_slope(kinked: Scalar) -> None:
    slope = derivative(kinked, "g")
    assert slope.put({"g": 2}).value().is_finite()
    kink = 1 if kinked.put({"g": 1}) == 0 else 0
    with pytest.raises(InputError):
        slope.put({"g": kink})
