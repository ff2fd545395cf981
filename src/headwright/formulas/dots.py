"""Sums with dots written out: c_1 a_1 + c_2 a_2 + ... + c_m a_m is a sum over an index from 1 to m."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from fractions import Fraction

from headwright.formulas import tree as t
from headwright.formulas.errors import FormulaError

LETTERS = "ijlmrstuw"


def written_out(terms: Sequence[t.Node], span: t.Span) -> t.Node:
    r"""The sum over an index that the terms before the dots and the one after them are part of."""
    place = next(place for place, term in enumerate(terms) if isinstance(term, t.Dots))
    before, after = terms[:place], terms[place + 1 :]
    used = {name.base for name in t.every_name(*terms)}
    letter = next((letter for letter in LETTERS if letter not in used), "")
    ends: list[tuple[t.Node, t.Node]] = []
    body = (
        _common(before[0], after[0], letter, ends)
        if before and len(after) == 1 and letter
        else None
    )
    if (
        len(before) == 2
        and len(after) == 1
        and (body is None or isinstance(before[0], t.Number))
    ):  # a - x_k - ... - x_n
        return t.Sum((before[0], written_out(terms[1:], span)), span=span)
    if body is not None and len(set(ends)) == 1 and not _is_free(body, letter):
        first, last = ends[0]
        counted = isinstance(first, t.Number) or len(before) == 1
        steps = [
            t.Number(first.value + k) if isinstance(first, t.Number) else first
            for k in range(len(before))
        ]
        if counted and [t.put(body, letter, step) for step in steps] == list(before):
            return t.BigSum(letter, body, first, last, span=span)
    message = "what the dots stand for cannot be told from the terms beside them"
    raise FormulaError(
        message,
        "",
        terms[place].span,
        fix="write the sum with \\sum, or list every term",
    )


def chains_written_out(node: t.Node) -> t.Node:
    r"""With x_i >= x_{i+1} for 1 <= i <= n - 1 in place of x_1 >= ... >= x_n; chains of other things as they stand."""
    if isinstance(node, t.Logic | t.Quantified):
        return t.mapped(node, chains_written_out)
    if not isinstance(node, t.Relation):
        return node
    terms, signs = node.terms, node.comparisons
    each = (
        len(terms) == 2
        and isinstance(terms[0], t.Listing)
        and not isinstance(terms[1], t.Listing)
    )
    items = t.listed(terms[0]) if each else terms  # x_1, ..., x_n >= 0 says it of each
    if not t.has_dots(items[1:-1]) or items.count(t.Dots()) != 1:
        return node
    place = start = items.index(t.Dots())
    while start > 0 and (each or signs[start - 1] == signs[place]):
        start -= 1
    try:
        run = written_out(items[start : place + 2], node.span)
    except FormulaError:  # it is not certain what the dots stand for
        return node
    if (
        not isinstance(run, t.BigSum)
        or run.lower is None
        or run.upper is None
        or (each and place + 2 < len(items))
    ):
        return node
    letter, one, sign = (
        t.Name(run.index),
        t.Number(Fraction(1)),
        signs[0 if each else place],
    )
    any_other = t.Name(
        "j" if run.index == "i" else "i"
    )  # all are equal where any two are
    after, last = (
        (any_other, run.upper)
        if sign == "="
        else (t.Sum((letter, one)), t.Sum((run.upper, t.Negative(one))))
    )
    link = t.Relation(
        (run.body, terms[1] if each else t.put(run.body, run.index, after)),
        (sign,),
        span=node.span,
    )
    ends = [(run.lower, letter, run.upper if each else last)]
    ends += [(run.lower, any_other, run.upper)] if sign == "=" and not each else []
    between = tuple(t.Relation(end, ("<=", "<="), span=node.span) for end in ends)
    said: list[t.Node] = [t.Quantified(link, between, span=node.span)]
    if start > 0:
        said.insert(0, t.Relation(terms[: start + 1], signs[:start], span=node.span))
    if place + 2 < len(terms) and not each:
        said.append(t.Relation(terms[place + 1 :], signs[place + 1 :], span=node.span))
    return said[0] if len(said) == 1 else t.Logic("and", tuple(said), span=node.span)


def _common(
    one: t.Node, other: t.Node, letter: str, ends: list[tuple[t.Node, t.Node]]
) -> t.Node | None:
    """What two terms have in common, with the letter where they differ: in an index, by what `ends` collects."""
    if one == other:
        return one
    match one, other:
        case t.Name(base, t.Name() as first, primes), t.Name(
            same, t.Node() as last, again
        ):
            ends.append((first, last))
            return (
                replace(one, index=t.Name(letter, span=one.span))
                if (base, primes) == (same, again)
                else None
            )
        case t.Number(value), _:
            ends.append((one, other))
            return t.Name(letter, span=one.span) if value.denominator == 1 else None
    mine, yours = list(one.children()), list(other.children())
    if (
        type(one) is not type(other)
        or len(mine) != len(yours)
        or not mine
        or _plain(one) != _plain(other)
    ):
        return None
    parts = [_common(a, b, letter, ends) for a, b in zip(mine, yours, strict=True)]
    made = iter([part for part in parts if part is not None])
    return None if None in parts else t.mapped(one, lambda _: next(made))


def _plain(node: t.Node) -> list[object]:
    """What a node says besides the nodes below it."""
    values = (getattr(node, item.name) for item in fields(node) if item.compare)
    return [value for value in values if not isinstance(value, t.Node | tuple)]


def _is_free(body: t.Node, letter: str) -> bool:
    """Whether the letter stands outside of an index: 1 + ... + n may go on in many ways."""
    if isinstance(body, t.Name):
        return body == t.Name(letter)
    return any(_is_free(part, letter) for part in body.children())
