r"""Statements: role and scope of what is said, and what is left unjudged."""

from __future__ import annotations

import pytest

from headwright.check.reading.statements import Statement, read
from headwright.check.reading.written import Written
from headwright.formula.show import plain


def statements(text: str) -> tuple[Statement, ...]:
    return read(Written(text)).statements


def shown(text: str) -> list[tuple[str, str, tuple[str, ...]]]:
    found = statements(text)
    return [(s.role, s.text if s.node is None else plain(s.node), tuple(plain(n) for n in s.under)) for s in found]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Let $x = 1$.", [("definition", "x = 1", ())]),
        ("We pick $x = 1$, so $y = 2$.", [("definition", "x = 1", ()), ("claim", "y = 2", ())]),
        ("We have $a = b$ because $c = d$.", [("claim", "a = b", ()), ("reason", "c = d", ())]),
        ("To get $a = b$ we put $x = 1$.", [("goal", "a = b", ()), ("definition", "x = 1", ())]),
        ("We want $a = b$ and $c = d$.", [("goal", "a = b", ()), ("goal", "c = d", ())]),
        ("For example $x = 3$.", [("example", "x = 3", ())]),
        ("If $x > 1$ then $a = b$.", [("claim", "a = b", ("x > 1",))]),
        ("When $x > 1$, $a = b$ and $c = d$.", [("claim", "a = b", ("x > 1",)), ("claim", "c = d", ("x > 1",))]),
        ("$a = b$ for $x > 1$.", [("claim", "a = b", ("x > 1",))]),
        ("$a = b$ unless $x > 1$.", [("claim", "a = b", ("x <= 1",)), ("unclear", "$a = b$ unless $x > 1$", ())]),
        ("$a = b$ if $x > 1$, $c = d$ if $x < 1$.", [("claim", "a = b", ("x > 1",)), ("claim", "c = d", ("x < 1",))]),
        ("For $x > 1$: $a = b$. For $x < 1$: $c = d$.",
         [("claim", "a = b", ("x > 1",)), ("claim", "c = d", ("x < 1",))]),
        ("Case $x = 1$: $a = b$. Also $c = d$.", [("claim", "a = b", ("x = 1",)), ("claim", "c = d", ("x = 1",))]),
        ("$c = 3/2$:\n\n$$a = b$$\n\n$c = 1/2$:\n\n$$d = e$$",
         [("claim", "a = b", ("c = 3/2",)), ("claim", "d = e", ("c = 1/2",))]),
        ("As $t \\to \\infty$, $a = b$.", [("claim", "a = b", ("t -> infinity",))]),
        ("$a = b$ only if $x = 1$.", [("claim", "a = b => x = 1", ())]),
        ("It cannot happen that $a = b$.", [("claim", "a != b", ())]),
        ("It is not true that $a < b$ for $x > 1$.", [("claim", "a >= b", ("x > 1",))]),
        ("$k_i = 0$ for $i \\ne a$ and $k_i = 1$ otherwise.",
         [("claim", "k_i = 0", ("i != a",)), ("claim", "k_a = 1", ())]),
        ("$f = 0$ (as $a = b$).", [("claim", "f = 0", ()), ("reason", "a = b", ())]),
        ("$a$ is much larger than $b$.", [("claim", "a >> b", ())]),
        ("$$a = b \\quad (7)$$\n\n$$\\le c \\quad (8)$$", [("claim", "a = b <= c", ())]),
        ("$$a = b \\quad (\\text{since } c = d)$$\n$$= e$$", [("claim", "a = b = e", ()), ("reason", "c = d", ())]),
        ("So $a = b$. $\\implies c = d$", [("claim", "a = b", ()), ("claim", "c = d", ())]),
    ],
)  # fmt: skip
def test_roles_and_scope(text: str, found: list[tuple[str, str, tuple[str, ...]]]) -> None:
    assert shown(text) == found


def test_an_assumption_holds_until_it_is_closed() -> None:
    text = "Suppose $x = y$. Then $a = b$, hence $c = d$. In general $e = f$."
    assert [under for role, _, under in shown(text) if role == "claim"] == [("x = y",), ("x = y",), ()]


