"""Facts and steps in words claim nothing of the answer and leave a verdict as it is; their false twins do not pass."""

import pytest

from headwright.check.checker import Written, check_answer
from headwright.check.exercise import load_exercises

EXERCISES = load_exercises()
ANSWERS = {
    "averaging-two": r"$q = \ln(n/\epsilon)(k_a + k_b)$. ",
    "averaging-scaled-discrete": r"$\alpha_1/\alpha_2 = e^{(c-1)t}$. ",
    "energy": r"$\|A\|_F^2 = \operatorname{tr}(A^\top A) = \operatorname{tr}(S^\top S) = \sum_i \sigma_i^2$. ",
    "kth-singular-value": r"$\|A\|_F^2 = \sum_{i=1}^d \sigma_i^2 \ge \sum_{i=1}^k \sigma_i^2 \ge k\sigma_k^2$. ",
    "permutation": r"$H_p = \operatorname{softmax}(P Q K^\top P^\top/\sqrt{d}) P V = P H$, so $Z_p = P Z$. ",
    "positions-help": r"$PX + \Phi \ne P(X + \Phi)$. ",
    "relative-positions": r"$M = R_t^\top R_s$. ",
    "positions-unique": r"$\Phi_t \ne \Phi_{t'}$ for $t \ne t'$. ",
    "same-word": r"$x_t + \phi_t \ne x_k + \phi_k$. ",
    "low-rank": r"$B = \sum_{i=1}^{k-1} \sigma_i u_i v_i^\top$. ",
    "taking-apart": r"$M = A A^\top$. ",
    "causal-mask": r"$c_1 = u_a$. ",
    "causal-previous": r"$K = I$, $Q = u_a u_b^\top + u_b u_c^\top$. ",
    "self-attention-copy": r"$c_2 \approx u_a$. ",
    "self-attention-route": r"$V = \frac{1}{\beta^2}(u_b u_b^\top - u_c u_c^\top)$, $K = I$, "
    r"$Q = \frac{1}{\beta^2}(u_c u_d^\top + u_d u_a^\top)$. ",
    "score-varies": r"$\operatorname{Var}(k_a^\top q) = \lambda^2 (2a + \frac12)$. ",
    "weights-distribution": r"$\alpha_i > 0$ for all $i$ and $\sum_{i=1}^n \alpha_i = 1$. ",
}
# An exercise, what is so whatever was answered, and a twin that is not.
SAID = [
    ("permutation", "Relu operates on every entry.", "Relu operates on every row."),
    ("permutation", "Note that the relu is computed element by element.", "Note that the relu is linear."),
    ("permutation", "The softmax is taken along the rows.", "The softmax is taken along the columns."),
    ("permutation", "Attention is permutation equivariant.", "Attention is invariant."),
    ("energy", "Rotations preserve the Frobenius norm.", "Projections preserve the Frobenius norm."),
    ("energy", "The Frobenius norm is invariant under orthogonal maps.", "The trace is invariant under all maps."),
    ("energy", "The trace is invariant under cyclic shifts.", "The trace is invariant under shifts."),
    ("energy", "Plug in the SVD.", "Plug in a smaller $S$."),
    ("score-varies", "Linear functions of Gaussians are normal.", "Products of Gaussians are normal."),
    ("weights-distribution", "All exponentials are strictly positive.", "All exponentials are larger than one."),
    ("weights-distribution", "The numerators add up to the denominator.", "The numerators add up to zero."),
    ("weights-distribution", "A softmax is shift invariant.", "A softmax is scale invariant."),
    ("averaging-two", "Adding a constant to all scores has no effect on the weights.",
     "Adding a constant to one score has no effect on the weights."),
    ("averaging-scaled-discrete", "The common denominator drops out.", "The numerator drops out."),
    ("kth-singular-value", "Squares are never negative.", "Squares are never zero."),
    ("kth-singular-value", "Now divide both sides by $k$.", "Half of it would be enough."),
    ("relative-positions", "The common rotation $R_m$ cancels.", "The common rotation $R_t$ cancels."),
    ("relative-positions", "The transpose of an orthogonal matrix is its inverse.",
     "The transpose of a matrix is its inverse."),
    ("positions-help", r"Now the layer sees $PX + \Phi$.", r"Now the layer sees $P(X + \Phi)$."),
    ("positions-help", "The tokens move but the positions don't.", "The positions move but the tokens don't."),
    ("positions-help", "So the order of the words matters.", "So the order of the words never matters."),
    ("positions-help", "The two inputs are different.", "The two inputs are the same."),
    ("positions-help", r"They differ by $\Phi - P\Phi$.", r"They differ by $\Phi$."),
    ("positions-help", "Permuting the words is not permuting the rows.", "Permuting the words is permuting the rows."),
    ("positions-help", r"The argument for $Z_p = PZ$ breaks down.", r"The argument for $Z_p = PZ$ goes through."),
    ("permutation", "So the layer is permutation equivariant.", "So the layer is permutation invariant."),
    ("permutation", "Without positions the model cannot distinguish different orders.",
     "Without positions the model can distinguish different orders."),
    ("positions-unique", r"Different integers cannot differ by a multiple of $2\pi$.",
     r"Different integers cannot differ by a multiple of $2$."),
    ("positions-unique", r"The first pair of entries has the period $2\pi$.",
     r"The first pair of entries has the period $\pi$."),
    ("positions-unique", r"The first two components are $(\sin t, \cos t)$.",
     r"The first two components are $(\cos t, \sin t)$."),
    ("positions-unique", r"If $\Phi_t = \Phi_{t'}$, then $t - t'$ must be a multiple of $2\pi$.",
     r"If $t \ne t'$, then $t - t'$ must be a multiple of $2\pi$."),
    ("positions-unique", "No two rows coincide.", "No two rows differ."),
    ("same-word", "The word embeddings are identical.", "The position embeddings are identical."),
    ("energy", r"The eigenvalues of $A^\top A$ are the squared singular values.",
     r"The eigenvalues of $A^\top A$ are the singular values."),
    ("energy", "The only nonzero entries of $S$ lie on its diagonal.",
     "The only nonzero entries of $U$ lie on its diagonal."),
    ("kth-singular-value", r"All of the first $k$ singular values are at least $\sigma_k$.",
     r"All of the first $d$ singular values are at least $\sigma_k$."),
    ("kth-singular-value", r"Each of $\sigma_1, \dots, \sigma_k$ is at least $\sigma_k$.",
     r"Each of $\sigma_1, \dots, \sigma_k$ is at most $\sigma_k$."),
    ("kth-singular-value", "Omitting squares can only decrease the sum.",
     "Omitting squares can only increase the sum."),
    ("low-rank", "It is a sum of $k-1$ rank-one matrices.", "It is a sum of $k-2$ rank-one matrices."),
    ("low-rank", r"The largest singular value of $A - B$ is $\sigma_k$.",
     r"The largest singular value of $A - B$ is $\sigma_1$."),
    ("low-rank", "The error is the next singular value.", "The error is the smallest singular value."),
    ("taking-apart", "Here $v_a$ lies in the first subspace.", "Here $v_a$ lies in the second subspace."),
    ("taking-apart", "It leaves $Ax$ alone and removes $By$.", "It leaves $By$ alone and removes $Ax$."),
    ("causal-mask", r"$\alpha_{11} = 1$, whatever the score is.", r"$\alpha_{11} > 0$, whatever the score is."),
    ("causal-previous", "The query of token $2$ is $\\beta^2 u_a$, which matches the first key.",
     "The query of token $2$ is $\\beta^2 u_a$, which matches the second key."),
    ("self-attention-copy", "Adding $u_c$ or $u_d$ does not help.", "Adding $u_c$ or $u_d$ helps."),
    ("self-attention-copy", "Adding $u_d$ to $x_2$ does not give $u_b$.",
     "Adding $u_d$ to $x_2$ does not give $u_a + u_d$."),
    ("self-attention-copy", "With $u_d$ added it becomes $u_a + u_d$.", "With $u_d$ added it becomes $u_a$."),
    ("self-attention-copy", r"The token $x_2$ has score $\beta^2$ with itself and $0$ with the others.",
     r"The token $x_2$ has score $\beta^2$ with itself and $1$ with the others."),
    ("self-attention-copy", "The second token is orthogonal to both others.",
     "The first token is orthogonal to both others."),
    ("self-attention-route", "The first token asks for $u_c$.", "The first token asks for $u_d$."),
    ("self-attention-route", "Token 1 looks at token 3, whose value is $u_b - u_c$.",
     "Token 1 looks at token 3, whose value is $u_b$."),
    ("relative-positions", "So both scores are equal.", "So both scores are zero."),
    ("relative-positions", "Only the difference of the positions counts.", "Only the sum of the positions counts."),
    ("kth-singular-value", r"The sum of the first $k$ squares is at least $k\sigma_k^2$.",
     r"The sum of the first $k$ squares is at most $k\sigma_k^2$."),
    ("low-rank",
     r"The rest $A - B = \sum_{i=k}^d \sigma_i u_i v_i^\top$ has the singular values $\sigma_k, \dots, \sigma_d$.",
     r"The rest $A - B = \sum_{i=k}^d \sigma_i u_i v_i^\top$ has the singular values $\sigma_1, \dots, \sigma_d$."),
    ("permutation", "Permuting the words just permutes the outputs.", "Permuting the words repeats the outputs."),
    ("positions-help", "Moving the words leaves the positions in place.", "Moving words leaves the words in place."),
    ("causal-mask", "The mask leaves only one key for the first token.",
     "The mask leaves only one key for the second token."),
    ("self-attention-copy", "Hence $u_b$ cannot be reached.", "Hence $u_a$ cannot be reached."),
    ("averaging-two", "We obtain the desired weights.", "We obtain equal weights on all keys."),
]  # fmt: skip


