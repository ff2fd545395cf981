"""The words of verdicts: what differs is shown to differ, and nothing internal is shown."""

from __future__ import annotations

import json
import re

import pytest
from flint import arb

from headwright.check import check
from headwright.check.checker import Formula, check_answer
from headwright.check.exercise import load_exercises
from headwright.check.judging import contrasted
from headwright.check.telling.typeset import readable
from headwright.formula.evaluate import precision

INTERNAL = re.compile(r"\b(slack|score|margin|closeness|y_others|excess)(_\w+)?\b(?! of)")
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
    told = [verdict.reason, json.dumps(verdict.counterexample), *(part.reason for part in verdict.parts)]
    assert not any(INTERNAL.search(text) for text in told), told


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        ("copying", [r"k_j^\top q \ge 10 + k_i^\top q + \ln n"]),
        ("averaging-two-bounded", [r"q = \ln(n/\epsilon)(k_1+k_2)", r"\|q\| \le \sqrt2\ln(n/\epsilon) - 10^{-7}"]),
        ("self-attention-copy", [r"c_2 \approx u_a + \frac{1}{\beta} u_b"]),
    ],
)
def test_what_is_said_to_differ_is_shown_to_differ(exercise: str, answer: list[str]) -> None:
    verdict = check(exercise, *answer)
    assert verdict.word == "refuted"
    assert (verdict.counterexample or {}).get("left") != (verdict.counterexample or {"right": 0}).get("right")
    assert not re.search(r"(?:is|tends to) (\S+), not [a-z ]*\1(?:[:; ]|$)", verdict.reason), verdict.reason


def test_a_counterexample_about_scores_tells_the_scores() -> None:
    found = check("copying", GAP, r"\alpha_i \ge \frac{\delta}{n}").counterexample or {}
    assert {"k_j^T q", "k_i^T q"} <= found.keys()


def test_equal_sides_are_shown_as_they_are() -> None:
    assert contrasted(arb("0.5"), ">", arb("0.5")) == "0.5, not more than 0.5"


def test_a_hair_is_told_as_a_difference() -> None:
    with precision():
        assert contrasted(1 - arb("1e-30"), ">=", arb(1)) == "about 1, 1.0e-30 too little"


def test_every_step_of_a_chain_has_the_line_it_stands_in() -> None:
    text = "\\|A\\|_F^2 &= \\sum_{i=1}^d \\sigma_i^2 \\\\\n &\\ge \\sum_{i=1}^k \\sigma_i^2 \\\\\n &\\ge k \\sigma_k^2"
    verdict = check_answer(load_exercises()["kth-singular-value"], [Formula(text, 7)])
    assert [part.line for part in verdict.parts] == [7, 8, 9]


def test_a_part_names_what_it_was_decided_for() -> None:
    said = [r"q = \lambda(\mu_a + \mu_b)", r"g < 1 \Rightarrow c \not\approx v_a", r"g > 1 \Rightarrow c \approx v_a"]
    verdict = check_answer(load_exercises()["averaging-scaled"], [Formula(text, 1) for text in said])
    parts = [readable(part.statement) for part in verdict.parts]
    assert parts == ["c ~ (1/2) (v_a + v_b) for g = 1", "(not c ~ v_a) for g < 1", "c ~ v_a for g > 1"]


def test_what_is_true_in_one_case_and_false_in_another_names_the_cases() -> None:
    verdict = check("averaging-scaled-discrete", r"\alpha_2/\alpha_1 = e^{t/2}")
    assert [(readable(part.statement), part.word) for part in verdict.parts] == [
        ("alpha_2/alpha_1 = exp(t/2) for c = 0.5", "proved"),
        ("alpha_2/alpha_1 = exp(t/2) for c = 1.5", "refuted"),
    ]
    assert "is true" not in verdict.reason


def test_the_headline_is_the_failure_with_the_fewest_keys() -> None:
    verdict = check("averaging-two", "q = k_a")  # alpha_a fails from n = 4 on, alpha_b at n = 2
    assert verdict.counterexample is not None
    assert verdict.counterexample["n"] == 2
    assert "alpha_b" in verdict.reason
