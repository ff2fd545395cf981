"""Tokens: a causal mask hides what comes later."""

from __future__ import annotations

import pytest

from headwright.check.checker import Formula, check_answer
from headwright.check.exercise import BUILT_IN, load_exercises, parse_exercise

EXERCISE = load_exercises()["causal-mask"]
UNMASKED = parse_exercise((BUILT_IN / "causal-mask.toml").read_text().replace('mask = "causal"', ""))


@pytest.mark.parametrize(
    "claim",
    [
        r"\alpha_{11} = 1",
        r"\alpha_{12} = 0",
        r"\alpha_{21} + \alpha_{22} = 1",
        r"\alpha_{23} = 0",
        r"\alpha_{33} \approx 1",
        "c_1 = x_1",
    ],
)
def test_a_causal_mask_hides_what_comes_later(claim: str) -> None:
    part = check_answer(EXERCISE, [Formula(claim, 1)]).parts[0]
    assert part.word == "proved"
    assert part.replayed
    if claim != r"\alpha_{33} \approx 1":
        assert check_answer(UNMASKED, [Formula(claim, 1)]).parts[0].word == "refuted"


def test_what_is_true_without_the_mask_does_not_speak_of_it() -> None:
    assert check_answer(EXERCISE, [Formula(r"c_1 = x_1", 1)]).word == "proved"
    assert (
        check_answer(EXERCISE, [Formula(r"c_1 = \alpha_{11} x_1 + \alpha_{12} x_2 + \alpha_{13} x_3", 1)]).word
        == "no answer"
    )
