r"""What the words around a formula say of it: read as a claim, known to add nothing, or not judged."""

from __future__ import annotations

import pytest

from headwright.check.checker import check_answer
from headwright.check.exercise import load_exercises
from headwright.check.reading.statements import Statement, read
from headwright.check.reading.written import Written

GOOD = r"Choose $q = \lambda (k_a + k_b)$ with large $\lambda$. "


def statements(text: str) -> tuple[Statement, ...]:
    return read(Written(text)).statements


def verdict(text: str) -> str:
    return check_answer(load_exercises()["averaging-two"], Written(text)).word


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("Hence $x$ exceeds $y$.", "x > y"),
        ("Hence $x$ surpasses $y$.", "x > y"),
        ("Hence $x - y$ is positive.", "x - y > 0"),
        ("Hence $x$ is negative.", "x < 0"),
        ("Hence $x y$ is zero.", "x y = 0"),
        ("Hence $x + y$ is nonzero.", r"x + y \ne 0"),
        ("Hence $x$ and $y$ differ.", r"x \ne y"),
        ("Hence $x$ and $y$ coincide.", "x = y"),
        ("Hence $x$ and $y$ add up to $2$.", "x + y = 2"),
        ("Hence $z = x$ equals $y$.", "z = x = y"),
        ("Hence $x$ is perpendicular to $y$.", r"x \perp y"),
        ("Hence $x$ and $y$ are orthogonal.", r"x \perp y"),
        ("Hence $x_2$ will approach $y$.", r"x_2 \to y"),
        ("Hence $x$ will consistently be $y$.", r"x \approx y"),
        ("Hence $x y$ is negligible.", r"x y \approx 0"),
        ("Hence $x y$ is large.", r"x y \gg 1"),
        ("Hence $x$ is twice $y$.", "x = 2 (y)"),
        ("Hence $x$ is a third of $y$.", r"x = \frac13 (y)"),
        (r"Hence $\exp(k_j^\top q)$ dominates the denominator.", r"\alpha_j \approx 1"),
    ],
)
def test_a_known_predicate_becomes_a_claim(text: str, formula: str) -> None:
    assert [(one.role, one.text) for one in statements(text)] == [("claim", formula)]


@pytest.mark.parametrize(
    "text",
    [
        "Hence $x$ dwarfs $y$.",
        "Hence $x$ is nine times $y$.",
        "Hence $x$ is parallel to $y$.",
        "Hence $x$ is prime.",
        "The weight of the rest is $y$.",
        "Hence $x$, which is half of $y$, stays.",
    ],
)
def test_an_unknown_predicate_of_a_term_is_listed_and_not_judged(text: str) -> None:
    assert {one.role for one in statements(text)} == {"unclear"}


@pytest.mark.parametrize(
    "text",
    [
        "$x > y$ is unattainable.",
        "$x > y$ is impossible.",
        "$x > y$ collapses for $n > 9$.",
        "$x > y$ ceases to hold when $n > 9$.",
        "$x > y$ holds for at most two $n$.",
        "$x > y$, which is out of the question.",
        "My cousin wrote $x > y$.",
        "Everything but $x > y$.",
    ],
)
def test_a_formula_that_words_deny_or_limit_is_not_judged(text: str) -> None:
    assert not [one for one in statements(text) if one.text == "x > y" and not one.why]
    assert any(one.why for one in statements(text))


@pytest.mark.parametrize(
    "words",
    ["works", "holds as required", "follows", "is enough", "is what we want", "does the job", "is true by symmetry"],
)
def test_words_that_add_nothing_leave_a_claim_as_it_is(words: str) -> None:
    assert [(one.role, one.why) for one in statements(f"So $x > y$ {words}.")] == [("claim", "")]


@pytest.mark.parametrize(
    "said",
    [
        r"Then $\alpha_b$ towers over $\alpha_a$.",
        r"Then $\alpha_b$ is larger than $\frac12$.",
        r"Then $\alpha_a$, in contrast with $\alpha_b$, is tame.",
        r"Then $k_b$ is a multiple of $k_a$.",
        r"$\alpha_a\ge\frac{1}{2+\epsilon}$ is beyond what one query can do.",
        r"Still, $\lambda$ may be tiny.",
        r"It was just kidding.",
        r"I don't believe it.",
        r"It is the unique query.",
    ],
)
def test_a_good_answer_with_a_remark_that_is_not_understood_is_not_proved(said: str) -> None:
    assert verdict(GOOD + said) in ("undecided", "refuted")


@pytest.mark.parametrize(
    "text",
    [
        r"$q=\lambda(k_a+k_b)$ where $\lambda$ is large but below $2$.",
        r"$q=\lambda(k_a+k_b)$ with large $\lambda$ independent of $\epsilon$.",
        r"A friend suggested $q=\lambda(k_a+k_b)$ with large $\lambda$.",
        r"Wrong. $q=\lambda(k_a+k_b)$ with large $\lambda$",
        r"$q=\lambda(k_a+k_b)$ with large $\lambda$, but not always.",
    ],
)
def test_conditions_and_distance_in_words_are_not_dropped(text: str) -> None:
    assert verdict(text) == "undecided"


@pytest.mark.parametrize("said", ["", "This works.", r"So $\alpha_a \approx \frac12$ as required."])
def test_a_good_answer_stays_proved(said: str) -> None:
    assert verdict(GOOD + said) == "proved"


