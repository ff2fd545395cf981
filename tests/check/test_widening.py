"""What is said for more than is given must hold there, or it is left open."""

from __future__ import annotations

import pytest

from headwright.check.checker import Written, check_answer
from headwright.check.exercise import load_exercises
from headwright.check.verdict import Verdict
from headwright.check.widening import widened

EXERCISES = load_exercises()
QUERY = r"$q = \ln(n/\epsilon)(k_a + k_b)$"
ENERGY = r"$\|A\|_F^2 = \sum_{i=1}^d \sigma_i^2 \ge \sum_{i=1}^k \sigma_i^2 \ge k \sigma_k^2$"


def judged(exercise: str, text: str) -> Verdict:
    return check_answer(EXERCISES[exercise], Written(text))


@pytest.mark.parametrize(
    ("exercise", "text", "said"),
    [
        ("averaging-two", rf"{QUERY}. Then $\alpha_b > \frac{{1}}{{3}}$ for every $\epsilon > 0$.", "epsilon > 0"),
        ("averaging-two", rf"{QUERY}. Then $\alpha_b > \frac{{1}}{{3}}$ for $0 < \epsilon < 5$.", "epsilon < 5"),
        ("averaging-two", rf"{QUERY}. For all $\epsilon > 0$: $\alpha_b > \frac{{1}}{{3}}$.", "epsilon > 0"),
        ("temperature-hot", r"$\tau = 2/\epsilon$. This works for all $\epsilon > 0$.", "epsilon > 0"),
        (
            "low-rank",
            r"$B = \sum_{i=1}^{k-1} \sigma_i u_i v_i^\top$, and $\sigma_i \ge 0$ for all $i \le n$.",
            "i <= n",
        ),
        ("positions-unique", r"$\Phi_t \ne \Phi_{t'}$ if $t$ is even.", "some of the integers"),
        ("positions-unique", r"$\Phi_t \ne \Phi_{t'}$ for any real $t \ne t'$.", "no integers"),
        (
            "positions-unique",
            r"$\Phi_t \ne \Phi_{t'}$, as $\cos t \ne \cos t'$ for all integers $t \ne t'$.",
            "all integers",
        ),
        ("kth-singular-value", rf"{ENERGY} for every $k \le n$.", "k <= n"),
        ("kth-singular-value", rf"{ENERGY} for $k = 1, \dots, n$.", "k <= n"),
    ],
)
def test_what_is_said_for_more_than_is_given_is_left_open(exercise: str, text: str, said: str) -> None:
    verdict = judged(exercise, text)
    assert verdict.word == "undecided", verdict.reason
    assert said in verdict.reason


@pytest.mark.parametrize(
    ("exercise", "text"),
    [
        ("averaging-two", rf"{QUERY}. Then $\alpha_a \ge \frac{{1}}{{2+\epsilon}}$ for every $\epsilon > 0$."),
        ("averaging-two", rf"{QUERY}. Then $\alpha_a > \frac{{1}}{{3}}$, since $0 < \epsilon < 1$."),
        ("low-rank", r"$B = \sum_{i=1}^{k-1} \sigma_i u_i v_i^\top$, and $\sigma_i \ge 0$ for all $i \le d$."),
        ("positions-unique", r"$\Phi_t \ne \Phi_{t'}$ for all integers $t \ne t'$."),
        ("kth-singular-value", rf"{ENERGY} for every $k \le d$."),
    ],
)
def test_what_holds_there_too_is_proved(exercise: str, text: str) -> None:
    verdict = judged(exercise, text)
    assert verdict.word == "proved", verdict.reason


def test_a_fixed_tolerance_does_not_go_to_0() -> None:
    exercise = EXERCISES["averaging-two"]
    found = widened(exercise, [], r"for fixed $\epsilon$, $\alpha_a \to \frac12$")
    assert found is not None
    assert found.exercise is not None
    assert not found.exercise.parameters["epsilon"].small
    assert widened(exercise, [], r"for fixed $n$, $\alpha_a \to \frac12$") is None


@pytest.mark.parametrize(
    ("exercise", "text"),
    [
        ("averaging-two", rf"{QUERY}. For all $n$ and $\epsilon$, $\alpha_b \to \frac12$."),
        ("averaging-two", rf"{QUERY}. Then $c \to \frac12(v_a + v_b)$ for every $n$ and $\epsilon$."),
        ("averaging-gaussian", r"$q = \ln(n/\epsilon)(\mu_a + \mu_b)$. As the noise vanishes, $\alpha_b \to \frac12$."),
        (
            "averaging-gaussian",
            r"$q = \ln(n/\epsilon)(\mu_a + \mu_b)$. $\alpha_b \to \frac12$ when the noise goes to zero.",
        ),
    ],
)
def test_a_limit_for_every_tolerance_is_not_one_in_the_tolerance(exercise: str, text: str) -> None:
    verdict = judged(exercise, text)
    assert verdict.word == "undecided", verdict.reason
    assert "every epsilon" in verdict.reason


def test_a_limit_in_a_large_name_is_one_for_every_tolerance() -> None:
    text = r"$q = \lambda(k_a + k_b)$ with $\lambda \to \infty$. For every $\epsilon$, $\alpha_b \to \frac12$."
    assert judged("averaging-two", text).word == "proved"
