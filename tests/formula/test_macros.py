r"""Commands of a document's own, put in before a formula is read."""

from __future__ import annotations

import pytest

from headwright.formula import FormulaError, macros, parse, plain

OWN = r"\newcommand{\bq}{\mathbf{q}} \newcommand\norm[1]{\left\| #1 \right\|} \DeclareMathOperator{\sm}{softmax}"

DOUBLING = [
    r"\def\x" + one + "{" + 50 * (r"\x" + other) + "}" for one, other in zip("abcdefgh", "bcdefghi", strict=True)
]


def test_commands_are_put_in() -> None:
    assert parse(r"\bq = \norm{k_a + \bq}_2 + \sm(x)", macros=macros(OWN)) == parse("q = norm_2(k_a + q) + softmax(x)")


def test_a_formula_may_hold_its_own() -> None:
    assert plain(parse(r"\def\R{\mathbb{R}} x \in \R^d")) == "x in ℝ^d"


def test_errors_point_at_the_source_as_it_was_written() -> None:
    source = r"\bq = \norm{k_a} + \lamda"
    with pytest.raises(FormulaError) as error:
        parse(source, macros=macros(OWN))
    assert source[error.value.span.start : error.value.span.stop] == r"\lamda"
    assert error.value.source == source


def test_nodes_point_at_the_use_of_a_command() -> None:
    source = r"x + \bq"
    term = list(parse(source, macros=macros(OWN)).children())[1]
    assert source[term.span.start : term.span.stop] == r"\bq"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (r"\newcommand{\a}{\a} \a", "defined by itself"),
        (r"\newcommand{\a}{\b} \newcommand{\b}{x \a} \b", "defined by itself"),
        ("".join(DOUBLING) + r"\xa", "characters"),
        (r"\newcommand{\f}[2]{#1 + #2} \f{x}", "2 arguments"),
        (r"\newcommand{\f}{x", "command"),
    ],
)
def test_what_would_not_end_is_refused(source: str, message: str) -> None:
    with pytest.raises(FormulaError, match=message):
        parse(source)
