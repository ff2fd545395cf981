"""Factors side by side: numbers anywhere, matrices where their sizes meet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headwright.formula.errors import FormulaError
from headwright.formula.shaping.rewrite import plain
from headwright.formula.shaping.sizes import Term, unfit
from headwright.formula.tree import Name, Node, Product

if TYPE_CHECKING:
    from headwright.formula.shaping.meaning import Typer


def product(factors: Sequence[Term], typer: Typer, node: Node) -> Term:
    """The product from left to right; where that fails, an inner product such as x^T y is the number it is."""
    terms = list(factors)
    while True:
        saved = typer.sizes.saved()
        whole = _chained(terms, typer)
        if isinstance(whole, Term):
            new = Product(tuple(term.node for term in terms), span=node.span)
            return Term(new, whole.rows, whole.columns)
        typer.sizes.restore(saved)
        closed = _with_a_number_closed(terms, typer)
        if closed is None:
            raise _mismatch(terms, whole, typer)
        terms = closed


def _chained(terms: Sequence[Term], typer: Typer) -> Term | int:
    """The product of all, or the place of the first factor that does not fit what is on its left."""
    whole = terms[0]
    for place, term in enumerate(terms[1:], start=1):
        if typer.is_scalar(whole):
            whole = term
        elif not typer.is_scalar(term):
            if not typer.sizes.same(whole.columns, term.rows):
                return place
            whole = Term(whole.node, whole.rows, term.columns)
    return whole


def _with_a_number_closed(terms: list[Term], typer: Typer) -> list[Term] | None:
    for start in range(1, len(terms)):
        if typer.sizes.known(terms[start].rows) != 1 or typer.is_scalar(terms[start]):
            continue
        for stop in range(start + 2, len(terms) + 1):
            saved = typer.sizes.saved()
            whole = _chained(terms[start:stop], typer)
            if isinstance(whole, Term) and typer.is_scalar(whole):
                inside = Product(tuple(term.node for term in terms[start:stop]), span=terms[start].node.span)
                return [*terms[:start], Term(inside, 1, 1), *terms[stop:]]
            typer.sizes.restore(saved)
    return None


def _mismatch(terms: Sequence[Term], place: Term | int, typer: Typer) -> FormulaError:
    at = place if isinstance(place, int) else len(terms) - 1
    left = next(term for term in reversed(terms[:at]) if not typer.is_scalar(term))
    right = terms[at]
    span = left.node.span.to(right.node.span)
    said = f"{typer.text(left)} times {typer.text(right)}: the sizes that meet differ"
    if left.columns == right.columns == 1 and typer.sizes.known(left.rows) == typer.sizes.known(right.rows):
        said = f"{typer.text(left)} times {typer.text(right)}: two columns have no product"
        names = [
            plain(term.node) if isinstance(term.node, Name) else text for term, text in ((left, "k_i"), (right, "q"))
        ]
        return unfit(said, span=span, fix=rf"write {names[0]}^\top {names[1]} for the inner product")
    ways = ((left.rows, right.rows, "left"), (left.columns, right.columns, "right"))
    side = next((side for a, b, side in ways if typer.sizes.known(a) == typer.sizes.known(b)), "")
    turned = {"left": left, "right": right}.get(side)
    return unfit(said, span=span, fix="" if turned is None else rf"is {plain(turned.node)}^\top meant?")
