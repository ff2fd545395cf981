"""eventually(), never(), limit(): what happens for large values, and from where on."""

from __future__ import annotations

from fractions import Fraction

import pytest

from headwright.errors import InputError
from headwright.grading.scalars import (
    Scalar,
    Where,
    eventually,
    exp,
    limit,
    ln,
    never,
    number,
    parameter,
    prove,
    sqrt,
)
from tests.grading.scalars.names import WHERE, beta, eps, g, lam, n, s, t

HALF = Fraction(1, 2)
SOFT = exp(lam) / (2 * exp(lam) + n - 2)
ROUTED = exp(2 * beta**2) / (exp(2 * beta**2) + exp(beta**2) + 1)
HEADS = (s / (s + n - 1) + t / (t + n - 1)) / 2


@pytest.mark.parametrize(
    ("left", "comparison", "right", "name", "threshold", "condition"),
    [
        (SOFT, ">=", 1 / (2 + eps), "lambda", ln((n - 2) / eps), n - 2),
        (1 / (2 + eps), "<=", SOFT, "lambda", ln((n - 2) / eps), n - 2),
        (t / (2 * t + n - 2), ">=", 1 / (2 + eps), "t", (n - 2) / eps, None),
        (
            exp(lam) / (exp(lam) + n - 1),
            ">=",
            1 / (1 + eps),
            "lambda",
            ln((n - 1) / eps),
            None,
        ),
        (
            exp(lam / 2) / (exp(lam / 2) + n - 1),
            ">=",
            1 / (1 + eps),
            "lambda",
            2 * ln((n - 1) / eps),
            None,
        ),
        (
            1 / (1 + (n - 1) * exp(-lam)),
            ">=",
            1 / (1 + eps),
            "lambda",
            ln((n - 1) / eps),
            None,
        ),
        (
            exp(beta**2) / (exp(beta**2) + 2),
            ">=",
            1 / (1 + eps),
            "beta",
            sqrt(ln(2 / eps)),
            None,
        ),
        (
            ROUTED,
            ">=",
            1 / (1 + eps),
            "beta",
            sqrt(ln((1 + sqrt(1 + 4 * eps)) / (2 * eps))),
            None,
        ),
        (sqrt(t), ">", n, "t", n**2, None),
        (ln(t), ">=", n, "t", exp(n), None),
        (s / (s + n - 1), ">=", 1 / (1 + eps), "s", (n - 1) / eps, None),
    ],
)
def test_threshold(
    left: Scalar,
    comparison: str,
    right: Scalar,
    name: str,
    threshold: Scalar,
    condition: Scalar | None,
) -> None:
    found = eventually(left, comparison, right, WHERE, (name,))
    assert found is not None
    assert found.threshold == {name: threshold}
    assert (found.condition and found.condition[0]) == condition


def test_threshold_as_text() -> None:
    found = eventually(SOFT, ">=", 1 / (2 + eps), WHERE, ("lambda",))
    assert found is not None
    assert str(found.threshold["lambda"]) == "ln((n - 2)/epsilon)"
    assert found.reason == "it says epsilon e^lambda >= n - 2"


def test_what_always_holds_needs_no_threshold() -> None:
    found = eventually(SOFT, "<=", HALF, WHERE, ("lambda",))
    assert found is not None
    assert found.reason.startswith("it holds for all values")
    assert found.threshold == {}


def test_two_large_names_each_by_itself() -> None:
    found = eventually(HEADS, ">=", 1 / (1 + eps), WHERE, ("s", "t"))
    assert found is not None
    assert found.threshold == {}  # of one name it is solved for


def test_two_large_names_that_compete_are_not_decided() -> None:
    assert eventually(s / (s + t), ">=", Fraction(1, 4), WHERE, ("s", "t")) is None
    assert not never(s / (s + t), ">=", Fraction(1, 4), WHERE, ("s", "t"))
    assert limit(s / t, WHERE, ("s", "t")) is None
    assert eventually(s * t, ">=", s + t, WHERE, ("s", "t")) is not None


