"""Names: given ones that an answer spells otherwise, and those that stand for a formula.

Statements are put into the names of the exercise: alpha_{2j} has two indices, 'Phi_s' may be the row of the other
position, s_i is the score of a key, 'i in S' is i <= m. What is left is the answer's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from headwright.formulas import FormulaError
from headwright.formulas import tree as t
from headwright.formulas.lexer import words
from headwright.formulas.show import plain
from headwright.grading.answer import (
    OWN,
    MisfitError,
    comparisons,
    full_name,
    full_names,
    named,
)
from headwright.grading.exercise import Exercise
from headwright.grading.markdown import Written, find_formulas
from headwright.grading.text import Statement, is_index

Gives = Callable[[t.Name], bool]
ONE = t.Number(Fraction(1))
CONSTANTS = ("e", "pi")


# 'for all x', 'for any two matrices x and y', 'all x in R^d': what says that a letter is free
_FREE = re.compile(
    r"\b(all|any|every|each|arbitrary|general|real)\s+((two|real|numbers?|scalars?|vectors?|matrix|matrices)\s+)*$",
    re.I,
)
_JOINED = re.compile(r"\s*(,|and|,\s*and)\s*$")


def mentioned_names(written: Written) -> frozenset[str]:
    """The letters that stand in a sentence by themselves, 'with orthogonal $x$ and $y$', and are not said to be free.

    What the words say of them is not read.
    """
    found: set[str] = set()
    previous_end, previous_free = 0, False
    for piece in find_formulas(written.text)[0]:
        before = written.text[previous_end : piece.begin]
        free = bool(_FREE.search(before)) or (
            previous_free and _JOINED.fullmatch(before) is not None
        )
        if piece.mention and not free:
            with suppress(FormulaError):
                found |= {
                    word.text for word in words(piece.text) if word.kind == "name"
                }
        previous_end, previous_free = piece.end, piece.mention and free
    return frozenset(found)


def in_given_names(
    statements: Sequence[Statement], exercise: Exercise, gives: Gives
) -> list[Statement]:
    """The statements of an answer in the names of the exercise."""
    spelt = [
        _everywhere(one, lambda node: _respelt(node, exercise)) for one in statements
    ]
    if exercise.condition:
        names = _singled_out(spelt, exercise)
        spelt = [
            _everywhere(one, lambda node: renamed(_output(node), names))
            for one in spelt
        ]
    return _spelled_out(_with_own_names(spelt, exercise, gives), exercise, gives)


def _everywhere(one: Statement, change: Callable[[t.Node], t.Node]) -> Statement:
    """A statement with all of it changed: what it says, and what it is said for."""
    node = None if one.node is None else change(one.node)
    return replace(
        one,
        node=node,
        under=tuple(map(change, one.under)),
        earlier=tuple(map(change, one.earlier)),
    )


def _respelt(node: t.Node, exercise: Exercise) -> t.Node:
    """Notation of an exercise: alpha_{2j} has two indices; what its kind knows besides."""
    node = t.mapped(node, lambda part: _respelt(part, exercise))
    match node:
        case t.Name(
            "alpha",
            t.Product(
                (t.Number() | t.Name() as one, t.Number() | t.Name() as other)
            ) as index,
        ):
            return replace(node, index=t.Listing((one, other), span=index.span))
        case _:
            return exercise.kind.normalise(node)


def _singled_out(
    statements: Sequence[Statement], exercise: Exercise
) -> dict[str, t.Name]:
    """'k_i^T q >> k_l^T q for l != i': i is the key that the exercise names j, if no j is spoken of."""
    labels = list(exercise.kind.labels())
    nodes = [
        node
        for one in statements
        for node in (one.node, *one.under)
        if node is not None
    ]
    if len(labels) == 1 and not t.speaks_of(t.Listing(tuple(nodes)), labels[0]):
        for part in (part for node in nodes for part in t.walk(node)):
            match part:
                case t.Relation(
                    (t.Name(letter, None, 0), t.Name(other, None, 0)), ("!=",)
                ) if len(letter + other) == 2:
                    return {other: t.Name(labels[0])}
    return {}


def _output(node: t.Node) -> t.Node:
    """With c for sum_i alpha_i v_i, and without what is multiplied by 0: the other keys may lie anywhere."""
    match node:
        case t.BigSum(
            index,
            t.Product(factors),
            None | t.Number(Fraction(numerator=1, denominator=1)),
            _,
            (),
        ) if set(factors) == {
            t.Name("alpha", t.Name(index)),
            t.Name("v", t.Name(index)),
        } and node.upper in (None, t.Name("n")):
            return t.Name("c", span=node.span)
        case t.Inner(left, t.Number() as number) | t.Inner(t.Number() as number, left):
            return left if number == ONE else t.Product((number, left), span=node.span)
        case t.Sum(terms):
            bodies = [
                (term, term.body if isinstance(term, t.BigSum) else term)
                for term in map(_output, terms)
            ]
            kept = [
                term
                for term, body in bodies
                if not (isinstance(body, t.Product) and t.ZERO in body.factors)
            ]
            return (
                kept[0]
                if len(kept) == 1
                else t.Sum(tuple(kept) or node.terms, span=node.span)
            )
        case _:
            return t.mapped(node, _output)


# Names that stand for others.


def _with_own_names(
    statements: Sequence[Statement], exercise: Exercise, gives: Gives
) -> list[Statement]:
    """The statements with names renamed: those the answer makes its own in words, and other names for given ones."""
    nodes = [one.node for one in statements if one.node is not None]
    defined = {name for node in nodes for name in _defined_names(node)}
    own = _made_own(statements, nodes, exercise)
    without_index = {name.base for name in defined if name.index is None}
    names = {
        other: named(given)
        for other, given in exercise.also.items()
        if other not in without_index
    }
    names |= {name: t.Name(name + OWN) for name in own if gives(t.Name(name))}
    names |= exercise.kind.other_names(statements)
    bounded = _bounded(statements, exercise, {full_name(name) for name in defined})
    names |= {name: t.Name(name + OWN) for name in bounded}
    if not names:
        return list(statements)
    meant: list[Statement] = []
    for name, one in bounded.items():
        node = t.Relation((named(name), names[name]), ("=",))
        meant.append(replace(one, node=node, role="claim", under=(), lets=True))
    # 'c = 5' is about the answer's own c, 'c ~ v_a' about the output
    but_c = {name: other for name, other in names.items() if name != "c"}

    def in_other_names(node: t.Node) -> t.Node:
        is_about_outputs = t.speaks_of(node, "v", "alpha")
        return renamed(node, but_c if is_about_outputs else names)

    return meant + [_everywhere(one, in_other_names) for one in statements]


def _made_own(
    statements: Sequence[Statement], nodes: Sequence[t.Node], exercise: Exercise
) -> set[str]:
    """The names that an answer makes its own: 'a large c', A \\propto Q K^T, an output as a factor of a query."""
    own: set[str] = set()
    for one in statements:
        match one:
            case Statement(role="size", node=t.Relation((t.Name(base), *_))):
                own.add(base)
    parts = [part for node in nodes for part in t.walk(node)]
    for part in parts:
        match part:
            case t.Bond("propto", t.Name(base)):  # it leaves a factor open
                own.add(base)
            case t.Relation((t.Name(base, None, 0), value), ("=",)) if (
                base in CONSTANTS and full_names(value) - {*CONSTANTS}
            ):  # 'let e = p - y'; 'e = 2.718' stays a claim
                own.add(base)
    outputs = {t.Name(name) for name in exercise.kind.outputs()}
    for part in parts if outputs else ():
        if not isinstance(part, t.Relation):
            continue
        left = {full_name(name) for name in names_on_the_left(part)}
        if left & {*exercise.answer}:
            # The output is no factor of a query.
            own |= {name.base for name in outputs & {*t.every_name(part.terms[1])}}
    given = {*exercise.kind.labels(), *exercise.parameters, *exercise.answer}
    return own - given


def renamed(node: t.Node, names: Mapping[str, t.Name]) -> t.Node:
    """The same with other names; Sigma_k is renamed as Sigma is, but not to a name of the answer's own."""
    if isinstance(node, t.Name) and full_name(node) in names:
        return replace(names[full_name(node)], span=node.span)
    if (
        isinstance(node, t.Name)
        and node.index is not None
        and node.base in names
        and OWN not in names[node.base].base
    ):
        return replace(
            node, base=names[node.base].base, index=renamed(node.index, names)
        )
    return t.mapped(node, lambda part: renamed(part, names))


