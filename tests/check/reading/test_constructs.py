"""What heads give, matrices keep and tokens see, said in words: what is right is proved, and what is wrong never is."""

import pytest

from headwright.check.checker import Written, check_answer
from headwright.check.exercise import load_exercises

EXERCISES = load_exercises()
ANSWERS = {
    "averaging-two": r"$q = \lambda (k_a+k_b)$ with $\lambda = \ln(n/\epsilon)$. ",
    "averaging-three": r"$q = \lambda (k_a+k_b+k_c)$ with $\lambda = \ln(n/\epsilon)$. ",
    "averaging-many": r"$q = \lambda \sum_{i \le m} k_i$ with $\lambda = \ln(n/\epsilon)$. ",
    "averaging-two-bounded": r"$q = \ln(n/\epsilon)(k_1+k_2)$. ",
    "averaging-gaussian": r"$q = \lambda (\mu_a+\mu_b)$ with $\lambda$ large. ",
    "averaging-scaled-discrete": r"$\alpha_1/\alpha_2 = e^{(c-1)t}$. ",
    "averaging-varies": r"$\operatorname{Var}(\alpha_a) \to 1/4$. ",
    "causal-mask": r"$c_1 = x_1 = u_a$. ",
    "copying-separated": r"$q = 2 \ln(n/\epsilon) k_1$. ",
    "energy": r"$\|A\|_F^2 = \operatorname{tr}(A^\top A) = \operatorname{tr}(S^\top S) = \sum_i \sigma_i^2$. ",
    "kth-singular-value": r"$\|A\|_F^2 = \sum_{i=1}^d \sigma_i^2 \ge \sum_{i=1}^k \sigma_i^2 \ge k\sigma_k^2$. ",
    "permutation": r"$H_p = \operatorname{softmax}(P Q K^\top P^\top/\sqrt{d}) P V = P H$, so $Z_p = P Z$. ",
    "self-attention-copy": r"$c_2 \approx u_a$. ",
    "taking-apart": r"$M = A A^\top$. ",
    "two-heads": r"$q_1 = \lambda\mu_a$, $q_2 = \lambda\mu_b$ with $\lambda$ large. ",
    "two-heads-scaled": r"$q_1 = \lambda\mu_a$, $q_2 = \lambda\mu_b$ with $\lambda$ large. ",
}
# An exercise, what is right to say after its answer, and what is wrong.
SAID = [
    ("averaging-two", "The softmax gives $k_a$ a weight of at most $1/2$.", "The softmax gives $k_a$ a weight of $1$."),
    ("averaging-two", "The softmax puts half of its weight on each of them.", "The softmax puts weight $1$ on $k_b$."),
    ("averaging-two", "The others contribute $n - 2$ to the sum.", "The others contribute $n$ to the sum."),
    ("averaging-two", "The exponentials of a and b are $n/\\epsilon$.", "The exponentials of a and b are $\\epsilon$."),
    ("averaging-two", "Every other key is orthogonal to $q$, so its score is $0$.",
     "Every other key is orthogonal to $q$, so its score is $1$."),
    ("averaging-two", "By orthonormality both scores are $\\lambda$.", "By orthonormality both scores are $1$."),
    ("averaging-two", "There are at least two keys.", "There are at least three keys."),
    ("averaging-two", "There are $n - 2$ others.", "There are $n - 3$ others."),
    ("averaging-two", "The mean of $v_a$ and $v_b$ is $\\frac12 (v_a + v_b)$.",
     "The mean of $v_a$ and $v_b$ is $v_a$."),
    ("averaging-three", "Each wanted weight is at most $\\frac13$.", "Each wanted weight is more than $\\frac13$."),
    ("averaging-three", "The other $n - 3$ scores are zero.", "The other $n - 3$ scores are $\\lambda$."),
    ("averaging-many", "For $i \\le m$ the score is $\\lambda$ and for $i > m$ it is $0$.",
     "For $i \\le m$ the score is $\\lambda$ and for $i > m$ it is $1$."),
    ("averaging-two-bounded", "Its length is $\\sqrt2 \\ln(n/\\epsilon)$, below $2\\sqrt2 \\ln(n/\\epsilon)$.",
     "Its length is $\\sqrt2 \\ln(n/\\epsilon)$, below $\\ln(n/\\epsilon)$."),
    ("averaging-gaussian", "The variance of the score of $k_a$ is $2 a \\lambda^2$.",
     "The variance of the score of $k_a$ is $a \\lambda^2$."),
    ("averaging-gaussian", "The covariance matrices for the $k_i$ are almost $0$.",
     "The covariance matrices for the $k_i$ are $1$."),
    ("averaging-scaled-discrete", "The key $k_1$ has a random scaling factor $c$.",
     "The key $k_2$ has a random scaling factor $c$."),
    ("averaging-varies", "$g > 1$ has probability one half.", "$g > 1$ has probability one third."),
    ("averaging-varies", "In the limit $\\alpha_a$ is a fair coin.", "In the limit $\\alpha_b$ is $1$."),
    ("averaging-varies", "$g$ is symmetric about its mean $1$.", "$g$ is symmetric about $0$."),
    ("causal-mask", "The first token can see nobody but itself.", "The second token can see nobody but itself."),
    ("copying-separated", "The keys are at distance at least $1$.", "The keys are at distance at least $2$."),
    ("averaging-two", "All other keys are orthogonal to it.", "Both keys are orthogonal to it."),
    ("averaging-two", "The other weights are at most $1/n$.", "The other weights vanish exactly."),
    ("averaging-two", "The other scores are $0$ exactly.", "The other weights are $0$ exactly."),
    ("averaging-scaled-discrete", "If $c = 3/2$, the first key wins.", "If $c = 3/2$, the second key wins."),
    ("averaging-varies", "In the limit the weight is a coin toss.", "In the limit the weight is a constant."),
    ("causal-mask", "$x_1$ looks at itself.", "Each token looks at the token before it."),
    ("taking-apart", "It is the orthogonal projection onto the first subspace.",
     "It is the orthogonal projection onto the second subspace."),
    ("taking-apart", "This projects onto the span of the $a_i$.", "This projects onto the span of the $b_i$."),
    ("taking-apart", "It takes away the part in the second subspace.", "It takes away the part in the first subspace."),
    ("taking-apart", "This is a projection.", "This is a rotation."),
    ("two-heads", "They are clearly different.", "They are clearly the same."),
    ("energy", "$S$ is diagonal.", "$A$ is diagonal."),
    ("kth-singular-value", "The singular values are sorted.", "The singular values are equal."),
    ("kth-singular-value", "They are not negative.", "They are not positive."),
    ("permutation", "$P$ is a permutation matrix.", "$X$ is a permutation matrix."),
    ("self-attention-copy", "The scores of the query $x_2 = u_a$ are $0$, $\\beta^2$, $0$.",
     "The scores of the query $x_2 = u_a$ are $0$, $\\beta^2$, $1$."),
    ("self-attention-copy", "The query of token 2 is $u_a$.", "The query of token 2 is $u_b$."),
    ("taking-apart", "It keeps $v_a$ and kills $v_b$.", "It keeps $v_b$ and kills $v_a$."),
    ("taking-apart", "It sends $v_b$ to zero.", "It sends $v_a$ to zero."),
    ("taking-apart", "$v_a$ stays the same.", "$v_b$ stays the same."),
    ("two-heads", "Head 1 gives $k_a$ a weight of about $1$.", "Head 1 gives $k_b$ a weight of about $1$."),
    ("two-heads-scaled", "Head 2 does not depend on $g$.", "Head 1 does not depend on $g$."),
    ("two-heads-scaled", "In head 2 the length $g$ plays no role.", "In head 1 the length $g$ plays no role."),
]  # fmt: skip


def verdict(exercise: str, said: str) -> str:
    return check_answer(EXERCISES[exercise], Written(ANSWERS[exercise] + said)).word


@pytest.mark.parametrize(("exercise", "right", "wrong"), SAID, ids=[right for _, right, _ in SAID])
def test_what_is_right_is_proved_and_what_is_wrong_is_not(exercise: str, right: str, wrong: str) -> None:
    assert verdict(exercise, right) == "proved"
    assert verdict(exercise, wrong) in ("refuted", "undecided")


def test_terms_of_a_sum_are_each_as_large_as_is_said() -> None:
    said = (
        r"$\|A\|_F^2 = \sum_{i=1}^d \sigma_i^2 \ge \sum_{i=1}^k \sigma_i^2$. Each of these is at least $@$, "
        r"so $\sum_{i=1}^k \sigma_i^2 \ge k \sigma_k^2$."
    )
    exercise = EXERCISES["kth-singular-value"]
    assert check_answer(exercise, Written(said.replace("@", r"\sigma_k^2"))).word == "proved"
    assert check_answer(exercise, Written(said.replace("@", r"\sigma_1^2"))).word != "proved"
