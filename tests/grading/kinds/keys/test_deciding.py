"""Names of an answer's own: large, small, far below 0, several at once."""

from __future__ import annotations

import pytest

from tests.grading.kinds.bench import check

AVERAGE = r"q = \lambda(k_a + k_b)"


@pytest.mark.parametrize(
    "formulas",
    [
        (AVERAGE, r"e^\lambda \gg n"),
        (AVERAGE, r"\exp(\lambda) \gg n - 2"),
        (r"q = -\lambda(k_a + k_b)", r"\lambda \to -\infty"),
        (r"q = s t(k_a + k_b)", r"s, t \gg n"),
        (r"q = (s + t)(k_a + k_b)", r"s, t \gg n"),
    ],
)
def test_what_makes_the_query_long_enough_is_understood(
    formulas: tuple[str, ...],
) -> None:
    assert check("averaging-two", *formulas).word == "proved"


@pytest.mark.parametrize(
    "formulas",
    [
        (AVERAGE, r"\lambda \to -\infty"),
        (r"q = s k_a + t k_b", r"s, t \gg n"),
        (r"q = (\lambda - \mu)(k_a + k_b)",),
        (r"q = \frac{s}{t}(k_a + k_b)", r"s, t \gg n"),
    ],
)
def test_what_makes_it_fail_is_seen(formulas: tuple[str, ...]) -> None:
    assert check("averaging-two", *formulas).word == "refuted"


def test_names_that_grow_apart_are_told_how() -> None:
    assert (
        "t = 2 s" in check("averaging-two", r"q = s k_a + t k_b", r"s, t \gg n").reason
    )


def test_a_bound_on_both_sides_of_minus_infinity_is_no_condition() -> None:
    assert (
        check("averaging-two", AVERAGE, r"\lambda > 0", r"\lambda \to -\infty").word
        == "unreadable"
    )


@pytest.mark.parametrize("condition", [r"s \gg t", r"s \gg n t", r"e^s \gg 2 t"])
def test_which_of_two_names_is_larger_is_not_forgotten(condition: str) -> None:
    assert (
        check("averaging-two", r"q = (s - t)(k_a + k_b)", condition).word
        == "unreadable"
    )


def test_what_is_large_in_two_ways_is_not_understood() -> None:
    assert (
        check("averaging-two", AVERAGE, r"\lambda + \frac{1}{\lambda} \gg n").word
        == "unreadable"
    )


def test_very_long_and_slowly_growing_queries_are_proved() -> None:
    assert (
        check("averaging-two", r"q = 1000 \ln(n/\epsilon)(k_a + k_b)").word == "proved"
    )
    assert check("averaging-two", r"q = \sqrt{n/\epsilon}(k_a + k_b)").word == "proved"


def test_an_exact_probability_is_proved_and_a_near_one_refuted() -> None:
    average = r"q = \lambda(\mu_a + \mu_b)"
    assert (
        check("averaging-scaled", average, r"\Pr(c \approx v_b) = \frac12").word
        == "proved"
    )
    assert (
        check("averaging-scaled", average, r"\Pr(c \approx v_b) = 0.5001").word
        == "refuted"
    )


def test_a_condition_on_scores_is_not_forgotten_for_the_name_in_it() -> None:
    assert check("copying", r"k_j^\top q \ge \lambda", r"k_i^\top q \le 0").word in (
        "proved",
        "undecided",
    )
    assert check("copying", r"k_j^\top q - k_i^\top q \ge \lambda").word == "proved"
    assert check("copying", r"k_j^\top q \ge \lambda").word == "refuted"
