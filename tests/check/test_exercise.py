from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headwright.check import check
from headwright.check.exercise import load_exercises, parse_exercise
from headwright.errors import InputError

COPY = r"""
id = "copy-first"
title = "Copy the first value"
statement = "Copy."
answer = ["q"]
goals = ['\alpha_1 \ge 1 - \delta']
[parameters]
n = { integer = true, at_least = 2 }
delta = { above = 0, below = 1 }
[keys]
are = "orthonormal"
named = ["1"]
"""

LISTED = (
    "copying copying-separated averaging-two averaging-two-bounded averaging-gaussian averaging-scaled "
    "averaging-scaled-discrete two-heads two-heads-scaled two-heads-discrete taking-apart self-attention-copy "
    "self-attention-route permutation positions-help positions-unique energy kth-singular-value low-rank "
    "averaging-three averaging-many averaging-all-but-one averaging-varies score-varies temperature-cold "
    "temperature-hot convex-hull weights-distribution causal-mask causal-previous same-word relative-positions"
)


def test_every_exercise_is_there() -> None:
    assert set(load_exercises()) == set(LISTED.split())


def test_an_exercise_needs_no_code(tmp_path: Path) -> None:
    (tmp_path / "copy-first.toml").write_text(COPY)
    assert check("copy-first", r"q = \ln((n-1)/\delta) k_1", exercises=tmp_path).word == "proved"
    assert check("copy-first", r"q = \ln(1/\delta) k_1", exercises=tmp_path).word == "refuted"


def test_an_own_exercise_replaces_a_built_in_one_of_the_same_id(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(COPY.replace("copy-first", "averaging-two"))
    assert load_exercises(tmp_path)["averaging-two"].title == "Copy the first value"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("are = ", "were = "), "keys are is missing"),
        (("[keys]", "[kyes]"), "kyes"),
        ((r"\ge 1 - \delta", r"\ge 1 - \dleta"), "dleta"),
        (('answer = ["q"]', 'answer = "q"'), "answer"),
        (("at_least = 2", 'at_least = "two"'), "'two' is not a number"),
        (('id = "copy-first"', 'id = "Copy First"'), "id"),
        (('named = ["1"]', "named = []"), "named"),
        (("[keys]", "[keys"), "not valid TOML"),
        (('[keys]\nare = "orthonormal"\nnamed = ["1"]', ""), "exactly one of the settings"),
    ],
)
def test_a_bad_file_is_told_where_and_why(change: tuple[str, str], said: str) -> None:
    assert change[0] in COPY
    with pytest.raises(InputError) as caught:
        parse_exercise(COPY.replace(*change))
    assert said in str(caught.value)


def test_a_folder_without_exercises_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no exercises"):
        load_exercises(tmp_path)
    with pytest.raises(InputError, match="is not a folder"):
        load_exercises(tmp_path / "nowhere")


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "huge.toml").write_text("#" * 200_000)
    with pytest.raises(InputError, match="longer than"):
        load_exercises(tmp_path)


def test_an_unknown_exercise_is_named() -> None:
    with pytest.raises(InputError, match="no exercise 'averaging-to'"):
        check("averaging-to", "q = k_a")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"exercise": 3}, "there is no exercise 3"),
        ({"exercises": 3}, "exercises is 3: expected text or a path"),
    ],
)
def test_an_argument_of_another_type_is_refused_by_a_sentence(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        check(**{"exercise": "averaging-two", **given})
