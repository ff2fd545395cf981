"""prove(): what the exercises need, and what must not be proved."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import pytest

from headwright.errors import InputError
from headwright.grading.scalars import (
    Range,
    Scalar,
    Where,
    absolute,
    cos,
    exp,
    ln,
    number,
    parameter,
    pi,
    prove,
    sin,
    sqrt,
)
from tests.grading.scalars.names import LOG, WHERE, beta, c, eps, g, lam, n, s, t

HALF = Fraction(1, 2)
AVERAGE = exp(LOG) / (2 * exp(LOG) + (n - 2) * exp(0))
SOFT = exp(lam) / (2 * exp(lam) + n - 2)
STATED = exp(1 / sqrt(2)) / (2 * exp(1 / sqrt(2)) + n - 2)
ROUTED = exp(2 * beta**2) / (exp(2 * beta**2) + exp(beta**2) + 1)


@pytest.mark.parametrize(
    ("left", "comparison", "right"),
    [
        # averaging-two-bounded
        (AVERAGE, ">=", 1 / (2 + eps)),
        (AVERAGE, ">", 1 / (2 + eps)),
        (AVERAGE, "<=", HALF),
        (sqrt(2 * LOG**2), "<=", 2 * sqrt(2) * LOG),
        # copying-separated
        ((n - 1) * exp(-(2 * LOG) / 2), "<=", (n - 1) * eps / n),
        ((n - 1) * eps / n, "<", eps),
        (1 / (1 + (n - 1) * exp(-LOG)), ">=", 1 / (1 + eps)),
        (absolute(2 * LOG), "<=", 2 * LOG),
        # averaging-scaled-discrete
        (exp(Fraction(3, 2) * LOG) / exp(LOG), "=", sqrt(n / eps)),
        (exp(HALF * LOG) / exp(LOG), "=", sqrt(eps / n)),
        (sqrt(n / eps), ">", 1),
        (sqrt(eps / n), "<", 1),
        # two-heads-discrete: both cases of c
        (
            exp(Fraction(3, 2) * LOG) / (exp(Fraction(3, 2) * LOG) + n - 1),
            ">=",
            1 / (1 + eps),
        ),
        # averaging-two
        (SOFT, "<=", HALF),
        (SOFT, ">", 1 / n - Fraction(1, 2)),
        (t / (2 * t + n - 2), "=", exp(ln(t)) / (2 * exp(ln(t)) + n - 2)),
        (2 * t / (2 * t + n - 2) + (n - 2) / (2 * t + n - 2), "=", 1),
        (STATED, "<=", HALF),
        (STATED, "!=", HALF + Fraction(1, 10)),
        # self-attention-copy
        (exp(beta**2) / (exp(beta**2) + 2), "<", 1),
        (exp(beta**2) / (exp(beta**2) + 2), ">", Fraction(1, 3)),
        (ROUTED + exp(beta**2) / (exp(2 * beta**2) + exp(beta**2) + 1), "<", 1),
        (ROUTED, ">", Fraction(1, 3)),
        # logarithms, exponentials, roots
        (ln(n), "<=", n - 1),
        (ln(n), ">=", ln(2)),
        (ln(n), ">", 1 - 1 / n - Fraction(1, 100)),
        (LOG, ">", ln(n)),
        (LOG, ">=", ln((n - 1) / eps)),
        (ln(1 + g**2), "<=", g**2),
        (exp(g), ">=", 1 + g),
        (exp(lam), ">", 1 + lam + lam**2 / 2 - Fraction(1, 10)),
        (exp(beta), "<", exp(beta**2 + 1)),
        (exp(-(beta**2) / 2), "<=", 1 / (1 + beta**2 / 2)),
        (sqrt(n**2 + 1), ">", n),
        (sqrt(n), "<=", n),
        (1 / (1 + sqrt(2)), "=", sqrt(2) - 1),
        (absolute(g), ">=", -g),
        (sqrt(g**2 + 1), ">=", absolute(g)),
        (sin(g) ** 2 + cos(g) ** 2, "=", 1),
        (pi(), ">", 3),
        (exp(1 / sqrt(2)), ">", 2),
        (ln(2), "<", Fraction(7, 10)),
        (n * (n - 3) * (n - 4) + 3, ">", 0),
    ],
)
def test_proved(left: Scalar, comparison: str, right: Scalar) -> None:
    proof = prove(left, comparison, right, WHERE)
    assert proof is not None
    assert proof.used in ("exact algebra", "exact algebra and the solver z3")
    assert proof.reason


@pytest.mark.parametrize(
    ("left", "comparison", "right"),
    [
        (STATED, ">=", 1 / (2 + eps)),
        (SOFT, ">=", 1 / (2 + eps)),
        (SOFT, "<", HALF),
        (AVERAGE, ">=", HALF),
        (n, ">", 2),
        (n, "!=", 3),
        ((n - 2) * (n - 3), ">", 0),
        (ln(n), "<", ln(n - 1)),
        (1 / g, "=", 1 / g),  # not defined for g = 0
        (ln(g), "=", ln(g)),
        (sqrt(g), ">=", 0),
        (ln(n - 2), "<=", n),  # not defined for n = 2
        (1 / (n - 3), "<", 2),
        (sin(g), "<", 1),
        (exp(lam), ">", 2),
        (g, "=", absolute(g)),
    ],
)
def test_not_proved(left: Scalar, comparison: str, right: Scalar) -> None:
    assert prove(left, comparison, right, WHERE) is None


def test_reason_shows_the_cleared_inequality() -> None:
    proof = prove(SOFT, "<=", HALF, WHERE)
    assert proof is not None
    assert proof.reason == "cleared of denominators it says n >= 2"
    proof = prove(AVERAGE, ">=", 1 / (2 + eps), WHERE)
    assert proof is not None
    assert proof.reason == "cleared of denominators it says 2 epsilon >= 0"


def test_hypotheses_are_used_also_through_exponentials() -> None:
    assert prove(SOFT, ">=", 1 / (2 + eps), WHERE.given((lam, ">=", ln((n - 2) / eps))))
    assert prove(
        SOFT, ">=", 1 / (2 + eps), WHERE.given((exp(lam), ">=", (n - 2) / eps))
    )
    assert prove(
        t / (t + n - 1), ">=", 1 / (1 + eps), WHERE.given((t, ">=", (n - 1) / eps))
    )
    assert (
        prove(
            t / (t + n - 1), ">=", 1 / (1 + eps), WHERE.given((t, ">=", (n - 2) / eps))
        )
        is None
    )


def test_denominators_of_negative_sign_turn_the_comparison() -> None:
    where = Where({"x": Range(upper=-1, upper_open=True)})
    x = parameter("x")
    assert prove(1 / (x + 1), "<", 0, where)
    assert prove(1 / (x + 1), "<=", 1 / x, where)
    assert prove(1 / (x + 1), ">", 1 / x, where) is None


def test_unnamed_names_are_any_real_number() -> None:
    x = parameter("x")
    assert prove(x**2 + 1, ">=", 2 * x)
    assert prove(x, ">", 0) is None


def test_rejects_other_comparisons() -> None:
    with pytest.raises(InputError, match="expected one of"):
        prove(n, "~", n, WHERE)


def test_same_question_same_answer() -> None:
    question = (exp(lam) + exp(t), ">=", 2 + lam + t)
    assert [prove(*question, WHERE) for _ in range(3)] == [prove(*question, WHERE)] * 3


def test_long_questions_are_given_up_quickly() -> None:
    assert (
        prove((n + eps + lam + g) ** 9 - (n * s - g) ** 8 * c, ">", -1, WHERE) is None
    )
    assert prove(number(2) ** Fraction(1, 7919), ">", 1, WHERE)


def test_decimal_exponents_are_no_burden() -> None:
    assert prove(exp(number(Fraction(70710678, 10**8))), "<", exp(1 / sqrt(2)), WHERE)


def test_the_solver_is_loaded_only_when_it_is_needed() -> None:
    code = (
        "import sys; from headwright.grading.scalars import *; n = parameter('n', Range(2)); "
        "assert prove(n, '>', 1, Where({'n': Range(2)})); assert 'z3' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_high_powers_and_roots_are_compared() -> None:
    where = Where({"x": Range(2), "y": Range(0, 1, True, True)})
    x, y = where.name("x"), where.name("y")
    assert prove(x**1000, ">=", x, where) is not None
    assert prove(y**-999 * x**1000, ">=", x - 2, where) is not None
    assert prove(y**1000, "<=", y, where) is not None
    assert prove(y**1000, ">=", y, where) is None
    assert prove(exp(sqrt(x / y)) * y, ">=", x - 2, where) is not None


def test_what_is_shown_of_a_proof_is_true_where_the_denominator_is_negative() -> None:
    small = Range(0, 1, lower_open=True, upper_open=True)
    where = Where(
        {"n": Range(2, integer=True), "m": Range(1, integer=True), "epsilon": small}
    )
    n, m, epsilon = (where.name(name) for name in ("n", "m", "epsilon"))
    x = (n - m + 1) / epsilon
    proof = prove(
        x / (m * x + n - m), ">=", 1 / (m + epsilon), where.given((n, ">=", m + 1))
    )
    assert proof is not None
    assert proof.reason == "cleared of denominators it says epsilon >= 0"


def test_terms_of_one_sign_need_no_solver() -> None:
    where = Where({"x": Range(0), "y": Range(0)})
    found = prove(where.name("x") + where.name("y"), ">=", 0, where)
    assert found is not None
    assert found.used == "exact algebra"
