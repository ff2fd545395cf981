r"""Answers that are arguments: chains that words break up, cases, contradictions, each right and with one step wrong.

Of a wrong step nothing more is asked here than that it is never proved; most are refuted.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headwright.check.checker import Written, check_answer
from headwright.check.exercise import load_exercises

EXERCISES = load_exercises()


def said(exercise: str, text: str) -> str:
    return check_answer(EXERCISES[exercise], Written(text)).word


ARGUMENTS = [json.loads(line) for line in Path(__file__).with_name("arguments.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("one", ARGUMENTS, ids=lambda one: f"{one['exercise']}: {one['text'][:40]}")
def test_proves_the_argument_and_not_one_with_a_wrong_step(one: dict[str, str]) -> None:
    """`refuted` tells where it is certain what is meant: of what 'it' is, there is some doubt."""
    assert said(one["exercise"], one["text"].replace("@", one["right"])) == "proved"
    wrong = said(one["exercise"], one["text"].replace("@", one["wrong"]))
    assert wrong == "refuted" if one["refuted"] else wrong in ("refuted", "undecided")


def test_what_is_said_of_a_denominator_is_not_said_of_the_fraction() -> None:
    said_of_a_part = r"$\tau = 2/\epsilon$ is hot enough, and the denominator of $\alpha_a$ is at least $n$."
    assert said("temperature-hot", said_of_a_part) != "refuted"


def test_does_not_refute_what_rests_on_a_definition_in_words() -> None:
    text = r"Let $S_{k-1}$ be $S$ with all entries after the first $k - 1$ set to zero, and $B = U S_{k-1} V^\top$."
    assert said("low-rank", text) == "undecided"


def test_goes_on_with_no_chain_where_words_name_what_is_compared() -> None:
    text = r"$q = 7\lambda k_a + 7\lambda k_b + 7\lambda k_c$ as $\lambda\to\infty$; all the other weights $\to 0$."
    assert said("averaging-three", text) in ("undecided", "proved")


def test_goes_on_with_no_chain_where_which_stands_behind_words() -> None:
    text = r"$q = \lambda(k_a+k_b+k_c)$ with $\lambda \to \infty$. They beat the other scores, which are zero."
    assert said("averaging-three", text) in ("undecided", "proved")


def test_a_random_factor_is_the_one_that_is_given() -> None:
    ratio = r"$\frac{\alpha_1}{\alpha_2} = \frac{e^{ct}}{e^t} = e^{(c-1)t}$"
    text = f"$k_1$ has a random factor $c$, and this factor $c$ counts: {ratio}."
    assert said("averaging-scaled-discrete", text) != "refuted"


def test_what_works_only_if_something_holds_is_no_claim_that_it_holds() -> None:
    narrow = r"$\tau = 1/\ln(n/\epsilon)$. This works only if $\tau \le 1/\ln(n/\epsilon)$."
    assert said("temperature-cold", narrow) == "undecided"


@pytest.mark.parametrize(
    "size",
    [
        r"for a scalar $\lambda > 0$ which is very large",
        r"with $\lambda > 0$ as big as necessary",
        r"where the scalar $\lambda > 0$ has to be large",
        r"with $\lambda > 0$; the larger, the better",
        r"with $\lambda > 0$. We need $\lambda$ to be large",
    ],
)
def test_does_not_refute_by_a_small_value_what_may_be_called_large(size: str) -> None:
    assert said("averaging-two", rf"$q = \lambda(k_a+k_b)$ {size}.") in ("proved", "undecided")


def test_refutes_a_bound_that_is_too_wide_where_nothing_is_said_of_its_size() -> None:
    assert said("averaging-two", r"$q = \lambda(k_a+k_b)$ with $\lambda > 0$.") == "refuted"


@pytest.mark.parametrize(
    "inverted",
    [
        r"In no case is $\alpha_a \ge 1/3$.",
        r"For no $n$ is $\alpha_a$ equal to $1/2$.",
        r"Only for $n = 2$ is $\alpha_a \ge 1/(2 + \epsilon)$.",
        r"For all $n$ is $\alpha_a = 1/2$.",
        r"Under no circumstances is alpha_a equal to alpha_b.",
        r"It is necessary that $\lambda \ge \ln(n/\epsilon)$.",
    ],
)
def test_a_verb_before_its_subject_is_not_passed_over(inverted: str) -> None:
    answer = r"$q = \lambda(k_a+k_b)$ with $\lambda = \ln(n/\epsilon)$. "
    assert said("averaging-two", answer + inverted) in ("refuted", "undecided")


def test_a_behind_a_formula_is_a_name_and_no_article() -> None:
    assert said("score-varies", "Var(k_a^T q) = lambda^2/2 + 2 a lambda^2.") == "proved"
    assert said("score-varies", "Var(k_a^T q) = lambda^2/2 + 3 a lambda^2.") == "refuted"


@pytest.mark.parametrize("different", [r"c \ne 0", r"v_a \ne v_b"])
def test_does_not_prove_that_values_differ(different: str) -> None:
    """Nothing is given of the values: all of them may be 0."""
    assert (
        said("averaging-two", rf"Take $q = \lambda(k_a+k_b)$ with large $\lambda$. Then ${different}$.") == "undecided"
    )
