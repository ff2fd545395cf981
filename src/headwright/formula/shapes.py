"""Numbers, vectors and matrices told apart; products given their meaning.

typed(tree, shape_of) checks that sizes agree and gives back a tree that says what was meant: a dot between a number and
a vector is a product, x' is a transpose where x is a vector, 1 b next to a matrix of T rows is ones b, I is an I of a
known size, and the softmax of a column is written as that of a row.
"""

from __future__ import annotations

from fractions import Fraction

from headwright.formula.errors import FormulaError
from headwright.formula.shaping.meaning import Typer
from headwright.formula.shaping.rewrite import mapped
from headwright.formula.shaping.sizes import SCALAR, Hole, Shape, ShapeOf, Size, misfit
from headwright.formula.tree import Name, Node, Number

__all__ = ["SCALAR", "Shape", "ShapeOf", "Size", "shape", "typed"]


def typed(node: Node, shape_of: ShapeOf, *, source: str = "") -> Node:
    """The tree with its products given their meaning; FormulaError, with the place, where shapes do not fit.

    The source, if given, is shown in errors.

    >>> from headwright.formula.tree import Sum
    >>> known = {"A": Shape("n", "n"), "q": Shape("n", 1)}
    >>> typed(Sum((Name("I"), Name("A"))), lambda name: known.get(name.base)).terms[0]
    Name(span=Span(start=0, stop=0), base='I', index=Name(span=..., base='n', index=None, primes=0), primes=0)
    >>> typed(Name("q", primes=1), lambda name: known.get(name.base) if not name.primes else None)
    Transpose(...)
    """
    typer = Typer(shape_of)
    try:
        return _filled(typer.statement(node), typer)
    except FormulaError as error:
        raise type(error)(error.message, source, error.span, fix=error.fix) from error


def shape(node: Node, shape_of: ShapeOf) -> Shape:
    """The shape of what a tree stands for, typed or not.

    >>> from headwright.formula.tree import Product
    >>> shape(Product((Name("q", primes=1), Name("q"))), lambda name: None if name.primes else Shape("d", 1))
    Shape(rows=1, columns=1)
    """
    typer = Typer(shape_of)
    term = typer.term(node)
    rows, columns = typer.sizes.known(term.rows), typer.sizes.known(term.columns)
    if isinstance(rows, Hole) or isinstance(columns, Hole):
        raise _unknown_identity(node)
    return Shape(rows, columns)


def _filled(node: Node, typer: Typer) -> Node:
    if isinstance(node, Name) and isinstance(node.index, Hole):
        size = typer.sizes.known(node.index)
        if isinstance(size, Hole):
            raise _unknown_identity(node)
        index: Node = Name(size) if isinstance(size, str) else Number(Fraction(size))
        return Name(node.base, index, node.primes, span=node.span)
    return mapped(node, lambda part: _filled(part, typer))


def _unknown_identity(node: Node) -> FormulaError:
    return misfit("nothing here says how large I is", span=node.span, fix="write I_d for the d x d identity")
