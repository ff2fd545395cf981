"""The words of verdicts: what differs is shown to differ, and nothing internal is shown."""

from __future__ import annotations

import json
import re

import pytest
from flint import arb

from headwright.formulas.evaluate import precision
from headwright.grading import check
from headwright.grading.judging import contrasted

INTERNAL = re.compile(
    r"\b(slack|score|margin|closeness|y_others|excess)(_\w+)?\b(?! of)"
)
GAP = r"k_j^\top q \ge k_i^\top q + \ln(n/\delta)"
SPOKEN = [
    ("copying", [r"k_j^\top q > k_i^\top q"]),
    ("copying", [GAP]),
    ("copying", [GAP, r"\alpha_i \ge \frac{\delta}{n}"]),
    ("copying", [GAP, r"\alpha_i \le \delta"]),
    ("copying", [r"k_j^\top q \gg k_i^\top q", r"\alpha_i \ge \frac1n"]),
    ("copying", [r"k_j^\top q \gg k_i^\top q", r"c \approx v_j"]),
    ("copying", [r"k_j^\top q - k_i^\top q \ge \ln(n) + \frac{1}{\sqrt\delta}"]),
    ("copying-separated", [r"q = \ln(n/\epsilon) k_1"]),
    ("copying-separated", [r"q = 2\ln(n/\epsilon) k_1"]),
]


@pytest.mark.parametrize(("exercise", "answer"), SPOKEN)
def test_no_internal_name_is_shown(exercise: str, answer: list[str]) -> None:
    verdict = check(exercise, *answer)
    told = [
        verdict.reason,
        json.dumps(verdict.counterexample),
        *(part.reason for part in verdict.asked),
        *(formula.reason for formula in verdict.formulas),
    ]
    assert not any(INTERNAL.search(text) for text in told), told


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        ("copying", [r"k_j^\top q \ge 10 + k_i^\top q + \ln n"]),
        ("self-attention-copy", [r"c_2 \approx u_a + \frac{1}{\beta} u_b"]),
    ],
)
def test_what_is_said_to_differ_is_shown_to_differ(
    exercise: str, answer: list[str]
) -> None:
    verdict = check(exercise, *answer)
    assert verdict.word == "refuted"
    assert (verdict.counterexample or {}).get("left") != (
        verdict.counterexample or {"right": 0}
    ).get("right")
    assert not re.search(
        r"(?:is|tends to) (\S+), not [a-z ]*\1(?:[:; ]|$)", verdict.reason
    ), verdict.reason


def test_a_counterexample_about_scores_tells_the_scores() -> None:
    (false,) = check("copying", GAP, r"\alpha_i \ge \frac{\delta}{n}").false_formulas
    found = false.counterexample or {}
    assert {"k_j^T q", "k_i^T q"} <= found.keys()


def test_equal_sides_are_shown_as_they_are() -> None:
    assert contrasted(arb("0.5"), ">", arb("0.5")) == "0.5, not more than 0.5"


def test_a_hair_is_told_as_a_difference() -> None:
    with precision():
        assert (
            contrasted(1 - arb("1e-30"), ">=", arb(1)) == "about 1, 1.0e-30 too little"
        )


def test_a_difference_that_is_too_small_to_show_is_told() -> None:
    reason = check("averaging-two", "q = 100(k_a + k_b)").reason
    # 1/(2 + 1e-44) - 1/(2 + e^-100)
    assert reason.endswith("alpha_a is about 0.5, 6.8e-45 too little")


def test_where_a_logarithm_has_no_value_is_told_by_what_matters() -> None:
    found = check("averaging-two", r"q = \ln((n-2)/\epsilon)(k_a+k_b)")
    assert "at n = 2 it takes ln((n - 2)/epsilon) = ln 0" in found.reason
    assert "ln((n - 2)/epsilon)" not in (found.suggestion or "")


def test_the_headline_is_the_failure_with_the_fewest_keys() -> None:
    verdict = check(
        "averaging-two", "q = k_a"
    )  # alpha_a fails from n = 4 on, alpha_b at n = 2
    assert verdict.counterexample is not None
    assert verdict.counterexample["n"] == 2
    assert "alpha_b" in verdict.reason
