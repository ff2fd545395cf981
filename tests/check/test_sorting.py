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
