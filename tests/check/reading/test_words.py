"""What an answer says in words alone is never lost: it is listed as not judged, and keeps the rest from passing."""

from __future__ import annotations

import pytest

from headwright.check.checker import check_answer
from headwright.check.exercise import load_exercises
from headwright.check.reading.statements import read
from headwright.check.reading.written import Written

TWO = r"$q = \ln(n/\epsilon)(k_a + k_b)$"
CLAIMS = [
    ", and a smaller $q$ would do as well",
    ". Half of this query would be enough",
    "; a lower temperature is fine too",
    ", because then all other weights are exactly zero",
    ", because the weights are all equal",
    ", since the other keys get no weight at all",
    " as the score of every key is the same",
    ", so it is bounded as the query grows",
    ". This need not be so if the word is long",
    ". This would not work if $n$ were odd",
    ". It works whenever keys repeat",
    ". Each head ignores its own key",
    ", and the second key copies itself",
    ", so the output is the opposite of what was asked",
    ", any $n$",
    " (any $n$ works)",
    ", which goes to zero as $n \\to 7$",
    ". Suppose the keys are equal",
    ". We want a query, and nothing shorter exists",
]
NO_CLAIMS = [", as required", ". This works", ". QED", ", which is what was asked", " by symmetry", ". First, check"]


@pytest.mark.parametrize("words", CLAIMS)
def test_a_claim_in_words_is_listed_and_not_passed_over(words: str) -> None:
    verdict = check_answer(load_exercises()["averaging-two"], Written(TWO + words + "."))
    assert verdict.word not in ("proved", "holds")
    assert any(one.why for one in verdict.read)


@pytest.mark.parametrize("words", NO_CLAIMS)
def test_words_that_claim_nothing_leave_the_verdict_alone(words: str) -> None:
    assert check_answer(load_exercises()["averaging-two"], Written(TWO + words + ".")).word == "proved"


def test_words_that_are_not_known_are_listed_and_leave_the_verdict_open() -> None:
    verdict = check_answer(load_exercises()["averaging-two"], Written(f"{TWO}. The softmax is smooth."))
    assert verdict.word == "undecided"
    assert any(one.statement == "the softmax is smooth" and one.why for one in verdict.read)


def test_the_reason_quotes_the_words_that_were_not_judged() -> None:
    verdict = check_answer(load_exercises()["averaging-two"], Written(f"{TWO}.\n\nHalf of it would do."))
    assert verdict.reason.endswith("line 3 was not judged, it is said in words: 'half of it would do'")


def test_a_false_formula_is_refuted_whatever_the_words_say() -> None:
    assert check_answer(load_exercises()["averaging-two"], Written("$q = k_a$. Half of it would do.")).word == "refuted"


@pytest.mark.parametrize(
    ("exercise", "text", "word"),
    [
        ("averaging-two", f"{TWO}, since the keys are orthonormal.", "proved"),
        ("copying-separated", r"$q = 2\ln(n/\epsilon) k_1$, because the keys are orthogonal.", "undecided"),
        ("causal-mask", "The first token sees only itself, so $c_1 = u_a$.", "proved"),
        ("self-attention-copy", r"The first token sees only itself, and $c_2 \approx u_a$.", "undecided"),
    ],
)
def test_a_clause_that_is_known_is_judged(exercise: str, text: str, word: str) -> None:
    assert check_answer(load_exercises()[exercise], Written(text)).word == word


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (r"$\tau = \epsilon/n$ works, and so does $\tau = 1/\ln(n/\epsilon)$.", "proved"),
        (r"$\tau = \epsilon/n$ works. $\tau = 1/\ln(n/\epsilon)$ works too.", "proved"),
        (r"$\tau = \epsilon/n$ works, and so does $\tau = 2/\ln(n/\epsilon)$.", "refuted"),
        (r"$\tau = 2/\ln(n/\epsilon)$ works, and so does $\tau = \epsilon/n$.", "refuted"),
        (r"Either $\tau = \epsilon/n$ or $\tau = 2/\ln(n/\epsilon)$.", "undecided"),
        (r"$\tau \le 2/\ln(n/\epsilon)$, for example $\tau = 1/\ln(n/\epsilon)$.", "refuted"),
        (r"$\tau = 1/\ln(n/\epsilon)$; any $\tau \le 2/\ln(n/\epsilon)$ works.", "refuted"),
    ],
)
def test_alternatives_are_judged_one_by_one_and_a_range_as_a_whole(text: str, word: str) -> None:
    assert check_answer(load_exercises()["temperature-cold"], Written(text)).word == word


@pytest.mark.parametrize(("long", "short", "word"), [("n", "\\epsilon", "proved"), ("\\epsilon", "n", "refuted")])
def test_two_cases_with_one_left_side_are_two_claims(long: str, short: str, word: str) -> None:
    said = rf"$\sqrt{{{long}/{short}}}$ for $c = 3/2$ and $\sqrt{{{short}/{long}}}$ for $c = 1/2$"
    text = r"$\frac{\alpha_1}{\alpha_2} = " + said[1:]
    assert check_answer(load_exercises()["averaging-scaled-discrete"], Written(text)).word == word


def test_a_limit_behind_words_is_no_case_of_the_formula_before_them() -> None:
    one, *_ = read(Written("$V = a + b$, which goes to zero as $a \\to 0$.")).statements
    assert one.under == ()
    assert one.perhaps != ()


def test_an_instance_does_not_prove_that_two_matrices_always_differ() -> None:
    text = r"$PX + \Phi \ne P(X + \Phi)$ because $PX \ne X$."
    assert check_answer(load_exercises()["positions-help"], Written(text)).word == "undecided"


def test_that_all_weights_are_positive_is_judged_and_not_so_under_a_mask() -> None:
    exercises = load_exercises()
    plain = r"All weights are positive, and they sum to one: $\alpha_i > 0$ and $\sum_i \alpha_i = 1$."
    assert check_answer(exercises["weights-distribution"], Written(plain)).word == "proved"
    masked = r"All weights are positive. $K = I$, $Q = \lambda (u_a u_b^\top + u_b u_c^\top)$ for large $\lambda$."
    assert check_answer(exercises["causal-previous"], Written(masked)).word == "undecided"


def test_whose_inverse_is_the_transpose_has_to_be_said() -> None:
    written = Written(
        r"$\|A\|_F^2 = \operatorname{tr}(A^\top A) = \sum_i \sigma_i^2$, since the inverse is the transpose."
    )
    assert check_answer(load_exercises()["energy"], written).word != "proved"
