"""Words that refer to something: names for the weights of a head, the difference of two scores."""

from __future__ import annotations

import pytest

from headwright.check.checker import check_answer
from headwright.check.exercise import load_exercises
from headwright.check.reading.statements import read
from headwright.check.reading.written import Written

HEADS = r"Set $q_1 = \lambda \mu_a$ and $q_2 = \lambda \mu_b$ for a large $\lambda$. "


def verdict(exercise: str, text: str) -> str:
    return check_answer(load_exercises()[exercise], Written(text)).word


@pytest.mark.parametrize(
    ("said", "word"),
    [
        (r"If the $\beta_i$ are the weights corresponding to $q_2$, then $\beta_b \approx 1$.", "proved"),
        (r"If the $\beta_i$ are the weights corresponding to $q_2$, then $\beta_a \approx 1$.", "refuted"),
        (
            r"If the $\alpha_i$ are the attention weights of $q_1$ and the $\beta_i$ are the weights of $q_2$, then "
            r"$\alpha_a \approx 1$ and $\beta_a \approx 0$.",
            "proved",
        ),
        (r"If the $\alpha_i$ are the weights corresponding to $q_2$, then $\alpha_a \approx 1$.", "refuted"),
        (r"The $\beta_i$ are the weights of $q_3$, so $\beta_a \approx 0$.", "undecided"),
    ],
)
def test_names_for_the_weights_of_a_head_are_understood(said: str, word: str) -> None:
    assert verdict("two-heads", HEADS + said) == word


def test_a_condition_beside_a_name_stays_a_condition() -> None:
    text = r"If the $\alpha_i$ are the weights corresponding to $q_1$ and $\alpha_a \approx \frac12$, it works."
    assert verdict("two-heads", HEADS + text) not in ("proved", "refuted")


@pytest.mark.parametrize(("said", "role"), [("is", "claim"), ("in logits is", "claim"), ("in length is", "unclear")])
def test_the_difference_is_that_of_the_two_scores_before(said: str, role: str) -> None:
    last = read(Written(f"$s_1 = 3 t$. $s_2 = t$. The difference {said} $2 t$.")).statements[-1]
    assert last.role == role
    assert role == "unclear" or (last.text == "s_1 - s_2 = 2 t" and last.loose == "room")
