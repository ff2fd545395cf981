"""What stands behind words that were not understood is not held against an answer."""

import pytest

from headwright.check.checker import Written, check_answer
from headwright.check.exercise import load_exercises

EXERCISES = load_exercises()


@pytest.mark.parametrize(("exercise", "text"), [
    ("self-attention-copy",
     r"We get $c_2 \approx u_a$. Lengthening it by $u_d$ makes $x_2 = u_a + u_d$: now $c_2 \approx u_a + u_d$."),
    ("positions-unique",
     r"$\Phi_t \ne \Phi_{t'}$ if $t \ne t'$: otherwise $t - t' = 2\pi m$ with an integer $m \ne 0$."),
    ("low-rank", r"$B = U S_{k-1} V^\top$, where $S_{k-1}$ is $S$ with $\sigma_k, \dots, \sigma_d$ crossed out."),
    ("low-rank", r"$B = U T V^\top$, where $T$ retains $\sigma_1, \dots, \sigma_{k-1}$ and is zero otherwise."),
    ("low-rank", r"$B = U S_{k-1} V^\top$. Here $S_{k-1}$ keeps $\sigma_1, \dots, \sigma_{k-1}$ alone."),
])  # fmt: skip
def test_what_stands_behind_words_that_may_change_its_meaning_is_not_refuted(exercise: str, text: str) -> None:
    assert check_answer(EXERCISES[exercise], Written(text)).word == "undecided"


def test_a_reason_that_is_not_understood_saves_no_false_claim() -> None:
    text = r"$q = \ln(n/\epsilon)(k_a + k_b)$. Because the softmax is nice with such keys, $\alpha_a = 1$."
    assert check_answer(EXERCISES["averaging-two"], Written(text)).word == "refuted"


def test_an_object_that_fails_is_refuted_whatever_is_said_beside_it() -> None:
    text = r"$q = k_a + k_b$. Now with a wave of the hand it is balanced."
    assert check_answer(EXERCISES["averaging-two"], Written(text)).word == "refuted"


@pytest.mark.parametrize(("exercise", "text"), [
    ("averaging-scaled-discrete", r"$\alpha_1/\alpha_2 = e^{(c-1)t}$. It is $1$ when $c = 1/2$."),
    ("causal-mask", r"$c_1 = u_a$. Hence $u_b$."),
    ("temperature-hot", r"$\tau = 1/\ln(1+\epsilon)$. It is 0."),
    ("averaging-two", r"$q = \ln(n/\epsilon)(k_a + k_b)$. The scores add up to one."),
    ("permutation", r"$Q_p = P Q$ and K stays as it is. $H_p = P H$ and $Z_p = P Z$."),
    ("energy", r"\begin{align}\|A\|_F^2 &= \operatorname{tr}(A^T A)\\ \intertext{as U is the identity} "
               r"&= \operatorname{tr}(V S^T S V^T) = \sum_i \sigma_i^2\end{align}"),
    ("positions-help", r"$PX + \Phi \ne P(X + \Phi)$. The layer sees $P(X + \Phi)$, not $PX + \Phi$."),
    ("positions-help", r"$PX + \Phi \ne P(X + \Phi)$ if $P\Phi = \Phi$."),
    ("same-word", r"$x_t + \phi_t \ne x_k + \phi_k$ provided that $x_t \ne x_k$."),
    ("same-word", r"$x_t + \phi_t \ne x_k + \phi_k$ unless $x_t = x_k$."),
    ("self-attention-copy", r"$c_2 \to u_a$. Adding $u_d$ makes $x_2 = u_d$."),
])  # fmt: skip
def test_what_is_false_and_not_understood_leaves_an_answer_open(exercise: str, text: str) -> None:
    assert check_answer(EXERCISES[exercise], Written(text)).word != "proved"


def test_a_prime_behind_an_index_is_the_index_s() -> None:
    assert (
        check_answer(EXERCISES["positions-unique"], Written(r"$\Phi_t \ne \Phi_t'$ for $t \ne t'$.")).word == "proved"
    )


def test_two_positions_that_are_supposed_to_collide_are_different_ones() -> None:
    text = (
        r"$\Phi_t \ne \Phi_{t'}$ for $t \ne t'$. Suppose $\Phi_t = \Phi_{t'}$. As $t \ne t'$, we have $t - t' \ne 0$."
    )
    assert check_answer(EXERCISES["positions-unique"], Written(text)).word != "refuted"


def test_the_output_is_what_it_tends_to_only_where_something_tends() -> None:
    exercise = EXERCISES["averaging-two"]
    said = r" The output is $\frac12(v_a + v_b)$."
    limit = check_answer(exercise, Written(r"$q = \lambda(k_a + k_b)$ with $\lambda \to \infty$." + said))
    assert limit.word == "proved"
    assert r"c \approx" in limit.read[-1].statement  # no more is told than was proved
    assert check_answer(exercise, Written(r"$q = \ln(n/\epsilon)(k_a + k_b)$." + said)).word == "undecided"


