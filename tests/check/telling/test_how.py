"""How an answer was read, in the terminal."""

from __future__ import annotations

from headwright.check.checker import Written, check_answer
from headwright.check.exercise import load_exercises
from headwright.check.telling.how import how


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