def _bounded(
    statements: Sequence[Statement], exercise: Exercise, defined: set[str]
) -> dict[str, Statement]:
    """What is asked for and only bounded, 'tau >= n/epsilon': then every value within the bound is meant to do."""
    found: dict[str, Statement] = {}
    said = [(one, one.node) for one in statements if isinstance(one.node, t.Relation)]
    ends = [node.terms[0] for _, node in said if tends(node)]
    sent = {full_name(name) for name in ends if isinstance(name, t.Name)}
    for one, node in said:
        for link in comparisons(node) if one.kind != "turned" else ():
            names = (
                {full_name(term) for term in link.terms if isinstance(term, t.Name)}
                - defined
                - sent
            )
            if link.comparisons[0] in ("<", ">", "<=", ">="):
                found = {name: one for name in exercise.answer if name in names} | found
    return found


def _defined_names(node: t.Node) -> Iterator[t.Name]:
    """The names on the left of equations: what an answer may define."""
    for part in t.walk(node):
        if (
            isinstance(part, t.Relation)
            and part.comparisons
            and part.comparisons[0] == "="
        ):
            yield from names_on_the_left(part)


def names_on_the_left(equation: t.Relation) -> tuple[t.Name, ...]:
    """The names on the left of a definition: q, or 'q_1, q_2'; none where there is anything else."""
    items = t.listed(equation.terms[0])
    names = tuple(item for item in items if isinstance(item, t.Name))
    return names if len(names) == len(items) else ()