@pytest.mark.parametrize(
    ("exercise", "text"),
    [
        ("taking-apart", "$M = A A^T$. {}"),
        ("averaging-two", r"$q = \ln(2n/\epsilon)(k_a + k_b)$. {}"),
        ("convex-hull", r"$r = \alpha_2$, $s = \alpha_3$. {}"),
    ],
)
@pytest.mark.parametrize(
    "words",
    [
        "It is a reflection.",
        "Nothing shorter exists.",
        "It is a rotation.",
        "Both of them lie.",
        "Its square is itself.",
    ],
)
def test_a_proof_does_not_pass_with_words_that_nobody_judged(exercise: str, text: str, words: str) -> None:
    assert check_answer(EXERCISES[exercise], Written(text.format("Done."))).word == "proved"
    assert check_answer(EXERCISES[exercise], Written(text.format(words))).word == "undecided"


@pytest.mark.parametrize(
    ("exercise", "text"),
    [
        ("weights-distribution", r"$\alpha_i > 0$ and $\sum_i \alpha_i = 1$. Vanishing query: $\alpha_i = 1/n$."),
        (
            "weights-distribution",
            r"$\alpha_i > 0$ and $\sum_i \alpha_i = 1$. A query of length zero has $\alpha_i = 1/n$.",
        ),
        ("relative-positions", "$M = R_t^T R_s$. Where both positions agree: $M = I$."),
        ("averaging-two", r"$q = \ln(2n/\epsilon)(k_a + k_b)$. With two keys alone, $\alpha_a = 1/2$."),
        ("positions-help", r"$P X + \Phi \ne P (X + \Phi)$, for equality requires $\Phi = P \Phi$."),
        (
            "averaging-scaled-discrete",
            r"Too short: $\alpha_1/\alpha_2 = \sqrt{\epsilon/n}$. Too long: $\alpha_1/\alpha_2 = \sqrt{n/\epsilon}$.",
        ),
    ],
)
def test_a_formula_behind_words_that_nobody_understood_is_not_held_against_an_answer(exercise: str, text: str) -> None:
    assert check_answer(EXERCISES[exercise], Written(text)).word == "undecided"


def test_what_is_said_to_be_implied_is_not_claimed() -> None:
    text = r"$x_t + \phi_t \ne x_k + \phi_k$, since $x_t + \phi_t = x_k + \phi_k$ would imply $\phi_t = \phi_k$."
    assert check_answer(EXERCISES["same-word"], Written(text)).word == "proved"
    false = r"$x_t + \phi_t \ne x_k + \phi_k$, since $x_t + \phi_t = x_k + \phi_k$ would imply $\phi_t = 0$."
    assert check_answer(EXERCISES["same-word"], Written(false)).word != "proved"


@pytest.mark.parametrize("which", ["one", "half of the", "all odd", "most", "a", "every second", "all but the last"])
def test_a_condition_for_some_indices_is_not_one_for_all(which: str) -> None:
    said = r"$k_j^\top q \ge k_i^\top q + \ln(n/\delta)$ for {} $i \ne j$."
    assert check_answer(EXERCISES["copying"], Written(said.format("all"))).word == "proved"
    assert check_answer(EXERCISES["copying"], Written(said.format(which))).word in ("undecided", "unreadable")


def test_all_other_indices_are_those_that_were_not_named() -> None:
    scores = r"$k_a^\top q = \lambda$ and $k_i^\top q = {}$ for all other $i$."
    said = rf"$q = \lambda(k_a + k_b)$ for a large $\lambda$: {scores}"
    assert check_answer(EXERCISES["averaging-two"], Written(said.format("0"))).word == "proved"
    assert check_answer(EXERCISES["averaging-two"], Written(said.format(r"\lambda"))).word == "refuted"


def test_what_follows_from_two_ranges_of_an_index_is_not_said_of_the_second_alone() -> None:
    said = (
        r"$q = \ln(n/\epsilon) \sum_{i=1}^{m} k_i$. For $i \le m$ the score is $\ln(n/\epsilon)$ "
        r"and for $i > m$ it is 0, so $\alpha_i \ge \frac{1}{m + \epsilon}$."
    )
    assert check_answer(EXERCISES["averaging-many"], Written(said)).word == "undecided"


@pytest.mark.parametrize(
    ("said", "word"),
    [
        (r"Any $\lambda$ that is large enough:", "proved"),
        (r"Every large enough $\lambda$ works:", "proved"),
        (r"Any $\lambda$ works:", "undecided"),
        (r"Any $\lambda$ that is small enough:", "undecided"),
        (r"Any large $\lambda$ fails:", "undecided"),
    ],
)
def test_any_that_is_large_enough_says_no_more_than_a_large_one(said: str, word: str) -> None:
    assert check_answer(EXERCISES["averaging-two"], Written(f"{said}\n\n$$q = \\lambda(k_a + k_b)$$")).word == word
