r"""Sentences: their kinds, what binds a formula, and what is said in brackets, lists and labels."""

from __future__ import annotations

import pytest

from headwright.formulas.show import plain
from headwright.grading.markdown import Written
from headwright.grading.text import Statement, read
from headwright.grading.wording import word_list

GIVEN = ("n", "epsilon", "g", "c")


def said(text: str) -> list[Statement]:
    return list(read(Written(text), (), GIVEN).statements)


def of(text: str, formula: str) -> Statement:
    return next(one for one in said(text) if one.text == formula)


def test_the_word_list_stays_short() -> None:
    assert sum(map(len, word_list().values())) < 200


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (r"Take $q = k_a$.", "neutral"),
        (r"We choose $q = k_a$ and get $c = v_a$.", "neutral"),
        (r"By symmetry $q = k_a$.", "worded"),
        (r"It is not true that $q = k_a$.", "turned"),
        (r"A common slip is $q = k_a$.", "turned"),
        (r"This is better than $q = k_a$.", "turned"),
        (r"One might try $q = k_a$.", "turned"),
        (r"At first I wrote $q = k_a$.", "turned"),
        (r"Does $q = k_a$ do?", "turned"),
        (r"This isn't $q = k_a$.", "turned"),
        (r"This forces $q = k_a$, there is no freedom left.", "worded"),
        (r"The other scores are at most $1$, so $q = k_a$.", "neutral"),
        (r"I would like it to be long, so $q = k_a$.", "worded"),
        (r"If it were so, $q = k_a$ would fail.", "turned"),
        (r"Wrong: $q = k_a$.", "turned"),
    ],
)
def test_a_formula_has_the_kind_of_its_sentence(text: str, kind: str) -> None:
    assert of(text, "q = k_a").kind == kind


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        (r"One might try $x = 1$, but then $q = k_a$.", "q = k_a"),
        (r"One could take $x = 1$. Then $q = k_a$.", "q = k_a"),
        (r"Suppose it were false. Then $q = k_a$. Contradiction.", "q = k_a"),
        (r"The textbook answer would be $x = 1$, $q = k_a$.", "q = k_a"),
    ],
)
def test_what_follows_from_a_supposition_in_words_is_quoted(
    text: str, formula: str
) -> None:
    assert of(text, formula).kind == "turned"


@pytest.mark.parametrize(
    ("text", "under"),
    [
        (r"$x_i = 0$ for all $i \ne a$.", ["i != a"]),
        (r"For $i \ne a$ we have $x_i = 0$.", ["i != a"]),
        (r"If $g > 1$, then $x_i = 0$.", ["g > 1"]),
        (r"$x_i = 0$ if $g > 1$.", ["g > 1"]),
        (r"$x_i = 0$ ($i \ne a$).", ["i != a"]),
        (r"$x_i = 0$, $i \ne a$.", ["i != a"]),
        (r"$x_i = 0$ as long as $g > 1$.", ["g > 1"]),
        (r"In the event $g > 1$ we see $x_i = 0$.", ["g > 1"]),
        (r"For $n = 4$, $\epsilon = 0.1$: $x_i = 0$.", ["n = 4", "epsilon = 0.1"]),
        (r"$g > 1$: $x_i = 0$.", ["g > 1"]),
        ("- $g > 1$: $x_i = 0$", ["g > 1"]),
        (r"Case $g > 1$: $x_i = 0$.", ["g > 1"]),
        (r"Long key ($g > 1$): $x_i = 0$.", ["g > 1"]),
        (r"Long key, $g > 1$: $x_i = 0$.", ["g > 1"]),
        (r"When the key is long ($g > 1$), $x_i = 0$.", ["g > 1"]),
        (r"$x_i = 0$ and $n = 2$.", ["n = 2"]),
        (r"Suppose $g > 1$. It rains. Then $x_i = 0$.", ["g > 1"]),
        (r"Either $g < 1$, and $y = 1$, or $g > 1$, and $x_i = 0$.", ["g > 1"]),
        (r"As $\beta \to \infty$, $x_i = 0$.", ["beta -> infinity"]),
        (r"Since $P = 1$, $x_i = 0$.", []),
        (r"If $g > 1$, $y = 1$; if $g < 1$, $x_i = 0$.", ["g < 1"]),
    ],
)
def test_binding_words_are_syntax(text: str, under: list[str]) -> None:
    one = of(text, "x_i = 0")
    assert [plain(part) for part in one.under] == under
    assert not one.doubt


@pytest.mark.parametrize(
    "text",
    [
        r"$x_i = 0$ for most of the time.",
        r"$x_i = 0$ for even $i$.",
        r"$x_i = 0$ for every second key.",
        r"$x_i = 0$ unless it rains.",
        r"$x_i = 0$ with probability one half.",
        r"$x_i = 0$ otherwise.",
        r"$x_i = 0$ or $y = 1$.",
        r"If the key is short, $x_i = 0$.",
        r"When $\|k\|$ is large, $x_i = 0$.",
        r"For the nearest key $i$, $x_i = 0$.",
        r"In the second case $x_i = 0$.",
    ],
)
def test_a_condition_that_is_not_read_leaves_a_doubt(text: str) -> None:
    one = of(text, "x_i = 0")
    assert one.doubt or one.kind == "turned"


