"""What an exercise must satisfy beyond the types of its fields; each refusal is one sentence with a remedy."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from headwright.errors import InputError
from headwright.formulas import FormulaError, parse
from headwright.formulas import tree as t
from headwright.formulas.shapes import spelt

if TYPE_CHECKING:
    from headwright.grading.exercise import Blank, Exercise

FIXED_NAMES = {
    "e": "the number 2.718...",
    "pi": "the number 3.141...",
    "i": "an index",
    "I": "the identity matrix",
    "infinity": "infinity",
}
CASES = r"expected a number, such as 'c = \frac12', or a limit, such as '\tau \to 0' or '\tau \to \infty'"


def check_exercise(exercise: Exercise) -> None:
    """InputError where an exercise cannot be checked against, whatever is answered."""
    _check_answer_names(exercise)
    _check_names(exercise)
    if (exercise.answer or exercise.condition) and not exercise.goals:
        what = (
            f"the answer {', '.join(exercise.answer)}"
            if exercise.answer
            else "the condition"
        )
        raise InputError(f"goals is missing: say in goals what {what} must satisfy")
    exercise.kind.check()
    for blank in exercise.blanks:
        _check_case(exercise, blank)


# Names


def _check_names(exercise: Exercise) -> None:
    """A name with a fixed meaning would mean two things at once: e in N = 4 h^2 e^2 is exp(1) to every reader."""
    for field, name in _names(exercise):
        meaning = FIXED_NAMES.get(_bare_name(name))
        if meaning is not None:
            raise InputError(
                f"{field}: {name} always means {meaning}; choose another name"
            )


def _check_answer_names(exercise: Exercise) -> None:
    for name in exercise.answer:
        try:
            node: t.Node | None = parse(name)
        except FormulaError:
            node = None
        if not isinstance(node, t.Name):
            raise InputError(f"answer: {name!r} is not a name such as q or W_1")


def _names(exercise: Exercise) -> Iterator[tuple[str, str]]:
    """Every name that the exercise gives or asks for, with the field it stands in; labels and indices are none."""
    for field, names in (
        ("parameters", exercise.parameters),
        ("definitions", exercise.definitions),
        ("answer", exercise.answer),
        ("redefines", exercise.redefines),
        ("also", (*exercise.also, *exercise.also.values())),
    ):
        yield from ((field, name) for name in names)
    yield from exercise.kind.names_by_field()


@lru_cache(maxsize=4096)
def _bare_name(name: str) -> str:
    r"""The name itself, however it is spelt: \pi, \mathrm{e}; '' where it has an index, or is no name."""
    try:
        node = parse(name)
    except FormulaError:  # sigma_*: a family
        return ""
    if isinstance(node, t.Name) and node.index is None and not node.primes:
        return node.base
    return ""


# Blanks


def _check_case(exercise: Exercise, blank: Blank) -> None:
    """A case is one number that is given, or one that goes to 0 or to infinity: of others it is not known what is."""
    if blank.case is None:
        return
    match parse(blank.case):
        case t.Relation((t.Name() as name, value), ("=",)) if (
            t.number_of(value) is not None
        ):
            known = _given_numbers(exercise)
        case t.Relation((t.Name() as name, end), ("->",)) if is_end(end):
            known = set(exercise.parameters)
            if not exercise.kind.has_limits:
                raise InputError(
                    f"blanks: the case {blank.case} is a limit: [{exercise.kind_name}] has no limits"
                )
        case _:
            raise InputError(
                f"blanks: the case {blank.case} is not understood: {CASES}"
            )
    if spelt(name) not in known:
        raise InputError(
            f"blanks: the case {blank.case} is about {spelt(name)}, which is not one of the parameters"
        )


def is_end(node: t.Node) -> bool:
    """Whether a number can go there: 0, infinity or -infinity."""
    return node in (t.ZERO, t.INFINITY, t.Negative(t.INFINITY))


def _given_numbers(exercise: Exercise) -> set[str]:
    """The parameters, and the numbers that the table leaves open."""
    kind = exercise.kind
    return {*exercise.parameters, *kind.numbers(), *kind.drawn_numbers()}
