"""Answers in sentences, end to end: what is claimed is judged, for the case for which it is claimed."""

from __future__ import annotations

import pytest

from headwright.check.checker import Written, check_answer
from headwright.check.exercise import load_exercises
from headwright.check.verdict import Verdict

EXERCISES = load_exercises()
Q = r"$q = \lambda(k_a + k_b)$"
SCALED = r"$q = \lambda(\mu_a + \mu_b)$. "


def check(exercise: str, text: str) -> Verdict:
    return check_answer(EXERCISES[exercise], Written(text))


RIGHT = [
    ("averaging-two", r"Pick $q = c(k_a + k_b)$ with a huge constant $c$."),
    ("averaging-two", r"We use $q = r(k_a + k_b)$, and $r$ is chosen big enough."),
    ("averaging-two", Q + r" for a large positive number $\lambda$, hence $\alpha_a = \alpha_b$."),
    ("averaging-two", r"To make $c \approx \frac12(v_a + v_b)$, set $q = 2\ln(n/\epsilon)(k_a + k_b)$."),
    ("averaging-two", Q + r". For example, $q = 3\ln(n/\epsilon)(k_a + k_b)$ works."),
    ("averaging-two", r"When $n = 2$, $q = 7(k_a + k_b)$ would do. In general " + Q + r" with large $\lambda$."),
    ("averaging-two", r"Assume $n \ge 5$. Then " + Q + r" does it for large $\lambda$."),
    ("averaging-two", r"Write $z_i = k_i^\top q$. With " + Q + r" we get $z_a = \lambda$ and $z_i = 0$ otherwise."),
    ("averaging-two", Q + r". If $n = 2$ then $\alpha_a = \frac12$."),
    ("averaging-two", r"~~$q = k_a$~~ No: " + Q),
    ("averaging-scaled", SCALED + "\n\n- If $g > 1$: $c \\approx v_a$.\n- If $g < 1$: $c \\approx v_b$."),
    ("averaging-scaled", SCALED + r"For $g > 1$ we get $c \approx v_a$, while $c \approx v_b$ for $g < 1$."),
    ("copying", r"Copied when $k_j^\top q$ is far larger than $k_i^\top q$ for every $i \ne j$; so $c \approx v_j$."),
    ("positions-unique", r"Say that $\Phi_t = \Phi_{t'}$. So $\sin t = \sin t'$, $\cos t = \cos t'$, hence $t = t'$."),
    ("averaging-scaled-discrete", "$c = 3/2$:\n\n$$\\alpha_1/\\alpha_2 = e^{t/2}$$\n\n$c = 1/2$:\n\n"
                                  "$$\\alpha_1/\\alpha_2 = e^{-t/2}$$"),
    ("positions-unique", r"WLOG $t < t'$. Then $\Phi_t \ne \Phi_{t'}$."),
    ("positions-unique", r"We cannot have $\Phi_t = \Phi_{t'}$ for $t \ne t'$."),
    ("positions-unique", r"Suppose $\Phi_t = \Phi_{t'}$ with $t \ne t'$: then $\sin t = \sin t'$, "
                         r"$\cos t = \cos t'$, which is impossible, so $\Phi_t \ne \Phi_{t'}$."),
]  # fmt: skip


@pytest.mark.parametrize(("exercise", "text"), RIGHT)
def test_right_answers_are_proved(exercise: str, text: str) -> None:
    verdict = check(exercise, text)
    assert verdict.word == "proved", verdict.reason


WRONG = [
    ("averaging-two", Q + r" with $\lambda$ small."),
    ("averaging-two", Q + r" where $\lambda$ is any positive number."),
    ("averaging-two", Q + r". For example $q = k_a + k_b$ works."),
    ("averaging-two", Q + r" (e.g. $\lambda = 3$)."),
    ("averaging-two", r"If $n = 2$ then $q = k_a$. In general " + Q + "."),
    ("averaging-two", r"$q = k_a$ for $n = 2$ and " + Q + r" for $n > 2$."),
    ("averaging-two", r"Assume $n = 2$. Take $q = k_a + k_b$."),
    ("averaging-two", r"Assume $n \ge 3$. Take $q = k_a + k_b$."),
    ("averaging-two", r"Assume $\epsilon > 1$. Take " + Q + "."),
    ("averaging-two", Q + r". Then it cannot happen that $\alpha_a = \alpha_b$."),
    ("averaging-two", r"Let $z_i = k_i^\top q$ and " + Q + r". Then $z_a = 2\lambda$."),
    ("averaging-two", Q + r" unless $\lambda > 7$."),
    ("averaging-scaled", SCALED + r"If $g > 1$ then $c \approx v_b$."),
    ("averaging-scaled", SCALED + "\n\n- If $g > 1$:\n  $c \\approx v_a$\n- If $g < 1$: $c \\approx v_a$"),
    ("taking-apart", r"Not $M = AA^\top$ but $M = BB^\top$."),
    ("positions-unique", r"Suppose $\Phi_t = \Phi_{t'}$. Then $t = t' + 1$."),
    ("positions-unique", r"It is not true that $\Phi_t \ne \Phi_{t'}$."),
    ("two-heads", r"Head one takes $q_1 = \lambda\mu_a$ and head two $q_2 = \lambda\mu_a$ for large $\lambda$."),
]


@pytest.mark.parametrize(("exercise", "text"), WRONG)
def test_wrong_answers_are_refuted(exercise: str, text: str) -> None:
    verdict = check(exercise, text)
    assert verdict.word == "refuted", verdict.reason


