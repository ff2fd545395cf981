"""A value and a colon begin a case."""

from __future__ import annotations

import pytest

from headwright.check.checker import check_answer
from headwright.check.exercise import load_exercises
from headwright.check.reading.written import Written


@pytest.mark.parametrize(
    ("first", "second"), [("c = 3/2", "c = 1/2"), ("c = 1.5", "c = 0.5"), ("c = \\frac32", "c = \\frac12")]
)
def test_a_value_and_a_colon_begin_a_case(first: str, second: str) -> None:
    ratio = "\\frac{\\alpha_1}{\\alpha_2}"
    text = f"${first}$:\n\n$${ratio} = e^{{t/2}}$$\n\n${second}$:\n\n$${ratio} = e^{{-t/2}}$$"
    exercise = load_exercises()["averaging-scaled-discrete"]
    assert check_answer(exercise, Written(text)).word == "proved"
    assert check_answer(exercise, Written(text.replace("-t/2", "t/2"))).word == "refuted"


SCALED = "$q = \\lambda(\\mu_a + \\mu_b)$ with $\\lambda \\to \\infty$. "


@pytest.mark.parametrize(
    "text",
    [
        "Whenever chance brings $g > 1$ we end at $c \\approx v_a$.",
        "One time in two $g < 1$, hence $c \\approx v_b$.",
        "In one event $g > 1$, and there $c \\approx v_a$; in the other $c \\approx v_b$.",
        "Say $g > 1$.\n\n$$c \\approx v_a$$",
        "$c \\approx v_b$ as soon as $g < 1$.",
    ],
)
def test_a_relation_between_given_numbers_is_never_refuted(text: str) -> None:
    assert check_answer(load_exercises()["averaging-scaled"], Written(SCALED + text)).word != "refuted"


@pytest.mark.parametrize("text", ["$\\alpha_a = 2$.", "Since $g > -g - 1$ or so. \n\n## End\n\nNow $\\alpha_a = 2$."])
def test_what_no_case_reaches_is_still_refuted(text: str) -> None:
    assert check_answer(load_exercises()["averaging-scaled"], Written(SCALED + text)).word == "refuted"


def test_a_truth_about_given_numbers_shields_nothing() -> None:
    text = "Take $q = \\lambda(k_a + k_b)$ with large $\\lambda$. As $n \\ge 2$ we get $\\alpha_a = 2$."
    assert check_answer(load_exercises()["averaging-two"], Written(text)).word == "refuted"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("For $n = 2$ take e.g. $q = 0$; for $n > 2$ take $q = \\ln(n/\\epsilon)(k_a + k_b)$.", "proved"),
        ("For $n = 2$ take e.g. $q = k_a$; for $n > 2$ take $q = \\ln(n/\\epsilon)(k_a + k_b)$.", "refuted"),
        ("$q = \\ln(n/\\epsilon)(k_a + k_b)$. If $n = 3$ and $\\epsilon = \\frac12$ then $\\alpha_a = 2$.", "refuted"),
        ("$q = \\ln(n/\\epsilon)(k_a + k_b)$. If $n = 3$ and $\\epsilon = \\frac12$ then $\\alpha_a = \\frac{6}{13}$.",
         "proved"),
    ],
)  # fmt: skip
def test_an_example_and_two_assumptions_stay_in_their_case(text: str, word: str) -> None:
    assert check_answer(load_exercises()["averaging-two"], Written(text)).word == word


@pytest.mark.parametrize(
    ("exercise", "text", "word"),
    [
        ("temperature-hot", "$\\frac{2}{\\tau} = \\epsilon$", "undecided"),
        ("temperature-hot", "$\\tau = 1$, that is $\\frac{2}{\\tau} = 2$", "refuted"),
        ("low-rank", "$B = \\sum_{i=1}^{k-1} \\sigma_i u_i v_i^\\top$ (so $B = 0$ when $k = 1$).", "holds"),
        ("averaging-two", "$q = \\lambda(k_a + k_b)$, $\\lambda$ large. With $\\lambda = 0$ they would all be equal.",
         "undecided"),
        ("averaging-two", "$q = \\lambda k_a$, $\\lambda$ large. With $\\lambda = 0$ all would be equal.", "refuted"),
    ],
)  # fmt: skip
def test_what_is_told_indirectly_or_for_a_while_is_not_refuted(exercise: str, text: str, word: str) -> None:
    assert check_answer(load_exercises()[exercise], Written(text)).word == word
