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


RIGHT_CASES = [
    "- $g>1$: $c \\approx v_a$\n- $0<g<1$: $c \\approx v_b$",
    "$g>1$ gives $c \\approx v_a$, and $g<1$ gives $c \\approx v_b$.",
    "Long key ($g > 1$): $c \\approx v_a$. Short key ($g<1$): $c \\approx v_b$.",
    "If the key is long ($g>1$), $c \\approx v_a$; if it is short ($g<1$), $c \\approx v_b$.",
    "For $g>1$ the output is $c \\approx v_a$. For $g<1$ the output is $c \\approx v_b$.",
    "In the event $g > 1$ we see $c \\approx v_a$, in the event $g < 1$ we see $c \\approx v_b$.",
    "$c \\approx v_a$ in the case $g>1$, $c \\approx v_b$ in the case $g<1$.",
    "$c \\approx v_a$ ($g>1$), $c \\approx v_b$ ($g<1$).",
    "Long key, $g>1$: $c \\approx v_a$. Short key, $g<1$: $c \\approx v_b$.",
    "- $g>1$ (long): $c \\approx v_a$\n- $g<1$ (short): $c \\approx v_b$",
    "For the long key ($g>1$) we have $c \\approx v_a$, for the short one ($g<1$) we have $c \\approx v_b$.",
    "| case | output |\n|---|---|\n| $g>1$ | $c \\approx v_a$ |\n| $g<1$ | $c \\approx v_b$ |\n",
]


@pytest.mark.parametrize("text", RIGHT_CASES)
def test_a_case_marked_in_any_of_these_ways_is_a_hypothesis(text: str) -> None:
    exercise = load_exercises()["averaging-scaled"]
    assert check_answer(exercise, Written(f"{SCALED}\n\n{text}")).word == "proved"
    wrong = text.replace("v_a", "v").replace("v_b", "v_a").replace("v$", "v_b$")
    assert check_answer(exercise, Written(f"{SCALED}\n\n{wrong}")).word == "refuted"


@pytest.mark.parametrize(
    "text",
    [
        "Some keys ($g > 1$): $c \\approx v_b$.",
        "Not so for long keys ($g > 1$): $c \\approx v_b$.",
        "$g > 1$ gives us no $c \\approx v_b$.",
    ],
)
def test_a_case_among_words_of_weight_is_not_understood(text: str) -> None:
    assert check_answer(load_exercises()["averaging-scaled"], Written(f"{SCALED}\n\n{text}")).word == "undecided"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("If $n = 1$ take $q = 0$. If $n \\ge 2$ take $q = \\lambda(k_a + k_b)$ with large $\\lambda$.", "proved"),
        ("If $n = 1$ take $q = 0$. If $n \\ge 3$ take $q = \\lambda(k_a + k_b)$ with large $\\lambda$.", "undecided"),
        ("If $n = 1$ take $q = 0$.", "refuted"),
        ("$q = \\lambda(k_a + k_b)$ for $\\epsilon > 2$", "refuted"),
    ],
)
def test_a_case_that_never_occurs_harms_no_answer_and_makes_none(text: str, word: str) -> None:
    assert check_answer(load_exercises()["averaging-two"], Written(text)).word == word


@pytest.mark.parametrize(
    "text", ["For example with $q = 0$ we get $r = \\frac13$.", "With $q = 0$ we get $r = \\frac13$."]
)
def test_what_is_said_for_an_object_that_is_only_tried_is_not_refuted(text: str) -> None:
    exercise = load_exercises()["convex-hull"]
    assert check_answer(exercise, Written(f"Take $r = \\alpha_2$, $s = \\alpha_3$. {text}")).word == "undecided"


@pytest.mark.parametrize(
    ("exercise", "text", "word"),
    [
        ("temperature-hot", "$\\tau \\ge n/\\epsilon$", "proved"),
        ("temperature-hot", "$\\tau \\ge 1/\\epsilon$", "refuted"),
        ("temperature-hot", "$\\tau > 0$", "refuted"),
        ("temperature-cold", "Any $\\tau$ with $0 < \\tau \\le 2/\\ln(n/\\epsilon)$.", "refuted"),
    ],
)
def test_a_bound_on_what_is_asked_for_claims_that_every_value_within_it_will_do(
    exercise: str, text: str, word: str
) -> None:
    assert check_answer(load_exercises()[exercise], Written(text)).word == word


def test_a_transpose_in_a_reason_is_no_limit() -> None:
    text = (
        "$\\|A\\|_F^2 = \\operatorname{tr}(A^\\top A) = \\operatorname{tr}(V S U^\\top U S V^\\top)$ "
        "(as $A = U S V^\\top$) $= \\operatorname{tr}(V S^2 V^\\top)$ (as $U^\\top U = I$) "
        "$= \\operatorname{tr}(S^2) = \\sum_{i=1}^d \\sigma_i^2$."
    )
    assert check_answer(load_exercises()["energy"], Written(text)).word == "proved"


def test_a_case_in_brackets_between_two_claims_may_be_that_of_either() -> None:
    text = "(i) ($n=2$) $\\alpha_a = \\frac12$ (ii) ($n>2$) $\\alpha_a < \\frac12$."
    text += " $q=\\lambda(k_a+k_b)$, $\\lambda$ large."
    assert check_answer(load_exercises()["averaging-two"], Written(text)).word == "undecided"


def test_one_value_that_was_not_tried_is_not_said_to_hold() -> None:
    text = "$q=\\ln(n/\\epsilon)(k_a+k_b)$. If $n=3$ and $\\epsilon=\\frac13$ then $\\alpha_a=\\frac{9}{20}$."
    assert check_answer(load_exercises()["averaging-two"], Written(text)).word == "undecided"
    assert check_answer(load_exercises()["averaging-two"], Written(text.replace("20", "19"))).word == "proved"


def test_a_name_of_the_answer_is_told_as_it_was_written() -> None:
    verdict = check_answer(load_exercises()["temperature-hot"], Written("$\\tau \\ge 1/\\epsilon$"))
    assert verdict.counterexample is not None
    assert "tau" in verdict.counterexample
    assert "_own" not in str(verdict)
