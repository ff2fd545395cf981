"""Terms that are added or compared have one shape; 0 fits any, and 1 b next to a matrix puts b in each of its rows."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from headwright.formula.shaping.rewrite import plain
from headwright.formula.shaping.sizes import Term, misfit, unfit
from headwright.formula.tree import Name, Negative, Node, Number, Product, Quotient

if TYPE_CHECKING:
    from headwright.formula.shaping.meaning import Typer


def agreed(terms: list[Term], how: str, typer: Typer) -> list[Term]:
    """The terms, all of one shape: 0 fits any, and 1 b becomes ones b next to a matrix."""
    kept = [term for term in terms if not is_zero(term.node)]
    tall = next((term for term in kept if typer.sizes.known(term.rows) != 1), None)
    if tall is not None:
        terms = [with_ones(term, tall, typer) for term in terms]
        kept = [term for term in terms if not is_zero(term.node)]
    for other in kept[1:]:
        first = kept[0]
        if not (typer.sizes.same(first.rows, other.rows) and typer.sizes.same(first.columns, other.columns)):
            # A number beside a matrix may be short for a multiple of I; two other shapes cannot be mended.
            wrong = misfit if typer.is_scalar(first) or typer.is_scalar(other) else unfit
            said = f"{typer.text(other)} cannot be {how} {typer.text(first)}"
            raise wrong(said, span=other.node.span, fix=_remedy(typer, first, other))
    return terms


def _remedy(typer: Typer, first: Term, other: Term) -> str:
    if typer.is_scalar(first) or typer.is_scalar(other):
        return "write c I if the identity is meant"
    low = next((term for term in (first, other) if term.rows == 1), None)
    if low is not None and typer.sizes.known(first.columns) == typer.sizes.known(other.columns):
        return f"write 1 {plain(low.node)} to add it to every row"
    if typer.sizes.known(first.rows) == typer.sizes.known(other.columns):
        return r"is a transpose missing? write x^\top"
    return ""


def with_ones(term: Term, tall: Term, typer: Typer) -> Term:
    """1 b next to a matrix of T rows is ones b: b in each row."""
    if typer.sizes.known(term.rows) != 1 or not _starts_with_one(term.node):
        return term
    if not typer.is_scalar(term) and typer.sizes.known(term.columns) != typer.sizes.known(tall.columns):
        return term
    ones = typer.known(Name("ones"))
    if ones is None or typer.is_scalar(term) or ones.columns != 1 or not typer.sizes.same(ones.rows, tall.rows):
        return term
    return Term(_ones_first(term.node), ones.rows, term.columns)


def _starts_with_one(node: Node) -> bool:
    match node:
        case Negative(body):
            return _starts_with_one(body)
        case Quotient(over, _):
            return _starts_with_one(over)
        case Product(factors):
            return isinstance(factors[0], Number) and factors[0].value == Fraction(1)
        case _:
            return False


def _ones_first(node: Node) -> Node:
    match node:
        case Negative(body):
            return Negative(_ones_first(body), span=node.span)
        case Quotient(over, under):
            return Quotient(_ones_first(over), under, span=node.span)
        case Product(factors):
            return Product((Name("ones", span=factors[0].span), *factors[1:]), span=node.span)
        case _:
            return node


def is_zero(node: Node) -> bool:
    """A written 0, which fits any shape."""
    return isinstance(node, Number) and node.value == 0
