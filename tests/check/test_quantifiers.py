"""Quantifiers and scope: for which keys, integers and lengths a statement is meant."""

from __future__ import annotations

import pytest

from headwright.check import check
from headwright.check.checker import Written, check_answer
from headwright.check.exercise import load_exercises

AVERAGE = r"q = \lambda(k_a + k_b)"
NOISY = r"q = \lambda(\mu_a + \mu_b)"


@pytest.mark.parametrize(
    "claim",
    [
        r"k_i^\top q = 0 \text{ for all } i \ne a",
        r"k_i^\top q = 0 \text{ for all } i",
        r"\alpha_i \to 0 \text{ for every } i \ne b",
        r"k_i^\top k_j = 0 \text{ for all } i, j",
        r"\alpha_i = \alpha_j \text{ for all } i \ne j",
        r"k_a^\top k_i = 0 \text{ for all } i",
    ],
)
def test_for_all_ranges_over_the_named_keys_too(claim: str) -> None:
    verdict = check("averaging-two", AVERAGE, claim)
    assert verdict.word == "refuted", verdict.reason


@pytest.mark.parametrize(
    "claim",
    [
        r"k_i^\top q = 0 \text{ for all } i \ne a, b",
        r"k_i^\top q = 0",
        r"k_i^\top k_j = 0 \text{ for all } i \ne j",
        r"k_i^\top k_i = 1 \text{ for all } i",
        r"\alpha_i > 0 \text{ for all } i",
        r"\alpha_i \le \alpha_a \text{ for all } i \ne a",
    ],
)
def test_what_holds_for_every_key_that_is_meant_is_proved(claim: str) -> None:
    verdict = check("averaging-two", AVERAGE, claim)
    assert verdict.word == "proved", verdict.reason


def test_keys_that_are_counted_are_those_from_there_on() -> None:
    query = r"q = \ln(n/\epsilon)(k_1 + k_2)"
    assert check("averaging-two-bounded", query, r"k_i^\top q = 0 \text{ for all } i \ge 3").word == "proved"
    assert check("averaging-two-bounded", query, r"k_i^\top q = 0 \text{ for all } i > 2").word == "proved"
    assert check("averaging-two-bounded", query, r"k_i^\top q = 0 \text{ for all } i \ge 2").word == "refuted"
    assert check("averaging-two-bounded", query, r"k_i^\top q = 0 \text{ for all } i \ge 1").word == "refuted"


@pytest.mark.parametrize("which", [r"i \le 5", r"i \ge 7", r"i < n", r"i \ge a"])
def test_which_keys_are_meant_is_understood_or_refused(which: str) -> None:
    verdict = check("averaging-two", AVERAGE, rf"k_i^\top q = 0 \text{{ for all }} {which}")
    assert verdict.word == "undecided"
    assert "cannot be read" in verdict.reason


def test_a_condition_that_leaves_out_a_key_does_not_copy() -> None:
    verdict = check("copying", r"k_j^\top q \gg k_i^\top q \text{ for all } i \ne j, m")
    assert verdict.word == "refuted"


def test_a_condition_may_exchange_the_letters() -> None:
    assert (
        check("copying", r"k_i^\top q \gg k_j^\top q \text{ for all } j \ne i", r"\alpha_i \approx 1").word == "proved"
    )


def test_a_condition_on_the_other_scores_is_never_refuted_by_scores_that_break_it() -> None:
    assert check("copying", r"k_j^\top q \gg 0", r"k_i^\top q \le 0").word != "refuted"


def test_a_pair_differs_where_one_coordinate_does() -> None:
    assert check("positions-unique", r"(\sin t, \cos t) \ne (\sin t', \cos t')").word == "proved"
    assert check("positions-unique", r"(\sin t, 1) \ne (\sin t, 1), \Phi_t \ne \Phi_{t'}").word == "refuted"


def test_a_counterexample_is_admissible() -> None:
    verdict = check("positions-unique", r"t + t' > 1")
    assert verdict.word == "refuted"
    assert verdict.counterexample is not None
    assert min(verdict.counterexample["t"], verdict.counterexample["t'"]) >= 0


@pytest.mark.parametrize("claim", [r"k_i = \mu_i", r"\alpha_a = \frac{e^\lambda}{2 e^\lambda + n - 2}", r"\|k_a\| = 1"])
def test_an_equation_between_noisy_keys_holds_with_probability_0(claim: str) -> None:
    verdict = check("averaging-gaussian", NOISY, claim)
    assert verdict.word == "refuted", verdict.reason
    assert "random" in verdict.reason


@pytest.mark.parametrize("claim", [r"\mu_a^\top q = \lambda", r"\sum_i \alpha_i = 1", r"\alpha_a \approx \frac12"])
def test_an_equation_without_noise_holds_under_noise(claim: str) -> None:
    verdict = check("averaging-gaussian", NOISY, claim)
    assert verdict.word == "proved", verdict.reason


def test_cases_that_the_exercise_sets_aside_do_not_refute() -> None:
    queries = r"q_1 = \lambda\mu_a, q_2 = \lambda\mu_b"
    assert check("two-heads-scaled", queries, r"c \approx \frac12(v_a + v_b)").word == "proved"
    assert check("two-heads-scaled", queries, r"c \approx v_a").word == "refuted"


