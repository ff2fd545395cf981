"""How answers with values are written: chains that end with the value, 'is about', one entry at a time.

'N = 12 L d^2 + V d \\approx 1.56 \\cdot 10^9' gives the value of N at its end, and says two things on the way, which
are claims of their own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from headwright.formulas import tree as t
from headwright.grading import answer as an
from headwright.grading.text import Statement
from headwright.grading.verdict import AskedPart, Verdict, overall


def values_last(
    statements: Sequence[Statement], names: Collection[str], *, about: bool
) -> tuple[Statement, ...]:
    """Statements in which the last term of a chain is the value of an asked-for name."""
    changed = []
    for statement in statements:
        if statement.node is not None and statement.role == "claim":
            node = last_as_value(statement.node, names, about=about)
            node = with_columns(node, names)
            statement = replace(statement, node=node)
        changed.append(statement)
    return tuple(changed)


def with_columns(node: t.Node, names: Collection[str]) -> t.Node:
    """A statement in which (3, 2) is a vector, and no list of two numbers that are compared one by one.

    The value of an asked-for name stays as it was written.
    """
    if isinstance(node, t.Logic | t.Quantified):
        return t.mapped(node, lambda part: with_columns(part, names))
    if not isinstance(node, t.Relation) or isinstance(node.terms[0], t.Listing):
        return node  # c, d = ...: two names
    if len(node.terms) == 2 and _gives(node.terms[0], node.comparisons, names, False):
        return node
    terms = [_column(term) if _is_vector(term) else term for term in node.terms]
    return replace(node, terms=tuple(terms))


def _is_vector(node: t.Node) -> bool:
    return isinstance(node, t.Listing) and not t.has_dots(node.items)


def _column(node: t.Node) -> t.Node:
    rows = [t.Listing((item,), span=item.span) for item in t.listed(node)]
    return t.Matrix(tuple(rows), span=node.span)


def last_as_value(node: t.Node, names: Collection[str], *, about: bool) -> t.Node:
    """A statement in which the last term of a chain is the value of an asked-for name; the rest stays a claim.

    With `about`, 'is about' gives a value as well.
    """
    match node:
        case t.Relation((first, *_, last), signs) if _gives(first, signs, names, about):
            value = t.Relation((first, last), ("=",), span=node.span)
            if len(signs) == 1:
                return value
            rest = replace(node, terms=node.terms[1:], comparisons=signs[1:])
            return t.Logic("and", (value, rest), span=node.span)
        case t.Logic("and", items):
            changed = [last_as_value(item, names, about=about) for item in items]
            flat = [part for item in changed for part in t.conjuncts(item)]
            return replace(node, items=tuple(flat))
        case t.Quantified(body, _):
            return replace(node, body=last_as_value(body, names, about=about))
        case _:
            return node


def _gives(
    first: t.Node,
    signs: tuple[t.Comparison, ...],
    names: Collection[str],
    about: bool,
) -> bool:
    allowed = {"=", "~"} if about else {"="}
    named = isinstance(first, t.Name) and an.full_name(first) in names
    return named and set(signs) <= allowed


def entries_together(
    statements: Sequence[Statement], sizes: Mapping[str, int]
) -> tuple[Statement, ...]:
    """Where all entries of an asked-for vector are given one by one, the last of these gives the vector too."""
    changed = list(statements)
    for name, size in sizes.items():
        values: dict[int, t.Node] = {}
        last = 0
        for place, statement in enumerate(statements):
            if statement.node is None or statement.role != "claim" or statement.under:
                continue
            for item in t.conjuncts(statement.node):
                if not isinstance(item, t.Relation):
                    continue
                for number in _entries_of(item, name):
                    values[number] = item.terms[-1]
                    last = place
        node = changed[last].node if changed else None
        if node is not None and set(values) == set(range(1, size + 1)):
            listing = t.Listing(tuple(values[number] for number in sorted(values)))
            whole = t.Relation((an.named(name), listing), ("=",), span=node.span)
            parts = (*t.conjuncts(node), whole)
            changed[last] = replace(changed[last], node=t.Logic("and", parts))
    return tuple(changed)


def _entries_of(node: t.Relation, name: str) -> Iterator[int]:
    """The places that an equation gives the entries of: alpha_2 = 0.3, alpha_2 = alpha_3 = 0.3."""
    if not set(node.comparisons) <= {"=", "~"}:
        return
    for term in node.terms[:-1]:
        match term:
            case t.Name(base, t.Number(value), 0) if (
                base == name and value.denominator == 1
            ):
                yield int(value)
            case _:
                return


def is_worked_out(node: t.Node, definitions: Mapping[str, t.Node]) -> bool:
    """Whether a formula consists of numbers, with roots, exponentials and logarithms, and of names for such."""
    for part in t.walk(node):
        if isinstance(part, t.Name):
            full = an.full_name(part)
            if full in ("e", "pi"):
                continue
            if full not in definitions:
                return False
            rest = {name: value for name, value in definitions.items() if name != full}
            if not is_worked_out(definitions[full], rest):
                return False
        if isinstance(part, t.Call) and part.function not in ("exp", "ln", "sqrt"):
            return False
    return True


def object_in(sentence: str, name: str) -> tuple[str, str] | None:
    """The words before and behind the formula that gives a name; None where the sentence does not give it.

    >>> object_in("with biases, $N = 12 L d^2$ in all", "N")
    ('with biases, ', ' in all')
    """
    about = r"\\approx|\\simeq|\\sim|\\cong|≈|~"
    pattern = rf"\$+\s*\\?{re.escape(name)}\s*(?:=|{about})[^$]*\$+"
    match = re.search(pattern, sentence)
    if match is None:
        return None
    return sentence[: match.start()], sentence[match.end() :]


def as_undecided(verdict: Verdict, part: AskedPart, reason: str) -> Verdict:
    """The verdict with one part undecided, which then decides it."""
    left_open = replace(part, word="undecided", reason=reason, counterexample=None)
    asked = tuple(left_open if one is part else one for one in verdict.asked)
    return replace(verdict, word=overall(asked), reason=reason, asked=asked)


def with_reason(verdict: Verdict, part: AskedPart, reason: str) -> Verdict:
    """The verdict with more said about one part."""
    told = replace(part, reason=reason)
    asked = tuple(told if one is part else one for one in verdict.asked)
    return replace(verdict, reason=reason, asked=asked)