# Names that stand for a formula.


def _spelled_out(
    statements: Sequence[Statement], exercise: Exercise, gives: Gives
) -> list[Statement]:
    """With k_i^T q in place of s_i, and with the value of s_i in place of s_a, s_1, where the answer defines s_i."""
    patterns: dict[
        str, tuple[str, t.Node]
    ] = {}  # s_i = k_i^T q: of s the letter i, and the value
    told: set[str] = set()
    labels = set(exercise.kind.labels())
    found: list[Statement] = []
    mine = {
        name.base
        for one in statements
        if one.node is not None
        for name in _defined_names(one.node)
    }
    for base, pattern in exercise.kind.short_names().items():
        is_free = not gives(t.Name(base)) and not gives(
            t.Name(base, t.Name(pattern[0]))
        )
        if base not in mine and is_free:
            patterns[base] = pattern
    for one in statements:
        body = one.node
        while isinstance(body, t.Quantified) and all(map(is_index, body.conditions)):
            body = body.body
        match body:
            case t.Relation(
                (t.Name(base, t.Name(letter, None, 0), 0) as name, value), ("=",)
            ) if (
                base not in told
                and letter not in labels
                and not gives(name)
                and any(other.index == t.Name(letter) for other in t.every_name(value))
                and not t.speaks_of(value, base)
            ):
                told.add(base)
                patterns[base] = letter, value
            case _:
                found.append(one)

    def written_out(node: t.Node) -> t.Node:
        if (
            isinstance(node, t.Name)
            and node.index is not None
            and node.base in patterns
            and not node.primes
        ):
            letter, value = patterns[node.base]
            bound = {part.index for part in t.walk(value) if isinstance(part, t.BigSum)}
            if t.speaks_of(node.index, *bound):
                raise MisfitError(f"the index of {plain(node)} means two things", node)
            return t.with_index(value, letter, node.index)
        return t.mapped(node, written_out)

    for place, one in enumerate(found) if patterns else ():
        try:
            found[place] = _everywhere(one, written_out)
        except MisfitError as error:
            found[place] = replace(one, node=None, problem=error.shown())
    return found


def tends(node: t.Node) -> bool:
    """'lambda is large': where a name goes."""
    return isinstance(node, t.Relation) and node.comparisons == ("->",)
