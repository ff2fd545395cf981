"""Notation that is read is judged by what it says, and what has no meaning in an exercise is never proved."""

from __future__ import annotations

import pytest

from headwright.check.checker import check_answer
from headwright.check.exercise import load_exercises
from headwright.check.reading.written import Formula

RATIO = r"\alpha_1/\alpha_2 = \begin{cases} \sqrt{n/\epsilon} & c = %s \\ \sqrt{\epsilon/n} & c = %s \end{cases}"
Q = r"q = \lambda(k_a + k_b), \lambda \gg n"


@pytest.mark.parametrize(
    ("exercise", "formulas", "word"),
    [
        ("averaging-two", [r"q = t(k_a + k_b), t \text{ large}"], "proved"),
        ("averaging-two", [r"q = \lambda(ka + kb), \quad \lambda \in \mathbb{R}"], "proved"),
        (
            "averaging-two",
            [Q, r"\alpha_i \approx \begin{cases} 1/2 & i \in \{a, b\} \\ 0 & \text{otherwise} \end{cases}"],
            "proved",
        ),
        (
            "averaging-two",
            [Q, r"\alpha_i \approx \begin{cases} 1/3 & i \in \{a, b\} \\ 0 & \text{otherwise} \end{cases}"],
            "refuted",
        ),
        ("averaging-two", [Q, r"k_i^\top q = \lambda, \quad i = 1, \dots, n"], "refuted"),
        ("two-heads", [r"q^{(1)} = \lambda\mu_a, q^{(2)} = \lambda\mu_b, \lambda \gg 1"], "proved"),
        ("copying", [r"k_j^\top q \gg \max_{i \ne j} k_i^\top q"], "proved"),
        (
            "averaging-scaled-discrete",
            [RATIO % ("3/2", "1/2")],
            "proved",
        ),
        (
            "averaging-scaled-discrete",
            [RATIO % ("1/2", "3/2")],
            "refuted",
        ),
    ],
)
def test_what_is_said_in_other_words_is_judged(exercise: str, formulas: list[str], word: str) -> None:
    assert check_answer(load_exercises()[exercise], [Formula(text, 1) for text in formulas]).word == word


@pytest.mark.parametrize(
    ("exercise", "text"),
    [
        ("averaging-two", r"q \propto k_a + k_b"),
        ("averaging-two", r"= \lambda(k_a + k_b)"),
        ("averaging-two", r"\forall \lambda \gg n"),
        ("copying", r"k_j^\top q \gg k_i^\top q \text{ for some } i \ne j"),
        ("copying", r"k_j^\top q \gg k_i^\top q \text{ for } i = 1, \dots, n"),
        ("copying", r"\min_{i \ne j} k_i^\top q \ll k_j^\top q"),
        ("positions-unique", r"\Phi_t \ne \Phi_{t'} \text{ for some } t \ne t'"),
        ("positions-unique", r"\Phi_t \ne \Phi_{t'} \text{ for some integer } k"),
        ("permutation", r"\implies Z_p = P Z"),
        ("self-attention-copy", r"c_2 \in \mathbb{R}^d"),
    ],
)
def test_what_has_no_meaning_there_is_never_proved(exercise: str, text: str) -> None:
    assert check_answer(load_exercises()[exercise], [Formula(text, 1)]).word not in ("proved", "holds")
