r"""What was asked for, part by part, and every formula with its status."""

from __future__ import annotations

import pytest

from headwright.grading.exercise import load_exercises, parse_exercise
from headwright.grading.grade import grade
from headwright.grading.markdown import Written
from headwright.grading.verdict import Verdict, from_json, to_json

EXERCISES = load_exercises()
LARGE = r"$q = \lambda(k_a + k_b)$ with large $\lambda$"
RATIO = r"\alpha_1/\alpha_2"
SCALED = r"$q = \lambda(\mu_a + \mu_b)$ with large $\lambda$"


def verdict(exercise: str, text: str) -> Verdict:
    return grade(EXERCISES[exercise], Written(text))


def statuses(found: Verdict) -> dict[str, str]:
    return {one.latex: one.status for one in found.formulas}


@pytest.mark.parametrize(
    ("exercise", "text", "words"),
    [
        (
            "averaging-scaled",
            f"{SCALED}. $g > 1$: $c \\approx v_a$.",
            ["proved", "proved"],
        ),
        ("averaging-scaled", f"{SCALED}.", ["proved", "missing"]),
        (
            "averaging-scaled",
            f"{SCALED}. Then $c \\approx v_a$.",
            ["proved", "refuted"],
        ),
        (
            "averaging-scaled",
            f"{SCALED}. $g > 1$: $c \\approx v_a$. $g < 1$: $c \\approx v_a$.",
            ["proved", "refuted"],
        ),
        (
            "averaging-scaled",
            f"{SCALED}. When $\\|k_a\\|$ is large, $c \\approx v_a$.",
            ["proved", "undecided"],
        ),
        (
            "averaging-scaled-discrete",
            r"$\alpha_1/\alpha_2 = e^{(c-1)t}$",
            ["proved", "proved"],
        ),
        (
            "averaging-scaled-discrete",
            r"$\alpha_1/\alpha_2 = e^{-t/2}$ for $c = \frac12$",
            ["proved", "missing"],
        ),
        (
            "averaging-scaled-discrete",
            r"$\alpha_1/\alpha_2 = e^{ct}$",
            ["refuted", "refuted"],
        ),
        ("averaging-scaled-discrete", r"$\alpha_1 \le 1$", ["undecided", "undecided"]),
        ("self-attention-copy", r"$c_2 \approx x_2 = u_a$", ["proved"]),
        ("self-attention-copy", r"$c_2 = c_2$", ["undecided"]),
        (
            "copying",
            r"$k_j^\top q \gg k_i^\top q$ for all $i \ne j$",
            ["proved", "missing"],
        ),
        (
            "copying",
            r"$k_j^\top q \gg k_i^\top q$ for all $i \ne j$, so $c \approx v_j$",
            ["proved", "proved"],
        ),
        ("positions-unique", r"$\Phi_t \ne \Phi_{t'}$", ["proved"]),
        (
            "positions-unique",
            r"$\Phi_t \ne \Phi_{t'}$ because $\sin(t) \ne 0$",
            ["refuted"],
        ),
        (
            "positions-unique",
            r"Suppose $\Phi_t = \Phi_{t'}$. Then $\sin t = \sin t'$ and $t = t'$.",
            ["proved"],
        ),
        ("positions-unique", r"Different positions look different.", ["missing"]),
        (
            "weights-distribution",
            r"$\alpha_i > 0$ and $\sum_i \alpha_i = 1$",
            ["proved"],
        ),
        ("weights-distribution", r"$\sum_i \alpha_i = 1$", ["missing"]),
        ("same-word", r"$x_t + \phi_t \ne x_k + \phi_k$", ["proved"]),
    ],
)
def test_each_part_has_its_own_verdict(
    exercise: str, text: str, words: list[str]
) -> None:
    assert [one.word for one in verdict(exercise, text).asked] == words


