"""Trees as parsing makes them, for properties."""

from __future__ import annotations

from fractions import Fraction
from typing import cast

from hypothesis import strategies as st

from headwright.formula.tree import (
    BigSum,
    Call,
    Comparison,
    Inner,
    Listing,
    Logic,
    Matrix,
    Name,
    Negative,
    Node,
    Norm,
    Number,
    Power,
    Product,
    Quantified,
    Quotient,
    Relation,
    Sum,
    Transpose,
)

LETTERS = (
    "a",
    "b",
    "i",
    "k",
    "n",
    "q",
    "P",
    "T",
    "K",
    "e",
    "I",
    "lambda",
    "mu",
    "Phi",
    "epsilon",
    "ones",
    "xhat",
    "pi",
)
numbers = st.builds(
    Number, st.fractions(0, 1000, max_denominator=1) | st.sampled_from([Fraction(1, 2), Fraction(1, 1000)])
)
indices: st.SearchStrategy[Node] = st.one_of(
    st.sampled_from(
        [Name("a"), Name("i"), Name("lambda"), Name("max"), Name("model"), Number(Fraction(1)), Number(Fraction(21))]
    ),
    st.just(Sum((Name("k"), Negative(Number(Fraction(1)))))),
    st.just(Listing((Name("i"), Number(Fraction(2))))),
)
names = st.builds(Name, st.sampled_from(LETTERS), st.none() | indices, st.sampled_from([0, 0, 0, 1, 2]))
signs = cast("st.SearchStrategy[Comparison]", st.sampled_from(["=", "!=", "<", ">", "<=", ">=", "~", "<<", ">>", "->"]))


def _several(parts: st.SearchStrategy[Node], most: int = 3) -> st.SearchStrategy[tuple[Node, ...]]:
    return st.lists(parts, min_size=2, max_size=most).map(tuple)


def _powers(parts: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    return st.builds(Power, parts.filter(lambda node: node != Name("e")), parts)


def _sums(parts: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    conditions = st.sampled_from([(), (Relation((Name("i"), Name("j")), ("!=",)),)])
    ranged = st.builds(BigSum, st.just("i"), parts, parts, parts, conditions)
    return ranged | st.builds(BigSum, st.sampled_from(["i", "j"]), parts, st.none(), st.none(), conditions)


def _larger(parts: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    functions = st.sampled_from(["exp", "ln", "sqrt", "sin", "cos", "trace", "softmax", "relu", "abs", "E", "Var"])
    return st.one_of(
        st.builds(Sum, _several(parts)),
        st.builds(Product, _several(parts)),
        st.builds(Negative, parts),
        st.builds(Quotient, parts, parts),
        _powers(parts),
        st.builds(Transpose, parts),
        st.builds(Inner, parts, parts),
        st.builds(Norm, parts, st.sampled_from(["", "2", "F"])),
        st.builds(Call, functions, st.tuples(parts)),
        st.builds(Call, st.sampled_from(["max", "min"]), _several(parts)),
        _sums(parts),
        st.builds(Listing, _several(parts)),
        st.builds(
            Matrix, st.tuples(st.builds(Listing, st.tuples(parts, parts)), st.builds(Listing, st.tuples(parts, parts)))
        ),
    )


values: st.SearchStrategy[Node] = st.recursive(numbers | names, _larger, max_leaves=8)


def _chain(terms: tuple[Node, ...], comparisons: list[Comparison]) -> Relation:
    return Relation(terms, tuple(comparisons[: len(terms) - 1]))


def _is_spread(node: Relation) -> bool:
    """i != (a, b), which is read as two statements."""
    return node.comparisons == ("!=",) and isinstance(node.terms[1], Listing) and not isinstance(node.terms[0], Listing)


relations = st.builds(_chain, _several(values), st.lists(signs, min_size=2, max_size=2)).filter(
    lambda r: not _is_spread(r)
)


def _joined(parts: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    return st.one_of(
        st.builds(Logic, st.sampled_from(["and", "or"]), _several(parts)),
        st.builds(Logic, st.sampled_from(["implies", "iff"]), st.tuples(parts, parts)),
        st.builds(Logic, st.just("not"), st.tuples(parts)),
        st.builds(Quantified, parts, st.lists(parts | names, min_size=1, max_size=2).map(tuple)),
    )


statements: st.SearchStrategy[Node] = st.recursive(relations, _joined, max_leaves=4)
trees = values | statements
