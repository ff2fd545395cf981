"""Chains over several displays: what continues what, and the line of every statement."""

from __future__ import annotations

from headwright.check.reading.statements import read
from headwright.check.reading.written import Written


def test_a_remark_beside_a_step_does_not_take_over_the_chain() -> None:
    text = "$$H = P P^\\top X \\quad (\\text{since } P^\\top P = I) \\quad (1)$$\n\n$$= X \\quad (2)$$\n"
    first, remark = read(Written(text, 5)).statements
    assert first.text.split() == ["H", "=", "P", "P^\\top", "X", "\\\\", "=", "X"]
    assert (remark.role, remark.text, remark.line) == ("reason", "P^\\top P = I", 5)


def test_a_statement_in_a_later_line_of_a_formula_has_that_line() -> None:
    text = "So\n\n$$\\begin{aligned}\na &= b \\\\\nc &= d\n\\end{aligned}$$\n"
    assert [(one.text, one.line) for one in read(Written(text, 10)).statements] == [("a &= b", 13), ("c &= d", 14)]