@pytest.mark.parametrize(
    ("exercise", "text", "word"),
    [
        (
            "energy",
            r"$\|A\|_F^2 = \|U S V^\top\|_F^2 = \|S\|_F^2 = \sum_i \sigma_i^2$",
            "proved",
        ),
        (
            "energy",
            r"$\|A\|_F^2 = \sum_i \sigma_i^2$",
            "missing",
        ),  # it restates what is to be shown
        (
            "energy",
            r"$\|A\|_F^2 = \operatorname{tr}(A)^2 = \sum_i \sigma_i^2$",
            "refuted",
        ),
        (
            "energy",
            r"$\|A\|_F^2 = \operatorname{tr}(A^\top A) = \operatorname{tr}(V \Sigma^2 V^\top) "
            r"= \sum_i \sigma_i^2$ with $A = U \Sigma V^\top$",
            "proved",
        ),
        ("permutation", r"$PQ = QP$, $Z_p = PZ$", "refuted"),
        ("permutation", r"$Z_p = PZ$", "missing"),
        (
            "kth-singular-value",
            r"Suppose it were false. Then $\sigma_k^2 > \|A\|_F^2/k$. Contradiction.",
            "undecided",
        ),
        (
            "kth-singular-value",
            r"$\|A\|_F^2 \ge \sum_{i \le k} \sigma_i^2 \ge k \sigma_k^2$. Also $\sigma_d = 1$.",
            "proved",
        ),
    ],
)
def test_a_derivation_is_a_path_of_true_steps(
    exercise: str, text: str, word: str
) -> None:
    assert verdict(exercise, text).word == word


COLD_AND_HOT = parse_exercise(r"""
id = "cold-and-hot"
title = "A temperature that goes to 0 and to infinity"
statement = 'Orthonormal keys, $q = k_1/\tau$. What is $\alpha_1$ as $\tau \to 0$, and as $\tau \to \infty$?'
[parameters]
n = { integer = true, at_least = 2 }
tau = { above = 0 }
[definitions]
q = 'k_1/\tau'
[keys]
are = "orthonormal"
named = ["1"]
[[blanks]]
of = ['\alpha_1']
case = '\tau \to 0'
[[blanks]]
of = ['\alpha_1']
case = '\tau \to \infty'
""")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r"$\alpha_1 \to 1$ as $\tau \to 0$.", ["proved", "missing"]),
        (r"As $\tau \to 0$, $\alpha_1 \to 1$.", ["proved", "missing"]),
        (r"$\alpha_1 \to 1 \text{ as } \tau \to 0$.", ["proved", "missing"]),
        (
            r"$\alpha_1 \to 1$ as $\tau \to 0$. $\alpha_1 \to 0$ as $\tau \to \infty$.",
            ["proved", "undecided"],
        ),
        (r"$\alpha_1 \to 1$ as $\tau \to 0$ for $n = 3$.", ["undecided", "missing"]),
        (
            r"$\alpha_1 \to 1$.",
            ["undecided", "undecided"],
        ),  # of which limit is not said
        (
            r"$\alpha_1 = \frac{e^{1/\tau}}{e^{1/\tau} + n - 1}$.",
            ["undecided", "undecided"],
        ),  # no limit
        (
            r"$\alpha_1 \to \frac{e^{1/\tau}}{e^{1/\tau} + n - 1}$ as $\tau \to 0$.",
            ["undecided", "missing"],
        ),
        (
            r"Let $s = 1/\tau$. $\alpha_1 \to \frac{e^s}{e^s + n - 1}$ as $\tau \to 0$.",
            ["undecided", "missing"],
        ),
        (r"$\alpha_1 \to 0$ as $\tau \to -\infty$.", ["missing", "missing"]),
    ],
)
def test_a_limit_is_filled_by_what_is_said_of_that_limit(
    text: str, words: list[str]
) -> None:
    assert [one.word for one in grade(COLD_AND_HOT, Written(text)).asked] == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r"$\alpha_1/\alpha_2 = e^{(c-1)t}$ for $c \ge 1$", ["missing", "proved"]),
        (r"$\alpha_1/\alpha_2 = e^{(c-1)t}$ for $n \ge 2$", ["proved", "proved"]),
        (r"$\alpha_1/\alpha_2 = e^{(c-1)t}$ for $n = 3$", ["undecided", "undecided"]),
        (r"$\alpha_1/\alpha_2 = e^{(c-1)t}$ for $n \ge 3$", ["undecided", "undecided"]),
        (
            r"$\alpha_1/\alpha_2 = e^{-t/2}$ for $c = \frac12$ and $n = 3$",
            ["undecided", "missing"],
        ),
        (
            r"$\alpha_1/\alpha_2 = e^{-t/2}$ for $c \to \frac12$",
            ["undecided", "missing"],
        ),
    ],
)
def test_a_value_for_some_of_what_is_given_fills_no_blank(
    text: str, words: list[str]
) -> None:
    found = verdict("averaging-scaled-discrete", text).asked
    assert [one.word for one in found] == words


