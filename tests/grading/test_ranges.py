r"""Nothing is proved for a wider range than was written, and nothing is restricted by words that restrict nothing."""

from __future__ import annotations

import pytest

from headwright.grading.exercise import load_exercises
from headwright.grading.grade import grade
from headwright.grading.markdown import Written

EXERCISES = load_exercises()
GAP = r"$k_j^\top q \ge k_i^\top q + \ln((n-1)/\delta)$"
QUERY = r"$q = \ln(n/\epsilon)(k_a + k_b)$"
LARGE = r"$q = \lambda(k_a + k_b)$"


def word(exercise: str, text: str) -> str:
    return grade(EXERCISES[exercise], Written(text)).word


@pytest.mark.parametrize(
    "text",
    [
        f"{GAP} where $i = j$.",
        f"{GAP} for $i > j$.",
        f"{GAP} for some $i$.",
        f"{GAP} where $\\delta = 1/2$.",
        f"{GAP} for $i = 1$.",
        f"{GAP} for all $i \\ne j, m$.",
        f"{GAP} for one $i$.",
        f"{GAP} for an $i \\ne j$.",
        f"{GAP} for all $i \\ne j$ and $n = 2$.",
        f"{GAP} for most $i$.",
        f"{GAP} for half of the keys.",
        f"{GAP} for every second key.",
        f"{GAP} for all $i \\ne j$ with $k_i^\\top q > 0$.",
        f"{GAP}, $i < j$.",
        f"If $n = 2$, {GAP} for all $i \\ne j$.",
        f"For the nearest key $i$, {GAP}.",
        f"{GAP} for all even $i$.",
        f"{GAP} for at least one $i \\ne j$.",
        f"There is an $i \\ne j$ such that {GAP}.",
        f"For some $i \\ne j$ we have {GAP}.",
        f"{GAP} for all $i \\ne j$ except $i = 3$.",
        f"If the keys are short, {GAP} for all $i \\ne j$.",
        r"$k_j^\top q \ge k_i^\top q + \ln((n-1)/\delta) \text{ for some } i$",
        r"$k_j^\top q \ge k_i^\top q + \ln((n-1)/\delta) \text{ for } i > j$",
        r"$$k_j^\top q \ge k_i^\top q + \ln((n-1)/\delta) \quad (\text{for some } i)$$",
        r"$$k_j^\top q \ge k_i^\top q + \ln((n-1)/\delta) \quad (\text{only if } n = 2)$$",
        r"$$k_j^\top q \ge k_i^\top q + \ln((n-1)/\delta) \qquad (\text{one } i)$$",
        r"\begin{align}k_j^\top q &\ge k_i^\top q + \ln((n-1)/\delta) && \text{unless lucky}\end{align}",
    ],
)
def test_a_condition_for_some_keys_is_not_proved_for_all(text: str) -> None:
    assert word("copying", text) != "proved"


@pytest.mark.parametrize(
    "text",
    [
        f"{GAP}.",
        f"{GAP} for all $i \\ne j$.",
        f"{GAP} whenever $i \\ne j$.",
        f"{GAP} for all other $i$.",
        f"For every $i \\ne j$ let {GAP}.",
        f"My condition is {GAP} ($i \\ne j$).",
        r"For one $i$, $k_i^\top q$ is much larger than all other scores $k_l^\top q$ for $l \ne i$.",
    ],
)
def test_a_condition_for_all_other_keys_is_proved(text: str) -> None:
    assert word("copying", text) == "proved"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{QUERY} for $n = 10$.", "undecided"),
        (f"{QUERY} and $n = 2$.", "undecided"),
        (f"Let $n = 2$. {QUERY}", "undecided"),
        (f"{QUERY} for some $n$.", "undecided"),
        (f"{QUERY} for even $n$.", "undecided"),
        (f"{QUERY} unless $n > 5$.", "undecided"),
        (f"If the keys were longer, {QUERY}.", "undecided"),
        (f"For short keys, {QUERY}.", "undecided"),
        (f"{LARGE} for any $\\lambda$.", "undecided"),
        (f"{LARGE} for every $\\lambda > 0$.", "refuted"),
        (r"$q = c(k_a + k_b)$ for $c = 5$.", "refuted"),
        (f"{LARGE} for some large $\\lambda$.", "proved"),
        (f"{QUERY} for all $n$ and $\\epsilon$.", "proved"),
        (f"{QUERY}, assume $n \\ge 3$.", "proved"),
        (f"{QUERY} for $n \\ge 2$ and $0 < \\epsilon < 1$.", "proved"),
    ],
)
def test_an_object_for_some_of_what_is_given_is_not_proved_for_all(
    text: str, expected: str
) -> None:
    assert word("averaging-two", text) == expected
