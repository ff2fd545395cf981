"""Sums with dots written out: c_1 a_1 + c_2 a_2 + ... + c_m a_m is a sum over an index from 1 to m."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from fractions import Fraction
from typing import NoReturn

from headwright.formula.errors import FormulaError
from headwright.formula.tree import (
    BigSum,
    Comparison,
    Dots,
    Listing,
    Logic,
    Name,
    Negative,
    Node,
    Number,
    Quantified,
    Relation,
    Span,
    Sum,
    mapped,
    put,
    walk,
)

LETTERS = "ijlmrstuw"


def written_out(terms: Sequence[Node], span: Span) -> Node:
    r"""The sum over an index that the terms before the dots and the one after them are part of.

    >>> one, n = Number(Fraction(1)), Name("n")
    >>> written_out([Name("x", one), Dots(), Name("x", n)], Span(0, 0)) == BigSum("i", Name("x", Name("i")), one, n)
    True
    """
    place = next(place for place, term in enumerate(terms) if isinstance(term, Dots))
    before, after = terms[:place], terms[place + 1 :]
    if len(after) == 1 and len(before) == 2 and not _alike(before[0], after[0]):  # a - x_k - ... - x_n
        return Sum((before[0], written_out(terms[1:], span)), span=span)
    if len(after) != 1 or not before:
        _refuse(terms[place].span)
    used = {part.base for term in terms for part in walk(term) if isinstance(part, Name)}
    letter = next((letter for letter in LETTERS if letter not in used), "")
    ends: list[tuple[Node, Node]] = []
    body = _common(before[0], after[0], letter, ends)
    if not letter or body is None or len(set(ends)) != 1 or _is_free(body, letter):
        _refuse(terms[place].span)
    first, last = ends[0]
    for step, term in enumerate(before):
        if not isinstance(first, Number) and len(before) == 1 and _alike(term, after[0]):
            continue  # from k on
        if not isinstance(first, Number) or put(body, letter, Number(first.value + Fraction(step))) != term:
            _refuse(terms[place].span)
    return BigSum(letter, body, first, last, span=span)


def chains_written_out(node: Node) -> Node:
    r"""With x_i >= x_{i+1} for 1 <= i <= n - 1 in place of x_1 >= ... >= x_n; chains of other things as they stand.

    All are equal where any two are.

    >>> one, n, i = Number(Fraction(1)), Name("n"), Name("i")
    >>> made = chains_written_out(Relation((Name("x", one), Dots(), Name("x", n)), (">", ">")))
    >>> made.body == Relation((Name("x", i), Name("x", Sum((i, one)))), (">",))
    True
    """
    if isinstance(node, Logic | Quantified):
        return mapped(node, chains_written_out)
    match node:
        case Relation((Listing(items), other), (sign,)) if Dots() in items and not isinstance(other, Listing):
            run = _run(items, node.span)
            return node if run is None else _each(Relation((run.body, other), (sign,), span=node.span), run)
        case Relation(terms, signs) if terms.count(Dots()) == 1 and 0 < (place := terms.index(Dots())) < len(terms) - 1:
            start = place
            while start > 0 and signs[start - 1] == signs[place]:
                start -= 1
            run = _run(terms[start : place + 2], node.span) if start < place else None
            if run is None:
                return node
            said = [_linked(run, signs[place], node.span)]
            if start > 0:
                said.insert(0, Relation(terms[: start + 1], signs[:start], span=node.span))
            if place + 2 < len(terms):
                said.append(Relation(terms[place + 1 :], signs[place + 1 :], span=node.span))
            return said[0] if len(said) == 1 else Logic("and", tuple(said), span=node.span)
        case _:
            return node


def _run(terms: Sequence[Node], span: Span) -> BigSum | None:
    """The terms as those of a sum over an index; None where it is not certain what the dots stand for."""
    try:
        run = written_out(terms, span)
    except FormulaError:
        return None
    return run if isinstance(run, BigSum) and run.lower is not None and run.upper is not None else None


def _linked(run: BigSum, sign: Comparison, span: Span) -> Node:
    letter, other, one = Name(run.index), Name("j" if run.index == "i" else "i"), Number(Fraction(1))
    if sign == "=":
        return _each(Relation((run.body, put(run.body, run.index, other)), (sign,), span=span), run, other)
    link = Relation((run.body, put(run.body, run.index, Sum((letter, one)))), (sign,), span=span)
    upper = run.upper if run.upper is None else Sum((run.upper, Negative(one)))
    return _each(link, replace(run, upper=upper))


def _each(link: Relation, run: BigSum, *others: Name) -> Node:
    """What is said of each term of a run."""
    ends = [(run.lower, each, run.upper) for each in (Name(run.index), *others)]
    between = [Relation((x, y, z), ("<=", "<="), span=link.span) for x, y, z in ends if x is not None and z is not None]
    return Quantified(link, tuple(between), span=link.span)


def _refuse(span: Span) -> NoReturn:
    message = "what the dots stand for cannot be told from the terms beside them"
    raise FormulaError(message, "", span, fix="write the sum with \\sum, or list every term")


def _alike(one: Node, other: Node) -> bool:
    """Whether two terms differ in nothing but their indices."""
    if isinstance(one, Name) and isinstance(other, Name):
        return one.base == other.base and (one.index is None) == (other.index is None)
    mine, yours = list(one.children()), list(other.children())
    same = type(one) is type(other) and len(mine) == len(yours) and _plain(one) == _plain(other)
    return same and all(_alike(a, b) for a, b in zip(mine, yours, strict=True))


def _common(one: Node, other: Node, letter: str, ends: list[tuple[Node, Node]]) -> Node | None:
    """What two terms have in common, with the letter where they differ: in an index, by what `ends` collects."""
    if one == other:
        return one
    if isinstance(one, Name) and isinstance(one.index, Name) and isinstance(other, Name) and _alike(one, other):
        ends.append((one.index, other.index or one.index))
        return replace(one, index=Name(letter, span=one.span))
    if type(one) is not type(other) or isinstance(one, Number):
        if isinstance(one, Number) and one.value.denominator == 1:
            ends.append((one, other))
            return Name(letter, span=one.span)
        return None
    mine, yours = list(one.children()), list(other.children())
    if len(mine) != len(yours) or not mine or _plain(one) != _plain(other):
        return None
    parts = [_common(a, b, letter, ends) for a, b in zip(mine, yours, strict=True)]
    if any(part is None for part in parts):
        return None
    made = iter(part for part in parts if part is not None)
    return mapped(one, lambda _: next(made))


def _plain(node: Node) -> list[object]:
    """What a node says besides the nodes below it."""
    values = (getattr(node, item.name) for item in fields(node) if item.compare)
    return [value for value in values if not isinstance(value, Node | tuple)]


def _is_free(body: Node, letter: str) -> bool:
    """Whether the letter stands outside of an index: 1 + ... + n may go on in many ways."""
    inside = {id(part) for name in walk(body) if isinstance(name, Name) and name.index for part in walk(name.index)}
    return any(part == Name(letter) and id(part) not in inside for part in walk(body))
