"""No right answer is refuted, no wrong one passes."""

from __future__ import annotations

import pytest

from headwright.check.checker import Formula, check_answer
from headwright.check.exercise import load_exercises
from headwright.check.verdict import Verdict
from tests.check import answers, attacks

EXERCISES = load_exercises()


def verdict_on(exercise: str, answer: str) -> Verdict:
    formulas = [Formula(text, line) for line, text in enumerate(answer.split(" ||| "), 1)]
    return check_answer(EXERCISES[exercise], formulas)


def cases(*tables: dict[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    return [(exercise, answer) for table in tables for exercise, listed in table.items() for answer in listed]


@pytest.mark.parametrize(("exercise", "answer"), cases(answers.RIGHT, attacks.RIGHT))
def test_a_right_answer_is_proved(exercise: str, answer: str) -> None:
    verdict = verdict_on(exercise, answer)
    assert verdict.word == "proved", verdict.reason


@pytest.mark.parametrize(("exercise", "answer"), cases(answers.WRONG, attacks.WRONG))
def test_a_wrong_answer_is_refuted_with_a_counterexample(exercise: str, answer: str) -> None:
    verdict = verdict_on(exercise, answer)
    assert verdict.word == "refuted", verdict.reason
    assert verdict.counterexample
    assert verdict.reason


@pytest.mark.parametrize(("exercise", "answer"), cases(answers.EMPTY, attacks.EMPTY))
def test_what_is_true_and_does_not_answer_is_no_answer(exercise: str, answer: str) -> None:
    verdict = verdict_on(exercise, answer)
    assert verdict.word == "no answer", verdict.reason
    assert verdict.counterexample is None


@pytest.mark.parametrize(("exercise", "answer"), cases(answers.UNREADABLE, attacks.UNREADABLE))
def test_what_has_no_meaning_is_unreadable(exercise: str, answer: str) -> None:
    verdict = verdict_on(exercise, answer)
    assert verdict.word == "unreadable", verdict.reason
    assert "^" in verdict.reason


@pytest.mark.parametrize(("exercise", "answer"), cases(attacks.OPEN))
def test_what_is_true_and_not_proved_is_not_refuted(exercise: str, answer: str) -> None:
    verdict = verdict_on(exercise, answer)
    assert verdict.word in ("proved", "holds", "undecided", "no answer"), verdict.reason


@pytest.mark.parametrize(("exercise", "answer"), cases(attacks.UNPROVED))
def test_what_restricts_the_exercise_or_has_no_meaning_is_not_proved(exercise: str, answer: str) -> None:
    verdict = verdict_on(exercise, answer)
    assert verdict.word in ("refuted", "undecided", "unreadable", "no answer"), verdict.reason
