r"""Candidates and their ranks, bounds on own names, objects by cases, names of one's own."""

from __future__ import annotations

import pytest

from headwright.check.checker import check_answer
from headwright.check.exercise import load_exercises
from headwright.check.markdown import Written
from headwright.check.verdict import Verdict

EXERCISES = load_exercises()
RIGHT, WRONG = r"$q = \ln(n/\epsilon)(k_a + k_b)$", r"$q = k_a + k_b$"
LARGE = r"$q = \lambda(k_a + k_b)$"


def verdict(exercise: str, text: str) -> Verdict:
    return check_answer(EXERCISES[exercise], Written(text))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (f"Take {RIGHT}.", "proved"),
        (f"Take {WRONG}.", "refuted"),
        (f"Take {RIGHT}. A common slip is {WRONG}.", "proved"),
        (f"One might try {WRONG}, but that is too short. Take {RIGHT}.", "proved"),
        (f"At first I wrote {WRONG}. Take {RIGHT}.", "proved"),
        (f"Take {WRONG}. Take {RIGHT}.", "undecided"),  # which one is meant?
        (f"Take {WRONG}. By symmetry one obtains {RIGHT}.", "undecided"),
        (f"Take {RIGHT}. Symmetric experts prefer {WRONG}.", "proved"),
        (f"Perhaps {RIGHT}.", "undecided"),  # it is only quoted
        ("The query points between the two keys.", "missing"),
        (r"$\alpha_a = \alpha_b$", "missing"),
        (f"Take {RIGHT}. If $n = 3$ and $\\epsilon = \\frac13$, then $q = \\ln(9)(k_a + k_b)$.", "proved"),
        (r"First $q = \lambda(k_a + k_b)$. It suffices to take $\lambda = \ln(n/\epsilon)$.", "proved"),
    ],
)
def test_candidates_of_the_highest_rank_agree(text: str, word: str) -> None:
    assert verdict("averaging-two", text).word == word


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (f"Take {LARGE}.", "proved"),  # a name that is nowhere bounded is large
        (f"Take {LARGE} with $\\lambda \\ge \\ln(n/\\epsilon)$.", "proved"),
        (f"Take {LARGE} with $\\lambda \\ge 1$.", "refuted"),
        (f"Take {LARGE} with $\\lambda > 0$.", "refuted"),
        (f"Take {LARGE} where $\\lambda > 0$ is large.", "proved"),
        (f"Take {LARGE}, $\\lambda \\gg 1$.", "proved"),
        (f"Take {LARGE} with $\\lambda = \\ln n$.", "refuted"),
        (f"Take {LARGE} with large $\\lambda$. With $\\lambda = 0$ all weights are $1/n$.", "proved"),
        (f"Take {LARGE}. With $\\lambda = 0$ all weights would be $1/n$.", "proved"),
        (r"Take $q = \ln(N)(k_a + k_b)$ with $N = n/\epsilon$.", "proved"),
        (r"Let $e^t = n/\epsilon$. Take $q = t(k_a + k_b)$.", "proved"),
        (r"Let $\epsilon = 2\delta$ and $q = \ln(n/(2\delta))(k_a + k_b)$.", "proved"),
        (r"Take $q = c(k_a + k_b)$ with a large constant $c$. Then $c \approx \frac12(v_a + v_b)$.", "proved"),
        (r"Define $\lambda = \ln(n/\epsilon)$ for $n < 10$ and $\lambda = n/\epsilon$ for $n \ge 10$. "
         r"Take $q = \lambda(k_a + k_b)$.", "undecided"),  # own names by cases are not read
        (r"Define $\lambda = \ln(n/\epsilon)$ for $n < 10$ and $\lambda = 1$ for $n \ge 10$. "
         r"Take $q = \lambda(k_a + k_b)$.", "undecided"),
    ],
)  # fmt: skip
def test_names_of_ones_own_are_what_is_said_of_them(text: str, word: str) -> None:
    assert verdict("averaging-two", text).word == word


LOG = r"$q = \ln\left(\frac{n-2}{\epsilon}\right)(k_1 + k_2)$"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (f"For $n = 2$ take $q = 0$. For $n \\ge 3$ take {LOG}.", "proved"),
        (f"For $n = 2$ take $q = 0$. For $n \\ge 4$ take {LOG}.", "undecided"),
        (f"For $n = 3$ take $q = 0$. For $n \\ne 3$ take {LOG}.", "refuted"),
        (f"For $n \\ge 3$ take {LOG}.", "undecided"),
    ],
)
def test_an_object_by_cases_is_judged_case_by_case(text: str, word: str) -> None:
    assert verdict("averaging-two-bounded", text).word == word


@pytest.mark.parametrize(
    ("exercise", "text", "word"),
    [
        ("temperature-cold", r"$\frac{1}{\tau} = \ln(n/\epsilon)$", "proved"),
        ("temperature-hot", r"Any $\tau \ge \frac{2}{\epsilon}$ will do.", "proved"),
        ("two-heads", r"$q_1 = \lambda\mu_a$ and $q_2 = \lambda\mu_b$ with large $\lambda$.", "proved"),
        ("two-heads", r"$q_1 = \lambda\mu_a$ with large $\lambda$.", "undecided"),
        ("two-heads", r"$q_1 = q_2 = \lambda(\mu_a + \mu_b)$ with large $\lambda$.", "refuted"),
        ("relative-positions", r"$M = R_t^\top R_s$ (if $t = s$ this is $M = I$).", "proved"),
        ("copying", r"$\Delta = \min_{i \ne j} (k_j - k_i)^\top q$ and $\Delta \ge \ln(n/\delta)$.", "proved"),
        ("averaging-many", r"$q = \ln(n/\epsilon)\sum_{i \in S} k_i$", "proved"),
    ],
)
def test_what_was_asked_for_is_found_in_formulas(exercise: str, text: str, word: str) -> None:
    assert verdict(exercise, text).word == word