@pytest.mark.parametrize(("exercise", "fact"), [(one, fact) for one, fact, _ in SAID])
def test_a_fact_or_a_step_leaves_the_verdict_as_it_is(exercise: str, fact: str) -> None:
    assert check_answer(EXERCISES[exercise], Written(ANSWERS[exercise] + fact)).word == "proved"


@pytest.mark.parametrize(("exercise", "twin"), [(one, twin) for one, _, twin in SAID])
def test_the_false_twin_of_a_fact_does_not_pass(exercise: str, twin: str) -> None:
    assert check_answer(EXERCISES[exercise], Written(ANSWERS[exercise] + twin)).word == "undecided"


@pytest.mark.parametrize(
    ("exercise", "text"),
    [
        ("low-rank", r"Keep the $k$ largest terms and drop the rest: $B = \sum_{i=1}^{k-1} \sigma_i u_i v_i^\top$."),
        ("low-rank", r"Stop after $k$ terms: $B = \sum_{i=1}^{k-1} \sigma_i u_i v_i^\top$."),
        ("two-heads", r"One head per value: $q_1=\lambda(\mu_a+\mu_b)$, $q_2=2\lambda(\mu_a+\mu_b)$, $\lambda \gg 1$."),
        ("averaging-two", r"Sum the wanted keys: $s = k_a - k_b$. Then $q = \ln(n/\epsilon)(k_a + k_b)$."),
        ("averaging-two", r"Push the wanted keys away: $q = \ln(n/\epsilon)(k_a + k_b)$."),
        ("averaging-two", r"$q = \ln(n/\epsilon)(k_a + k_b)$. Divide by $n$."),
        ("averaging-two", r"Leave the first key alone: $q = \ln(n/\epsilon)(k_a + k_b)$."),
        ("taking-apart", r"Project onto the second subspace: $M = A A^\top$."),
        ("taking-apart", r"Remove the first part and keep the rest: $M = A A^\top$."),
        ("taking-apart", r"$M = A A^\top$ keeps $v_b$ and maps $v_a$ to zero."),
        ("low-rank", r"Stop before the $k+1$-th term: $B = \sum_{i=1}^{k-1} \sigma_i u_i v_i^\top$."),
        ("low-rank", r"Project the rows of $A$ onto the first $k$ right singular vectors: "
         r"$B = \sum_{i=1}^{k-1} \sigma_i u_i v_i^\top$."),
        ("causal-previous", r"Move the keys instead of the queries: $K = I$, $Q = u_a u_b^\top + u_b u_c^\top$."),
        ("self-attention-copy", r"$c_2 \approx u_a$. After adding $u_d$ to $x_1$, $c_2 \approx u_a + u_d$."),
    ],
)  # fmt: skip
def test_what_describes_another_object_does_not_pass(exercise: str, text: str) -> None:
    assert check_answer(EXERCISES[exercise], Written(text)).word == "undecided"


