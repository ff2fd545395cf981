"""What an answer assumes: an answer for some of what is given is none for all of it."""

from __future__ import annotations

import pytest

from headwright.check.checker import Written, check_answer
from headwright.check.exercise import load_exercises
from headwright.check.verdict import Verdict

EXERCISES = load_exercises()
QUERY = r"$q = \ln(n/\epsilon)(k_a + k_b)$"


def judged(exercise: str, text: str) -> Verdict:
    return check_answer(EXERCISES[exercise], Written(text))


@pytest.mark.parametrize(
    ("exercise", "text", "only"),
    [
        ("averaging-two", rf"Let $\epsilon = \frac13$. We choose {QUERY}.", "epsilon = 1/3"),
        ("averaging-two", rf"Let $n = 5$ and {QUERY}.", "n = 5"),
        ("averaging-two", rf"Set $\epsilon = \frac{{2}}{{n^2}}$. Choose {QUERY}.", "epsilon = 2/n^2"),
        ("averaging-two", rf"For $n \le 50$ choose {QUERY}.", "n <= 50"),
        ("averaging-two", rf"{QUERY}, where $n = 7$.", "n = 7"),
        ("averaging-two", rf"{QUERY}, assuming $n \le 30$.", "n <= 30"),
        ("taking-apart", r"Let $d = 3$. Then $M = A A^\top$.", "d = 3"),
        ("averaging-two", rf"{QUERY}. WLOG $\epsilon < \frac14$. Then $\alpha_a > \frac25$.", "epsilon < 1/4"),
        ("averaging-many", r"Let $m = 3$. Then $q = \ln(n/\epsilon) \sum_{i=1}^m k_i$.", "m = 3"),
        ("temperature-cold", r"Suppose $\epsilon = \frac14$. Then $\tau = 1/\ln(n/\epsilon)$.", "epsilon = 1/4"),
        ("low-rank", r"Let $k = 2$. Then $B = \sum_{i=1}^{k-1} \sigma_i u_i v_i^\top$.", "k = 2"),
    ],
)
def test_an_object_for_some_of_what_is_given_answers_a_part_only(exercise: str, text: str, only: str) -> None:
    verdict = judged(exercise, text)
    assert verdict.word == "undecided", verdict.reason
    assert f"said for {only} only" in verdict.reason


@pytest.mark.parametrize(
    "text",
    [
        rf"Let $0 < \epsilon < 1$ and $n \ge 2$. Take {QUERY}.",
        rf"Let $\epsilon > 0$. Take {QUERY}.",
        rf"For $n \ge 2$ take {QUERY}.",
        rf"Assume $n \ge 4$. Then take {QUERY}.",
        rf"{QUERY}, assume $n > 2$.",
        rf"Take {QUERY}. Let $n = 2$. Then $\alpha_a = \frac12$.",
        rf"Take {QUERY}. Suppose $\epsilon < \frac12$. Then $\alpha_a > \frac25$.",
    ],
)
def test_what_restricts_nothing_or_what_follows_only_leaves_the_object_as_it_is(text: str) -> None:
    verdict = judged("averaging-two", text)
    assert verdict.word == "proved", verdict.reason


def test_what_is_let_afterwards_does_not_mend_what_was_said_before() -> None:
    assert judged("averaging-two", rf"{QUERY}. Then $\alpha_a = \frac12$. Let $n = 2$.").word == "refuted"


CONDITION = r"$k_j^\top q - k_i^\top q \ge \ln(n/\delta)$ for all $i \ne j$. "


def test_that_a_condition_is_necessary_does_not_follow_from_the_condition() -> None:
    text = CONDITION + r"$\alpha_j \ge 1 - \delta \implies k_j^\top q - k_i^\top q \ge \ln(n/\delta)$."
    assert judged("copying", text).word == "refuted"