def test_growth_without_a_formula() -> None:
    found = eventually(exp(beta**2), ">", beta**7 * exp(3 * beta) + n, WHERE, ("beta",))
    assert found is not None
    assert found.threshold == {}
    assert eventually(t, ">", ln(t) ** 5 * sqrt(t) * n, WHERE, ("t",)) is not None


def test_unknown_signs_are_not_guessed() -> None:
    assert eventually(g * t, ">", 1, WHERE, ("t",)) is None
    assert not never(g * t, ">", 1, WHERE, ("t",))
    assert eventually(exp(g * t), ">", n, WHERE, ("t",)) is None
    assert limit(exp(g * t), WHERE, ("t",)) is None
    assert eventually((n - 2) * t, ">", 1, WHERE, ("t",)) is None
    assert not never((n - 2) * t, ">", 1, WHERE, ("t",))


def test_what_stays_away_never_holds() -> None:
    assert never(SOFT, ">=", 1 / (1 + eps), WHERE, ("lambda",))
    assert not never(SOFT, ">=", 1 / (2 + eps), WHERE, ("lambda",))


@pytest.mark.parametrize(
    ("value", "name", "expected"),
    [
        (SOFT, "lambda", number(HALF)),
        (1 / (2 * t + n - 2), "t", number(0)),
        (exp(beta**2) / (exp(beta**2) + 2), "beta", number(1)),
        (ROUTED, "beta", number(1)),
        (exp(beta**2) / (exp(2 * beta**2) + exp(beta**2) + 1), "beta", number(0)),
        (beta * exp(beta), "beta", "infinity"),
        (beta**5 * exp(beta) - exp(beta**2), "beta", "-infinity"),
        (ln(t) / sqrt(t), "t", number(0)),
        (t ** (1 / ln(t)), "t", exp(number(1))),
        ((n * t + 1) / (eps * t + n), "t", n / eps),
        ((1 - n) * t, "t", "-infinity"),
        (n, "t", n),
        (exp(-lam) * n, "lambda", number(0)),
    ],
)
def test_limit(value: Scalar, name: str, expected: Scalar | str) -> None:
    assert limit(value, WHERE, (name,)) == expected


def test_head_on_a_short_key_loses_it_among_many() -> None:
    pattern = exp(ln(n / eps) / 2) / (exp(ln(n / eps) / 2) + n - 1)
    assert limit(pattern, WHERE, ("n",)) == number(0)
    assert never(pattern, ">=", HALF, WHERE, ("n",))


def test_limit_that_is_not_understood_is_not_claimed() -> None:
    assert limit(exp(1 / t), WHERE, ("t",)) is None
    assert limit(sqrt(t + 1) - sqrt(t), WHERE, ("t",)) is None


def test_a_bounded_name_cannot_become_large() -> None:
    with pytest.raises(InputError, match="epsilon is said to become large"):
        limit(eps, WHERE, ("epsilon",))


def test_division_by_something_that_may_be_negative_for_small_values_gives_no_threshold() -> (
    None
):
    x = parameter("x")
    found = eventually(x**2, ">=", 4 * x, Where(), ("x",))  # holds below 0 too
    assert found is not None
    assert found.threshold == {}


def test_threshold_agrees_with_proof_under_hypotheses() -> None:
    assert prove(
        SOFT,
        "<",
        1 / (2 + eps),
        WHERE.given((n, ">", 2), (exp(lam), "<", (n - 2) / eps)),
    )


@pytest.mark.parametrize(
    ("exponent", "expected"),
    [
        (s * t, "infinity"),
        (s + t, "infinity"),
        (s * t - ln(s), "infinity"),
        (s**2 * t - s * sqrt(t), "infinity"),
    ],
)
def test_several_large_names_may_be_multiplied(exponent: Scalar, expected: str) -> None:
    assert limit(exp(exponent), WHERE, ("s", "t")) == expected


@pytest.mark.parametrize(
    "exponent", [s**2 + t**2 - 3 * s * t, s - t, s * t - s**2, s / t, t * ln(s) - s]
)
def test_what_depends_on_how_they_grow_has_no_limit(exponent: Scalar) -> None:
    """On s = t the first goes to -infinity, although it grows in each of them by itself."""
    assert limit(exp(exponent), WHERE, ("s", "t")) is None