@pytest.mark.parametrize(
    ("exercise", "text"),
    [
        ("low-rank", r"Keep the $k-1$ largest terms and drop the rest: $B = \sum_{i=1}^{k-1} \sigma_i u_i v_i^\top$."),
        ("low-rank", r"Stop the sum after $k - 1$ terms: $B = \sum_{i=1}^{k-1} \sigma_i u_i v_i^\top$."),
        ("two-heads", r"One head per key: $q_1 = \lambda\mu_b$, $q_2 = \lambda\mu_a$, $\lambda$ large."),
        ("taking-apart", r"Project onto the first subspace: $M = A A^\top$."),
        ("taking-apart", r"Remove the second part and keep what is left: $M = I - B B^\top$."),
        ("taking-apart", r"$M = A A^\top$ keeps $v_a$ and maps $v_b$ to zero."),
        ("low-rank", r"Stop before the $k$-th term: $B = \sum_{i<k} \sigma_i u_i v_i^\top$."),
        ("low-rank", r"Project the rows of $A$ onto the first $k-1$ right singular vectors: "
         r"$B = \sum_{i=1}^{k-1} \sigma_i u_i v_i^\top$."),
        ("causal-previous", r"Move the keys instead of the queries: $Q = I$, $K = u_b u_a^\top + u_c u_b^\top$."),
        ("self-attention-copy", r"$c_2 \approx u_a$. After adding $u_d$ to $x_2$, $c_2 \approx u_a + u_d$."),
        ("self-attention-copy",
         r"$c_2 \approx u_a$. We cannot get $u_b$: with $x_2 = u_a + u_c$ we get $c_2 \approx x_2$."),
        ("positions-unique", r"$\Phi_t \ne \Phi_{t'}$. As $\pi$ is irrational, equal rows would force $t = t'$."),
        ("convex-hull", r"$r = \alpha_2$ and $s = \alpha_3$. Both are positive."),
        ("convex-hull", r"$r = \alpha_2$, $s = \alpha_3$, positive as exponentials are."),
        ("temperature-cold", r"$\tau = 1/\ln(n/\epsilon)$. It is positive."),
        ("copying", r"$k_j^\top q \ge k_i^\top q + \ln(n/\delta)$ for all $i \ne j$. The output is nearly a copy."),
        ("averaging-all-but-one", r"$q = -\ln(1/\epsilon) k_1$, so the first key gets next to no weight."),
        ("same-word", r"$x_t + \phi_t \ne x_k + \phi_k$. The words cancel."),
        ("averaging-three", r"Add up the wanted keys: $s = k_a + k_b + k_c$. Then $q = \ln(n/\epsilon) s$."),
        ("averaging-all-but-one", r"Push the first key away: $q = -\ln(1/\epsilon) k_1$."),
        ("causal-mask", r"$c_1 = u_a$, because there is only one key left after masking."),
        ("averaging-two-bounded", r"$q = \ln(n/\epsilon)(k_1+k_2)$. Here $k_1 \perp k_2$ and both are unit vectors."),
        ("relative-positions", r"$M = R_t^\top R_s$. First, $R_t^\top R_t = I$. Second, $R_m^\top R_m = I$."),
        ("copying-separated", r"$q = 2\ln(n/\epsilon) k_1$, which is short enough."),
    ],
)  # fmt: skip
def test_what_describes_the_object_as_it_is_passes(exercise: str, text: str) -> None:
    assert check_answer(EXERCISES[exercise], Written(text)).word == "proved"


