"""Clauses in words become formulas: what is right is proved, and what is wrong never is."""

import pytest

from headwright.check.checker import Written, check_answer
from headwright.check.exercise import load_exercises
from headwright.check.reading.grammar import in_words
from headwright.check.reading.sentences import sentences
from headwright.check.reading.things import Objects

ANSWERS = {
    "averaging-two": r"$q = \lambda (k_a+k_b)$ with $\lambda = \ln(n/\epsilon)$. ",
    "averaging-three": r"$q = \lambda(k_a+k_b+k_c)$ with $\lambda = \ln(n/\epsilon)$. ",
    "averaging-many": r"$q = \lambda \sum_{i\le m} k_i$ with $\lambda = \ln(n/\epsilon)$. ",
    "averaging-two-bounded": r"$q = \ln(n/\epsilon)(k_1+k_2)$. ",
    "averaging-all-but-one": r"$q = -\ln(1/\epsilon) k_1$. ",
    "averaging-gaussian": r"$q = \lambda (\mu_a+\mu_b)$ with $\lambda$ large. ",
    "averaging-scaled": r"$q = \lambda(\mu_a+\mu_b)$ with $\lambda$ large. $c \approx v_a$ for $g > 1$. ",
    "averaging-scaled-discrete": r"$\alpha_1/\alpha_2 = e^{(c-1)t}$. ",
    "averaging-varies": r"$\operatorname{Var}(\alpha_a) \to 1/4$. ",
    "two-heads": r"$q_1 = \lambda\mu_a$, $q_2 = \lambda\mu_b$ with $\lambda$ large. ",
    "two-heads-scaled": r"$q_1 = \lambda\mu_a$, $q_2 = \lambda\mu_b$ with $\lambda$ large. ",
    "temperature-cold": r"$\tau = 1/\ln(n/\epsilon)$. ",
    "copying-separated": r"$q = 2 \ln(n/\epsilon) k_1$. ",
    "copying": r"$k_j^\top q - k_i^\top q \ge \ln\frac{n-1}{\delta}$ for all $i \ne j$. ",
    "self-attention-copy": r"$c_2 \approx u_a$. ",
    "causal-previous": r"$K = I$, $Q = u_a u_b^\top + u_b u_c^\top$. ",
    "low-rank": r"$B = \sum_{i=1}^{k-1}\sigma_i u_i v_i^\top$. ",
    "same-word": r"$x_t + \phi_t \ne x_k + \phi_k$. ",
}

