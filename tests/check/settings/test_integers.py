"""Integers, multiples of pi, sines and cosines of integers."""

from __future__ import annotations

import pytest

from headwright.check import check

ROWS = r"\Phi_t \ne \Phi_{t'}"


@pytest.mark.parametrize(
    "claim",
    [
        r"|\sin t - \sin t'| > 0",
        r"(\sin t - \sin t')^2 + (\cos t - \cos t')^2 > 0",
        r"\sin t + \sin t' = 0 \Rightarrow t = t'",
        r"2 \cos t = 2 \cos t' \Rightarrow t = t'",
        r"\frac{t}{2} = \pi k \Rightarrow t = 0",
        r"|2t - 2t'| \ge 2",
        r"\cos t \ne 0",
        r"\cos t \ne -1",
        r"\sin t \ne 1",
        r"\sin t = 0 \Rightarrow t = 0",
        r"\pi^2 < 10",
    ],
)
def test_what_follows_for_integers_is_proved(claim: str) -> None:
    assert check("positions-unique", ROWS, claim).word == "proved"


@pytest.mark.parametrize(
    "claim", [r"(t - t')^2 > 1", r"t < 7 \Rightarrow \cos t \ne 1", r"T < 2\pi", r"\pi^2 > 10", r"\sin t \ne 0"]
)
def test_what_fails_for_some_integers_is_refuted(claim: str) -> None:
    assert check("positions-unique", ROWS, claim).word == "refuted"


@pytest.mark.parametrize("claim", [r"\frac{t}{t} = 1", r"\frac{t - t'}{t - t'} = 1", r"\ln t \ge 0", r"t^{-1} t = 1"])
def test_what_is_not_defined_for_all_integers_is_not_simplified(claim: str) -> None:
    assert check("positions-unique", ROWS, claim).word not in ("proved", "holds")


def test_a_number_that_is_no_polynomial_is_enclosed() -> None:
    assert check("positions-unique", rf"T \le 2\pi \cdot 10000^{{1-2/d}} \Rightarrow {ROWS}").word == "proved"
    assert check("positions-unique", rf"{ROWS} \iff T \le 2\pi \cdot 10000^{{1-2/d}}").word == "refuted"
