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
    ],
)
def test_a_known_predicate_becomes_a_claim(text: str, formula: str) -> None:
    assert [(one.role, one.text) for one in statements(text)] == [("claim", formula)]


@pytest.mark.parametrize(
    "text",
    [
        "Hence $x$ dwarfs $y$.",
        "Hence $x$ is three times $y$.",
        "Hence $x$ is perpendicular to $y$.",
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
        "It suffices that $x > y$.",
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
