"""'for some integer k', however it is said: nobody claims it of every k."""

from __future__ import annotations

import pytest

from headwright.check.checker import check_answer
from headwright.check.exercise import load_exercises
from headwright.check.reading.written import Written


@pytest.mark.parametrize(
    "text",
    [
        "If $\\Phi_t = \\Phi_{t'}$ then $t - t' = 2\\pi m$ for an integer $m$.",
        "This implies $t = t' + 2\\pi k$ for some integer k .",
        "Since the cosines agree too, $t - t' = 2\\pi k$ with an integer $k$.",
    ],
)
def test_an_integer_that_exists_is_not_every_integer(text: str) -> None:
    assert check_answer(load_exercises()["positions-unique"], Written(text)).word != "refuted"


def test_what_is_said_of_every_integer_is_judged() -> None:
    text = "We have $t - t' = 2\\pi k$ for every integer $k$."
    assert check_answer(load_exercises()["positions-unique"], Written(text)).word == "refuted"