@pytest.mark.parametrize(
    ("exercise", "text", "words"),
    [
        (
            "self-attention-copy",
            r"$c_2 \to u_a$ as $\beta \to \infty$",
            ["proved"],
        ),  # beta is large
        ("self-attention-copy", r"$c_2 \to u_a$ as $\beta \to 0$", ["undecided"]),
        (
            "averaging-scaled-discrete",
            rf"${RATIO} \to 0$ for $c = \frac12$ as $\epsilon \to 0$",
            ["proved", "missing"],
        ),
        (
            "averaging-scaled-discrete",
            rf"${RATIO} \to 0$ for $c = \frac12$ as $n \to \infty$",
            ["undecided", "missing"],
        ),
    ],
)
def test_a_limit_that_the_exercise_does_not_take_is_a_restriction(
    exercise: str, text: str, words: list[str]
) -> None:
    assert [one.word for one in verdict(exercise, text).asked] == words


def test_a_value_for_less_than_was_asked_says_for_what() -> None:
    found = verdict(
        "averaging-scaled-discrete", r"$\alpha_1/\alpha_2 = e^{(c-1)t}$ for $n = 3$"
    )
    assert found.reason == "answered for n = 3 only"


def test_an_object_that_works_stays_proved_beside_a_false_formula() -> None:
    found = verdict(
        "averaging-two",
        f"Take {LARGE}. Then $\\alpha_a = \\frac12$ and $\\alpha_a = \\alpha_b$.",
    )
    assert found.word == "proved"
    assert statuses(found) == {
        r"q = \lambda(k_a + k_b)": "true",
        r"\alpha_a = \frac12": "false",
        r"\alpha_a = \alpha_b": "true",
    }
    (false,) = found.false_formulas
    assert false.counterexample


@pytest.mark.parametrize(
    ("text", "formula", "status"),
    [
        (r"It is not true that $\alpha_a = \frac12$.", r"\alpha_a = \frac12", "quoted"),
        (r"We need $\alpha_a = \frac12$.", r"\alpha_a = \frac12", "quoted"),
        (
            r"Hence $\alpha_a = \frac12$ for some reason that I forgot.",
            r"\alpha_a = \frac12",
            "open",
        ),
        (r"If the noise is gone, $\alpha_a = \frac12$.", r"\alpha_a = \frac12", "open"),
        (r"$\alpha_a = \frac12$ for $n = 2$.", r"\alpha_a = \frac12", "true"),
        (r"Fix $n = 2$. Then $\alpha_a = \frac12$.", r"\alpha_a = \frac12", "true"),
        (r"By symmetry $\alpha_a = \frac12$.", r"\alpha_a = \frac12", "false"),
        (r"Equal keys: $\alpha_a = \frac1n$.", r"\alpha_a = \frac1n", "open"),
        (r"$e^{10} \approx 22026$", r"e^{10} \approx 22026", "true"),
        (r"$e^{10} \approx 23026$", r"e^{10} \approx 23026", "false"),
        (r"$\alpha_a = \frac12 +$", r"\alpha_a = \frac12 +", "open"),
    ],
)
def test_every_formula_has_a_status(text: str, formula: str, status: str) -> None:
    assert (
        statuses(verdict("averaging-two", f"Take {LARGE}.\n\n{text}"))[formula]
        == status
    )


def test_up_to_the_noise_an_equation_is_true() -> None:
    text = r"$q = \lambda(\mu_a + \mu_b)$ with large $\lambda$, and $\alpha_a = \frac{e^\lambda}{2e^\lambda + n - 2}$."
    found = verdict("averaging-gaussian", text)
    assert found.formulas[-1].status == "true"
    assert "noise" in found.formulas[-1].reason


def test_a_verdict_survives_json() -> None:
    found = verdict(
        "averaging-two", r"Take $q = k_a$, since it is nice. $\alpha_a = 1$."
    )
    assert from_json(to_json(found)) == found
    assert [one["verdict"] for one in to_json(found)["asked"]] == ["refuted"]


