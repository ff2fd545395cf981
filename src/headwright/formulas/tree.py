"""The tree of a formula: what was written, read once and for all.

Leaves are numbers and names; a name may carry an index (k_a, sigma_{k-1}, alpha_{21}). Products keep their order.
Every node remembers where it was written, so that whatever is said of it later can point at it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, Literal

Comparison = Literal["=", "!=", "<", ">", "<=", ">=", "~", "<<", ">>", "->"]


@dataclass(frozen=True)
class Span:
    """Where something was written: characters start to stop of a source, which it carries along once it is read."""

    start: int
    stop: int
    source: str = field(default="", compare=False, repr=False)

    def to(self, other: Span) -> Span:
        """From the start of this to the end of the other."""
        return Span(self.start, other.stop, self.source)


NOWHERE = Span(0, 0)


@dataclass(frozen=True)
class Node:
    """Anything in a formula. Two nodes are equal when they say the same, wherever they were written."""

    span: Span = field(default=NOWHERE, compare=False, kw_only=True)

    def children(self) -> Iterator[Node]:
        """The nodes directly below, in order."""
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, Node):
                yield value
            elif isinstance(value, tuple):
                yield from (part for part in value if isinstance(part, Node))


@dataclass(frozen=True)
class Number(Node):
    """An exact number: 2, 0.1 (which is 1/10)."""

    value: Fraction


@dataclass(frozen=True)
class Name(Node):
    """k, k_a, alpha_{21}, sigma_{k-1}, alpha_{i,j} (with a Listing), t'; pi, e, infinity, I (the identity), ones."""

    base: str
    index: Node | None = None
    primes: int = 0


@dataclass(frozen=True)
class Sum(Node):
    """a + b - c: the terms, with the minus signs as Negative."""

    terms: tuple[Node, ...]


@dataclass(frozen=True)
class Negative(Node):
    """-x."""

    body: Node


@dataclass(frozen=True)
class Product(Node):
    """Factors side by side, in the order in which they were written."""

    factors: tuple[Node, ...]


@dataclass(frozen=True)
class Quotient(Node):
    """a / b."""

    over: Node
    under: Node


@dataclass(frozen=True)
class Power(Node):
    """base ^ exponent; e^x is Call('exp', x) instead."""

    base: Node
    exponent: Node


@dataclass(frozen=True)
class Transpose(Node):
    """x^T."""

    body: Node


@dataclass(frozen=True)
class Inner(Node):
    """<a, b>, or a dot b; where a or b is a number, the dot is an ordinary product (shapes.py decides)."""

    left: Node
    right: Node


@dataclass(frozen=True)
class Norm(Node):
    """|x| of a vector or a matrix: kind 2 (also spectral), F, or '' where none was written."""

    body: Node
    kind: Literal["", "2", "F"] = ""


@dataclass(frozen=True)
class Call(Node):
    """A function of arguments: exp, ln, sqrt, softmax, max, diag, ...; the chance P, the mean E, the normal law N."""

    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True)
class BigSum(Node):
    """The sum of a body over an index: from lower to upper, or over all values that satisfy the conditions."""

    index: str
    body: Node
    lower: Node | None = None
    upper: Node | None = None
    conditions: tuple[Node, ...] = ()


@dataclass(frozen=True)
class BigCall(Node):
    """The largest or smallest of a body over an index: max_{i != j} x_i."""

    word: Literal["max", "min"]
    index: str
    body: Node
    lower: Node | None = None
    upper: Node | None = None
    conditions: tuple[Node, ...] = ()


@dataclass(frozen=True)
class Cases(Node):
    """A value that depends on conditions: what is said of it is said of each branch, and no tree holds it."""

    branches: tuple[Quantified, ...]


@dataclass(frozen=True)
class Dots(Node):
    """What was left out between two items of a list or a chain: k_1, ..., k_n."""


@dataclass(frozen=True)
class Gap(Node):
    """What the formula before ended with: '= P Z' and '=> a = b' go on from it, 'for all i' is said of it."""


@dataclass(frozen=True)
class Domain(Node):
    """The real numbers R, the integers Z, the natural numbers N. R^d and R^{T x d} are powers of it."""

    letter: Literal["R", "Z", "N"]


@dataclass(frozen=True)
class Listing(Node):
    """Several things side by side: alpha_{i,j}, 'alpha_a, alpha_b = 1/2', matrices given by their columns."""

    items: tuple[Node, ...]


@dataclass(frozen=True)
class Matrix(Node):
    """A matrix written out: its rows, all of one length."""

    rows: tuple[Listing, ...]


@dataclass(frozen=True)
class Derivative(Node):
    """The derivative of a body: partial L / partial z, nabla_z L."""

    body: Node
    by: Node


@dataclass(frozen=True)
class Relation(Node):
    """A chain a = b <= c: terms and the comparisons between them; one comparison less than there are terms."""

    terms: tuple[Node, ...]
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True)
class Bond(Node):
    """Two things said to belong together, without a comparison: q in R^d, q proportional to k, k drawn from N(m, S)."""

    word: Literal["in", "propto", "drawn"]
    left: Node
    right: Node


@dataclass(frozen=True)
class Logic(Node):
    """Statements joined: 'and', 'or', 'implies' (two items), 'iff' (two items), 'not' (one)."""

    word: Literal["and", "or", "implies", "iff", "not"]
    items: tuple[Node, ...]


