"""The protocol is the only way in: nothing outside of the kinds asks which kind an exercise is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from headwright.errors import InputError
from headwright.grading.exercise import load_exercises, parse_exercise
from headwright.grading.kinds import kind

GRADING = Path(kind.__file__).parents[1]
ONE_WAY_IN = "headwright.grading.kinds.kind"


def _modules_outside_kinds() -> list[Path]:
    return [
        path
        for path in sorted(GRADING.rglob("*.py"))
        if path.relative_to(GRADING).parts[0] != "kinds"
    ]


def test_nothing_outside_asks_for_a_kind() -> None:
    names = "|".join(kind.kind_names())
    asked = re.compile(
        rf"exercise\.({names})\b|kind_name *==|(?i:isinstance\([^)]*({names})(kind|prover))"
    )
    for path in _modules_outside_kinds():
        assert not asked.search(path.read_text()), path


def test_nothing_outside_imports_from_a_kind() -> None:
    inside = re.compile(r"^from (headwright\.grading\.kinds[\w.]*)", re.MULTILINE)
    for path in _modules_outside_kinds():
        assert set(inside.findall(path.read_text())) <= {ONE_WAY_IN}, path


def test_every_kind_has_an_exercise_and_what_the_rest_asks() -> None:
    used = {exercise.kind_name for exercise in load_exercises().values()}
    assert used == set(kind.kind_names())
    for exercise in load_exercises().values():
        assert isinstance(exercise.kind, kind.ExerciseKind)
        assert exercise.kind.table is getattr(exercise, exercise.kind_name)


def test_a_table_that_is_nearly_a_kind_is_named() -> None:
    with pytest.raises(InputError, match=r"did you mean \[keys\] where it says kyes"):
        parse_exercise('id = "a"\ntitle = "a"\nstatement = "a"\n[kyes]\n')