def test_a_query_that_does_not_average_at_length_1_is_refuted() -> None:
    assert check("averaging-scaled", r"q = \lambda\mu_b").word == "refuted"


@pytest.mark.parametrize("factor", [r"2\ln(n/\epsilon)", r"\ln(n^2/\epsilon^2)", r"10 \ln(n/\epsilon)"])
def test_a_tolerance_lies_between_0_and_1(factor: str) -> None:
    assert check("averaging-two", rf"q = {factor}(k_a + k_b)").word == "proved"


@pytest.mark.parametrize(
    "formulas",
    [
        (r"q = \ln((n-2)/\epsilon)(k_a + k_b)",),
        (AVERAGE, r"\frac{1}{n-2} > 0"),
        (AVERAGE, r"\frac{n-2}{n-2} = 1"),
    ],
)
def test_what_is_not_defined_for_two_keys_is_refuted(formulas: tuple[str, ...]) -> None:
    verdict = check("averaging-two", *formulas)
    assert verdict.word == "refuted", verdict.reason
    assert "not defined for n = 2" in verdict.reason


def test_integers_that_are_written_down_are_tried() -> None:
    verdict = check("averaging-two", r"q = \ln(n/\epsilon)|n - 54321|(k_a + k_b)")
    assert verdict.word == "refuted"
    assert verdict.counterexample is not None
    assert verdict.counterexample["n"] == 54321


@pytest.mark.parametrize("reason", [r"|t' - t| \ge 1", r"1 > \cos(t' - t)", r"(t - t')^2 \ge 1", r"\cos(t - t') \ne 1"])
def test_reasons_are_about_different_integers(reason: str) -> None:
    verdict = check("positions-unique", r"\Phi_t \ne \Phi_{t'}", reason)
    assert verdict.word == "proved", verdict.reason


@pytest.mark.parametrize("reason", [r"|t' - t| \ge 2", r"\cos(t' - t) < \frac12", r"t' > t", r"\cos(t - t') = 1"])
def test_false_reasons_are_refuted_by_different_integers(reason: str) -> None:
    verdict = check("positions-unique", r"\Phi_t \ne \Phi_{t'}", reason)
    assert verdict.word == "refuted", verdict.reason
    example = verdict.counterexample or {}
    assert example.get("t") != example.get("t'")


GAP = r"k_j^\top q \ge k_i^\top q + \ln(n/\delta)"


@pytest.mark.parametrize(
    "claim",
    [
        r"\alpha_i \le \delta",
        r"\alpha_m \le \frac{\delta}{n}",
        r"\alpha_i < \alpha_j",
        r"\frac{\alpha_i}{\alpha_j} \le \frac{\delta}{n}",
        r"\sum_{i \ne j} \alpha_i \le \delta",
    ],
)
def test_a_condition_binds_the_key_of_a_claim(claim: str) -> None:
    verdict = check("copying", GAP, claim)
    assert verdict.word == "proved", verdict.reason


@pytest.mark.parametrize(
    "claim", [r"\alpha_i \le \frac{\delta}{2n}", r"\alpha_i \ge \frac{\delta}{n}", r"\alpha_i = \alpha_m"]
)
def test_a_condition_that_binds_a_key_proves_no_more_than_it_says(claim: str) -> None:
    verdict = check("copying", GAP, claim)
    assert verdict.word == "refuted", verdict.reason


def test_much_larger_binds_the_key_of_a_claim() -> None:
    much = r"k_j^\top q \gg k_i^\top q \text{ for all } i \ne j"
    assert check("copying", much, r"\alpha_i \approx 0").word == "proved"
    assert check("copying", much, r"\alpha_i \ge \frac{1}{n}").word == "refuted"


def test_a_condition_between_one_score_and_a_number_binds_the_key_of_a_claim() -> None:
    assert (
        check("copying", r"k_j^\top q \ge \ln(n/\delta)", r"k_i^\top q \le 0", r"\alpha_i \le \delta").word == "proved"
    )


def test_a_word_that_was_not_understood_proves_nothing() -> None:
    exercise = load_exercises()["copying"]
    assert check_answer(exercise, Written(f"${GAP}$")).word == "proved"
    verdict = check_answer(exercise, Written(f"${GAP}$ for some $i \\ne j$"))
    assert verdict.word == "undecided"
    assert "for some" in verdict.reason


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        ("copying", r"k_j^\top q - k_i^\top q \ge \ln(n/\delta) - 10^{-12}"),  # n above 10^12, and delta below 10^-12
        ("copying-separated", r"q = (2\ln(n/\epsilon) - 10^{-9}) k_1"),
    ],
)
def test_what_fails_only_where_several_names_are_extreme_is_refuted(exercise: str, answer: str) -> None:
    assert check(exercise, answer).word == "refuted"


@pytest.mark.parametrize("reason", [r"\cos(t - t') < 0.999", r"|\sin t - \sin t'| > \frac{1}{1000000}"])
def test_integers_close_to_whole_turns_are_tried(reason: str) -> None:
    assert check("positions-unique", r"\Phi_t \ne \Phi_{t'}", reason).word == "refuted"