@pytest.mark.parametrize(
    ("exercise", "text", "word"),
    [
        # 'F instead of G' denies G alone
        (
            "count-linear-attention",
            "So $F=4Td^2$ instead of $4T^2d$.",
            "proved",
        ),
        (
            "averaging-two",
            r"We take $q=\lambda(k_a+k_b)$ with $\lambda$ large and not $q=k_a+k_b$.",
            "proved",
        ),
        (
            "averaging-two",
            "My first thought was $q=k_a+k_b$. Now $q=C(k_a+k_b)$ with large $C$.",
            "proved",
        ),
        # a condition that stands at the end of its clause binds nothing behind it
        (
            "averaging-two",
            r"Let $\lambda>0$ and set $q=\lambda(k_a+k_b)$. The goal is met as soon as"
            r" $(n-2)e^{-\lambda}\le\epsilon$, so we fix $\lambda=\ln(n/\epsilon)$.",
            "proved",
        ),
        # all that follows 'otherwise' is the other case
        (
            "positions-unique",
            r"$\Phi_t\neq\Phi_{t'}$ for $t\neq t'$. Otherwise $\sin t=\sin t'$ and"
            r" $\cos t=\cos t'$.",
            "proved",
        ),
        # a consequence of a definition is no second one
        (
            "temperature-hot",
            r"$\tau=\ln(1+\epsilon)$, because then $e^{1/\tau}$ is $1+\epsilon$.",
            "refuted",
        ),
        # what the answer itself defines is no narrower case of what is false
        (
            "averaging-scaled",
            r"With $q=\lambda(\mu_a+\mu_b)$, $\lambda\to\infty$: when $g>1$ we have"
            r" $c\approx v_b$, and when $g<1$ we have $c\approx v_a$.",
            "refuted",
        ),
        # a middle that cannot be judged does not hide the ends of a chain
        ("causal-mask", r"$$c_1 = \sum_{j\le1}\alpha_{1j}x_j = x_1$$", "proved"),
        ("causal-mask", r"$$c_1 = \sum_{j\le1}\alpha_{1j}x_j = x_2$$", "refuted"),
        (
            "scaled-query-weights",
            r"$\alpha_{11}=\frac{e^{\omega\beta^2}}{e^{\omega\beta^2}+2}\to1$"
            r" as $\omega\to\infty$.",
            "proved",
        ),
        # a conclusion that denies what was supposed is not said under it
        (
            "positions-unique",
            r"Suppose $\Phi_t=\Phi_{t'}$. Then $\sin t=\sin t'$. Hence"
            r" $\Phi_t\neq\Phi_{t'}$ whenever $t\ne t'$.",
            "proved",
        ),
        # what is said first in a sentence counts, and what is given is no case
        ("averaging-two", r"And $\beta$ is $5$. $q=\beta(k_a+k_b)$.", "refuted"),
        (
            "averaging-many",
            r"With $S=\{1,\dots,m\}$ let $q=t\sum_{i\in S}k_i$, $t\ge\ln\frac{n}{\epsilon}$.",
            "proved",
        ),
        (
            "averaging-two",
            "\\[\nq=\\lambda(k_a+k_b),\\qquad\\lambda\\ \\text{large}\n\\]\nso that the rest vanishes.",
            "proved",
        ),
        # a false end of a derivation
        (
            "permutation",
            r"$H_p=\operatorname{softmax}(QK^\top/\sqrt d)V=H$, hence $Z_p=Z$.",
            "refuted",
        ),
        # a reason beside a line of a display
        (
            "energy",
            "\\begin{align*}\n\\|A\\|_F^2 &= \\operatorname{tr}(VS^\\top U^\\top USV^\\top)"
            "\\\\\n&= \\operatorname{tr}(VS^2V^\\top) && \\text{as } U^\\top U=I\\\\\n"
            "&= \\operatorname{tr}(S^2)=\\sum_i\\sigma_i^2\n\\end{align*}",
            "proved",
        ),
    ],
)
def test_a_verdict_says_what_the_sentences_say(
    exercise: str, text: str, word: str
) -> None:
    found = verdict(exercise, text)
    assert found.word == word, found.reason


def test_a_reason_beside_a_line_is_judged() -> None:
    found = verdict(
        "energy",
        r"$$\|A\|_F^2 = \operatorname{tr}(A^\top A) \quad\text{as } U U^\top = I$$",
    )
    assert statuses(found)[r"U U^\top = I"] == "false"


def test_a_formula_that_cannot_be_judged_is_not_called_idle() -> None:
    found = verdict("zero-key-weights", r"$c_1 = \frac13\sum_{j=1}^3 x_j$")
    assert "in any case" not in found.reason


@pytest.mark.parametrize(
    ("exercise", "text", "formula", "status"),
    [
        # where no query is given, nothing is false of what one would do
        (
            "design-impossible",
            r"$\alpha_3\le\frac13$ for all $q$. So $q=\text{none}$.",
            r"\alpha_3\le\frac13",
            "open",
        ),
        # what the statement defines may be repeated
        (
            "linear-attention",
            r"$Z=(QK^\top)V=Q(K^\top V)$, so $M=K^\top V$.",
            r"Z=(QK^\top)V=Q(K^\top V)",
            "true",
        ),
    ],
)
def test_what_is_known_of_the_exercise_is_not_false(
    exercise: str, text: str, formula: str, status: str
) -> None:
    found = verdict(exercise, text)
    assert found.word == "proved", found.reason
    assert statuses(found)[formula] == status
