"""Reading is total: whatever is written, it ends soon, with statements that point into the text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.check.reading.lexicon import lexicon
from headwright.check.reading.statements import MOST_STATEMENTS, read
from headwright.check.reading.written import Written

PHRASES = sorted(" ".join(phrase) for phrase in lexicon().parts)
TURNING = sorted(" ".join(phrase) for phrase in lexicon().turning)
FORMULAS = [
    "$a = b$",
    "$x$",
    "$i \\ne j$",
    "$$= c$$",
    "$\\lambda \\to \\infty$",
    "$q = \\frac",
    "$k_i^\\top q \\gg 0$",
    "$1",
]
MARKS = [",", ".", ":", ";", "(", ")", "?", "\n\n", "\n- ", "\n1. ", "\n## ", "**", "~~", "`", "```\n", "\\item ", "|"]

pieces = st.sampled_from([*PHRASES, *TURNING, *FORMULAS, *MARKS, "large", "constant", "is", "and", "the"])


@settings(max_examples=100, deadline=None)
@given(st.lists(pieces | st.text(max_size=5), max_size=40), st.sampled_from(["markdown", "latex", "plain"]))
def test_any_mixture_of_words_and_formulas_is_read(parts: list[str], form: str) -> None:
    text = " ".join(parts)
    found = read(Written(text, 5, form))  # type: ignore[arg-type]
    for one in found.statements:
        assert 5 <= one.line <= 5 + text.count("\n") + text.count("\r")  # files are read without \r
        assert one.node is not None or one.why or one.problem is not None


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([*FORMULAS[:1], "then", "so", ",", "and"]), max_size=12), st.sampled_from(TURNING))
def test_a_turning_word_right_before_a_formula_is_never_passed_over(parts: list[str], word: str) -> None:
    found = read(Written(" ".join([*parts, ".", word, "$x = y$"]))).statements
    assert [one.why for one in found if one.text == "x = y"][-1:] != [""] or not found


@pytest.mark.parametrize(
    "text",
    [
        "$" + r" \quad\text{so } ".join(["a = b"] * 3000) + "$",  # no deeper than the stack
        "if " * 5_000 + "$a = b$",
        "$a = b$ and " * 2_000,
        "(" * 5_000 + "$a = b$",
        "$= b$ " * 1_000,
        "suppose $a = b$. " * 1_000,
        "- " * 5_000 + "$a = b$",
        "large $x$ " * 2_000,
        "$x$ is " * 2_000,
        "~~" * 5_000,
        "a = b " * 2_000,
    ],
    ids=["so", "if", "and", "brackets", "relations", "suppose", "bullets", "large", "is", "strikes", "typed"],
)
def test_hostile_texts_are_read_in_bounded_time(text: str) -> None:
    assert len(read(Written(text)).statements) <= MOST_STATEMENTS + 2


def test_what_is_too_much_to_read_is_not_passed_over() -> None:
    assert "the rest is not read" in read(Written("So $a = b$. " * 500)).statements[-1].why
    assert "the rest is not read" in read(Written("So $a = b$. " + " " * 300_000 + "$c = d$")).statements[-1].why