@pytest.mark.parametrize(
    "text",
    [
        r"For this choice $x_i = 0$.",
        r"$x_i = 0$ for the same reason.",
        r"$x_i = 0$ for all keys.",
        r"$x_i = 0$ for both heads.",
        r"For the first head we take $x_i = 0$.",
        r"It has length one, with the score $x_i = 0$.",
    ],
)
def test_words_that_restrict_nothing_leave_no_doubt(text: str) -> None:
    assert not of(text, "x_i = 0").doubt


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        (r"$x$ is at most $y$.", r"x \le y"),
        (
            r"$\operatorname{Var}(x)$ tends to $\frac14$.",
            r"\operatorname{Var}(x) \to \frac14",
        ),
        (r"$x$ is significantly larger than all other scores $y$.", r"x \gg y"),
        (r"$x = 1$ implies $y = 2$.", r"x = 1 \implies y = 2"),
    ],
)
def test_relation_phrases_are_signs(text: str, formula: str) -> None:
    assert [one.text for one in said(text)] == [formula]


@pytest.mark.parametrize(
    "text",
    [r"The score of $x$ is $y$.", r"Key $x$ is $y$ away.", r"$x$ and $y$ are $z$."],
)
def test_what_is_not_the_subject_is_compared_with_nothing(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (r"$q = \lambda k$ for a large $\lambda$.", "large"),
        (r"$q = \lambda k$ where $\lambda$ is sufficiently large.", "large"),
        (r"$q = \lambda k$, $\lambda$ large.", "large"),
        (r"$q = \lambda k$ with a tiny $\lambda$.", "small"),
    ],
)
def test_sizes_of_names_are_read(text: str, size: str) -> None:
    assert [one.size for one in said(text) if one.role == "size"] == [size]


def test_a_chain_goes_on_over_displays_items_and_reasons() -> None:
    text = "1. $a = b$\n2. $\\le c$, as $x \\le y$\n3. $\\le d$\n"
    assert [plain(one.node) for one in said(text) if one.node is not None] == [
        "a = b <= c <= d",
        "x <= y",
    ]


def test_the_range_of_a_further_value_is_not_that_of_the_claim() -> None:
    (one,) = [
        one
        for one in said(r"$x = 1$ for $n = 2$ and $y$ for $n = 3$.")
        if one.role == "claim"
    ]
    assert [plain(part) for part in one.under] == ["n = 2"]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (
            r"A wrong attempt first: $x = 1$. Take instead $y = 2$.",
            ["turned", "worded"],
        ),
        (
            r"My first attempt was $x = 1$. This does not work. So $y = 2$.",
            ["turned", "neutral"],
        ),
        (r"We set $x = 1$. So scrap that. Now $y = 2$.", ["turned", "neutral"]),
        (
            r"We set $x = 1$. For short keys this fails. Now $y = 2$.",
            ["neutral", "neutral"],
        ),
        (r"What about $x = 1$? Then $y = 2$.", ["turned", "turned"]),
        (r"Instead of $x = 1$ we take $y = 2$.", ["turned", "turned"]),
    ],
)
def test_what_is_withdrawn_or_asked_is_quoted(text: str, kinds: list[str]) -> None:
    assert [one.kind for one in said(text)] == kinds


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        (r"$x = 1$ and $y = 2$ imply $z = 3$.", ["condition", "condition", "claim"]),
        (
            r"$x = 1$ together with $y = 2$ forces $z = 3$.",
            ["condition", "condition", "claim"],
        ),
        (r"If $x = 1$ then $z = 3$.", ["condition", "claim"]),
        (r"$x = 1$ $\Rightarrow$ $z = 3$", ["claim"]),
        (r"$x = 1$ ⇒ $z = 3$", ["claim"]),
    ],
)
def test_an_implication_claims_neither_side(text: str, roles: list[str]) -> None:
    found = said(text)
    assert [one.role for one in found] == roles
    assert len(found) == 1 or [plain(part) for part in found[-1].under][:1] == ["x = 1"]


def test_a_condition_behind_a_comma_may_open_the_next_clause() -> None:
    found = [
        one
        for one in said(r"With $g = 1$ it is $x = 1$, with $g = 2$ it is $x = 2$.")
        if one.role == "claim"
    ]
    assert [[plain(part) for part in one.under] for one in found] == [
        ["g = 1"],
        ["g = 2"],
    ]


def test_cells_of_a_table_are_quoted() -> None:
    found = said("| $x = 1$ | $y = 2$ |\n|---|---|\n| $x = 3$ | $y = 4$ |")
    assert {one.kind for one in found} == {"turned"}


def test_remarks_beside_steps_are_no_part_of_them() -> None:
    text = "$$a = b \\quad (\\text{since it is so}) \\quad (3)$$"
    assert [plain(one.node) for one in said(text) if one.node is not None] == ["a = b"]


def test_macros_of_a_preamble_hold_for_the_text() -> None:
    found = read(Written(r"$\vq = 1$", macros=r"\newcommand{\vq}{q}")).statements
    assert [plain(one.node) for one in found if one.node is not None] == ["q = 1"]


def test_a_formula_that_cannot_be_read_is_kept_with_its_caret() -> None:
    (one,) = said(r"Take $q = k_a +$.")
    assert one.node is None
    assert "^" in str(one.problem)


def test_sentences_with_words_are_listed_to_read() -> None:
    found = read(Written("Take $q = k_a$.\n\nBy magic it works."))
    assert found.to_read == ((3, "by magic it works"),)