# An exercise, what is right to say after its answer, and what is wrong.
SAID = [
    ("averaging-two",
     "The scores of a and b are $\\lambda$, all others are 0.",
     "The scores of a and b are $2\\lambda$."),
    ("averaging-two", "The score of $k_a$ is $\\lambda$.", "The score of $k_a$ is $\\lambda$ and all others are 0."),
    ("averaging-two", "Both scores are $\\lambda$.", "Both scores are $0$ and the others $\\lambda$."),
    ("averaging-two", "Every other score is 0.", "Every other score is $\\lambda$."),
    ("averaging-two", "The scores are $\\lambda$ for $k_a$ and $k_b$ and $0$ for all other keys.",
     "The scores are $\\lambda$ for $k_a$ and $0$ for all other keys."),
    ("averaging-two", "$k_a^\\top q = k_b^\\top q = \\lambda$, and $0$ for the rest.",
     "$k_a^\\top q = k_b^\\top q = \\lambda$, and $7$ for the rest."),
    ("averaging-two", "The score of $a$ is equal to that of $b$.", "The score of $a$ is larger than that of $b$."),
    ("averaging-two", "The scores of $a$ and $b$ are larger than all other scores.",
     "The score of $a$ is larger than all other scores."),
    ("averaging-two", "The two weights are equal.", "All weights are equal."),
    ("averaging-two", "Both weights are at least $\\frac{1}{2+\\epsilon}$.", "Both weights are more than $1/2$."),
    ("averaging-two", "The weight on $a$ is at most $1/2$.", "The weight on $a$ vanishes."),
    ("averaging-two", "Every other weight vanishes.", "Every other weight is at least $1/2$."),
    ("averaging-two", "Key $b$ has score $\\lambda$.", "Key $b$ has score 0."),
    ("averaging-two", "The weights sum to one.", "The weights sum to zero."),
    ("averaging-two", "The output is nearly $\\frac12(v_a+v_b)$.", "The output is nearly $v_b$."),
    ("averaging-two", "The denominator is $2e^\\lambda + n - 2$.", "The denominator is $2e^\\lambda$."),
    ("averaging-two", "The norm of $q$ is $\\sqrt2 \\lambda$.", "Its norm is $\\lambda$."),
    ("averaging-two", "The keys are orthonormal.", "The keys are equal."),
    ("averaging-two",
     "$\\alpha_a = \\alpha_b$, which is at most $1/2$.",
     "$\\alpha_a = \\alpha_b$, which is more than $1/2$."),
    ("averaging-three", "Because the keys are orthonormal the three scores are $\\lambda$ and the rest are zero.",
     "The three weights all tend to $1/2$."),
    ("averaging-many",
     "The first $m$ scores are $\\lambda$, the rest are 0.",
     "The first $m$ scores are $\\lambda$, the rest are 1."),
    ("averaging-many", "$k_i^\\top q = \\lambda$ for $i \\in S$ and $0$ otherwise.",
     "$k_i^\\top q = \\lambda$ for $i \\in S$ and $1$ otherwise."),
    ("averaging-all-but-one", "Key 1 gets the score $-\\ln(1/\\epsilon)$ and every other key gets 0.",
     "Key 1 gets the score 0 and every other key gets the score 1."),
    ("averaging-gaussian", "The scores of a and b are about $\\lambda$, those of the other keys about 0.",
     "The scores of a and b are about 0, those of the other keys about $\\lambda$."),
    ("averaging-gaussian", "Since the noise vanishes, the scores of a and b are $\\lambda$.",
     "The scores of a and b are exactly $\\lambda$."),
    ("averaging-gaussian", "The keys are close to their means.", "The keys are not close to their means."),
    ("averaging-scaled", "The scores are $\\lambda g$ and $\\lambda$.", "The scores are $\\lambda$ and $\\lambda g$."),
    ("averaging-scaled", "For $g<1$ the output is nearly $v_b$.", "For $g<1$ the output is nearly $v_a$."),
    ("averaging-scaled-discrete",
     "For $c = 1/2$ this is $\\sqrt{\\epsilon/n}$, and for $c = 3/2$ it is $\\sqrt{n/\\epsilon}$.",
     "For $c = 1/2$ this is $\\sqrt{n/\\epsilon}$."),
    ("averaging-varies",
     "For large $\\lambda$ the weight $\\alpha_a$ is nearly $1$ when $g>1$ and nearly $0$ when $g<1$.",
     "For large $\\lambda$ the weight $\\alpha_a$ is nearly $1$ when $g>1$ and nearly $1$ when $g<1$."),
    ("two-heads", "The first head outputs approximately $v_a$, the second approximately $v_b$.",
     "The first head outputs approximately $v_b$, the second approximately $v_a$."),
    ("two-heads",
     "Head 1 gives $c_1 \\approx v_a$ and head 2 gives $c_2 \\approx v_b$.",
     "The first head attends to $k_b$."),
    ("two-heads", "One head copies $v_a$, the other $v_b$.", "One head copies $v_a$, the other $v_a$."),
    ("two-heads", "The mean is nearly $\\frac12(v_a+v_b)$.", "The mean is nearly $v_a$."),
    ("two-heads-scaled",
     "The first head has score $g\\lambda$ for $k_a$ and about 0 for the rest, so for $g>0$ it copies $v_a$.",
     "The first head copies $v_a$ for $g < 0$."),
    ("temperature-cold", "The scores of $a$ and $b$ are then $1/\\tau = \\ln(n/\\epsilon)$ and all others are 0.",
     "The scores of $a$ and $b$ are $\\tau$."),
    ("copying-separated", "The first score is $2\\ln(n/\\epsilon)$ and all the others are at most $\\ln(n/\\epsilon)$.",
     "The first score is $2\\ln(n/\\epsilon)$ and all the others are at most $0$."),
    ("copying-separated", "The gap is at least $\\ln(n/\\epsilon)$.", "The gap is at least $2\\ln(n/\\epsilon)$."),
    ("copying", "The output is then nearly $v_j$.", "The output is then nearly $v_i$."),
    ("copying", "Hence $\\alpha$ puts almost all its weight on a specific $\\alpha_j$.", "All others get weight 1."),
    ("self-attention-copy", "The second token looks at itself.", "The second token looks at token 1."),
    ("causal-previous", "Token 3 attends to token 2.", "Token 3 attends to itself."),
    ("low-rank", "It has rank at most $k-1$.", "It has rank at most 1."),
    ("low-rank", "$U$ and $V$ have orthonormal columns.", "$A$ has orthonormal columns."),
    ("averaging-two",
     "All other keys have the same score 0, and both of these have the score $\\lambda$.",
     "Everybody else has the score $\\lambda$."),
    ("averaging-two", "Both keys have the same score $\\lambda$ and everybody else has 0.",
     "Both keys have the same score $\\lambda$ and everybody else has 1."),
    ("averaging-two", "The remaining $n - 2$ keys score zero.", "The remaining $n - 3$ keys score zero."),
    ("averaging-three", "All three have the score $\\lambda$.", "All three have the score 0."),
    ("averaging-three", "The three keys score $\\lambda$ each, the remaining $n - 3$ score zero.",
     "The three keys score $\\lambda$ each, the remaining $n - 3$ score one."),
    ("averaging-three", "\n- score of any other key: $0$", "\n- score of any other key: $1$"),
    ("averaging-all-but-one", "\n- score of key 1: $-\\ln(1/\\epsilon)$\n- score of any other key: $0$",
     "\n- score of key 1: $0$\n- score of any other key: $1$"),
    ("averaging-two-bounded", "Its norm is $\\sqrt2 \\ln(n/\\epsilon)$ which is within the budget.",
     "Its norm is $\\ln(n/\\epsilon)$ which is within the budget."),
    ("low-rank", "Its rank is at most $k-1$.", "Its rank is at most $k-2$."),
    ("averaging-gaussian", "Every key is practically its mean.", "Every key is practically zero."),
    ("causal-previous", "Then $Q x_2 = \\beta^2 u_a$ asks for the first token.",
     "Then $Q x_2 = \\beta^2 u_a$ asks for the second token."),
    ("averaging-scaled", "For $g>1$ the output goes to $v_a$, for $g<1$ it goes to $v_b$.",
     "For $g>1$ the output goes to $v_a$, for $g<1$ it goes to $v_a$."),
    ("same-word", "The difference is $(x_t+\\phi_t)-(x_k+\\phi_k) = \\phi_t - \\phi_k$, which is not zero.",
     "The difference is $(x_t+\\phi_t)-(x_k+\\phi_k) = \\phi_t - \\phi_k$, which is zero."),
]  # fmt: skip


