"""The words of a formula, in all their spellings."""

from __future__ import annotations

from fractions import Fraction

import pytest

from headwright.formulas import FormulaError, parse
from headwright.formulas.errors import LARGEST_EXPONENT, MOST_DIGITS
from headwright.formulas.lexer import words
from headwright.formulas.tree import Number


def texts(source: str, names: tuple[str, ...] = ()) -> list[str]:
    return [word.text for word in words(source, names)[:-1]]


def kinds(source: str) -> list[str]:
    return [word.kind for word in words(source)[:-1]]


@pytest.mark.parametrize(
    "source", [r"\lambda", "lambda", "λ", "\N{MATHEMATICAL ITALIC SMALL LAMDA}"]
)
def test_a_greek_letter_has_one_base(source: str) -> None:
    assert texts(source) == ["lambda"]


def test_running_letters_are_names_of_their_own() -> None:
    assert texts("PHW_1") == ["P", "H", "W", "_", "1"]


def test_a_name_the_exercise_gives_is_one_word() -> None:
    assert texts("2 tol", ("tol",)) == ["2", "tol"]
    assert texts("x1 + k_max2", ("x1", "k_max2")) == ["x1", "+", "k", "_", "max2"]


def test_each_word_knows_where_it_was_written() -> None:
    source = r"q = \lambda k_a"
    assert [source[word.span.start : word.span.stop] for word in words(source)] == [
        "q",
        "=",
        r"\lambda",
        "k",
        "_",
        "a",
        "",
    ]


def test_numbers_are_exact() -> None:
    assert parse("0.1") == Number(Fraction(1, 10))
    assert parse("1e-3") == Number(Fraction(1, 1000))


def test_an_e_without_digits_is_not_an_exponent() -> None:
    assert texts("2e^x") == ["2", "e", "^", "x"]
    assert texts("2e3") == ["2e3"]


@pytest.mark.parametrize(
    "number",
    ["1e999999999", "1e401", "1e-401", "9" * (MOST_DIGITS + 1), "0." + "0" * 400 + "1"],
)
def test_a_number_that_is_too_large_or_too_long_is_refused(number: str) -> None:
    with pytest.raises(FormulaError, match="number"):
        words(number)


@pytest.mark.parametrize(
    "number",
    [f"1e{LARGEST_EXPONENT}", f"1e-{LARGEST_EXPONENT}", "9" * MOST_DIGITS, "0e9"],
)
def test_a_number_within_the_bounds_is_read(number: str) -> None:
    assert texts(number) == [number]


def test_a_tight_tilde_is_a_space_in_latex_and_a_relation_in_plain_text() -> None:
    assert kinds(r"\lambda~x") == ["name", "name"]
    assert kinds("c~v") == ["name", "relation", "name"]
    assert kinds(r"\lambda ~ x") == ["name", "relation", "name"]


def test_sizes_spaces_and_comments_are_dropped() -> None:
    assert texts(r"\displaystyle \bigl( x \bigr) \, \! % \foo") == ["(", "x", "("]


def test_bars_get_a_side_from_left_and_right() -> None:
    assert kinds(r"\left\| x \right\| + |x|") == [
        "open",
        "name",
        "close",
        "sign",
        "bar",
        "name",
        "bar",
    ]


@pytest.mark.parametrize(
    ("source", "fix"),
    [
        (r"\lamda", r"\lambda"),
        (r"\fraq", r"\frac"),
        (r"\relu", "without the backslash"),
        ("softmx(x)", "softmax"),
        ("lnx", "a space"),
        ("kln(n)", "a space"),
        ("sigmoid(x)", "formulas only"),
        (r"\operatorname{sofmax}", "softmax"),
        (r"\begin{vmatrix}", "aligned, cases or pmatrix"),
        ("k1", "k_1"),
        ("log2(x)", "log_2"),
        ("e^xy", "^{xy}"),
        ("x_ab", "_{ab}"),
        (r"\int x", r"\in"),
        (r"\lg n", r"\log"),
        ("n!", "remove"),
        ("i neq j", r"\neq"),
        ("a cdot b", r"\cdot"),
        (r"\not x", "neq"),
        (r"\hat{ab}", r"\hat{x}"),
    ],
)
def test_what_is_not_a_word_is_refused_with_a_remedy(source: str, fix: str) -> None:
    with pytest.raises(FormulaError) as error:
        words(source)
    assert fix in error.value.fix


@pytest.mark.parametrize(
    "prose",
    ["c is near v", r"x \text{ almost surely}", "significantly larger", "the others"],
)
def test_prose_is_never_a_product_of_its_letters(prose: str) -> None:
    with pytest.raises(FormulaError, match="not a known word"):
        words(prose)


@pytest.mark.parametrize(
    ("written", "plainly"),
    [
        (r"\operatorname{E}[x] = 0", "E[x] = 0"),
        (r"\operatorname{P}(x > 0) = 1", r"\Pr(x > 0) = 1"),
        (r"x = y \text{ for some } k", "x = y for some k"),
    ],
)
def test_words_set_apart_mean_the_same(written: str, plainly: str) -> None:
    assert parse(written) == parse(plainly)
