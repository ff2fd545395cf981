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