OPEN = [
    ("averaging-two", r"A naive guess is $q = \lambda(k_a + k_b)$."),
    ("averaging-two", Q + ". But this fails."),
    ("averaging-two", r"Don't take " + Q + "."),
    ("averaging-two", r"Is it " + Q + "?"),
    ("averaging-two", r"We want " + Q + "."),
    ("averaging-two", r"If " + Q + r" then $\alpha_a = \alpha_b$."),
    ("averaging-two", r"Suppose " + Q + r". Then $\alpha_a = \alpha_b$."),
    ("averaging-two", Q + r", so $c$ is not $\frac12(v_a + v_b)$."),
    ("averaging-two", r"Either " + Q + r" or $q = k_a$."),
    ("averaging-two", Q + r", except when $n = 5$."),
    ("averaging-two", Q + r" for any $\lambda$."),
    ("averaging-two", Q + r". If $n = 2$ then $\alpha_a = \frac12$. Hence $\alpha_a = \frac12$."),
    ("averaging-two", r"Assume $n \ge 3$. Take $q = \ln((n-2)/\epsilon)(k_a + k_b)$."),
    ("averaging-two", r"$q = \lambda(k_a + k_b)$, and $\xi$ is $\frac{\zeta$."),
    ("averaging-two", r"$q = c(k_a + k_b)$"),
    ("averaging-scaled", SCALED + r"If $g > 1$ then $c \approx v_a$. Otherwise something or $c \approx v_b$."),
    ("copying", r"$k_j^\top q \ge r$, $k_i^\top q \le 0$"),
    ("permutation", r"We do not have $Z_p = P Z$."),
    ("positions-unique", r"There are $t \ne t'$ with $\Phi_t = \Phi_{t'}$."),
]


@pytest.mark.parametrize(("exercise", "text"), OPEN)
def test_what_is_not_certain_is_neither_proved_nor_refuted(exercise: str, text: str) -> None:
    verdict = check(exercise, text)
    assert verdict.word in ("undecided", "unreadable", "no answer"), verdict.reason


def test_an_unreadable_formula_voids_nothing_else() -> None:
    verdict = check("averaging-two", Q + r". Moreover $\alpha_a = \frac{1}{$ and $\alpha_b \approx 1$.")
    assert verdict.word == "refuted"
    kept = check("averaging-two", Q + r". Moreover $\alpha_a \approx \wibble$ and $\alpha_b \approx \frac12$.")
    assert kept.word == "undecided"
    assert [part.word for part in kept.parts if part.role != "goal"] == ["proved"]
    assert "line 1 cannot be read" in kept.reason


def test_what_is_proved_beside_a_condition_that_cannot_be_read_is_kept() -> None:
    condition = r"$k_j^\top q \gg k_i^\top q$ for all $i \ne j$, so $\alpha_j \gg \sum_{i \ne j} \alpha_i$. "
    verdict = check("copying", condition + r"If $\alpha_j \approx 1$ then $c \approx v_j$.")
    assert verdict.word == "undecided"
    assert [part.word for part in verdict.parts if part.role == "goal"] == ["proved"]
    assert "how near is not said" in verdict.reason


def test_an_answer_of_which_nothing_was_judged_is_unreadable() -> None:
    assert check("copying", r"If $\alpha_j \approx 1$ then $c \approx \wibble$.").word == "unreadable"


@pytest.mark.parametrize(
    "text",
    [r"$q^\top k_i = 0$ for all $i$", r"The condition is $q \perp k_j$.", r"$k_j^\top q = k_i^\top q$ for all $i$."],
)
def test_a_condition_that_equal_scores_meet_is_refuted(text: str) -> None:
    verdict = check("copying", text)
    assert verdict.word == "refuted"
    assert "alpha_j is 0.5" in verdict.reason


@pytest.mark.parametrize(
    "text",
    [
        r"$k_i^\top q = 0$ for all $i \ne j$, while the score of key $j$ is much larger than $0$.",
        r"$q^\top k_i = 0$ for all $i$ gives the mean; for a copy one score must be far above.",
        r"$k_j^\top q = 0$. For all other $i$, $k_i^\top q$ is very negative.",
        r"If $q^\top k_i = 0$ for all $i$, the output is the mean only.",
        r"$k_i^\top q = 0$ for $i \ne j$, $k_j^\top q = \ln(n/\delta)$",
        r"$k_j^\top q = 0$, $k_i^\top q = \frac{\wibble}{2}$",
    ],
)
def test_an_equation_between_scores_is_not_judged_where_more_is_said(text: str) -> None:
    assert check("copying", text).word in ("unreadable", "undecided")


def test_how_much_larger_is_not_said_and_so_not_refuted() -> None:
    condition = r"$k_j^\top q \gg k_i^\top q$ for all $i \ne j$"
    assert check("copying", condition + r", so $\alpha_j \gg \sum_{i \ne j} \alpha_i$.").word in ("proved", "undecided")


def test_a_name_of_the_exercise_is_told_where_the_answer_does_not_introduce_it() -> None:
    assert "c is the output in this exercise" in check("averaging-two", r"$q = c(k_a + k_b)$").reason


def test_what_was_proved_for_a_part_only_is_said() -> None:
    verdict = check("averaging-two", r"$q = \ln((n-2)/\epsilon)(k_a + k_b)$, assume $n \ge 3$.")
    assert (verdict.word, verdict.reason.startswith("it is right where n >= 3")) == ("undecided", True)


def test_how_it_was_read_is_told() -> None:
    text = Q + ".\n\nIf $n = 2$ then $\\alpha_a = \\frac12$.\nThis is not $\\alpha_a = 1$."
    read = check("averaging-two", text).read
    assert [(one.line, one.role, one.under, one.word, bool(one.why)) for one in read] == [
        (1, "claim", (), "", False),
        (3, "claim", ("n = 2",), "proved", False),
        (4, "unclear", (), "", True),
    ]