def verdict(exercise: str, text: str) -> str:
    return check_answer(load_exercises()[exercise], Written(text)).word


@pytest.mark.parametrize(("exercise", "right"), [(one, right) for one, right, _ in SAID])
def test_a_right_clause_in_words_is_proved(exercise: str, right: str) -> None:
    assert verdict(exercise, ANSWERS[exercise] + right) == "proved"


@pytest.mark.parametrize(("exercise", "wrong"), [(one, wrong) for one, _, wrong in SAID])
def test_a_wrong_clause_in_words_is_never_proved(exercise: str, wrong: str) -> None:
    assert verdict(exercise, ANSWERS[exercise] + wrong) in ("refuted", "undecided")


@pytest.mark.parametrize(
    "wrong",
    [
        "The scores of a and b are $2\\lambda$.",
        "The scores are $\\lambda$ for $a$ and $b$ and $1$ for all other keys.",
        "Both weights are more than $\\frac{1}{2}$.",
        "The output is nearly $\\frac13(v_a+v_b)$.",
        "The score of $a$ is larger than the score of $b$.",
    ],
)
def test_what_certainly_refers_to_something_is_refuted(wrong: str) -> None:
    assert verdict("averaging-two", ANSWERS["averaging-two"] + wrong) == "refuted"


def formulas(text: str, objects: Objects) -> list[str]:
    (sentence,) = sentences(Written(text))
    return [one.text for one in in_words(sentence.tokens, objects) if one.kind == "formula"]


