"""Answers written by people who knew the exercises and not the checker: each keeps the verdict it has earned.

`as_written.jsonl` has their words, what they are (right, wrong, empty) and the verdict reached; those that are `tried`
were written to fool it, after a look at its verdicts. A right answer is never refuted, a wrong or empty one never
passes; one that was decided stays decided.
"""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path

import pytest

from headwright.check.checker import Written, check_answer
from headwright.check.exercise import load_exercises

EXERCISES = load_exercises()
LINES = (Path(__file__).parent / "as_written.jsonl").read_text().splitlines()
ANSWERS = sorted((json.loads(line) for line in LINES), key=lambda one: str(one["exercise"]))
FALSE = {"right": {"refuted"}, "wrong": {"proved", "holds"}, "empty": {"proved", "holds"}}
GOOD = {"right": {"proved"}, "wrong": {"refuted", "no answer"}, "empty": {"no answer"}}


@pytest.mark.parametrize(
    "answers", [pytest.param(list(group), id=name) for name, group in groupby(ANSWERS, key=lambda one: one["exercise"])]
)
def test_no_verdict_is_false_and_none_is_lost(answers: list[dict[str, str]]) -> None:
    for one in answers:
        word = check_answer(EXERCISES[one["exercise"]], Written(one["text"])).word
        assert word not in FALSE[one["label"]], one["text"]
        if one["verdict"] in GOOD[one["label"]]:
            assert word in GOOD[one["label"]], one["text"]


@pytest.mark.parametrize(("label", "share"), [("right", 0.62), ("wrong", 0.79)])
def test_most_are_decided(label: str, share: float) -> None:
    mine = [one["verdict"] in GOOD[label] for one in ANSWERS if one["label"] == label and "tried" not in one]
    assert len(mine) > 50
    assert sum(mine) > share * len(mine)
