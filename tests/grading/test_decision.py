"""decide(): one comparison of two exact scalars, as names go where they go."""

from __future__ import annotations

from fractions import Fraction

import pytest

from headwright.grading.decision import Tending, decide, decide_all
from headwright.grading.exercise import load_exercises
from headwright.grading.grade import grade
from headwright.grading.markdown import Written
from headwright.grading.scalars import (
    POSITIVE,
    Range,
    Scalar,
    Where,
    absolute,
    exp,
    number,
    parameter,
    sin,
)

WHERE = Where({"x": POSITIVE, "y": Range(), "n": Range(2, integer=True), "t": POSITIVE})
x, y, n, t = (WHERE.name(name) for name in ("x", "y", "n", "t"))
VANISHING = Tending(vanishing=frozenset({"x"}))


def test_what_differs_may_have_one_limit() -> None:
    never_zero = (
        exp(y) - exp(number(1)) * y + Fraction(1, 1000)
    )  # at least 1/1000, which z3 does not find
    assert decide(x * never_zero, "!=", number(0), WHERE, VANISHING).word != "refuted"


def test_what_cannot_grow_is_not_refuted_by_its_limit() -> None:
    where = Where({"n": Range(2, integer=True), "t": Range(1)})
    bounded = where.given((where.name("t"), "<=", where.name("n")))
    found = decide(
        sin(1 / t), ">=", sin(1 / n), bounded, Tending(large=("t",))
    )  # sines grow on [0, 1]
    assert found.word != "refuted"


def test_limits_that_break_an_inequality_refute_it() -> None:
    found = decide(x + 1 / n, ">=", number(Fraction(1, 3)), WHERE, VANISHING)
    assert found.word == "refuted"
    assert found.values == {"n": 4}


@pytest.mark.parametrize("gap", [y - 7, (y - 7) ** 2, absolute(y - 7)])
def test_what_has_a_gap_at_zero_does_not_tend_to_its_value_beside_it(
    gap: Scalar,
) -> None:
    assert (
        decide(gap / (gap + x), "->", number(1), WHERE, VANISHING).word != "proved"
    )  # it is 0 where y is 7


def test_it_must_hold_however_two_names_grow() -> None:
    tending = Tending(large=("s", "t"))
    where = Where({"s": POSITIVE, "t": POSITIVE})
    s, other = where.name("s"), where.name("t")
    found = decide(s / (s + other), ">=", number(Fraction(2, 5)), where, tending)
    assert found.word == "refuted"
    assert {name: str(path) for name, path in found.along.items()} == {"t": "2 s"}


def test_a_name_that_stays_away_from_zero_cannot_vanish() -> None:
    where = Where({"x": Range(1)})
    assert decide(where.name("x"), "~", number(0), where, VANISHING).word == "undecided"


def test_vectors_differ_where_one_coordinate_does() -> None:
    free = parameter("z")
    assert (
        decide_all(
            {"first": (free, free), "second": (free, free + 1)}, "!=", Where()
        ).word
        == "proved"
    )
    assert (
        decide_all(
            {"first": (free, number(1)), "second": (free, number(1))}, "!=", Where()
        ).word
        == "refuted"
    )
    assert decide_all(
        {"first": (free, number(1)), "second": (free, free)}, "!=", Where()
    ).values == {"z": 1}


def test_nothing_is_proved_under_what_never_happens() -> None:
    assert (
        decide(n, ">=", number(5), WHERE.given((n, "<", number(1)))).word == "undecided"
    )


def test_what_does_not_move_tends_to_itself_only() -> None:
    near = 1 / (2 + 1 / (100 * n))
    assert decide(near, "~", number(Fraction(1, 2)), WHERE).word == "proved"
    assert decide(near, "->", number(Fraction(1, 2)), WHERE).word == "undecided"
    assert decide(near, "->", 100 * n / (200 * n + 1), WHERE).word == "proved"


@pytest.mark.parametrize(
    ("text", "there"),
    [
        (
            r"$q = \lambda(k_a+k_b)$, $\lambda \to 0$",
            {"n": 3, "left": "0.3333"},
        ),  # the limit breaks it
        (
            r"$q = \ln(n/\epsilon) |n - 123457| (k_a+k_b)$",
            {"n": 123457},
        ),  # a number that the answer writes
    ],
)
def test_limits_and_the_numbers_of_an_answer_are_tried(
    text: str, there: dict[str, object]
) -> None:
    verdict = grade(load_exercises()["averaging-two"], Written(text))
    assert verdict.word == "refuted"
    assert there.items() <= dict(verdict.counterexample or {}).items()
