"""Statements about more than an exercise gives: 'for all epsilon > 0' where epsilon < 1, 'for all integers'."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from headwright.check.answer import comparisons, full_name, given_numbers, number_of
from headwright.check.exercise import Exercise, Parameter, parsed
from headwright.check.scalars.where import MIRRORED, checked
from headwright.formula.show import plain
from headwright.formula.tree import Name, Node, Quantified, Relation, walk

SIGNS = ("<", "<=", ">", ">=")


@dataclass(frozen=True)
class Wider:
    """What a statement is said for, in words; the exercise with that given, None where there is none."""

    words: str
    exercise: Exercise | None = None


def widened(exercise: Exercise, stated: Sequence[Relation], sentence: str, every: Collection[str] = ()) -> Wider | None:
    """For which numbers a statement is said, where these are not those that are given; None where they are.

    `every`: names that stay where they are while something else moves.

    >>> from headwright.check.exercise import load_exercises, parsed
    >>> two = load_exercises()["averaging-two"]
    >>> widened(two, [parsed(r"\\epsilon > 0")], "").words
    'epsilon > 0, which is more than is given'
    >>> widened(two, [parsed(r"\\epsilon < 1")], "") is None
    True
    """
    if exercise.integers is not None:
        return _other_integers(exercise, sentence)
    words: list[str] = []
    parameters = dict(exercise.parameters)
    for name, given in exercise.parameters.items():
        mine = list(_bounds(name, stated))
        wider = given if given.integer else _wider(given, [(sign, value) for sign, value, _ in mine])
        if wider != given:
            words += [f"{' and '.join(dict.fromkeys(plain(link) for _, _, link in mine))}, which {MORE}"]
        fixed = re.search(rf"\bfix(?:ed)?\b[^.;:]*{name}\b", sentence)
        if given.small and (fixed or name in every):
            wider = wider.model_copy(update={"small": False})
            words += [f"{'a fixed' if fixed else 'every'} {name}"]
        parameters[name] = wider
    if words:
        return Wider(" and ".join(words), exercise.model_copy(update={"parameters": parameters}))
    between = next(_between_sizes(exercise, stated), None)
    return None if between is None else Wider(f"{plain(between)}, which {MORE}")


def staying(node: Node, stated: Sequence[Relation], sentence: str, exercise: Exercise) -> set[str]:
    """The names for each of which a limit is stated: 'for every epsilon'; 'as the noise vanishes', for all of them.

    >>> from headwright.check.exercise import load_exercises, parsed
    >>> two = load_exercises()["averaging-two"]
    >>> staying(parsed(r"\\alpha_a \\to 1/2 \\text{ for all } \\epsilon"), [], "", two)
    {'epsilon'}
    """
    if not any(isinstance(part, Relation) and "->" in part.comparisons for part in walk(node)):
        return set()
    if exercise.keys is not None and exercise.keys.noise != "none" and _NOISE.search(sentence):
        return set(exercise.parameters)
    ranging = node.conditions if isinstance(node, Quantified) else ()
    bounded = [term for link in stated if link.comparisons[0] in SIGNS for term in link.terms]
    return {full_name(one) for one in (*ranging, *bounded) if isinstance(one, Name)}


# 'as the noise vanishes' is read as this, as is 'as the keys are nearly their means'
_NOISE = re.compile(r"\b(?:as|when|while|once) (?:the (?:noise|variance)s?\b|\$k_i \\approx \\mu_i\$)", re.IGNORECASE)
MORE = "is more than is given"
_REAL = re.compile(r"\b(?:reals?|rationals?|complex)\b|\\mathbb\s*\{?\s*[RQC]\b|\\R\b", re.IGNORECASE)
_INTEGERS = re.compile(
    r"\b(?:all|any|every|each|arbitrary) (?:\w+ )?integers?\b|t'?\s*\\in\s*\\(?:mathbb\s*\{?\s*)?Z\b"
)
_SOME = re.compile(r"\b(?:is|are|both|all|for) (?:even|odd|prime)\b")


def _other_integers(exercise: Exercise, sentence: str) -> Wider | None:
    """'for real t', 'for all integers', 'for even t', where integers from 0 on are given."""
    if _REAL.search(sentence):
        return Wider(f"numbers that are no integers, which {MORE}")
    if _SOME.search(sentence):
        return Wider("some of the integers only")
    return Wider(f"all integers, which {MORE}", _with_all_integers(exercise)) if _INTEGERS.search(sentence) else None


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


def _wider(given: Parameter, bounds: Sequence[tuple[str, Fraction]]) -> Parameter:
    """The parameter where the bounds leave it, if that is beyond what is given; an end that is not spoken of stays."""
    limits = given.range()
    upper = min((value for sign, value in bounds if sign in ("<", "<=")), default=None)
    lower = max((value for sign, value in bounds if sign in (">", ">=")), default=None)
    found = given
    if isinstance(limits.upper, Fraction):
        if upper is not None and upper > limits.upper:
            found = found.model_copy(update={"below": None, "at_most": upper})
        elif upper is None and lower is not None and lower <= _least(limits.lower):
            found = found.model_copy(update={"below": None, "at_most": None})
    if isinstance(limits.lower, Fraction) and lower is not None and lower < limits.lower:
        found = found.model_copy(update={"above": None, "at_least": lower})
    return found


def _least(end: object) -> Fraction:
    return end if isinstance(end, Fraction) else Fraction(0)


FEW = 5


def leaves_out_few(node: Node, exercise: Exercise) -> bool:
    """'assume n >= 3': a count that is not among the smallest; an object that is right for all n is so without that.

    >>> from headwright.check.exercise import load_exercises, parsed
    >>> two = load_exercises()["averaging-two"]
    >>> leaves_out_few(parsed(r"n \\ge 3"), two), leaves_out_few(parsed(r"n \\le 100"), two)
    (True, False)
    """
    links = list(_links(node))
    counts = [
        name for name in given_numbers(exercise) if name not in exercise.parameters or exercise.parameters[name].integer
    ]
    bounds = [one for name in counts for one in _bounds(name, links)]
    return (
        bool(links)
        and len(bounds) == len(links)
        and all(sign in (">", ">=") and value <= FEW for sign, value, _ in bounds)
    )


def _between_sizes(exercise: Exercise, stated: Sequence[Relation]) -> Iterator[Relation]:
    """k <= n, where k <= d <= n is given: sizes that are compared otherwise than they are given."""
    if exercise.matrices is None:
        return
    given = {_upward(link) for source in exercise.matrices.assume for link in _links(parsed(source))}
    numbers = given_numbers(exercise)
    for link in stated:  # of two names
        names = [full_name(term) for term in link.terms if isinstance(term, Name)]
        if len(names) != 2 or link.comparisons[0] not in SIGNS or not numbers & set(names):
            continue
        low, sign, high = _upward(link)
        sizes = {size for shape in exercise.matrices.shapes.values() for size in shape}
        smaller = {least for least, _, most in given if most == high} & sizes
        if (low in numbers and (low, sign, high) not in given) or (low not in numbers and smaller):
            yield link  # and i <= n, where d <= n is given: there may be d columns only


def _links(node: Node) -> Iterator[Relation]:
    yield from comparisons(node) if isinstance(node, Relation) else ()


def _upward(link: Relation) -> tuple[str, str, str]:
    """a <= b and b >= a as one."""
    (left, right), (sign,) = link.terms, link.comparisons
    return (plain(right), MIRRORED[sign], plain(left)) if sign in (">", ">=") else (plain(left), sign, plain(right))
