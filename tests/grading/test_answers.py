"""Labelled answers: no verdict is false, and most are decided.

Each line of answers.jsonl says what is so about an answer: whether what was asked for is right, wrong or not given
(none), and which formulas beside it are false. The labels were given by the people who wrote the answers. On those with
`fooled` an earlier version was wrong. conditions.jsonl has answers that turn on a condition, a second answer, a later
bound or a false step; they were written by somebody who had not read the code. So were those of courses.jsonl, over all
kinds of exercises: labels were fixed before the first run, and those of two were corrected by numbers.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from headwright.grading.exercise import load_exercises
from headwright.grading.grade import grade
from headwright.grading.markdown import Written

EXERCISES = load_exercises()
LINES = (Path(__file__).parent / "answers.jsonl").read_text().splitlines()
ANSWERS = [json.loads(line) for line in LINES]
CONDITIONS = [
    json.loads(line)
    for line in (Path(__file__).parent / "conditions.jsonl").read_text().splitlines()
]
COURSES = [
    json.loads(line)
    for line in (Path(__file__).parent / "courses.jsonl").read_text().splitlines()
]
FALSE = {"right": {"refuted", "missing"}, "wrong": {"proved"}, "none": {"proved"}}
FLOORS = {("right", "proved"): 0.9, ("wrong", "refuted"): 0.9}
EVERY = 10


def judged(answers: list[dict[str, str]]) -> None:
    words: Counter[tuple[str, str]] = Counter()
    called = 0
    for one in answers:
        verdict = grade(EXERCISES[one["exercise"]], Written(one["text"]))
        assert verdict.word not in FALSE[one["asked"]], (one, verdict.reason)
        words[one["asked"], verdict.word] += 1
        false = {
            formula.latex for formula in verdict.formulas if formula.status == "false"
        }
        if one["asked"] == "right":
            called += len(false - set(one.get("false", ())))
    for (label, word), floor in FLOORS.items():
        of = sum(count for (asked, _), count in words.items() if asked == label)
        assert words[label, word] >= floor * of, words
    assert called <= 0.01 * len(answers)


def test_a_part_of_the_labelled_answers_is_judged_well() -> None:
    judged(ANSWERS[::EVERY])


def test_no_verdict_is_false_where_one_was() -> None:
    for one in (one for one in ANSWERS if one.get("fooled")):
        verdict = grade(EXERCISES[one["exercise"]], Written(one["text"]))
        assert verdict.word not in FALSE[one["asked"]], (one, verdict.reason)


def test_answers_that_turn_on_a_condition_get_no_false_verdict() -> None:
    words: Counter[tuple[str, str]] = Counter()
    for one in CONDITIONS:
        verdict = grade(EXERCISES[one["exercise"]], Written(one["text"]))
        assert verdict.word not in FALSE[one["asked"]], (one, verdict.reason)
        words[one["asked"], verdict.word] += 1
    assert words["right", "proved"] >= 53
    assert words["wrong", "refuted"] >= 30


def test_a_part_of_the_answers_to_all_kinds_is_judged_well() -> None:
    judged(COURSES[::EVERY])


@pytest.mark.slow
def test_all_answers_to_all_kinds_are_judged_well() -> None:
    judged(COURSES)


@pytest.mark.slow
def test_all_labelled_answers_are_judged_well() -> None:
    judged(ANSWERS)
