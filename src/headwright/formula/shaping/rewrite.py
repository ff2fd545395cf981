"""A tree with its parts replaced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from headwright.formula.tree import (
    BigSum,
    Call,
    Listing,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Sum,
    Transpose,
)


def mapped(node: Node, function: Callable[[Node], Node]) -> Node:
    """The same node with the function applied to each node directly below it; the node itself if nothing changed.

    >>> x, y = Name("x"), Name("y")
    >>> mapped(Sum((x, y)), lambda part: y) == Sum((y, y))
    True
    """
    changes: dict[str, Any] = {}
    for item in fields(node):
        value = getattr(node, item.name)
        if isinstance(value, Node):
            new: Any = function(value)
            if new is not value:
                changes[item.name] = new
        elif isinstance(value, tuple) and any(isinstance(part, Node) for part in value):
            new = tuple(function(part) if isinstance(part, Node) else part for part in value)
            if any(a is not b for a, b in zip(new, value, strict=True)):
                changes[item.name] = new
    return replace(node, **changes) if changes else node


def plain(node: Node) -> str:
    """Names and simple indices as text: k_a, W_1, sigma_{k-1}, x'; and rougher text for anything else.

    >>> from fractions import Fraction
    >>> plain(Name("W", Number(Fraction(1)))), plain(Name("X", Name("p"), primes=1))
    ('W_1', "X_p'")
    """
    match node:
        case Number(value):
            return str(value)
        case Name(base, None, primes):
            return base + "'" * primes
        case Name(base, index, primes) if index is not None:
            inner = plain(index)
            return f"{base}_{inner if inner.isalnum() else '{' + inner + '}'}" + "'" * primes
        case _:
            return _compound(node)


def _compound(node: Node) -> str:
    match node:
        case Negative(body):
            return f"-{plain(body)}"
        case Sum(terms):
            text = "+".join(plain(term) for term in terms)
            return text.replace("+-", "-")
        case Product(factors):
            return " ".join(plain(factor) for factor in factors)
        case Listing(items):
            return ",".join(plain(item) for item in items)
        case Transpose(body):
            return f"{plain(body)}^\\top"
        case Power(base, exponent):
            return f"{plain(base)}^{plain(exponent)}"
        case Quotient(over, under):
            return f"{plain(over)}/{plain(under)}"
        case Call(function, arguments):
            return f"{function}({', '.join(plain(part) for part in arguments)})"
        case BigSum(index, body):
            return f"sum_{index} {plain(body)}"
        case _:
            return f"({type(node).__name__.lower()})"
