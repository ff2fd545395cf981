"""The linter: our own exercises pass it, and each kind of mistake is seen."""

from __future__ import annotations

import re

import pytest

from headwright.errors import InputError
from headwright.grading.exercise import load_exercises, parse_exercise
from headwright.grading.linting import lint

EXERCISES = load_exercises()
GOOD = r"""
id = "copy-first"
title = "Copy the first value"
statement = 'Orthonormal keys $k_1, \dots, k_n$, $0 < \delta < 1$. Find $q$ with $\alpha_1 \ge 1 - \delta$.'
answer = ["q"]
skeleton = 'q = '
goals = ['\alpha_1 \ge 1 - \delta']
[parameters]
n = { integer = true, at_least = 2 }
delta = { above = 0, below = 1, small = true }
[keys]
are = "orthonormal"
named = ["1"]
[samples]
right = [['q = \ln(n/\delta) k_1']]
wrong = [['q = k_1']]
"""


@pytest.mark.parametrize("name", sorted(EXERCISES))
def test_our_own_exercises_pass(name: str) -> None:
    assert lint(EXERCISES[name]) == []


def test_a_good_exercise_passes() -> None:
    assert lint(parse_exercise(GOOD)) == []


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            "above = 0, below = 1, small",
            "above = 0, small",
            "a tolerance without bound",
        ),
        ("$\\alpha_1 \\ge 1 - \\delta$", "a weight close to 1", "alpha is used"),
        (
            "goals = ['\\alpha_1 \\ge 1 - \\delta']",
            "goals = ['\\alpha_1 \\le 1']",
            "nothing at all passes",
        ),
        ('answer = ["q"]\n', "", "do not depend on what is answered"),
        ("skeleton = 'q = '", "skeleton = 'q = \\lambda k_1'", "the skeleton passes"),
        ("right = [['q = \\ln(n/\\delta) k_1']]\n", "", "no right answer"),
        ("wrong = [['q = k_1']]\n", "", "no wrong answer"),
        ("wrong = [['q = k_1']]", "wrong = [['q = \\lambda k_1']]", "is proved"),
        (
            "right = [['q = \\ln(n/\\delta) k_1']]",
            "right = [['q = k_1']]",
            "is refuted",
        ),
    ],
)
def test_a_mistake_is_seen(before: str, after: str, said: str) -> None:
    assert before in GOOD
    found = lint(parse_exercise(GOOD.replace(before, after)))
    assert any(said in sentence for sentence in found), found


def test_one_direction_that_passes_is_seen() -> None:
    text = GOOD.replace('named = ["1"]', 'named = ["1", "2"]')
    assert any(
        sentence.startswith("one direction passes")
        for sentence in lint(parse_exercise(text))
    )


def test_an_exercise_that_asks_for_nothing_is_seen() -> None:
    text = GOOD.replace('answer = ["q"]\n', "").replace(
        "goals = ['\\alpha_1 \\ge 1 - \\delta']\n", ""
    )
    assert any(
        "nothing is asked for" in sentence for sentence in lint(parse_exercise(text))
    )


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('answer = ["q"]', 'answer = "q"', "answer is 'q': expected a list, in [ ]"),
        ("at_least = 2", 'at_least = "two"', "parameters n at_least is 'two': expected a number such as"),
        ("above = 0, below = 1", "above = 1, below = 0", "expected a range that holds a number"),
        (r"1 - \delta']", r"1 - (\delta']", "expected a formula that can be read, but the bracket ( is never closed"),
        ("skeleton = 'q = '", r'skeleton = "\alpha"', "put text with LaTeX in 'single quotes'"),
        ("n = { integer = true, at_least = 2 }\n", "", "the parameter n, the number of keys, is missing: add n ="),
        ("title", "titel", "titel: there is no such field; did you mean 'title'?"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_refused_in_one_sentence(
    before: str, after: str, said: str
) -> None:
    assert before in GOOD
    with pytest.raises(InputError, match=re.escape(said)) as refused:
        parse_exercise(GOOD.replace(before, after, 1))
    assert "\n" not in str(refused.value)
