"""A verdict in plain words, and how an answer was read."""

from __future__ import annotations

from headwright.check.checker import Written, check_answer
from headwright.check.exercise import load_exercises
from headwright.check.reading.written import Formula
from headwright.check.running.run import Checked
from headwright.check.sheets.text import Handed
from headwright.check.telling.told import how, told
from headwright.check.verdict import Part, Verdict

PARTS = (
    Part("a = b", "step", "proved", "both sides are 1", 7),
    Part("b = c", "step", "refuted", "b is 1, not 2", 9, {"n": 3}),
    Part("c = 1", "goal", "proved", "c is 1"),
)


def test_statements_of_a_document_are_told_with_their_lines() -> None:
    answer = Handed("homework.txt", 5, "energy", (Formula("a = b = c", 7),), None, "it speaks of 'energy'")
    lines = told(Checked(answer, Verdict("refuted", "one step is false", PARTS), 0.1))
    assert lines[:2] == ["homework.txt:5  energy", "  taken for it: it speaks of 'energy'"]
    assert lines[-4:] == [
        "     7  proved     a = b: both sides are 1",
        "     9  refuted    b = c: b is 1, not 2",
        "                   with n = 3",
        "        proved     c = 1: c is 1",
    ]


def test_a_sheet_with_ids_needs_no_lines() -> None:
    answer = Handed("sheet.md", 5, "energy", (Formula("a = b = c", 7),))
    assert "    proved     a = b: both sides are 1" in told(
        Checked(answer, Verdict("proved", "so", PARTS[:1] * 2), 0.1)
    )


def test_every_statement_is_told_with_its_role_its_case_and_its_fate() -> None:
    text = (
        "We want $\\alpha_a = \\frac12$. Take $q = \\lambda(k_a + k_b)$.\n"
        "If $n = 2$ then $\\alpha_a = \\frac12$. In general it is not $\\alpha_a = \\frac12$."
    )
    verdict = check_answer(load_exercises()["averaging-two"], Written(text, 7))
    assert [" ".join(line.split()) for line in how(verdict.read)][1:] == [
        "line 7 wanted alpha_a = 1/2: what is wanted, not claimed",
        "line 7 defined q = lambda (k_a + k_b)",
        "line 8 claimed alpha_a = 1/2, for n = 2: proved",
        "line 8 not judged alpha_a = 1/2: 'not' was not understood",
    ]


def test_nothing_read_is_nothing_told() -> None:
    assert how(()) == []
