"""Tables: each row is a case."""

from __future__ import annotations

import pytest

from headwright.check.checker import check_answer
from headwright.check.exercise import load_exercises
from headwright.check.reading.statements import read
from headwright.check.reading.written import Written

LONG, SHORT = r"\sqrt{n/\epsilon}", r"\sqrt{\epsilon/n}"


def table(first: str, second: str) -> str:
    return rf"""| $c$ | $\alpha_1/\alpha_2$ |
|-----|---------------------|
| $3/2$ | ${first}$ |
| $1/2$ | ${second}$ |
"""


@pytest.mark.parametrize(("first", "second", "word"), [(LONG, SHORT, "proved"), (SHORT, LONG, "refuted")])
def test_every_row_is_judged_for_its_case(first: str, second: str, word: str) -> None:
    exercise = load_exercises()["averaging-scaled-discrete"]
    assert check_answer(exercise, Written(table(first, second))).word == word


def test_a_statement_stands_in_the_line_of_its_row() -> None:
    assert [one.line for one in read(Written(table("x", "y"), 10)).statements] == [12, 13]


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (r"| $g > 1$ | $\approx v$ |", r"c \approx v"),
        ("| $g > 1$ | $c = v$ |", "c = v"),
        ("| $g > 1$ | $v$ |", "c = v"),
    ],
)
def test_a_cell_is_read_under_its_name(row: str, text: str) -> None:
    (one,) = read(Written(f"| length | $c$ |\n|---|---|\n{row}\n")).statements
    assert (one.text, len(one.under)) == (text, 1)


def test_a_case_in_words_is_not_understood_and_nothing_is_refuted_for_it() -> None:
    (one,) = read(Written("| key | output |\n|---|---|\n| long | $c = v$ |\n")).statements
    assert one.unknown


def test_a_cell_in_words_is_not_passed_over() -> None:
    said = read(Written("| case | output |\n|---|---|\n| $g > 1$ | $v$ |\n")).statements
    assert any(one.why for one in said)


@pytest.mark.parametrize(("first", "second", "word"), [("v_a", "v_b", "undecided"), ("v_b", "v_a", "refuted")])
def test_what_a_cell_holds_may_be_meant_approximately(first: str, second: str, word: str) -> None:
    text = "Take $q = \\lambda(\\mu_a + \\mu_b)$ with large $\\lambda$.\n\n| | $c$ |\n|---|---|\n"
    text += f"| $g > 1$ | ${first}$ |\n| $g < 1$ | ${second}$ |\n"
    assert check_answer(load_exercises()["averaging-scaled"], Written(text)).word == word
