"""Trees as parsing makes them, for properties."""

from __future__ import annotations

from fractions import Fraction
from typing import cast

from hypothesis import strategies as st

from headwright.formulas.tree import (
    BigCall,
    BigSum,
    Bond,
    Call,
    Comparison,
    Domain,
    Dots,
    Exists,
    Gap,
    Inner,
    Listing,
    Logic,
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
    "qstar",
    "pi",
)
numbers = st.builds(
    Number,
    st.fractions(0, 1000, max_denominator=1)
    | st.sampled_from([Fraction(1, 2), Fraction(1, 1000)]),
)
indices: st.SearchStrategy[Node] = st.one_of(
    st.sampled_from(
        [
            Name("a"),
            Name("i"),
            Name("lambda"),
            Name("max"),
            Name("model"),
            Number(Fraction(1)),
            Number(Fraction(21)),
        ]
    ),
    st.just(Sum((Name("k"), Negative(Number(Fraction(1)))))),
    st.just(Listing((Name("i"), Number(Fraction(2))))),
)
names = st.builds(
    Name,
    st.sampled_from(LETTERS),
    st.none() | indices,
    st.sampled_from([0, 0, 0, 1, 2]),
)
signs = cast(
    "st.SearchStrategy[Comparison]",
    st.sampled_from(["=", "!=", "<", ">", "<=", ">=", "~", "<<", ">>", "->"]),
)


def _several(
    parts: st.SearchStrategy[Node], most: int = 3
) -> st.SearchStrategy[tuple[Node, ...]]:
    return st.lists(parts, min_size=2, max_size=most).map(tuple)


def _short(parts: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    """The same, with a short text: hypothesis writes strategies out, and these are inside one another."""

    @st.composite
    def part(draw: st.DrawFn) -> Node:
        return draw(parts)

    return part()


def _powers(parts: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    return st.builds(Power, parts.filter(lambda node: node != Name("e")), parts)


def _sums(parts: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    conditions = st.sampled_from([(), (Relation((Name("i"), Name("j")), ("!=",)),)])
    ranged = st.builds(BigSum, st.just("i"), parts, parts, parts, conditions)
    words = st.sampled_from(["max", "min"])
    return st.one_of(
        ranged,
        st.builds(
            BigSum, st.sampled_from(["i", "j"]), parts, st.none(), st.none(), conditions
        ),
        st.builds(
            BigCall, words, st.just("i"), parts, st.none(), st.none(), conditions
        ),
        st.builds(BigCall, words, st.just("i"), parts, parts, parts, conditions),
    )


def _larger(parts: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    parts = _short(parts)
    functions = st.sampled_from(
        [
            "exp",
            "ln",
            "sqrt",
            "sin",
            "cos",
            "trace",
            "softmax",
            "relu",
            "abs",
            "E",
            "Var",
        ]
    )
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
        st.builds(lambda a, b: Listing((a, Dots(), b)), parts, parts),
    )


values: st.SearchStrategy[Node] = _short(
    st.recursive(numbers | names, _larger, max_leaves=8)
)


def _chain(terms: tuple[Node, ...], comparisons: list[Comparison]) -> Relation:
    return Relation(terms, tuple(comparisons[: len(terms) - 1]))


def _is_spread(node: Relation) -> bool:
    """What is read as several statements, or as another: i != (a, b), i = (1, ..., n), x > max_i y."""
    one_list = isinstance(node.terms[1], Listing) and not isinstance(
        node.terms[0], Listing
    )
    apart = node.comparisons == ("!=",) and one_list
    counted = (
        node.comparisons == ("=",) and one_list and isinstance(node.terms[0], Name)
    )
    return apart or counted or any(isinstance(term, BigCall) for term in node.terms)


relations = _short(
    st.builds(_chain, _several(values), st.lists(signs, min_size=2, max_size=2)).filter(
        lambda r: not _is_spread(r)
    )
)


def _is_simple(node: Node) -> bool:
    return not isinstance(node, BigCall | Listing)


simple = _short(values.filter(_is_simple))

domains = st.sampled_from([Domain("R"), Domain("Z"), Power(Domain("R"), Name("d"))])
finite = st.just(Listing((Name("a"), Number(Fraction(2)))))
bonds = st.one_of(
    st.builds(Bond, st.just("in"), simple, domains | finite),
    st.builds(Bond, st.just("propto"), simple, simple),
    st.builds(
        Bond,
        st.just("drawn"),
        simple,
        st.builds(Call, st.just("N"), st.tuples(values, values)),
    ),
)


def _gives_a_letter(node: Node) -> bool:
    """i = a, i in {a, b}: read by putting a in place of i."""
    first = (
        node.left
        if isinstance(node, Bond)
        else node.terms[0]
        if isinstance(node, Relation)
        else None
    )
    return isinstance(first, Name) and first.index is None


def _is_condition(node: Node) -> bool:
    """Whether it is one condition; those of an 'and' are conditions of their own."""
    return not _gives_a_letter(node) and not (
        isinstance(node, Logic) and node.word == "and"
    )


def _joined(parts: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    parts = _short(parts)
    conditions = _short((parts | names).filter(_is_condition))
    return st.one_of(
        st.builds(Logic, st.sampled_from(["and", "or"]), _several(parts)),
        st.builds(Logic, st.sampled_from(["implies", "iff"]), st.tuples(parts, parts)),
        st.builds(Logic, st.just("not"), st.tuples(parts)),
        st.builds(
            Quantified, parts, st.lists(conditions, min_size=1, max_size=2).map(tuple)
        ),
        st.builds(
            Exists, parts, st.lists(conditions, min_size=1, max_size=2).map(tuple)
        ),
    )


statements: st.SearchStrategy[Node] = st.recursive(
    relations | bonds, _joined, max_leaves=4
)
going_on = st.one_of(
    st.builds(
        lambda value, sign: Relation((Gap(), value), (sign,)),
        simple,
        signs.filter("<".__ne__),
    ),
    st.builds(
        lambda said, word: Logic(word, (Gap(), said)),
        relations,
        st.sampled_from(["implies", "iff"]),
    ),
)
trees = values | statements | going_on
