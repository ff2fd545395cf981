"""Questions are told from answers."""

from __future__ import annotations

import pytest

from headwright.check.sheets.document import asks, spoken
from headwright.check.sheets.outline import outline


@pytest.mark.parametrize(
    "text",
    [
        "Find an expression for $q$.",
        "**Describe** (in one sentence) what happens.",
        "Using the basis $a_1, \\dots, a_p$, construct a matrix.",
        "What must be true of $q$?",
        "Consider two keys. Show that they differ.",
        "To show: $Z_p = P Z$.",
        "Now prove it.",
    ],
)
def test_orders_and_questions_ask(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize(
    "text",
    [
        "We find that $q$ works.",
        "The designs show a pattern.",
        "This shows that it holds.",
        "Since the keys are orthonormal, $k_a^\\top q = 1$.",
        "$$q = k_a$$",
    ],
)
def test_statements_do_not_ask(text: str) -> None:
    assert not asks(text)


def _said(text: str, *, marks: bool = False) -> list[int]:
    return [line.number for line in spoken(outline(text), marks=marks).said if line.text.strip()]


def test_what_follows_the_question_is_the_answer() -> None:
    assert _said("Find $q$.\n\nTake $q = k_a$.\n") == [3]
    assert _said("Is it unique?\n\nYes, it is.\n\nIs that all? It is.\n") == [3, 5]


def test_an_answer_in_the_line_of_its_question_is_found() -> None:
    found = spoken(outline("Can they be the same? No, since $t = t'$."))
    assert [line.text.strip() for line in found.said] == ["No, since $t = t'$."]


def test_hints_and_captions_are_no_answers() -> None:
    assert _said("Find $q$.\n\nHint: a multiple of $k_a$ is $\\lambda k_a = k$.\n\nFigure 1: the keys.\n") == []


def test_what_is_marked_is_the_answer_and_what_asks_before_it_is_not() -> None:
    assert _said("Find $q$ with $c = v_a$.\n\nSolution: $q = k_a$\n") == [3]
    assert _said("The keys are orthonormal, and $n = 3$.\n\nSolution: $q = k_a$\n") == [3]


def test_what_was_said_before_a_proof_stays() -> None:
    assert _said("$M = A A^\\top$ does it.\n\nProof: $A^\\top B = 0$.\n") == [1, 3]
    assert _said("Therefore $q = k_a$.\n\nAnswer: $q = k_a$.\n") == [1, 3]


def test_where_answers_are_marked_others_are_none() -> None:
    assert _said("The layer computes $Q = X W_Q$.\n", marks=True) == []
    assert _said("The layer computes $Q = X W_Q$.\n") == [1]
