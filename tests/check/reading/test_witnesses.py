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
        "Equal rows would be a full turn apart:\n\n$$t - t' = 2\\pi k \\quad \\text{for some integer } k$$\n\n"
        "So $k = 0$ and $t = t'$.",
    ],
)
def test_an_integer_that_exists_is_not_every_integer(text: str) -> None:
    assert check_answer(load_exercises()["positions-unique"], Written(text)).word != "refuted"


def test_what_is_said_of_every_integer_is_judged() -> None:
    text = "We have $t - t' = 2\\pi k$ for every integer $k$."
    assert check_answer(load_exercises()["positions-unique"], Written(text)).word == "refuted"


def test_what_is_given_may_be_repeated() -> None:
    given = "The first two entries are $\\Phi_{t,0} = \\sin(t)$ and $\\Phi_{t,1} = \\cos(t)$. "
    said = "If $\\Phi_t = \\Phi_{t'}$ then $t - t' = 2\\pi m$ for some integer $m$."
    exercise = load_exercises()["positions-unique"]
    assert check_answer(exercise, Written(given + said)).word == "proved"
    assert check_answer(exercise, Written(given.replace("sin", "tan") + said)).word != "proved"
    assert check_answer(exercise, Written(given)).word != "proved"


@pytest.mark.parametrize(("number", "word"), [("6.28", "proved"), ("6.1", "refuted")])
def test_numbers_are_about_equal_within_a_twentieth(number: str, word: str) -> None:
    text = f"$\\Phi_t \\ne \\Phi_{{t'}}$, and $2\\pi \\approx {number}$."
    assert check_answer(load_exercises()["positions-unique"], Written(text)).word == word