def test_a_contradiction_frees_what_follows() -> None:
    found = statements("Suppose $x = y$. Then $a = b$, a contradiction. So $x \\ne y$.")
    last = found[-1]
    assert (plain(last.node), last.under) == ("x != y", ())  # type: ignore[arg-type]


def test_a_case_ends_with_its_item() -> None:
    text = "- If $x > 1$: $a = b$. Then $c = d$.\n- If $x < 1$: $e = f$.\n\nFinally $g = h$."
    assert [under for _, _, under in shown(text)] == [("x > 1",), ("x > 1",), ("x < 1",), ()]


def test_it_is_not_certain_how_far_a_case_reaches() -> None:
    found = statements("If $x > 1$ then $a = b$. So $c = d$.")
    assert found[1].under == ()
    assert [plain(node) for node in found[1].perhaps] == ["x > 1"]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("$a \\ge b$ or $a \\ge 0$", "or"),
        ("$a \\ge b$ for all $i \\ne j$ except one.", "except"),
        ("$a \\ge b$ for some $i \\ne j$", "for some"),
        ("$a \\ge b$ doesn't suffice; $a \\ge 2 b$ does", "doesn't"),
        ("One might think that $a = b$.", "might"),
        ("Do not take $a = b$.", "not"),
        ("$a = b$ fails.", "fails"),
        ("It is impossible: $a = b$.", "impossible"),
        ("There is an $i$ with $a_i = b$.", "there is"),
    ],
)
def test_words_that_may_turn_what_is_meant_leave_it_unjudged(text: str, word: str) -> None:
    first = statements(text)[0]
    assert first.role == "unclear"
    assert f"'{word}'" in first.why


@pytest.mark.parametrize("text", ["$a = b$. That is not hard.", "Not only $a = b$.", "No, $a = b$.", "So far $a = b$."])
def test_words_that_turn_nothing(text: str) -> None:
    assert statements(text)[0].why == ""


@pytest.mark.parametrize("text", ["so $c$ is not $v$", "hence $d$ is $v$", "$c$ never equals $v$"])
def test_what_is_said_of_terms_in_words_is_not_dropped(text: str) -> None:
    assert [one.role for one in statements(text)] == ["unclear"]


def test_words_after_a_statement_do_not_reach_back_over_a_clause() -> None:
    assert statements("When we use $x = y$, the rows are not moved when we move the words.")[0].why == ""


def test_a_question_states_nothing() -> None:
    assert statements("Is $a = b$?")[0].why == "a question"


def test_a_sentence_that_denies_in_words_is_kept() -> None:
    assert [one.text for one in read(Written("Take $a = b$. But this fails.")).beside] == ["but this fails"]


@pytest.mark.parametrize(
    "text",
    [
        "$q = t k$ for a large scalar $t > 0$",
        "$q = t k$ where $t$ is large",
        "$q = t k$ with $t$ big enough",
        "$q = t k$ for sufficiently large $t$",
        "$q = t k$, and $t$ is arbitrarily large",
    ],
)
def test_large_however_it_is_said(text: str) -> None:
    found = statements(text)
    told = [plain(node) for one in found for node in (*one.under, *([one.node] if one.node is not None else []))]
    assert "t -> infinity" in told


def test_names_are_introduced_by_a_noun() -> None:
    assert read(Written("$q = c k$ with a large constant $c$")).own == {"c"}
    assert read(Written("where $t$ is a number")).own == {"t"}
    assert read(Written("$q = c k$ where the constant $c$ is given")).own == frozenset()


def test_the_word_term_is_no_term() -> None:
    found = read(Written("There is only one term in the softmax."))
    assert [one.text for one in found.beside] == ["there is only one term in the softmax"]
    assert found.statements == ()


def test_a_formula_beside_what_is_said_in_words_is_not_judged() -> None:
    found = statements("$a = b$ and that of $c$ is $d$.")
    assert [(one.text, one.why) for one in found if one.node is not None] == [("a = b", "it is said in words")]
