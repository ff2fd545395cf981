"""What a student reads: no names of the checker's own, nothing twice, nothing that says nothing."""

from __future__ import annotations

import re

import pytest

from headwright.check.checker import check_answer
from headwright.check.exercise import load_exercises
from headwright.check.reading.written import Formula
from headwright.check.running.run import Checked
from headwright.check.sheets.text import Handed
from headwright.check.telling.told import told
from headwright.check.verdict import by_what

EXERCISES = load_exercises()
ANSWERS = [
    ("averaging-two", "q = k_a"),
    ("averaging-two", r"q = \lambda(k_a + k_b) ||| c = v_a"),
    ("averaging-two", r"q = \lambda"),
    ("averaging-two", ""),
    ("averaging-two-bounded", r"q = \lambda(k_1 + k_2)"),
    ("averaging-three", r"q = \ln(n/\epsilon)(k_a + k_b + k_c) ||| c \approx \frac13(v_a + v_b + v_c)"),
    ("averaging-all-but-one", "q = -k_1"),
    ("averaging-scaled", r"c \approx v_a"),
    ("averaging-varies", r"\operatorname{Var}(\alpha_a) \to 0"),
    ("copying", r"k_j^\top q \ge 100"),
    ("convex-hull", r"r = \alpha_2 ||| s = \alpha_3"),
    ("low-rank", "B = A"),
    ("permutation", "Q_p = Q"),
    ("self-attention-copy", r"c_2 \approx u_b"),
    ("self-attention-route", "V = 0 ||| K = I ||| Q = I"),
    ("self-attention-route", r"V = u_b u_b^\top ||| K = I ||| Q = u_c u_d^\top + u_d u_a^\top"),
    ("two-heads", r"q_1 = \lambda(\mu_a + \mu_b) ||| q_2 = \lambda(\mu_a + \mu_b)"),
    ("two-heads-discrete", "q_1 = t u ||| q_2 = t k_2"),
    ("two-heads-discrete", "q_1 = 2 t u"),
    ("two-heads-scaled", r"q_1 = \lambda\mu_a ||| q_2 = \lambda\mu_a"),
]
UNTOLD = [
    r"\b(words|shapes|sizes|names|left) = ", r"e\+\d", "-1 k_", "the two are", "exact algebra, exact algebra",
    "bug worth",
    r"\(next to", "None", "score_", "closeness", "y_others", r"given .*\\", r"tends to (\S+), not to \1\b",
]  # fmt: skip


@pytest.mark.parametrize(("exercise", "answer"), ANSWERS)
def test_a_verdict_is_in_plain_words(exercise: str, answer: str) -> None:
    formulas = tuple(Formula(text.strip(), line) for line, text in enumerate(answer.split("|||"), start=2))
    checked = Checked(Handed("a.md", 1, exercise, formulas), check_answer(EXERCISES[exercise], formulas), 0.0)
    lines = told(checked)
    for pattern in UNTOLD:
        assert not re.search(pattern, "\n".join(lines)), (pattern, lines)
    assert len(set(lines)) == len(lines)
    assert not any(line.strip() == "^" and not lines[k - 1].strip() for k, line in enumerate(lines))


def test_each_method_is_named_once() -> None:
    assert by_what("exact algebra", "dominant growth, exact algebra and z3") == (
        " (by exact algebra, comparing growth and the solver z3)"
    )
    assert by_what("z3, and that pi is transcendental") == " (by z3, and that pi is transcendental)"


def test_a_missing_object_is_no_answer_and_has_no_caret_in_nowhere() -> None:
    found = check_answer(EXERCISES["averaging-scaled"], [Formula(r"c \approx v_a", 1)])
    assert (found.word, found.reason) == ("no answer", "q is used, and no formula defines it: write q = ...")


def test_a_key_named_c_is_not_the_output() -> None:
    for right in (r"q = \lambda(k_a + k_b + k_c)", r"q = -\lambda \sum_{i \ne a, b, c} k_i"):
        assert check_answer(EXERCISES["averaging-three"], [Formula(right, 1)]).word == "proved"
    found = check_answer(EXERCISES["averaging-three"], [Formula("q = c(k_a + k_b + k_c)", 1)])
    assert "c is the output" in found.reason


def test_what_fails_for_large_names_says_so() -> None:
    found = check_answer(EXERCISES["averaging-two-bounded"], [Formula(r"q = \lambda(k_1 + k_2)", 1)])
    assert found.reason.endswith("is false for large lambda")
