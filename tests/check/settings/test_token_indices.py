"""Weights between tokens have two indices, however they are written, and are given: nobody defines them anew."""

from __future__ import annotations

import pytest
from headwright.check.reading.written import Written

from headwright.check.checker import check_answer
from headwright.check.exercise import load_exercises

OBJECTS = (
    "Set $V = (1/\\beta^2)(u_b u_b^\\top - u_c u_c^\\top)$, $K = I$ "
    "and $Q = (1/\\beta^2)(u_c u_d^\\top + u_d u_a^\\top)$. "
)
MORE, LESS = "\\frac{\\exp(\\beta^2)}{\\exp(\\beta^2)+2}", "\\frac{1}{\\exp(\\beta^2)+2}"


def _word(said: str) -> str:
    return check_answer(load_exercises()["self-attention-route"], Written(OBJECTS + said)).word


@pytest.mark.parametrize("name", ["\\alpha_{13}", "\\alpha_{1,3}"])
def test_a_weight_is_no_name_to_be_defined(name: str) -> None:
    assert _word(f"Then ${name} = {MORE}$.") == "proved"
    assert _word(f"Then ${name} = 1$.") == "refuted"


def test_cases_of_an_index_are_the_tokens() -> None:
    cases = f"Then $$\\alpha_{{1j}} = \\begin{{cases}} {MORE} & j = 3 \\\\ {LESS} & j \\neq 3 \\end{{cases}}$$"
    assert _word(cases) == "proved"
    assert _word(cases.replace("\\neq 3", "\\neq 2")) == "refuted"
    assert _word(cases.replace("+2} & j = 3", "+3} & j = 3")) == "refuted"


def test_a_written_0_is_a_vector_beside_one() -> None:
    assert _word("Note that $v_2 = 0$.") == "proved"
    assert _word("Note that $v_1 = 0$.") == "refuted"