@pytest.mark.parametrize("said", [r"with $\lambda \ge \ln(n/\epsilon)$", r"with a large $\lambda$", ""])
def test_that_a_bound_is_necessary_is_not_concluded_from_the_bound(said: str) -> None:
    claim = r"$\alpha_b \ge \frac{1}{2+\epsilon} \implies \lambda \ge \ln(n/\epsilon)$"
    assert judged("averaging-two", rf"$q = \lambda(k_a + k_b)$ {said}. {claim}.").word == "undecided"


def test_what_follows_without_it_is_proved() -> None:
    claim = r"$\alpha_a = \alpha_b \implies k_a^\top q = k_b^\top q$"
    assert judged("averaging-two", rf"$q = \lambda(k_a + k_b)$. {claim}.").word == "proved"


@pytest.mark.parametrize(
    "condition",
    [
        r"$k_j^\top q - k_i^\top q \ge \ln(n/\delta)$ for every $i$.",
        r"$k_i^\top q < 0$ for all $i$ and $k_j^\top q \ge \ln(2n/\delta)$.",
        r"$k_j^\top q - k_i^\top q \ge \ln(n/\delta)$ for all $i \ne j$ with $k_i^\top q < 0$.",
        r"$k_j^\top q - k_i^\top q \ge \ln(n/\delta)$ whenever $k_i^\top q > 1$.",
    ],
)
def test_a_condition_that_no_scores_meet_or_that_leaves_out_keys_proves_nothing(condition: str) -> None:
    assert judged("copying", condition).word == "undecided"


def test_a_condition_on_all_other_keys_is_one() -> None:
    assert judged("copying", r"$k_j^\top q \ge k_i^\top q + \ln(n/\delta)$ for all other $i$.").word == "proved"


@pytest.mark.parametrize(
    ("exercise", "text", "name"),
    [
        ("averaging-two", rf"{QUERY}. Then $(n - 2) e^{{-\beta}} < \epsilon$.", "beta"),
        ("averaging-two", rf"{QUERY}, so $\alpha_b = \frac{{e^t}}{{2 e^t + n - 2}}$.", "t"),
        ("averaging-two", rf"{QUERY}. Then $\alpha_a \approx e^{{-r}}$.", "r"),
        ("self-attention-copy", r"$V = I$, $K = I$, $Q = \frac{s}{\beta^2} u_d u_a^\top$, and $c_1 = w u_a$.", "w"),
        ("convex-hull", r"$r + s = 2 \alpha_1$.", "r"),
    ],
)
def test_a_name_that_nobody_introduced_refutes_nothing(exercise: str, text: str, name: str) -> None:
    verdict = judged(exercise, text)
    assert verdict.word not in ("refuted", "proved"), verdict.reason
    assert name not in (verdict.counterexample or {})


@pytest.mark.parametrize(
    ("exercise", "text"),
    [
        ("averaging-two", r"$q = \lambda(k_a + k_b)$, and $\alpha_a = \frac{e^\lambda}{n e^\lambda + 1}$."),
        ("averaging-two", rf"{QUERY}, and $e^{{-t}} < 1 - t$ for every $t > 0$."),
        ("averaging-two", rf"Let $t = \ln(n/\epsilon)$ and {QUERY}. Then $(n - 2) e^{{-t}} > \epsilon$."),
        ("copying", r"If $k_j^\top q - k_i^\top q \ge t$ for all $i \ne j$, then $\alpha_j \ge 1 - e^{-t}$."),
    ],
)
def test_a_name_that_was_introduced_refutes(exercise: str, text: str) -> None:
    verdict = judged(exercise, text)
    assert verdict.word == "refuted", verdict.reason


def test_of_what_follows_from_several_cases_it_is_said_that_the_case_is_not_certain() -> None:
    text = (
        r"$q = \ln(n/\epsilon) \sum_{i=1}^m k_i$. For $i \le m$ the score is $\ln(n/\epsilon)$ and for $i > m$ it is "
        r"$0$, so $\alpha_i \ge \frac{1}{m + \epsilon}$."
    )
    verdict = judged("averaging-many", text)
    assert verdict.word == "undecided"
    assert "it is not certain for which of the cases it is said" in verdict.reason