def test_what_is_said_of_all_vectors_with_an_index_becomes_formulas() -> None:
    said = statements("Since the $k_i$ are pairwise orthogonal and have unit length, $x = y$.")
    assert [one.text for one in said] == [r"k_i^\top k_j = 0 \text{ for all } i \ne j", r"\|k_i\| = 1", "x = y"]


def test_a_vector_may_be_orthogonal_to_several() -> None:
    said = statements("Note $x = u_a$ is orthogonal to $u_b$ and $u_c$.")
    assert [one.text for one in said] == ["x = u_a", r"u_a \perp u_b", r"u_a \perp u_c"]


def test_what_stands_in_brackets_is_said_of_the_term_before_it() -> None:
    assert [one.text for one in statements("The rest $x y$ is negligible ($< z$).")] == [r"x y \approx 0", "x y < z"]


@pytest.mark.parametrize("text", ["Key 1 and head 2 are fine, $x = y$.", "For heads 1 and 2 $x = y$."])
def test_a_number_that_only_tells_things_apart_is_no_term(text: str) -> None:
    assert [(one.text, one.why) for one in statements(text)] == [("x = y", "")]


@pytest.mark.parametrize(
    "said",
    [
        r"Then $q$ is orthogonal to $k_a$ and $k_b$.",
        r"Since $q$ and $k_b$ are orthogonal, this works.",
        r"Then $c$ will consistently be $v_a$.",
        r"Then $c$ approaches $v_b$.",
        r"So $\alpha_a \approx \frac12$ while the remaining $\alpha_i \approx \frac12$.",
        r"Then $\alpha_a$ is negligible ($< \epsilon$).",
        r"Then $\alpha_a$ vanishes.",
        r"Then $\alpha_a$ is twice $\alpha_b$.",
        r"The score of $k_a$ is $2 \lambda$.",
        r"The norm of $q$ is $2 \lambda$.",
        r"The sum of $\alpha_a$ and $\alpha_b$ is $2$.",
        r"The ratio of $\alpha_a$ to $\alpha_b$ is $e$.",
        r"Here $\alpha_a > \frac12$.",
        r"$\text{Then } \alpha_a = \frac13$.",
        r"Then $\alpha_a \not\ge \frac{1}{2+\epsilon}$.",
        r"Then $k_a^\top q = 0$ for all other keys.",
    ],
)
def test_a_false_claim_in_words_that_are_read_is_refuted(said: str) -> None:
    assert verdict(GOOD + said) == "refuted"


@pytest.mark.parametrize(
    "said",
    [
        r"Here $k_i^\top q$ is large.",
        r"Then $\alpha_i \gg \alpha_a$.",
        r"Then $-k_a^\top q \gg 1$.",
        r"Then $\alpha$ puts almost all its weight on $\alpha_a$.",
        r"The head puts almost all its weight on $v_i$.",
        r"$c$ will almost always point to $v_a$.",
        r"Then $\exp(k_a^\top q)$ dominates the denominator.",
        r"The softmax picks $v_a$.",
        r"Then the softmax ignores $k_a$.",
        r"The $k_i$ are orthogonal and half as long as $q$.",
        r"The $k_i$ are pairwise orthogonal, and so is $q$ to all of them.",
        r"$q$ has unit length.",
        r"The weights are then all equal.",
        r"Then the output is the zero vector.",
        r"This works for any $\lambda$.",
        r"This works for any lambda.",
        r"The norm $\|q\|$ represents the total energy of $k_a$ alone.",
        r"The sum of $\alpha_a$ and $\alpha_b$ is $1$.",
        r"The sum of $\alpha_a$ and $\alpha_b$ equals $1$.",
        r"Here $q$ is the identity.",
    ],
)
def test_a_false_claim_in_words_is_never_passed_over(said: str) -> None:
    assert verdict(GOOD + said) in ("undecided", "refuted")


@pytest.mark.parametrize(
    "said",
    [
        r"Since the $k_i$ are pairwise orthogonal and unit length, $k_i^\top q = 0$ for $i \notin \{a, b\}$.",
        r"As $k_a$ is orthogonal to $k_b$, $k_a^\top q = \lambda$.",
        r"Then $\alpha_a \gg \alpha_i$.",
        r"Then $k_a^\top q$ is large.",
        r"Then $\alpha_i$ is negligible ($< \epsilon$).",
        r"So $\alpha_a = \alpha_b \approx \frac12$ while the remaining $\alpha_i \approx 0$.",
        r"The score of $k_a$ is $\lambda$.",
        r"The norm of $q$ is $\sqrt2 \lambda$.",
        r"The sum of $\alpha_a$ and $\alpha_b$ is $2 \alpha_a$.",
        r"Then $\alpha_i$ vanishes.",
    ],
)
def test_a_true_claim_in_words_is_proved(said: str) -> None:
    assert verdict(GOOD + said) == "proved"


@pytest.mark.parametrize(
    ("exercise", "text"),
    [
        ("energy", r"The norm $\sigma_1$ represents the total energy. $\|A\|_F^2 = \operatorname{tr}(A^\top A)$."),
        (
            "same-word",
            r"$x_t$ for the same word at different positions becomes different ($x_t + \phi_t \ne x_k + \phi_k$).",
        ),
        ("averaging-two-bounded", r"$q = 9 \ln(n/\epsilon)(k_1 + k_2)$ keeps the norm within the required bound."),
    ],
)
def test_words_from_right_answers_do_not_carry_a_wrong_one(exercise: str, text: str) -> None:
    assert check_answer(load_exercises()[exercise], Written(text)).word not in ("proved", "holds")
