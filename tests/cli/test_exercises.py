"""headwright exercises."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwright.grading.exercise import load_exercises
from tests.cli.running import Headwright


def test_all_are_listed_by_their_names(headwright: Headwright) -> None:
    ran = headwright("exercises")
    assert ran.code == 0
    listed = [line.split()[0] for line in ran.out.partition("\n\n")[0].splitlines()[1:]]
    assert listed == sorted(load_exercises())


def test_one_is_shown_with_a_sheet_to_start_from(headwright: Headwright) -> None:
    ran = headwright("exercises", "averaging-two")
    assert ran.code == 0
    assert "alpha_a >= 1/(2 + epsilon)" in ran.out
    assert "  ## averaging-two" in ran.out
    assert "$" not in ran.out.partition("an answer sheet")[0]
    assert "\\" not in ran.out.partition("an answer sheet")[0]
    assert "check --exercise averaging-two --formula 'q = ...'" in ran.out


@pytest.mark.parametrize("name", sorted(load_exercises()))
def test_every_statement_can_be_read_in_a_terminal(
    name: str, headwright: Headwright
) -> None:
    shown = headwright("exercises", name).out.partition("an answer sheet")[0]
    assert "\\" not in shown
    assert "$" not in shown


def test_json_lists_them(headwright: Headwright) -> None:
    found = headwright("exercises", "--json").json["exercises"]
    assert [each["id"] for each in found] == list(load_exercises())
    assert {"title", "statement", "names", "goals", "sheet"} <= set(found[0])


def test_statements_are_typeset(headwright: Headwright, tmp_path: Path) -> None:
    assert headwright("exercises", "--out", str(tmp_path / "e.html")).code == 0
    assert (tmp_path / "e.html").read_text().count("<math") > 20


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["avraging-two"], "no exercise avraging-two; did you mean averaging-two?"),
        (["--exercises", "nowhere"], "nowhere"),
        (["--out", "no/where.html"], "there is no folder no"),
    ],
)
def test_what_cannot_be_used_is_told(
    arguments: list[str], said: str, headwright: Headwright
) -> None:
    ran = headwright("exercises", *arguments)
    assert ran.code == 2
    assert said in ran.err


def test_lint_says_what_is_wrong_with_an_exercise(
    headwright: Headwright, tmp_path: Path
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'id = "mine"\ntitle = "Mine"\nstatement = "Find $q$."\nanswer = ["q"]\n'
        "goals = ['\\alpha_1 \\ge 1 - \\delta']\n[parameters]\nn = { integer = true, at_least = 2 }\n"
        'delta = { above = 0, small = true }\n[keys]\nare = "orthonormal"\nnamed = ["1"]\n'
    )
    ran = headwright("exercises", "--lint", str(path))
    assert ran.code == 1
    assert "a tolerance without bound" in ran.out
    assert "no right answer" in ran.out


def test_lint_passes_an_exercise_of_ours(headwright: Headwright) -> None:
    from headwright.grading.exercise import BUILT_IN

    ran = headwright("exercises", "--lint", str(BUILT_IN / "averaging-two.toml"))
    assert ran.code == 0
    assert "nothing to complain of" in ran.out


def test_the_list_ends_its_lines_without_spaces(headwright: Headwright) -> None:
    lines = headwright("exercises").out.splitlines()
    assert len(lines) > 30
    assert [line for line in lines if line != line.rstrip()] == []


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            "n = { integer = true, at_least = 2 }\n",
            "",
            "the parameter n, the number of keys, is missing: add n = {",
        ),
        (
            "goals = ['\\alpha_1 \\ge \\frac12']\n",
            "",
            "goals is missing: say in goals what the answer q must satisfy",
        ),
        (
            "n = {",
            "e = { above = 0 }\nn = {",
            "parameters: e always means the number 2.718...; choose another name",
        ),
    ],
)
def test_the_linter_says_what_a_file_lacks(
    before: str, after: str, said: str, headwright: Headwright, tmp_path: Path
) -> None:
    text = r"""
id = "copy-first"
title = "Copy the first value"
statement = 'Orthonormal keys $k_1, \dots, k_n$. Find $q$ with $\alpha_1 \ge \frac12$.'
answer = ["q"]
goals = ['\alpha_1 \ge \frac12']
[parameters]
n = { integer = true, at_least = 2 }
[keys]
are = "orthonormal"
named = ["1"]
[samples]
right = [['q = \ln(n) k_1']]
wrong = [['q = 0 k_1']]
"""
    path = tmp_path / "copy-first.toml"
    path.write_text(text)
    assert headwright("exercises", "--lint", str(path)).code == 0
    assert before in text
    path.write_text(text.replace(before, after))
    ran = headwright("exercises", "--lint", str(path))
    assert ran.code == 2
    assert said in ran.err
