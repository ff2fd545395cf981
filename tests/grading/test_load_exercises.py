"""Exercises by their ids: those that come with Headwright, and those of a folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from headwright.grading.exercise import BUILT_IN, load_exercises, read_exercise

FIRST_VERDICT = r"""
import sys
from headwright.grading import check
assert check("averaging-two", r"q = \lambda(k_a + k_b)").word == "proved"
print(*sorted({"numpy", "scipy", "z3"} & set(sys.modules)))
"""


def test_a_file_is_named_for_the_exercise_in_it() -> None:
    assert all(read_exercise(path).id == path.stem for path in BUILT_IN.glob("*.toml"))


def test_ones_own_exercise_takes_the_place_of_one_that_comes_along(
    tmp_path: Path,
) -> None:
    text = (BUILT_IN / "copying.toml").read_text()
    (tmp_path / "mine.toml").write_text(text.replace("Copy one value", "Mine"))
    known = load_exercises(tmp_path)
    assert known["copying"].title == "Mine"
    assert sorted(known) == sorted(load_exercises())
    assert len(known) == len(load_exercises())


def test_a_first_verdict_imports_neither_arrays_nor_a_solver() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", FIRST_VERDICT],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == ""
