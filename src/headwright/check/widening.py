"""Statements about more than an exercise gives: 'for all epsilon > 0' where epsilon < 1, 'for all integers'."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from headwright.check.answer import comparisons, full_name, number_of
from headwright.check.exercise import Exercise, Parameter, parsed
from headwright.check.scalars.where import MIRRORED, checked
from headwright.formula.show import plain
from headwright.formula.tree import Name, Node, Relation

SIGNS = ("<", "<=", ">", ">=")


@dataclass(frozen=True)
class Wider:
    """What a statement is said for; the exercise with that given, None where there is none."""

    words: str
    exercise: Exercise | None = None


def widened(exercise: Exercise, stated: Sequence[Relation], sentence: str) -> Wider | None:
    """The range that a statement is said for, where it is wider than what is given; None where it is not.

    >>> from headwright.check.exercise import load_exercises, parsed
    >>> two = load_exercises()["averaging-two"]
    >>> widened(two, [parsed(r"\\epsilon > 0")], r"$\\alpha_a > 0$ for all $\\epsilon > 0$").words
    'epsilon > 0'
    >>> widened(two, [parsed(r"\\epsilon > 0")], r"$\\alpha_a > 0$, since $\\epsilon > 0$") is None
    True
    """
    every = _EVERY.search(sentence) is not None
    if exercise.integers is not None:
        if _REAL.search(sentence):
            return Wider("real numbers")
        if _INTEGERS.search(sentence):
            return Wider("all integers", _with_all_integers(exercise))
        return None
    words: list[str] = []
    parameters = dict(exercise.parameters)
    for name, given in exercise.parameters.items():
        mine = list(_bounds(name, stated))
        wider = given if given.integer else _wider(given, [(sign, value) for sign, value, _ in mine], every)
        if wider != given:
            parameters[name] = wider
            words += [plain(link) for _, _, link in mine]
    if words:
        return Wider(" and ".join(dict.fromkeys(words)), exercise.model_copy(update={"parameters": parameters}))
    between = next(_between_sizes(exercise, stated), None) if every else None
    return None if between is None else Wider(plain(between))


_EVERY = re.compile(r"\bfor (?:all|any|every|each|arbitrary)\b|\\forall|\bwhatever\b", re.IGNORECASE)
_REAL = re.compile(r"\breals?\b|\\mathbb\s*\{?\s*R\b|\\R\b", re.IGNORECASE)
_INTEGERS = re.compile(
    r"\b(?:all|any|every|each|arbitrary) (?:\w+ )?integers?\b|t'?\s*\\in\s*\\(?:mathbb\s*\{?\s*)?Z\b"
)


def _with_all_integers(exercise: Exercise) -> Exercise | None:
    if exercise.integers is None:
        return None
    return exercise.model_copy(update={"integers": exercise.integers.model_copy(update={"given": ()})})


def _bounds(name: str, stated: Sequence[Relation]) -> Iterator[tuple[str, Fraction, Relation]]:
    """What is stated of one name: sign, number, and where."""
    for link in stated:
        (left, right), (sign,) = link.terms, link.comparisons
        for one, other, turned in (
            ((left, right, sign), (right, left, MIRRORED[checked(sign)])) if sign in SIGNS else ()
        ):
            value = number_of(other)
            if isinstance(one, Name) and full_name(one) == name and value is not None:
                yield turned, value, link


def _wider(given: Parameter, bounds: Sequence[tuple[str, Fraction]], every: bool) -> Parameter:
    """The parameter where the bounds leave it, if that is beyond what is given; an end that is not spoken of stays."""
    limits = given.range()
    upper = min((value for sign, value in bounds if sign in ("<", "<=")), default=None)
    lower = max((value for sign, value in bounds if sign in (">", ">=")), default=None)
    found = given
    if isinstance(limits.upper, Fraction):
        if upper is not None and upper > limits.upper:
            found = found.model_copy(update={"below": None, "at_most": upper})
        elif upper is None and every and lower is not None and lower <= _least(limits.lower):
            found = found.model_copy(update={"below": None, "at_most": None})
    if isinstance(limits.lower, Fraction) and lower is not None and lower < limits.lower:
        found = found.model_copy(update={"above": None, "at_least": lower})
    return found


def _least(end: object) -> Fraction:
    return end if isinstance(end, Fraction) else Fraction(0)


def _between_sizes(exercise: Exercise, stated: Sequence[Relation]) -> Iterator[Relation]:
    """k <= n, where k <= d <= n is given: sizes that are compared otherwise than they are given."""
    if exercise.matrices is None:
        return
    given = {_upward(link) for source in exercise.matrices.assume for link in _links(parsed(source))}
    for link in stated:
        names = [full_name(term) for term in link.terms if isinstance(term, Name)]
        if len(names) == 2 and set(names) <= set(exercise.parameters) and _upward(link) not in given:
            yield link


def _links(node: Node) -> Iterator[Relation]:
    yield from comparisons(node) if isinstance(node, Relation) else ()


def _upward(link: Relation) -> tuple[str, str, str]:
    """a <= b and b >= a as one."""
    (left, right), (sign,) = link.terms, link.comparisons
    return (plain(right), MIRRORED[sign], plain(left)) if sign in (">", ">=") else (plain(left), sign, plain(right))
