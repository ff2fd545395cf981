"""Formulas that go on from the one before, and are closed with it."""

from __future__ import annotations

import pytest

from headwright.formula import FormulaError, goes_on, joined, parse, parse_each, parse_lines, plain, texts


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("= P Z", "="),
        (r"\approx v_j \quad (4)", "~"),
        (r"< \epsilon", "<"),
        (r"\le 1 \text{ for all } i", "<="),
        (r"\implies \alpha_1 \approx 1", "implies"),
        ("<=> a = b", "iff"),
        (r"\forall i \ne a, b", "for"),
        (r"\text{for some } i", "some"),
        ("<a, b> = 0", ""),
        ("a = b", ""),
        ("a + b", ""),
    ],
)
def test_how_a_formula_begins(source: str, word: str) -> None:
    assert goes_on(parse_lines(source)[0]) == word


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


def test_the_words_of_a_formula() -> None:
    assert texts(r"x = y \quad \text{(since P is a permutation)} \text{ for all } i") == (
        "(since P is a permutation)",
        "for all",
    )


def test_reasons_are_statements_or_nothing() -> None:
    chain, reason = parse_lines(r"a &= b \quad (\text{since } P^\top P = I) \quad (20) \\ &= c")
    assert plain(chain) == "a = b = c"
    assert plain(reason) == "P^T P = I"
    assert parse_lines(r"a = b \quad \text{(by the definition of attention)}") == parse_lines("a = b")


@pytest.mark.parametrize("words", ["unless i = a", "(by no means)", "(since it is not always true)", "usually"])
def test_words_that_turn_the_meaning_are_not_passed_over(words: str) -> None:
    with pytest.raises(FormulaError):
        parse(rf"x = y \text{{ {words} }}")


@pytest.mark.parametrize(
    ("source", "read"),
    [
        (r"a = b \\ = \foo \\ c = d \\ = e", ["a = b", "!", "c = d = e"]),
        (r"\begin{align*} a &= b \\ &= c \\ x &= \foo \end{align*}", ["a = b = c", "!"]),
        (r"x = \foo \\ = c", ["!", "= c"]),
        (r"A = \begin{pmatrix} 1 \\ 2 \end{pmatrix}. \\ x = \foo", ["A = [[1], [2]]", "!"]),
        (r"\foo", ["!"]),
        (r"q = \lambda k_a \\ + \foo", ["!"]),
        (r"q = \lambda \\ k_a \foo", ["!"]),
        (r"q = \lambda \\ (k_a + \foo)", ["!"]),
        (r"q = \lambda k_a + \\ x = \foo", ["!"]),
        (r"x_i = 0 \\ \text{for all } i = \foo", ["!"]),
        (r"x_i = 0 \\ for i = \foo", ["!"]),
        (r"a = b \\ \cdot c = \foo", ["!"]),
        ("a = b, c = d", ["a = b", "c = d"]),
    ],
)
def test_one_row_that_cannot_be_read_voids_no_other(source: str, read: list[str]) -> None:
    assert ["!" if isinstance(one, FormulaError) else plain(one) for one in parse_each(source)] == read


def test_rows_keep_their_places() -> None:
    source = "a = b \\\\\n = \\foo \\\\\n x = y"
    first, error, last = parse_each(source)
    assert isinstance(error, FormulaError)
    assert [source[one.span.start : one.span.stop] for one in (first, error, last)] == ["a = b", r"\foo", "x = y"]
