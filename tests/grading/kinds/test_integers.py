"""Integers, multiples of pi, sines and cosines of integers."""

from __future__ import annotations

import pytest

from headwright.formulas import parse
from headwright.formulas.tree import Exists, Name, Node
from headwright.grading.answer import MisfitError
from headwright.grading.exercise import load_exercises
from headwright.grading.judging import Claim
from headwright.grading.kinds.integers.prover import IntegersProver
from tests.grading.kinds.bench import check

EXERCISE = load_exercises()["positions-unique"]
ROWS = r"\Phi_t \ne \Phi_{t'}"


@pytest.mark.parametrize(
    "claim",
    [
        r"\|\Phi_t - \Phi_{t'}\| > 0",
        r"(\sin t - \sin t')^2 + (\cos t - \cos t')^2 > 0",
        r"\sin t + \sin t' = 0 \Rightarrow t = t'",
        r"2 \cos t = 2 \cos t' \Rightarrow t = t'",
        r"\frac{t}{2} = \pi k \Rightarrow t = 0",
        r"\cos t \ne 0",
        r"\cos t \ne -1",
        r"\sin t \ne 1",
        r"\sin t = 0 \Rightarrow t = 0",
        r"\pi^2 < 10",
        r"(\sin t - \sin t')^2 + (\cos t - \cos t')^2 = 4 \sin^2 \frac{t - t'}{2} \ne 0",
        r"\sin(t - t') = \sin t \cos t' - \cos t \sin t'",
        r"\sin t \cos t = \frac12 \sin(2t)",
        r"\cos^4 t = \frac{3 + 4 \cos(2t) + \cos(4t)}{8}",
        r"\frac{2\pi}{t - t'} \ne 2",
    ],
)
def test_what_follows_for_integers_is_proved(claim: str) -> None:
    assert check("positions-unique", ROWS, claim).word == "proved"


@pytest.mark.parametrize(
    "claim",
    [
        r"(t - t')^2 > 1",
        r"t < 7 \Rightarrow \cos t \ne 1",
        r"T < 2\pi",
        r"\pi^2 > 10",
        r"\sin t \ne 0",
        r"(\sin t - \sin t')^2 + (\cos t - \cos t')^2 = 2 \sin^2 \frac{t - t'}{2}",
        r"\sin(t - t') = \sin t \cos t' + \cos t \sin t'",
        r"\sin t \cos t = \sin(2t)",
    ],
)
def test_what_fails_for_some_integers_is_refuted(claim: str) -> None:
    assert check("positions-unique", ROWS, claim).word == "refuted"


def test_counterexamples_are_near_zero_whatever_the_solver_finds_first() -> None:
    assert (
        "k = 0, t = 0 and t' = 1"
        in check("positions-unique", ROWS, r"t - t' = 2 \pi k").reason
    )


@pytest.mark.parametrize(
    "claim", [r"\frac{t}{t} = 1", r"\frac{1}{t} \ne 0", r"\ln t \ge 0", r"t^{-1} t = 1"]
)
def test_what_is_not_defined_for_all_integers_is_not_simplified(claim: str) -> None:
    assert check("positions-unique", ROWS, claim).word in ("undecided", "unreadable")


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (
            rf"(\sin t - \sin t')^2 + (\cos t - \cos t')^2 \ne 0 \Rightarrow {ROWS}",
            "proved",
        ),
        (rf"\cos(t - t') \ne 1 \Rightarrow {ROWS}", "proved"),
        (rf"2 - 2 \cos(t - t') > 0 \Rightarrow {ROWS}", "proved"),
        (rf"t - t' \ne 2 \Rightarrow {ROWS}", "proved"),
    ],
)
def test_a_reason_that_is_always_so_is_said_with_what_it_implies(
    answer: str, word: str
) -> None:
    assert check("positions-unique", answer).word == word


def test_a_number_that_is_no_polynomial_is_enclosed() -> None:
    small = check(
        "positions-unique", rf"T \le 2\pi \cdot 10000^{{1-2/d}} \Rightarrow {ROWS}"
    )
    assert small.parts[0].word == "proved"
    assert (
        check("positions-unique", rf"{ROWS} \iff T \le 2\pi \cdot 10000^{{1-2/d}}").word
        == "refuted"
    )


EXISTS = [
    Exists(parse("t = t' + 2"), ()),
    Exists(parse("t = t' + 2"), (parse("1 = 1"),)),
    Exists(parse(r"\sin x = \sin y"), (Name("k"),)),
    parse(r"\sin x = \sin y"),
]


@pytest.mark.parametrize("node", EXISTS)
def test_what_has_no_encoding_is_a_misfit(node: Node) -> None:
    court = IntegersProver(EXERCISE, EXERCISE.kind.table)
    with pytest.raises(MisfitError):
        court.decide(Claim(node, "statement"))
