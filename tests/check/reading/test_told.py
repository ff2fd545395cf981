"""What is said of scores, weights and outputs in words is judged: the true sentence passes, its false twin does not."""

import pytest

from headwright.check.checker import Written, check_answer
from headwright.check.exercise import load_exercises

EXERCISES = load_exercises()
ANSWERS = {
    "averaging-two": r"$q = \ln(n/\epsilon)(k_a + k_b)$. ",
    "averaging-many": r"$q = \ln(n/\epsilon) \sum_{i=1}^m k_i$. ",
    "averaging-gaussian": r"$q = \ln(2n/\epsilon)(\mu_a + \mu_b)$. ",
    "averaging-scaled": r"$q = \lambda(\mu_a + \mu_b)$ with large $\lambda$. ",
    "averaging-scaled-discrete": r"$\alpha_1/\alpha_2 = e^{(c-1)t}$. ",
    "copying": r"The condition is $k_j^\top q - k_i^\top q \ge \ln(n/\delta)$ for all $i \ne j$. ",
    "two-heads": r"$q_1 = \lambda\mu_a$ and $q_2 = \lambda\mu_b$ with $\lambda$ large. ",
}
# An exercise, what is true of its answer above, and a twin that is not.
SAID = [
    ("averaging-two", r"It gives both keys the score $\ln(n/\epsilon)$ and all others the score $0$.",
     r"It gives both keys the score $0$ and all others the score $0$."),
    ("averaging-two", "It leaves the other scores at $0$.", "It leaves the other scores at $1$."),
    ("averaging-two", "It makes the two scores equal.", "It makes the two scores equal to $1$."),
    ("averaging-two", r"It leaves a gap of $\ln(n/\epsilon)$ between the scores.",
     "It leaves a gap of $n$ between the scores."),
    ("averaging-two", r"The length is $\sqrt 2 \ln(n/\epsilon)$.", r"The length is $2 \ln(n/\epsilon)$."),
    ("averaging-two", "The query is a multiple of $k_a + k_b$.", "The query is a multiple of $k_a - k_b$."),
    ("averaging-two", "It points in the direction of $k_a + k_b$.", "It points in the direction of $-k_a - k_b$."),
    ("averaging-two", r"The query is $\ln(n/\epsilon)$ times the sum of the two keys.",
     r"The query is $2 \ln(n/\epsilon)$ times the sum of the two keys."),
    ("averaging-two", r"The other weights are at most $\epsilon$ in all.",
     r"The other weights are at most $\epsilon/n$ in all."),
    ("averaging-two", r"The other weights sum to at most $\epsilon$.",
     r"The other weights sum to at most $\epsilon/n$."),
    ("averaging-two", r"The total weight on the others is below $\epsilon$.", "The total weight on the others is $1$."),
    ("averaging-two", r"The two scores are the same, namely $\ln(n/\epsilon)$.",
     "The two scores are the same, namely $5$."),
    ("averaging-two", r"The two scores are the same, $\ln(n/\epsilon)$.", "The two scores are the same, $5$."),
    ("averaging-two", r"$\alpha_a \ge \frac{1}{2+\epsilon}$, and the same for $b$.",
     r"$\alpha_a \ge \frac{1}{2+\epsilon}$, and the same for the other keys."),
    ("averaging-two", r"$\alpha_a \le \frac12$, with equality for $n = 2$.",
     r"$\alpha_a \ge \frac{1}{2+\epsilon}$, with equality for $n = 2$."),
    ("averaging-two", "Its score at any key other than these two is $0$.",
     "Its score at any key other than $k_a$ is $0$."),
    ("averaging-two", "For the other keys the score is zero.", "For the other keys the score is one."),
    ("averaging-two", "The head splits its weight evenly between the two keys.",
     "The head splits its weight evenly between all keys."),
    ("averaging-two", r"The score at $k_a$ is $\ln(n/\epsilon)$.",
     r"The score at $k_a$ is $\ln(n/\epsilon)$, at $k_i$ too."),
    ("averaging-many", r"The scores are $\ln(n/\epsilon)$ for $i \le m$ and $0$ for $i > m$.",
     r"The scores are $\ln(n/\epsilon)$ for $i \le m$ and $1$ for $i > m$."),
    ("averaging-many", r"The score of $k_i$ is $\ln(n/\epsilon)$ if $i \le m$ and $0$ otherwise.",
     r"The score of $k_i$ is $\ln(n/\epsilon)$ if $i > m$ and $0$ otherwise."),
    ("averaging-gaussian", "The means are orthogonal and of unit length.",
     "The means are orthogonal and of length $2$."),
    ("averaging-gaussian", r"As $a \to 0$ the key $k_a$ tends to $\mu_a$.",
     r"As $a \to 0$ the key $k_a$ tends to $\mu_b$."),
    ("averaging-scaled", "For $g > 1$ the output tends to $v_a$, and for $g < 1$ to the other.",
     "For $g > 1$ the output tends to $v_a$, and for $g < 1$ as well."),
    ("averaging-scaled", "The output tends to $v_a$ for $g > 1$ and to $v_b$ for $g < 1$.",
     "The output tends to $v_b$ for $g > 1$ and to $v_a$ for $g < 1$."),
    ("averaging-scaled", "For $g > 1$ the output is close to $v_a$, for $g < 1$ it is close to the second one.",
     "For $g > 1$ the output is close to $v_a$, for $g > 2$ it vanishes."),
    ("averaging-scaled", r"For $g > 1$ the weight $\alpha_a \to 1$.", r"For $g > 1$ the weight $\alpha_a \to 0$."),
    ("averaging-scaled-discrete", r"The ratio is $e^{t/2}$ for $c = \frac32$ and $e^{-t/2}$ for $c = \frac12$.",
     r"The ratio is $e^{t/2}$ for $c = \frac32$ and $e^{t/2}$ for $c = \frac12$."),
    ("averaging-scaled-discrete", "The first score is $ct$, the second is $t$.",
     "The first score is $ct$, the second is $2t$."),
    ("copying", "Then nearly all the weight is on $k_j$.", "Then nearly all the weight is on $k_i$."),
    ("two-heads", "Head 1 attends to $k_a$ and head 2 to $k_b$.", "Head 1 attends to $k_a$ and head 2 to $k_a$."),
    ("two-heads", r"The first head looks at $\mu_a$, the second at $\mu_b$.",
     r"The first head looks at $\mu_a$, the second at $\mu_a$."),
    ("two-heads", "The output of the first head is close to $v_a$, that of the second is close to $v_b$.",
     "The output of the first head is close to $v_a$, that of the second is close to $v_a$."),
    ("two-heads", r"Averaging the two outputs gives $\frac12(v_a + v_b)$.", "Averaging the two outputs gives $v_a$."),
]  # fmt: skip


@pytest.mark.parametrize(("exercise", "said"), [(one, said) for one, said, _ in SAID])
def test_what_is_said_in_words_and_true_is_proved(exercise: str, said: str) -> None:
    assert check_answer(EXERCISES[exercise], Written(ANSWERS[exercise] + said)).word == "proved"


@pytest.mark.parametrize(("exercise", "twin"), [(one, twin) for one, _, twin in SAID])
def test_what_is_said_in_words_and_false_is_not_proved(exercise: str, twin: str) -> None:
    assert check_answer(EXERCISES[exercise], Written(ANSWERS[exercise] + twin)).word in ("undecided", "refuted")
