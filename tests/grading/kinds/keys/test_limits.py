"""A limit is one in the names that are sent somewhere: nothing else moves along with them."""

from __future__ import annotations

import pytest

from tests.grading.kinds.bench import check

EXACT = r"q = \ln(n/\epsilon)(k_a + k_b)"


@pytest.mark.parametrize(
    "claim",
    [
        r"\lim_{n \to \infty} (\alpha_a + \alpha_b) = 1",
        r"\lim_{n \to \infty} \alpha_b = \frac{1}{2 + 3\epsilon}",
        r"\lim_{\beta \to 0} \alpha_a = \frac{1}{2}",
        r"\lim_{n \to \infty} (n - 2) \alpha_i = 0",
    ],
)
def test_a_tolerance_does_not_go_to_0_where_something_else_moves(claim: str) -> None:
    verdict = check("averaging-two", EXACT, claim)
    assert verdict.word == "refuted", verdict.reason


@pytest.mark.parametrize(
    "claim",
    [
        r"\lim_{n \to \infty} \alpha_a = \frac{1}{2 + \epsilon}",
        r"\lim_{\epsilon \to 0} \alpha_a = \frac{1}{2}",
        r"\lim_{n \to \infty} \alpha_i = 0",
        r"\alpha_a \to \frac{1}{2}",
        r"\alpha_a \approx \frac{1}{2}",
    ],
)
def test_a_limit_in_the_names_it_speaks_of_is_proved(claim: str) -> None:
    verdict = check("averaging-two", EXACT, claim)
    assert verdict.word == "proved", verdict.reason


def test_what_a_side_tends_to_is_told_for_the_limit_that_was_stated() -> None:
    verdict = check(
        "averaging-two", EXACT, r"\lim_{n \to \infty} \alpha_a = \frac{1}{3}"
    )
    assert "with epsilon = 1/2: alpha_a tends to 0.4, not to 0.3333" in verdict.reason


def test_a_limit_of_what_is_about_so_is_not_called_its_value() -> None:
    verdict = check("averaging-two", EXACT, r"\alpha_a \approx \frac{1}{3}")
    assert "alpha_a tends to 0.5" in verdict.reason


def test_a_limit_that_is_missed_by_little_is_refuted_and_looked_at_twice() -> None:
    verdict = check(
        "averaging-three",
        r"q = \ln(n/\epsilon)(k_a + k_b + k_c)",
        r"\lim_{n \to \infty} \alpha_b = \frac{1}{3}",
    )
    assert verdict.word == "refuted", verdict.reason


def test_the_order_of_two_limits_is_not_forgotten() -> None:
    twice = r"\lim_{\lambda \to \infty} \lim_{n \to \infty} \alpha_b = \frac{1}{2}"
    verdict = check("averaging-two", r"q = \lambda(k_a + k_b)", twice)
    assert verdict.word == "unreadable"
    assert "limits are read at the beginning of an equation" in verdict.reason


def test_the_spread_of_a_weight_is_not_known_as_the_number_of_keys_grows() -> None:
    assert (
        check("averaging-varies", r"\operatorname{Var}(\alpha_a) \to \frac{1}{4}").word
        == "proved"
    )
    assert (
        check(
            "averaging-varies",
            r"\lim_{\lambda \to \infty} \operatorname{Var}(\alpha_a) = 2",
        ).word
        == "refuted"
    )
    for end in (r"\frac{1}{4}", "0"):
        verdict = check(
            "averaging-varies",
            rf"\lim_{{n \to \infty}} \operatorname{{Var}}(\alpha_a) = {end}",
        )
        assert verdict.word == "undecided", verdict.reason


def test_a_condition_that_is_met_says_nothing_of_many_keys() -> None:
    condition = (
        r"k_j^\top q - k_i^\top q \ge \ln((n-1)/\delta) \text{ for all } i \ne j"
    )
    verdict = check("copying", condition, r"\lim_{n \to \infty} \alpha_j = 1")
    assert verdict.word == "refuted", verdict.reason


def test_the_output_has_a_limit_as_the_tolerance_goes_to_0() -> None:
    assert (
        check(
            "averaging-two", EXACT, r"\lim_{\epsilon \to 0} c = \frac{1}{2}(v_a + v_b)"
        ).word
        == "proved"
    )
    assert (
        check(
            "averaging-two",
            EXACT,
            r"\lim_{\epsilon \to 0} c = \frac{1}{3}(2 v_a + v_b)",
        ).word
        == "refuted"
    )
    assert (
        check(
            "averaging-two", EXACT, r"\lim_{n \to \infty} c = \frac{1}{2}(v_a + v_b)"
        ).word
        == "refuted"
    )


NOISY = r"q = 2\ln(n/\epsilon)(\mu_a + \mu_b)"


@pytest.mark.parametrize(
    "claim",
    [
        r"\lim_{a \to 0} \alpha_b = \frac{1}{2}",
        r"\lim_{a \to 0} c = \frac{1}{2}(v_a + v_b)",
        r"\lim_{a \to 0} (\alpha_a + \alpha_b) = 1",
        r"\lim_{a \to 0} \alpha_i = 0 \text{ for all } i \ne a, b",
    ],
)
def test_a_limit_in_the_noise_is_in_the_noise_alone(claim: str) -> None:
    verdict = check("averaging-gaussian", r"q = \ln(n/\epsilon)(\mu_a + \mu_b)", claim)
    assert verdict.word == "refuted", verdict.reason


@pytest.mark.parametrize(
    ("query", "claim"),
    [
        (NOISY, r"\lim_{a \to 0} \alpha_a = \frac{n^2}{2 n^2 + (n - 2) \epsilon^2}"),
        (NOISY, r"\lim_{a \to 0} k_b^\top q = 2\ln(n/\epsilon)"),
        (NOISY, r"\alpha_b \to \frac{1}{2}"),
        (NOISY, r"\lim_{\epsilon \to 0} \alpha_b = \frac{1}{2}"),
        (r"q = \lambda(\mu_a + \mu_b)", r"\lim_{a \to 0} c = \frac{1}{2}(v_a + v_b)"),
    ],
)
def test_what_tends_to_that_as_the_noise_vanishes_is_proved(
    query: str, claim: str
) -> None:
    verdict = check("averaging-gaussian", query, claim)
    assert verdict.word == "proved", verdict.reason
