"""Whatever is handed in gets a verdict, and soon."""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.grading.exercise import load_exercises
from headwright.grading.grade import grade
from headwright.grading.markdown import Written, of_formulas
from headwright.grading.verdict import WORST_FIRST, Verdict
from tests.effort import ALL, tried

EXERCISES = load_exercises()
SECONDS = 20
LINES = (Path(__file__).parent / "answers.jsonl").read_text().splitlines()
WRITTEN = [(one["exercise"], one["text"]) for one in map(json.loads, LINES[::5])]
NUMBERS = (
    "9^{9^{9^9}}",
    "2^{100000}",
    "1.5^{10000}",
    r"\sum_{i=1}^{10^{12}} 1",
    "10^{400}",
    r"\lambda^{9^9}",
    "e^{10^9}",
    "e^{-10^9}",
    r"(n + \lambda + 1)^{5000}",
    "n^{n^n}",
    r"\lambda^\lambda",
    "e^{e^{e^{e^n}}}",
    "1/0",
    "0^0",
    "(-1)^n",
    r"\ln(0)",
    r"\sqrt{-1}",
    r"\ln(n - 2)",
    r"\frac{1}{n - 2}",
    "2147483648",
)
WORDS = ("score", "closeness", "margin", "slack", "length", "gone", "inverse", "query")


def checked(exercise: str, *formulas: str) -> Verdict:
    start = process_time()
    verdict = grade(EXERCISES[exercise], of_formulas(formulas))
    assert verdict.word in WORST_FIRST
    assert process_time() - start < SECONDS, formulas
    return verdict


def chain(steps: int, times: int, sign: str, last: str) -> list[str]:
    """x_0 = x_1 + x_1, x_1 = x_2 + x_2, ..."""
    return [
        f"x_{{{k}}} = {sign.join([f'x_{{{k + 1}}}'] * times)}" for k in range(steps)
    ] + [f"x_{{{steps}}} = {last}"]


@pytest.mark.parametrize(("place", "number"), [*enumerate(NUMBERS)])
def test_absurd_numbers_prove_nothing(place: int, number: str) -> None:
    asked = [("averaging-two", "k_a"), ("copying-separated", "k_1")]
    for exercise, key in asked if ALL else [asked[place % 2]]:
        assert checked(exercise, f"q = ({number}) {key}").word != "proved"


@pytest.mark.parametrize(("steps", "times"), [(15, 2), (19, 4), (40, 2)])
@pytest.mark.parametrize("sign", [" + ", " * "])
def test_definitions_that_branch_are_read_in_time(
    steps: int, times: int, sign: str
) -> None:
    checked(
        "averaging-two", *chain(steps, times, sign, r"\lambda"), "q = x_0 (k_a + k_b)"
    )
    checked("taking-apart", *chain(steps, times, sign, "1"), r"M = x_0 A A^\top")
    route = "V = x_0 u_b u_b^\\top, K = I, Q = I"
    checked("self-attention-route", *chain(steps, times, sign, r"\beta"), route)


def test_sums_inside_sums_are_read_in_time() -> None:
    nested = "".join(rf"\sum_{{{letter}=1}}^n " for letter in "ijlmoprswxz")
    assert checked("averaging-two", f"q = {nested} k_a").word == "undecided"
    steps = [
        rf"x_{{{k}}} = \sum_{{i=1}}^n (x_{{{k + 1}}} + k_i^\top k_a)" for k in range(18)
    ]
    checked("averaging-two", *steps, "x_{18} = 1", "q = x_0 (k_a + k_b)")


def test_long_answers_are_read_in_time() -> None:
    logs = " + ".join(rf"\ln(n + {k}) (k_a + k_b)" for k in range(100))
    checked("averaging-two", f"q = {logs}")
    checked(
        "two-heads-discrete",
        "q_1 = " + " + ".join(f"t^{{{k}}} u" for k in range(1, 40)),
        "q_2 = t k_2",
    )
    checked("averaging-two", r"q = \lambda (k_a + k_b)", *[r"\alpha_a \le 1"] * 199)


@pytest.mark.parametrize(
    "text",
    [
        "$" * 10_000,
        "$q = " + "{" * 5_000 + "$",
        "(" * 20_000 + "$q = k_a$" + ")" * 20_000,
        "> " * 300 + "$q = k_a$",
        "$x = 1$ and " * 5_000,
        "not " * 20_000 + "$q = k_a$",
        r"$$\begin{align} " + r"q &= k_a \\ " * 2_000 + r"\end{align}$$",
        "\x00\ufffd\u202e $q = k_a$",
    ],
    ids=[
        "dollars",
        "braces",
        "brackets",
        "quotes",
        "formulas",
        "words",
        "rows",
        "controls",
    ],
)
def test_hostile_text_gets_a_verdict_in_time(text: str) -> None:
    start = process_time()
    verdict = grade(EXERCISES["averaging-two"], Written(text))
    assert verdict.word in WORST_FIRST
    assert process_time() - start < SECONDS


@pytest.mark.parametrize("word", WORDS)
def test_names_of_the_checkers_own_cannot_be_spoken_of(word: str) -> None:
    name = rf"\mathrm{{{word}}}"
    for condition in ("copying", "copying-separated", "averaging-two"):
        query = {
            "copying": r"k_j^\top q \gg k_i^\top q",
            "copying-separated": r"q = 2\ln(n/\epsilon) k_1",
        }
        claims = (f"{name} > 0", f"{name} + 1 = 1 + 2 {name}")
        found = checked(
            condition, query.get(condition, r"q = \lambda (k_a + k_b)"), *claims
        )
        assert found.formulas[-1].status != "true"


@settings(max_examples=tried(120))
@given(st.sampled_from(sorted(EXERCISES)), st.lists(st.text(max_size=60), max_size=4))
def test_any_text_gets_a_verdict(exercise: str, formulas: list[str]) -> None:
    checked(exercise, *formulas)


@settings(max_examples=tried(120))
@given(st.sampled_from(WRITTEN), st.sampled_from(WRITTEN), st.data())
def test_mutilated_answers_get_a_verdict(
    one: tuple[str, str], other: tuple[str, str], data: st.DataObject
) -> None:
    exercise, answer = one
    start, stop = sorted(data.draw(st.integers(0, len(answer))) for _ in range(2))
    first, last = sorted(data.draw(st.integers(0, len(other[1]))) for _ in range(2))
    mutilated = (
        answer[:start]
        + other[1][first : min(last, first + 20)]
        + answer[min(stop, start + 5) :]
    )
    grade(EXERCISES[exercise], Written(mutilated))
