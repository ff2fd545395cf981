"""The tree of a formula: what was written, read once and for all.

Leaves are numbers and names; a name may carry an index (k_a, sigma_{k-1}, alpha_{21}). Products keep their order.
Every node remembers where it was written, so that whatever is said of it later can point at it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Literal

Comparison = Literal["=", "!=", "<", ">", "<=", ">=", "~", "<<", ">>", "->"]
FUNCTIONS = (
    "exp",
    "ln",
    "sqrt",
    "sin",
    "cos",
    "trace",
    "softmax",
    "relu",
    "rank",
    "max",
    "min",
    "abs",
    "diag",
    "P",
    "E",
    "Var",
)


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
    """k, k_a, mu_a, alpha_{21}, t'. Names too: pi and e, infinity, I (the identity), ones (the vector of ones).

    The base is spelt out in Latin letters (lambda, mu, Phi, epsilon). The index is a node: Name("a"), Number(1),
    Number(21) as written, a sum for sigma_{k-1}; a Listing for alpha_{i,j}.
    """

    base: str
    index: Node | None = None
    primes: int = 0  # t' has one; x' may turn out to mean a transpose once the shape of x is known


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
    """A function applied to arguments: one of FUNCTIONS."""

    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True)
class BigSum(Node):
    """The sum of a body over an index: from lower to upper, or over all values that satisfy the conditions.

    sum_{i=1}^{n} has lower and upper; sum_{i != j} has the condition i != j and no bounds; sum_{i <= k} and
    sum_i likewise (no bounds, perhaps a condition).
    """

    index: str
    body: Node
    lower: Node | None = None
    upper: Node | None = None
    conditions: tuple[Relation, ...] = ()


@dataclass(frozen=True)
class Listing(Node):
    """Several things side by side: alpha_{i,j}, 'alpha_a, alpha_b = 1/2', matrices given by their columns."""

    items: tuple[Node, ...]


@dataclass(frozen=True)
class Matrix(Node):
    """A matrix or a vector written out: rows of entries."""

    rows: tuple[Listing, ...]


@dataclass(frozen=True)
class Relation(Node):
    """A chain a = b <= c: terms and the comparisons between them; one comparison less than there are terms."""

    terms: tuple[Node, ...]
    comparisons: tuple[Comparison, ...]


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


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it.

    >>> [type(n).__name__ for n in walk(Negative(Name("x", Number(Fraction(1)))))]
    ['Negative', 'Name', 'Number']
    """
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(list(node.children())))
