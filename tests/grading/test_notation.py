"""Notation that is read is judged by what it says, and what has no meaning in an exercise is never proved."""

from __future__ import annotations

import pytest

from headwright.grading.exercise import load_exercises
from headwright.grading.grade import grade
from headwright.grading.markdown import Written, of_formulas
from headwright.grading.verdict import Verdict


def outcome(verdict: Verdict) -> str:
    """The verdict, or that something beside what was asked for is false."""
    return (
        "false beside"
        if verdict.word == "proved" and verdict.false_formulas
        else verdict.word
    )


RATIO = r"\alpha_1/\alpha_2 = \begin{cases} \sqrt{n/\epsilon} & c = %s \\ \sqrt{\epsilon/n} & c = %s \end{cases}"
Q = r"q = \lambda(k_a + k_b), \lambda \gg n"


@pytest.mark.parametrize(
    ("exercise", "formulas", "word"),
    [
        (
            "averaging-two",
            [r"q = \lambda(ka + kb), \quad \lambda \in \mathbb{R}"],
            "proved",
        ),
        (
            "averaging-two",
            [
                Q,
                r"\alpha_i \approx \begin{cases} 1/2 & i \in \{a, b\} \\ 0 & \text{otherwise} \end{cases}",
            ],
            "proved",
        ),
        (
            "averaging-two",
            [
                Q,
                r"\alpha_i \approx \begin{cases} 1/3 & i \in \{a, b\} \\ 0 & \text{otherwise} \end{cases}",
            ],
            "false beside",
        ),
        (
            "averaging-two",
            [Q, r"k_i^\top q = \lambda, \quad i = 1, \dots, n"],
            "false beside",
        ),
        (
            "two-heads",
            [r"q^{(1)} = \lambda\mu_a, q^{(2)} = \lambda\mu_b, \lambda \gg 1"],
            "proved",
        ),
        ("copying", [r"k_j^\top q \gg \max_{i \ne j} k_i^\top q"], "proved"),
        (
            "averaging-scaled-discrete",
            [RATIO % ("3/2", "1/2")],
            "proved",
        ),
        (
            "averaging-scaled-discrete",
            [RATIO % ("1/2", "3/2")],
            "refuted",
        ),
    ],
)
def test_what_is_said_in_other_words_is_judged(
    exercise: str, formulas: list[str], word: str
) -> None:
    assert outcome(grade(load_exercises()[exercise], of_formulas(formulas))) == word


@pytest.mark.parametrize(
    ("exercise", "text"),
    [
        ("averaging-two", r"q \propto k_a + k_b"),
        ("averaging-two", r"= \lambda(k_a + k_b)"),
        ("averaging-two", r"\forall \lambda \gg n"),
        ("copying", r"k_j^\top q \gg k_i^\top q \text{ for some } i \ne j"),
        ("copying", r"k_j^\top q \gg k_i^\top q \text{ for } i = 1, \dots, n"),
        ("copying", r"\min_{i \ne j} k_i^\top q \ll k_j^\top q"),
        ("positions-unique", r"\Phi_t \ne \Phi_{t'} \text{ for some } t \ne t'"),
        ("positions-unique", r"\Phi_t \ne \Phi_{t'} \text{ for some integer } k"),
        ("permutation", r"\implies Z_p = P Z"),
        ("self-attention-copy", r"c_2 \in \mathbb{R}^d"),
    ],
)
def test_what_has_no_meaning_there_is_never_proved(exercise: str, text: str) -> None:
    assert grade(load_exercises()[exercise], of_formulas([text])).word != "proved"


K = r"$q = (k_a + k_b)/\tau$"
L = r"$q = \lambda(k_a + k_b)$"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (rf"{K} where $0 < \tau \ll 1$", "proved"),
        (rf"{L}; $\lim_{{\lambda \to \infty}} \alpha_a = \frac12$", "proved"),
        (rf"{L}; $\lim_{{\lambda \to \infty}} \alpha_a = \frac13$", "false beside"),
        (r"$q \doteq \lambda(k_a + k_b)$ for large $\lambda$", "proved"),
    ],
)
def test_a_limit_is_judged_however_it_is_written(text: str, word: str) -> None:
    assert outcome(grade(load_exercises()["averaging-two"], Written(text))) == word