TWO = Objects(keys=("a", "b"), queries=("q",))


@pytest.mark.parametrize(
    "said",
    [
        "if the scores of a and b are $x$",
        "suppose the scores of a and b are $x$",
        "it is wrong that the scores of a and b are $x$",
        "the scores of a and b are not $x$",
        "the scores of a and b would be $x$",
        "half of the score of $k_a$ is $x$",
        "the scores of a and b are $x$ is false",
        "the scores of most keys are $x$",
    ],
)
def test_what_is_no_plain_claim_stays_in_words(said: str) -> None:
    assert formulas(said, TWO) == []


def test_the_others_are_those_that_the_sentence_does_not_name() -> None:
    assert formulas("the score of $k_a$ is $x$, all others are $0$", TWO)[1].endswith(r"i \ne a")
    assert formulas("all other scores are $0$", TWO)[0].endswith(r"i \ne a, b")


def test_without_an_exercise_words_refer_to_nothing() -> None:
    assert formulas("the scores of a and b are $x$, the output is $y$, head 1 copies $v_a$", Objects()) == []


def test_the_end_of_a_display_ends_its_sentence() -> None:
    found = sentences(Written("Choose\n$$q = k_a.$$\nFor $i \\le m$ this is so."))
    assert [one.text for one in found] == ["choose $q = k_a.$", "for $i \\le m$ this is so"]


def test_sums_with_dots_in_plain_text_are_one_formula() -> None:
    assert verdict("weights-distribution", "alpha_i > 0 for every i and alpha_1 + ... + alpha_n = 1.") == "proved"
    assert verdict("weights-distribution", "alpha_i > 0 for every i and alpha_1 + ... + alpha_n = 2.") == "refuted"


def test_a_name_that_is_defined_in_words_refutes_nothing() -> None:
    said = r"Let $S_{k-1}$ be $S$ with all entries after the first $k - 1$ set to zero, and $B = U S_{k-1} V^\top$."
    assert verdict("low-rank", said) == "undecided"


def test_what_implies_something_is_not_claimed() -> None:
    said = r"$\Phi_t = \Phi_{t'}$ implies $t - t' = 2 \pi k$ with an integer $k$. Hence $\Phi_t \ne \Phi_{t'}$."
    assert verdict("positions-unique", said) != "refuted"


def test_which_behind_a_noun_is_not_said_of_a_formula() -> None:
    said = "The three scores are equal and much larger than the other ones, which are zero."
    assert verdict("averaging-three", ANSWERS["averaging-three"] + said) != "refuted"
    assert verdict("averaging-three", ANSWERS["averaging-three"] + said.replace("zero", "$0$")) != "refuted"


def test_an_object_before_a_colon_is_set_down() -> None:
    said = r"""- $q_1 = 2 t u$: the score of $k_1$ is $t$ when $c = 1/2$ and @ when $c = 3/2$.
- $q_2 = 2 t k_2$: the score of $k_2$ is $2t$."""
    assert verdict("two-heads-discrete", said.replace("@", "$3t$")) == "proved"
    assert verdict("two-heads-discrete", said.replace("@", "$4t$")) in ("refuted", "undecided")


@pytest.mark.parametrize("said", ["this cannot work", "this would fail", "not long enough", "one might think so"])
def test_an_object_before_a_colon_that_is_doubted_is_not_taken_for_the_answer(said: str) -> None:
    assert verdict("averaging-two", rf"$q = \ln(n/\epsilon)(k_a + k_b)$: {said}.") != "proved"


