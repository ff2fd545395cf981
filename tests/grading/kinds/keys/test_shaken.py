"""Vanishing noise: what is an equality at the means of the keys is not proved from them."""

from __future__ import annotations

import pytest

from tests.grading.kinds.bench import check

AVERAGE = r"q = \lambda(\mu_a + \mu_b)"
HEADS = (r"q_1 = \lambda\mu_a", r"q_2 = \lambda\mu_b")


@pytest.mark.parametrize(
    "claim",
    [
        r"k_i^\top q \ge 0",
        r"0 \ge k_i^\top q",
        r"\alpha_b \ge \alpha_a",
        r"\alpha_b \le \frac12",
        r"k_b^\top k_i \le 0",
        r"\|k_b\| \le 1",
        r"\mu_a^\top k_a \ge 1",
        r"\alpha_b \le \frac{1}{2 + (n-2)e^{-\lambda}}",
    ],
)
def test_what_noise_tips_half_the_time_is_not_proved(claim: str) -> None:
    assert check("averaging-gaussian", AVERAGE, claim).word == "undecided"


@pytest.mark.parametrize(
    "claim",
    [r"k_i^\top q_2 \ge 0", r"\alpha_b \ge \alpha_a", r"\alpha_{1,i} \le \alpha_{1,b}"],
)
def test_noise_tips_equalities_with_two_heads_too(claim: str) -> None:
    assert check("two-heads", *HEADS, claim).word == "undecided"


@pytest.mark.parametrize(
    "claim",
    [
        r"\alpha_i \ge 0",
        r"\alpha_i \le \alpha_b",
        r"k_a^\top q \ge \frac{\lambda}{2}",
        r"\|k_a\| \ge \frac12",
        r"\mu_a^\top \mu_b \ge 0",
    ],
)
def test_what_is_strict_at_the_means_is_proved(claim: str) -> None:
    verdict = check("averaging-gaussian", AVERAGE, claim)
    assert verdict.word == "proved", verdict.reason


def test_the_threshold_itself_is_not_enough_under_noise() -> None:
    assert (
        check(
            "averaging-two",
            r"q = \lambda(k_a + k_b)",
            r"\lambda \ge \ln((n-2)/\epsilon)",
        ).word
        == "proved"
    )
    assert (
        check("averaging-gaussian", AVERAGE, r"\lambda \ge \ln((n-2)/\epsilon)").word
        == "undecided"
    )
    assert (
        check("averaging-gaussian", AVERAGE, r"\lambda > \ln((n-2)/\epsilon)").word
        == "proved"
    )


def test_a_query_that_is_just_long_enough_at_the_means_is_not_proved() -> None:
    assert (
        check(
            "averaging-gaussian", r"q = \ln(\frac{n-2}{\epsilon})(\mu_a + \mu_b)"
        ).word
        == "undecided"
    )


def test_the_threshold_told_under_noise_is_strict() -> None:
    assert (
        check("averaging-gaussian", AVERAGE).threshold
        == "lambda > ln((n - 2)/epsilon), for n > 2"
    )


def test_what_only_changes_at_second_order_is_left_open() -> None:
    assert (
        check("averaging-gaussian", AVERAGE, r"\|k_a - \mu_a\| \ge 0").word
        == "undecided"
    )
