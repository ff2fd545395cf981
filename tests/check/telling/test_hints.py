"""Hints: what a student is told before the deadline does not give the solution away."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from headwright.check.autograder.assignment import Assignment
from headwright.check.autograder.gradescope import grade
from headwright.check.checker import check_answer
from headwright.check.exercise import Exercise, load_exercises
from headwright.check.reading.written import Formula
from headwright.check.running.run import Checked
from headwright.check.settings.keys.laws import drawn_as_moments
from headwright.check.sheets.text import Handed
from headwright.check.telling.report import report
from headwright.check.telling.told import Hints, hinted, results, told
from headwright.check.telling.typeset import readable
from headwright.formula import FormulaError, parse
from headwright.formula.show import latex, plain
from headwright.formula.tree import Relation
from tests.check.answers import EMPTY, RIGHT, WRONG

EXERCISES = load_exercises()
MOST = 3  # wrong answers of one exercise
REMEDIES = ("works from", "meant?", "shortest query", "tends to u_", "comes down to")
IDLE = ["", "q", "0 = 0", "1 = 1", "q = ", "q = 0", "M = A A", "c_2 = u_b", r"H_p = P H P^\top"]


def _formulas(answer: str) -> tuple[Formula, ...]:
    return tuple(Formula(text.strip(), line) for line, text in enumerate(answer.split("|||"), start=2))


def _checked(exercise: Exercise, answer: str) -> Checked:
    formulas = _formulas(answer)
    return Checked(Handed("sheet.md", 1, exercise.id, formulas), check_answer(exercise, formulas), 0.0)


def _packed(text: str) -> str:
    return re.sub(r"[\s{}\\]|left|right", "", text)


def _spellings(formula: str) -> list[str]:
    try:
        return [readable(formula), latex(parse(formula))]
    except FormulaError:
        return [readable(formula)]


def _moments(formula: str) -> str:
    """Who says that x ~ N(m, v) has said what the mean and the variance are."""
    try:
        said = drawn_as_moments(parse(formula))
        return f"{plain(said)} {latex(said)}"
    except FormulaError:
        return ""


def _solutions(exercise: Exercise) -> set[str]:
    """Right sides of right answers, in both spellings; names and numbers alone are no solution."""
    answers = [" ||| ".join(answer) for answer in exercise.samples.right] + list(RIGHT.get(exercise.id, ()))
    found = set()
    for answer in answers:
        for formula in _formulas(answer):
            try:
                node = parse(formula.text)
            except FormulaError:
                continue
            if isinstance(node, Relation) and len(node.terms) == 2 and node.comparisons[0] in ("=", "~"):
                found |= {_packed(formula.text), _packed(plain(node))}
                found |= {_packed(said) for said in (plain(node.terms[1]), latex(node.terms[1])) if len(said) > 5}
    goals = [said for goal in exercise.goals for said in (goal, readable(goal), latex(parse(goal)))]
    given = _packed(exercise.statement + " ".join(goals))
    return {solution for solution in found if solution not in given}


def _shown(each: Checked, hints: Hints) -> list[str]:
    """All that a student may see."""
    less = hinted(replace(each, verdict=replace(each.verdict, curve=None)), hints)  # no picture: it has no formulas
    graded = grade([each], assignment=Assignment(hints=hints))
    visible = [test["output"] for test in graded["tests"] if test["visibility"] == "visible"]
    return ["\n".join(told(less)), report([less]), json.dumps(results([less])), *visible, json.dumps(graded["output"])]


@pytest.mark.parametrize("name", sorted(EXERCISES))
def test_no_solution_is_given_away(name: str) -> None:
    exercise = EXERCISES[name]
    wrong = [" ||| ".join(answer) for answer in exercise.samples.wrong]
    wrong += [*WRONG.get(name, ())[:MOST], *EMPTY.get(name, ()), *IDLE, exercise.skeleton]
    for answer in wrong:
        each = _checked(exercise, answer)
        if each.verdict.word == "proved":
            continue
        solutions = _solutions(exercise)
        own = _packed(" ".join([answer, *(said for part in answer.split("|||") for said in _spellings(part))]))
        own += _packed(" ".join(_moments(part) for part in answer.split("|||")))
        for shown in (text for hints in ("none", "direction") for text in _shown(each, hints)):
            packed = _packed(shown)
            for solution in solutions:
                assert solution in own or solution not in packed, (answer, solution, shown)
            for remedy in REMEDIES:
                assert remedy not in shown, (answer, remedy, shown)


def test_what_is_proved_does_not_solve_the_next_exercise() -> None:
    each = _checked(EXERCISES["averaging-two"], r"q = \lambda(k_a + k_b)")
    assert "ln((n - 2)/epsilon)" in "\n".join(told(each))
    for shown in _shown(each, "direction"):
        assert "ln" not in shown.replace("aria-labelledby", "")


def test_the_direction_names_the_statement_and_the_instance() -> None:
    each = _checked(EXERCISES["averaging-scaled-discrete"], r"\alpha_1/\alpha_2 = e^{ct}")
    assert each.verdict.reason.endswith("alpha_1/alpha_2 is 0.5, not equal to 2")
    said = hinted(each, "direction").verdict
    assert (
        said.reason
        == "alpha_1/alpha_2 = exp(c t) for c = 0.5 is false, for instance with c = 1/2, n = 2, epsilon = 1/2"
    )
    assert said.counterexample == {"c": "1/2", "n": 2, "epsilon": "1/2"}


def test_the_direction_says_that_only_the_length_is_wrong() -> None:
    each = _checked(EXERCISES["averaging-two"], "q = k_a + k_b")
    assert hinted(each, "direction").verdict.suggestion == "the direction is right, the length is not"


def test_a_transpose_that_would_solve_it_is_not_proposed() -> None:
    each = _checked(EXERCISES["taking-apart"], "M = A A")
    assert "is A^T meant?" in "\n".join(told(each))
    assert "meant" not in "\n".join(told(hinted(each, "direction")))


def test_a_remedy_for_spelling_stays() -> None:
    each = _checked(EXERCISES["averaging-two"], "q = k_a +")
    assert "fix: add what comes after the sign" in "\n".join(told(hinted(each, "direction")))
    bare = "\n".join(told(hinted(each, "none")))
    assert "fix:" not in bare
    assert "^" in bare


@pytest.mark.parametrize("hints", ["none", "direction", "full"])
@pytest.mark.parametrize("answer", ["q = k_a", r"q = \lambda(k_a + k_b)", "q = ", r"\alpha_a \ge 0"])
def test_the_word_is_the_same_whatever_is_told(hints: Hints, answer: str) -> None:
    each = _checked(EXERCISES["averaging-two"], answer)
    assert hinted(each, hints).verdict.word == each.verdict.word
    if hints == "none" and each.verdict.word != "unreadable":
        assert hinted(each, hints).verdict.parts == ()
