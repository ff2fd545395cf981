"""What becomes of statements: sums with nothing in them, names defined anew, vectors of two kinds."""

from __future__ import annotations

import pytest

from headwright.check.checker import Written, check_answer
from headwright.check.exercise import load_exercises

EXERCISES = load_exercises()
CONDITION = r"$k_j^\top q \gg k_i^\top q$ for all $i \ne j$, so "


@pytest.mark.parametrize(
    "said",
    [r"$c \approx 1 \cdot v_j + 0 \cdot \sum_{i \ne j} v_i$", r"$c \approx v_j + \sum_{i \ne j} 0 \cdot v_i$"],
)
def test_what_is_multiplied_by_0_is_left_out(said: str) -> None:
    assert check_answer(EXERCISES["copying"], Written(CONDITION + said)).word == "proved"


def test_twice_a_value_is_not_the_value() -> None:
    assert check_answer(EXERCISES["copying"], Written(CONDITION + r"$c \approx 2 \cdot v_j$")).word == "refuted"


@pytest.mark.parametrize(("output", "word"), [("u_a + u_d", "proved"), ("u_b", "refuted"), ("u_a", "refuted")])
def test_a_name_defined_anew_counts_for_what_follows_only(output: str, word: str) -> None:
    text = rf"$$c_2 \approx u_a$$ Setting $x_2 = u_a + u_d$, $c_2 \approx {output}$."
    assert check_answer(EXERCISES["self-attention-copy"], Written(text)).word == word


def test_vectors_of_two_kinds_added_in_a_claim_are_wrong_and_not_unreadable() -> None:
    verdict = check_answer(EXERCISES["averaging-two"], Written(r"$q = \lambda(k_a + k_b)$, $k_a + v_a = q$"))
    assert verdict.word == "refuted"
    assert "vectors of different kinds" in verdict.reason


@pytest.mark.parametrize(
    "text",
    [
        r"Let $\epsilon = 3\gamma$ and $q = \ln(n/(3\gamma))(k_a + k_b)$.",
        r"$q = \ln(\frac{4n}{\theta})(k_a + k_b)$ with $\frac{\theta}{4} = \epsilon$.",
        r"Put $\epsilon = n e^{-x}$. Then $q = x(k_a + k_b)$.",
        r"Write $\epsilon = e^{-r}$ with $r > 0$. Take $q = (\ln n + r)(k_a + k_b)$.",
    ],
)
def test_a_given_number_in_terms_of_a_new_name_says_what_that_name_is(text: str) -> None:
    verdict = check_answer(EXERCISES["averaging-two"], Written(text))
    assert verdict.word == "proved", verdict.reason


@pytest.mark.parametrize(
    "text",
    [
        r"Let $\epsilon = 1/m$. Then $q = \ln(n m)(k_a + k_b)$.",  # m looks like an integer
        r"Let $n = 2x$. Then $q = \ln(2x/\epsilon)(k_a + k_b)$.",  # and here x does
        r"Let $\epsilon = x^2 - 3$. Then $q = \ln(n/(x^2 - 3))(k_a + k_b)$.",
    ],
)
def test_a_new_name_that_is_not_solved_for_decides_nothing(text: str) -> None:
    assert check_answer(EXERCISES["averaging-two"], Written(text)).word == "undecided"


def test_a_renamed_number_is_not_another_one() -> None:
    text = r"Let $\epsilon = 2\gamma$ and $q = \ln(n/(5\gamma))(k_a + k_b)$."
    assert check_answer(EXERCISES["averaging-two"], Written(text)).word == "refuted"