@pytest.mark.parametrize(
    "text",
    [
        rf"{K} with $\tau \to 0^-$",
        rf"{K}. $\alpha_a \to \frac12$ as $\tau \to 0$. $\alpha_a \to 1/n$ as $\tau \to \infty$.",
        rf"{K}, $\alpha_a \to \frac12$ as $\tau \to 0$, whereas $\alpha_a \to 1/n$ as $\tau \to \infty$",
        r"$q = \tau(k_a + k_b)$ with $\tau \preceq 5$",
        r"$q = \tau(k_a + k_b)$, $\tau \lessapprox 5$",
        rf"{K}, $\tau \leadsto 0$",
    ],
)
def test_what_is_not_understood_of_a_name_decides_nothing(text: str) -> None:
    assert grade(load_exercises()["averaging-two"], Written(text)).word != "proved"


APART = r"$\Phi_t \ne \Phi_{t'}$ for $t \ne t'$"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (r"$\Phi_m \ne \Phi_n$ whenever $m \ne n$", "proved"),
        (
            r"If $\Phi_i = \Phi_j$ then $i - j = 2 \pi k$ for some integer $k$, so $i = j$.",
            "proved",
        ),
        (r"$\Phi_p = \Phi_q$ for $p \ne q$", "refuted"),
        (rf"{APART}, because $2 - 2\cos(t - t') > 1$.", "refuted"),
        (rf"{APART}; also $\lVert \Phi_t \rVert = \sqrt{{d/2}}$", "proved"),
        (
            rf"{APART}; $\|\Phi_t - \Phi_{{t'}}\|^2 = d - 2\langle \Phi_t, \Phi_{{t'}} \rangle$",
            "proved",
        ),
        (rf"{APART}; $\sin^2 t + \cos^2 t = 1$", "proved"),
        (rf"{APART}; $\sin^2 t + \cos^2 t = 2$", "refuted"),
        (r"$\|\Phi_t\|^2 = d/2$", "undecided"),
        (r"$-1 \le \cos(t) \le 1$", "undecided"),
    ],
)
def test_rows_of_positions_have_lengths_and_distances(text: str, word: str) -> None:
    assert outcome(grade(load_exercises()["positions-unique"], Written(text))) == word


def test_an_index_that_a_sum_runs_over_is_no_position() -> None:
    text = r"$\Phi_i \ne \Phi_j$ as $\|\Phi_i - \Phi_j\|^2 = \sum_i (2 - 2\cos(w_i(i - j)))$"
    assert grade(load_exercises()["positions-unique"], Written(text)).word != "proved"


@pytest.mark.parametrize(
    ("exercise", "text", "word"),
    [
        ("averaging-two", rf"{L} $\Longrightarrow$ $k_b^\top q = \lambda$", "proved"),
        ("averaging-two", rf"{L} ⇒ $k_b^\top q = 2 \lambda$", "false beside"),
        ("positions-unique", r"$\Phi_t = \Phi_{t'}$ $\implies$ $t = t'$", "proved"),
        ("positions-unique", r"$t \ne t'$ => $\Phi_t = \Phi_{t'}$", "refuted"),
    ],
)
def test_arrows_say_what_follows_and_what_tends(
    exercise: str, text: str, word: str
) -> None:
    assert outcome(grade(load_exercises()[exercise], Written(text))) == word


@pytest.mark.parametrize(
    ("exercise", "text"),
    [
        ("temperature-cold", r"$\tau \to 0$"),
        ("permutation", r"$Z(PX) = P Z(X)$"),
    ],
)
def test_what_tells_no_value_or_may_be_a_function_is_left_open(
    exercise: str, text: str
) -> None:
    assert grade(load_exercises()[exercise], Written(text)).word == "undecided"
