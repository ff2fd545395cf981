"""Formulas that go on from the one before, and are closed with it."""

from __future__ import annotations

import pytest

from headwright.formulas import FormulaError, goes_on, joined, parse, parse_each, plain


@pytest.mark.parametrize(
    ("source", "continues"),
    [
        ("= P Z", True),
        (r"\approx v_j \quad (4)", True),
        (r"< \epsilon", True),
        (r"\le 1 \text{ for all } i", True),
        (r"\implies \alpha_1 \approx 1", True),
        ("<=> a = b", True),
        (r"\forall i \ne a, b", True),
        (r"\text{for some } i", True),
        ("<a, b> = 0", False),
        ("a = b", False),
        ("a + b", False),
    ],
)
def test_how_a_formula_begins(source: str, continues: bool) -> None:
    assert goes_on(parse(source)) == continues


@pytest.mark.parametrize(
    ("before", "after", "whole"),
    [
        ("Z_p = relu(P H)", "= P Z", "Z_p = relu(P H) = P Z"),
        ("P H", "= H_p", "P H = H_p"),
        ("a = b", r"\implies c = d", "a = b => c = d"),
        ("x_i < x_j", r"\forall i \ne j", "x_i < x_j for i != j"),
        ("a = 1, b = 2", "= c", "a = 1 and b = 2 = c"),
        ("a => b = 2", "= c", "a => b = 2 = c"),
        ("a = b", "c = d", "c = d"),
        ("a = b", "= c; e = f", "a = b = c and e = f"),
    ],
)
def test_what_stood_before_closes_the_gap(before: str, after: str, whole: str) -> None:
    assert plain(joined(parse(before), parse(after))) == whole


def test_what_is_said_under_a_condition_is_not_continued() -> None:
    after = parse("= c")
    assert joined(parse("a = b for all i"), after) == after


def test_a_gap_stands_at_the_beginning_only() -> None:
    for source in ("a = b; for all i != j", "x + (= y)", "a = b and => c"):
        with pytest.raises(FormulaError):
            parse(source)


@pytest.mark.parametrize(
    "words",
    ["unless i = a", "(by no means)", "(since it is not always true)", "usually"],
)
def test_words_that_turn_the_meaning_are_not_passed_over(words: str) -> None:
    with pytest.raises(FormulaError):
        parse(rf"x = y \text{{ {words} }}")


def test_what_cannot_be_read_is_one_error() -> None:
    (error,) = parse_each(r"a = b \\ = \foo \\ c = d")
    assert isinstance(error, FormulaError)
    assert error.source[error.span.start : error.span.stop] == r"\foo"
    assert [
        plain(one)
        for one in parse_each("a = b, c = d")
        if not isinstance(one, FormulaError)
    ] == ["a = b", "c = d"]
