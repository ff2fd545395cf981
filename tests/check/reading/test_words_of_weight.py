"""'almost all of its weight' says how the pattern concentrates; 'almost' elsewhere leaves open what is meant."""

from __future__ import annotations

import pytest

from headwright.check.checker import check_answer
from headwright.check.exercise import load_exercises
from headwright.check.reading.written import Written

CONDITION = "when $k_j^\\top q$ is much larger than all other scores $k_i^\\top q$"


@pytest.mark.parametrize("words", ["almost all its weight", "nearly all of its mass", "almost all of the weight"])
def test_a_condition_behind_words_about_the_weight_is_read(words: str) -> None:
    verdict = check_answer(load_exercises()["copying"], Written(f"The pattern puts {words} on $\\alpha_j$ {CONDITION}."))
    assert verdict.word == "proved"


def test_almost_all_keys_are_not_all_keys() -> None:
    verdict = check_answer(load_exercises()["copying"], Written("For almost all keys $k_j^\\top q \\gg k_i^\\top q$."))
    assert verdict.word != "proved"
