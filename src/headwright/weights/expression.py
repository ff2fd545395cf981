"""Vectors in words: '2 b - 0.5 c + a' is a combination of named vectors. Read exactly, never evaluated as code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from headwright.errors import InputError

Vector = tuple[Fraction, ...]
NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_TERM = re.compile(
    r"\s*(?P<sign>[+-])?\s*(?P<factor>\d+(?:\.\d+)?(?:/[1-9]\d*)?)?\s*\*?\s*"
    r"(?P<name>token\s+\d+|[A-Za-z_][A-Za-z_0-9]*)?\s*"
)


def read_vector(text: str, vectors: Mapping[str, Vector], dimension: int) -> Vector:
    """The vector that an expression means; '0' is the zero vector.

    >>> axes = {"a": (Fraction(2), Fraction(0)), "b": (Fraction(0), Fraction(2))}
    >>> read_vector("a - 1/2 b", axes, 2)
    (Fraction(2, 1), Fraction(-1, 1))
    >>> read_vector("a + z", axes, 2)
    Traceback (most recent call last):
    headwright.errors.InputError: 'a + z' names 'z': expected one of a, b
    """
    total, place = [Fraction(0)] * dimension, 0
    while place < len(text) or place == 0:
        term = _TERM.match(text, place)
        if term is None or term.end() == place or (term["factor"] is None and term["name"] is None):
            raise _unreadable(text)
        if place > 0 and term["sign"] is None:
            raise _unreadable(text)
        factor = Fraction(term["factor"] or 1) * (-1 if term["sign"] == "-" else 1)
        place = term.end()
        if term["name"] is None:
            if factor != 0:
                raise InputError(f"{text!r} holds the bare number {factor}: expected a direction after it, or 0 alone")
            continue
        vector = _named(" ".join(term["name"].split()), vectors, text)
        total = [t + factor * x for t, x in zip(total, vector, strict=True)]
    return tuple(total)


def _named(name: str, vectors: Mapping[str, Vector], text: str) -> Vector:
    if name not in vectors:
        some = list(vectors)
        known = ", ".join(some[:12]) + (", ..." if len(some) > 12 else "")
        raise InputError(f"{text!r} names {name!r}: expected one of {known or 'directions, and there are none'}")
    return vectors[name]


def _unreadable(text: str) -> InputError:
    return InputError(f"{text!r} is not a combination of directions: expected one such as '2 b - 0.5 c + a'")