def test_one_head_for_each_is_no_condition() -> None:
    said = r"One head for each value: $q_1 = 2\lambda \mu_a$, $q_2 = @$ with $\lambda$ very large."
    assert verdict("two-heads-scaled", said.replace("@", r"\lambda \mu_b")) == "proved"
    assert verdict("two-heads-scaled", said.replace("@", r"\lambda \mu_a")) in ("refuted", "undecided")


def test_whose_norm_is_said_of_the_object_before_it() -> None:
    said = r"$q = \ln(n/\epsilon)(k_1+k_2)$, whose norm is $@$, which is allowed."
    assert verdict("averaging-two-bounded", said.replace("@", r"\sqrt2 \ln(n/\epsilon)")) == "proved"
    assert verdict("averaging-two-bounded", said.replace("@", r"2 \ln(n/\epsilon)")) in ("refuted", "undecided")


def test_what_is_not_done_is_passed_over_where_it_is_said_in_words() -> None:
    said = r"Instead of pulling towards the other keys we push away from the first: $q = @ k_1$."
    assert verdict("averaging-all-but-one", said.replace("@", r"-\ln(1/\epsilon)")) == "proved"
    assert verdict("averaging-all-but-one", said.replace("@", r"\ln(1/\epsilon)")) == "refuted"
    assert verdict("averaging-all-but-one", r"Instead of $q = -\ln(1/\epsilon) k_1$ we take nothing.") != "proved"


def test_keys_we_want_are_no_goal() -> None:
    said = r"Sum the keys we want: $s = k_1 + \dots + k_m$. Then $q = @ s$."
    assert verdict("averaging-many", said.replace("@", r"\ln(n/\epsilon)")) == "proved"
    assert verdict("averaging-many", said.replace("@", r"\epsilon")) == "refuted"


def test_which_behind_a_term_goes_on_with_no_chain() -> None:
    said = r"$q = \lambda(\mu_a+\mu_b)$ with $\lambda = 2\ln(n/\epsilon)$. The noise has variance $2a\lambda^2$ "
    for told in ("which goes to zero as $a \\to 0$.", "which is at most $3a\\lambda^2$."):
        assert verdict("averaging-gaussian", said + told) in ("proved", "undecided")


def test_a_limit_of_a_is_read_in_plain_text() -> None:
    said = "q = lambda (mu_a + mu_b), with lambda = 2 ln(n/epsilon). As a -> 0 the scores of a and b tend to @."
    assert verdict("averaging-gaussian", said.replace("@", "lambda")) == "proved"
    assert verdict("averaging-gaussian", said.replace("@", "2 lambda")) in ("refuted", "undecided")


def test_is_then_says_what_it_says_of_what_stands_before_it() -> None:
    said = r"$q_1 = \lambda \mu_a$, $q_2 = \lambda \mu_b$, large $\lambda$. The mean of $v_a$ and $v_b$ is then $v_a$."
    assert verdict("two-heads-scaled", said) in ("refuted", "undecided")


@pytest.mark.parametrize(
    "words", ["$A$ and $B$ are orthogonal matrices", "$A$ is an orthogonal matrix", "$A$ is orthogonal"]
)
def test_a_matrix_that_need_not_be_square_is_not_called_orthogonal(words: str) -> None:
    assert verdict("taking-apart", rf"$M = A A^\top$, since {words}.") == "undecided"


def test_columns_may_be_called_orthonormal_and_the_factors_of_a_decomposition_orthogonal() -> None:
    columns = r"$M = A A^\top$. Then $M v_a = v_a$, as $A$ and $B$ have orthonormal columns."
    assert verdict("taking-apart", columns) == "proved"
    factors = r"$B = \sum_{i=1}^{k-1} \sigma_i u_i v_i^\top$, as $U$ and $V$ are orthogonal matrices."
    assert verdict("low-rank", factors) == "proved"
