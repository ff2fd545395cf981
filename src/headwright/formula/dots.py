"""Sums with dots written out: c_1 a_1 + c_2 a_2 + ... + c_m a_m is a sum over an index from 1 to m."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from fractions import Fraction
from typing import NoReturn

from headwright.formula import tree as t
from headwright.formula.errors import FormulaError

LETTERS = "ijlmrstuw"


def written_out(terms: Sequence[t.Node], span: t.Span) -> t.Node:
    r"""The sum over an index that the terms before the dots and the one after them are part of."""
    place = next(place for place, term in enumerate(terms) if isinstance(term, t.Dots))
    before, after = terms[:place], terms[place + 1 :]
    if len(after) == 1 and len(before) == 2 and not _alike(before[0], after[0]):  # a - x_k - ... - x_n
        return t.Sum((before[0], written_out(terms[1:], span)), span=span)
    if len(after) != 1 or not before:
        _refuse(terms[place].span)
    used = {part.base for term in terms for part in t.walk(term) if isinstance(part, t.Name)}
    letter = next((letter for letter in LETTERS if letter not in used), "")
    ends: list[tuple[t.Node, t.Node]] = []
    body = _common(before[0], after[0], letter, ends)
    if not letter or body is None or len(set(ends)) != 1 or _is_free(body, letter):
        _refuse(terms[place].span)
    first, last = ends[0]
    for step, term in enumerate(before):
        if not isinstance(first, t.Number) and len(before) == 1 and _alike(term, after[0]):
            continue  # from k on
        if not isinstance(first, t.Number) or t.put(body, letter, t.Number(first.value + Fraction(step))) != term:
            _refuse(terms[place].span)
    return t.BigSum(letter, body, first, last, span=span)


def chains_written_out(node: t.Node) -> t.Node:
    r"""With x_i >= x_{i+1} for 1 <= i <= n - 1 in place of x_1 >= ... >= x_n; chains of other things as they stand.

    All are equal where any two are.
    """
    if isinstance(node, t.Logic | t.Quantified):
        return t.mapped(node, chains_written_out)
    match node:
        case t.Relation((t.Listing(items), other), (sign,)) if t.Dots() in items and not isinstance(other, t.Listing):
            run = _run(items, node.span)
            return node if run is None else _each(t.Relation((run.body, other), (sign,), span=node.span), run)
        case t.Relation(terms, signs) if (
            terms.count(t.Dots()) == 1 and 0 < (place := terms.index(t.Dots())) < len(terms) - 1
        ):
            start = place
            while start > 0 and signs[start - 1] == signs[place]:
                start -= 1
            run = _run(terms[start : place + 2], node.span) if start < place else None
            if run is None:
                return node
            said = [_linked(run, signs[place], node.span)]
            if start > 0:
                said.insert(0, t.Relation(terms[: start + 1], signs[:start], span=node.span))
            if place + 2 < len(terms):
                said.append(t.Relation(terms[place + 1 :], signs[place + 1 :], span=node.span))
            return said[0] if len(said) == 1 else t.Logic("and", tuple(said), span=node.span)
        case _:
            return node


def _run(terms: Sequence[t.Node], span: t.Span) -> t.BigSum | None:
    """The terms as those of a sum over an index; None where it is not certain what the dots stand for."""
    try:
        run = written_out(terms, span)
    except FormulaError:
        return None
    return run if isinstance(run, t.BigSum) and run.lower is not None and run.upper is not None else None


def _linked(run: t.BigSum, sign: t.Comparison, span: t.Span) -> t.Node:
    letter, other, one = t.Name(run.index), t.Name("j" if run.index == "i" else "i"), t.Number(Fraction(1))
    if sign == "=":
        return _each(t.Relation((run.body, t.put(run.body, run.index, other)), (sign,), span=span), run, other)
    link = t.Relation((run.body, t.put(run.body, run.index, t.Sum((letter, one)))), (sign,), span=span)
    upper = run.upper if run.upper is None else t.Sum((run.upper, t.Negative(one)))
    return _each(link, replace(run, upper=upper))


def _each(link: t.Relation, run: t.BigSum, *others: t.Name) -> t.Node:
    """What is said of each term of a run."""
    ends = [(run.lower, each, run.upper) for each in (t.Name(run.index), *others)]
    between = [
        t.Relation((x, y, z), ("<=", "<="), span=link.span) for x, y, z in ends if x is not None and z is not None
    ]
    return t.Quantified(link, tuple(between), span=link.span)


def _refuse(span: t.Span) -> NoReturn:
    message = "what the dots stand for cannot be told from the terms beside them"
    raise FormulaError(message, "", span, fix="write the sum with \\sum, or list every term")


def _alike(one: t.Node, other: t.Node) -> bool:
    """Whether two terms differ in nothing but their indices."""
    if isinstance(one, t.Name) and isinstance(other, t.Name):
        return one.base == other.base and (one.index is None) == (other.index is None)
    mine, yours = list(one.children()), list(other.children())
    same = type(one) is type(other) and len(mine) == len(yours) and _plain(one) == _plain(other)
    return same and all(_alike(a, b) for a, b in zip(mine, yours, strict=True))


def _common(one: t.Node, other: t.Node, letter: str, ends: list[tuple[t.Node, t.Node]]) -> t.Node | None:
    """What two terms have in common, with the letter where they differ: in an index, by what `ends` collects."""
    if one == other:
        return one
    if isinstance(one, t.Name) and isinstance(one.index, t.Name) and isinstance(other, t.Name) and _alike(one, other):
        ends.append((one.index, other.index or one.index))
        return replace(one, index=t.Name(letter, span=one.span))
    if type(one) is not type(other) or isinstance(one, t.Number):
        if isinstance(one, t.Number) and one.value.denominator == 1:
            ends.append((one, other))
            return t.Name(letter, span=one.span)
        return None
    mine, yours = list(one.children()), list(other.children())
    if len(mine) != len(yours) or not mine or _plain(one) != _plain(other):
        return None
    parts = [_common(a, b, letter, ends) for a, b in zip(mine, yours, strict=True)]
    if any(part is None for part in parts):
        return None
    made = iter(part for part in parts if part is not None)
    return t.mapped(one, lambda _: next(made))


def _plain(node: t.Node) -> list[object]:
    """What a node says besides the nodes below it."""
    values = (getattr(node, item.name) for item in fields(node) if item.compare)
    return [value for value in values if not isinstance(value, t.Node | tuple)]


def _is_free(body: t.Node, letter: str) -> bool:
    """Whether the letter stands outside of an index: 1 + ... + n may go on in many ways."""
    inside = {
        id(part) for name in t.walk(body) if isinstance(name, t.Name) and name.index for part in t.walk(name.index)
    }
    return any(part == t.Name(letter) and id(part) not in inside for part in t.walk(body))