@dataclass(frozen=True)
class Quantified(Node):
    """A statement with what it is said for: 'for all i != j', 'when g > 0', 'as beta -> infinity'.

    The conditions are statements (i != j, g > 0, beta -> oo); a bare Name stands for 'all values of it'.
    """

    body: Node
    conditions: tuple[Node, ...]


@dataclass(frozen=True)
class Exists(Node):
    """A statement that holds for some values: 'x_i > 0 for some i != j', 't = 2 pi k for some integer k'."""

    body: Node
    conditions: tuple[Node, ...]


HADAMARD = "hadamard"  # the product entry by entry, as a Call
ZERO, INFINITY = Number(Fraction(0)), Name("infinity")
STATEMENTS = (
    Relation,
    Bond,
    Logic,
    Quantified,
    Exists,
)  # what is true or false, and has no value


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(list(node.children())))


def is_letter(node: Node) -> bool:
    """A name without an index: i, n, t'."""
    return isinstance(node, Name) and node.index is None


def number_of(node: Node) -> Fraction | None:
    """The number that is written out; None where something else is written."""
    match node:
        case Number(value):
            return value
        case Negative(body):
            inner = number_of(body)
            return None if inner is None else -inner
        case Quotient(Number(over), Number(under)) if under != 0:
            return over / under
        case _:
            return None


def has_dots(nodes: Iterable[Node]) -> bool:
    """Whether something is left out between them."""
    return any(isinstance(node, Dots) for node in nodes)


def conjuncts(node: Node) -> tuple[Node, ...]:
    """The statements of an 'and'; what is none, alone."""
    return node.items if isinstance(node, Logic) and node.word == "and" else (node,)


def mapped(node: Node, function: Callable[[Node], Node]) -> Node:
    """The same node with the function applied to each node directly below it; the node itself if nothing changed."""
    changes: dict[str, Any] = {}
    for item in fields(node):
        value = getattr(node, item.name)
        if isinstance(value, Node):
            new: Any = function(value)
            if new is not value:
                changes[item.name] = new
        elif isinstance(value, tuple) and any(isinstance(part, Node) for part in value):
            new = tuple(
                function(part) if isinstance(part, Node) else part for part in value
            )
            if any(a is not b for a, b in zip(new, value, strict=True)):
                changes[item.name] = new
    return replace(node, **changes) if changes else node


def put(node: Node, name: str, value: Node) -> Node:
    """The same with a value in place of a name, wherever the name is free."""
    if (
        isinstance(node, Name)
        and node.base == name
        and node.index is None
        and not node.primes
    ):
        return value
    if isinstance(node, BigSum | BigCall) and node.index == name:
        return node
    return mapped(node, lambda part: put(part, name, value))


def every_name(*nodes: Node | None) -> Iterator[Name]:
    """All names in some nodes, those inside an index too."""
    return (
        part
        for node in nodes
        if node is not None
        for part in walk(node)
        if isinstance(part, Name)
    )


def speaks_of(node: Node, *bases: str) -> bool:
    """Whether one of these names occurs, with or without an index, or in one."""
    return any(name.base in bases for name in every_name(node))


def with_index(node: Node, letter: str, other: Node) -> Node:
    """The same with another index in place of a letter: k_i with a for i is k_a; i itself, and a bound one, stay."""
    if isinstance(node, BigSum | BigCall) and node.index == letter:
        return node
    if isinstance(node, Name) and node.index is not None:
        return replace(node, index=put(node.index, letter, other))
    return mapped(node, lambda part: with_index(part, letter, other))


def unquantified(node: Node) -> Node:
    """A statement without what it is said for."""
    return node.body if isinstance(node, Quantified) else node


def said_under(node: Node, conditions: tuple[Node, ...]) -> Node:
    """A statement with more that it is said for."""
    before = node.conditions if isinstance(node, Quantified) else ()
    return (
        Quantified(unquantified(node), (*before, *conditions), span=node.span)
        if conditions
        else node
    )


def listed(node: Node) -> tuple[Node, ...]:
    """The items of a list; what is none, alone."""
    return node.items if isinstance(node, Listing) else (node,)


FLIPPED: Mapping[Comparison, Comparison] = {
    "=": "!=",
    "!=": "=",
    "<": ">=",
    ">": "<=",
    "<=": ">",
    ">=": "<",
}


def flipped(node: Node) -> Node:
    """The opposite of a statement."""
    match node:
        case Relation((a, b), (sign,)) if sign in FLIPPED:
            return Relation((a, b), (FLIPPED[sign],), span=node.span)
        case Quantified(body, conditions):
            return Quantified(flipped(body), conditions, span=node.span)
        case _:
            return Logic("not", (node,), span=node.span)


_CALLED = {
    "Listing": "a list",
    "Matrix": "a matrix written out",
    "Dots": "what dots stand for",
    "Domain": "a set of numbers",
    "Gap": "what this goes on from",
    "BigCall": "a largest or a smallest over an index",
    "Bond": "a statement",
    "Relation": "a statement",
    "Logic": "a statement",
    "Quantified": "a statement",
    "Exists": "a statement",
    "BigSum": "a sum over an index",
}


def called(node: Node) -> str:
    """What a node is, in words, for messages."""
    if isinstance(node, Call):
        return node.function
    return _CALLED.get(type(node).__name__, f"a {type(node).__name__.lower()}")