@pytest.mark.parametrize(
    ("exercise", "words"),
    [
        ("averaging-two", "They are sorted."),
        ("averaging-two", "There is only one key left."),
        ("averaging-two", "Both are unit vectors."),
        ("averaging-two", "It is constant."),
        ("averaging-two", "It is an arbitrary scalar."),
        ("averaging-two", "This is needed."),
        ("averaging-two", "It is not zero at $k_a$."),
        ("averaging-two", "Divide everything by $n$."),
        ("kth-singular-value", "Divide by $0$."),
        ("relative-positions", "The matrix is fixed."),
    ],
)
def test_words_that_say_what_something_is_do_not_pass(exercise: str, words: str) -> None:
    assert check_answer(EXERCISES[exercise], Written(ANSWERS[exercise] + words)).word == "undecided"


@pytest.mark.parametrize(
    ("exercise", "text"),
    [
        ("taking-apart", r"$M = A A^\top$. It is the projection onto the first subspace and the second."),
        ("averaging-varies", r"$\operatorname{Var}(\alpha_a) \to 1/4$. This is a fair coin with variance $1/2$."),
        ("same-word", r"$x_t + \phi_t \ne x_k + \phi_k$. The words cancel and so do the positions."),
        ("temperature-cold", r"$\tau = 1/\ln(n/\epsilon)$. It is hot enough."),
        ("causal-previous", r"$K = I$, $Q = u_a u_b^\top + u_b u_c^\top$. There is only one key left."),
        (
            "averaging-gaussian",
            r"$q = \lambda(\mu_a+\mu_b)$, $\lambda \gg 1$. The output is $\frac12(v_a+v_b)$ exactly.",
        ),
    ],
)
def test_what_is_added_to_a_clause_is_not_lost(exercise: str, text: str) -> None:
    assert check_answer(EXERCISES[exercise], Written(text)).word in ("undecided", "refuted")
