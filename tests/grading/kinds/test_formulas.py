"""Formulas as people write them, each with the verdict that was worked out by hand.

Each row: an exercise, definitions, bounds on own names, conditions on scores, and a claim (without one: the goals).
'open' is everything that is neither proved nor refuted.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headwright.formulas import FormulaError, parse
from headwright.formulas import tree as t
from headwright.grading.answer import (
    Answer,
    MisfitError,
    Said,
    UndeterminedError,
    full_name,
)
from headwright.grading.exercise import parsed
from headwright.grading.judging import claims
from headwright.grading.scalars.numbers import at_most_work
from tests.grading.kinds.bench import EXERCISES

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parent / "formulas.jsonl").read_text().splitlines()
]


def _word(row: dict[str, Any]) -> str:
    exercise = EXERCISES[row["exercise"]]
    setting = exercise.kind
    definitions = [parse(text) for text in row.get("definitions", ())]
    named = {
        full_name(node.terms[0]): Said(node.terms[-1], "", 1)  # type: ignore[attr-defined]
        for node in definitions
    }
    given, bounds = (
        [Said(parse(text), text, 1) for text in row.get(key, ())]
        for key in ("given", "conditions")
    )
    answer = Answer(named, tuple(bounds), tuple(given))
    asked = [parsed(source) for source in exercise.goals]
    if "claim" in row:
        asked = [parse(row["claim"])]
    words: set[str] = set()
    with at_most_work():
        court = setting.prover(answer)
        words |= {one.word for one in court.conditions}
        for node in asked:
            said = Said(node, row["claim"], 1) if "claim" in row else None
            for claim in claims(
                node, "statement" if said else "goal", said, whole=setting.whole
            ):
                found = exercise.kind.recheck(answer, court.decide(claim), 0)
                words |= {one.word for one in found}
    return (
        "refuted" if "refuted" in words else "proved" if words == {"proved"} else "open"
    )


def _name(row: dict[str, Any]) -> str:
    said = [
        *row.get("definitions", ()),
        *row.get("conditions", ()),
        *row.get("given", ()),
        row.get("claim", ""),
    ]
    return f"{row['exercise']}: {'; '.join(said)}"


@pytest.mark.parametrize("row", ROWS, ids=_name)
def test_a_formula_has_the_verdict_that_was_worked_out(row: dict[str, Any]) -> None:
    try:
        word = _word(row)
    except (MisfitError, FormulaError, UndeterminedError):
        word = "open"
    assert word == row["word"]


def test_there_are_many_of_each_kind() -> None:
    assert all(
        sum(row["word"] == word for row in ROWS) > least
        for word, least in (("proved", 200), ("refuted", 90))
    )
    assert isinstance(parse("x = 1"), t.Relation)
