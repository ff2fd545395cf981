"""counterexample(): the plainest failure first, and never one that is not certain."""

from __future__ import annotations

from fractions import Fraction

import pytest

from headwright.grading.scalars import (
    POSITIVE,
    Range,
    Scalar,
    Where,
    counterexample,
    exp,
    ln,
    number,
    parameter,
    sqrt,
)
from tests.grading.scalars.names import LOG, WHERE, beta, eps, g, lam, n, t

HALF = Fraction(1, 2)
SOFT = exp(lam) / (2 * exp(lam) + n - 2)
SHORT_KEY = exp(LOG / 2) / (exp(LOG / 2) + n - 1)  # two-heads-discrete with c = 1/2
STATED = exp(1 / sqrt(2)) / (2 * exp(1 / sqrt(2)) + n - 2)


@pytest.mark.parametrize(
    ("left", "comparison", "right", "values"),
    [
        (STATED, ">=", 1 / (2 + eps), {"n": 3, "epsilon": Fraction(1, 10)}),
        (STATED, "=", HALF, {"n": 3}),
        (SHORT_KEY, ">=", 1 / (1 + eps), {"n": 2, "epsilon": Fraction(1, 10)}),
        (SOFT, "<", HALF, {"n": 2, "lambda": 1}),
        (exp(LOG / 3), "=", sqrt(n / eps), {"n": 2, "epsilon": HALF}),
        (sqrt(2) * LOG, "<=", LOG, {"n": 2, "epsilon": HALF}),
        ((n - 1) * eps / n, "<", eps / 2, {"n": 2, "epsilon": HALF}),
        (exp(beta**2) / (exp(beta**2) + 2), ">=", Fraction(9, 10), {"beta": 1}),
        (n, "!=", 4, {"n": 4}),
        (g, ">=", 0, {"g": -1}),
        (n**2, "<=", 30, {"n": 6}),
        (n**2, "<=", 10**9, {"n": 10**6}),
    ],
)
def test_smallest_failure(
    left: Scalar, comparison: str, right: Scalar, values: dict[str, Fraction]
) -> None:
    found = counterexample(left, comparison, right, WHERE)
    assert found is not None
    assert found.values == values
    assert all(isinstance(value, Fraction) for value in found.values.values())


def test_shows_both_sides() -> None:
    found = counterexample(STATED, ">=", 1 / (2 + eps), WHERE)
    assert found is not None
    assert abs(found.left - 0.401112) < 1e-6
    assert abs(found.right - 0.476190) < 1e-6


def test_true_statements_have_none() -> None:
    assert (
        counterexample(exp(LOG) / (2 * exp(LOG) + n - 2), ">=", 1 / (2 + eps), WHERE)
        is None
    )
    assert counterexample(exp(LOG / 2), "=", sqrt(n / eps), WHERE) is None
    assert (
        counterexample(1 / (1 + sqrt(2)), "=", sqrt(2) - 1) is None
    )  # equal, though the forms differ


def test_hypotheses_and_ends_are_respected() -> None:
    assert counterexample(n, ">", 4, WHERE.given((n, ">", 4))) is None
    found = counterexample(
        n, ">", 6, WHERE.given((n, ">=", 3), (t, "=", n), (t, "<=", 6))
    )
    assert found is not None
    assert found.values == {"n": 3, "t": 3}
    assert counterexample(eps, "<", 1, WHERE) is None
    closed = counterexample(parameter("x"), "<", 1, Where({"x": Range(0, 1)}))
    assert closed is not None
    assert closed.values == {"x": 1}


def test_where_something_is_not_defined_nothing_fails() -> None:
    found = counterexample(ln(n - 2), "<", 0, WHERE)
    assert found is not None
    assert found.values == {"n": 3}


def test_large_names_fail_for_all_large_values_or_not_at_all() -> None:
    assert counterexample(SOFT, ">=", 1 / (2 + eps), WHERE, large=("lambda",)) is None
    found = counterexample(SOFT, ">=", 1 / (1 + eps), WHERE, large=("lambda",))
    assert found is not None
    assert found.values == {"n": 2, "epsilon": HALF}
    assert found.left.overlaps(number(HALF).value())
    found = counterexample(
        exp(lam) / (exp(lam) + n - 2), "<", 1, WHERE, large=("lambda",)
    )
    assert found is not None
    assert found.values == {"n": 2}


def test_large_names_that_may_not_be_large_prove_nothing() -> None:
    where = Where({"x": POSITIVE, "y": POSITIVE}, ((parameter("x"), "<", number(5)),))
    assert (
        counterexample(parameter("x"), "<=", parameter("y"), where, large=("x",))
        is None
    )


def test_many_names_are_bounded_work() -> None:
    names = [parameter(f"x{i}", POSITIVE) for i in range(8)]
    where = Where({f"x{i}": POSITIVE for i in range(8)})
    total = sum(names[1:], names[0])
    assert counterexample(total, ">", 0, where) is None
    assert counterexample(total, ">", 9, where) is not None
