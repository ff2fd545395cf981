"""What an exercise must satisfy beyond the types of its fields; each refusal is one sentence with a remedy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from headwright.errors import InputError
from headwright.formulas import FormulaError, parse
from headwright.formulas import tree as t
from headwright.formulas.shapes import spelt

if TYPE_CHECKING:
    from headwright.grading.exercise import (
        Blank,
        Exercise,
        Integers,
        Keys,
        Matrices,
        Tokens,
    )

FIXED_NAMES = {
    "e": "the number 2.718...",
    "pi": "the number 3.141...",
    "i": "an index",
    "I": "the identity matrix",
    "infinity": "infinity",
}
_SIZE = re.compile(r"[A-Za-z]+(_[A-Za-z0-9]+)?'*")
CASES = r"expected a number, such as 'c = \frac12', or a limit, such as '\tau \to 0' or '\tau \to \infty'"


def check_exercise(exercise: Exercise) -> None:
    """InputError where an exercise cannot be checked against, whatever is answered."""
    settings = [exercise.keys, exercise.tokens, exercise.matrices, exercise.integers]
    if sum(setting is not None for setting in settings) != 1:
        raise InputError(
            "expected exactly one of the settings [keys], [tokens], [matrices], [integers]"
        )
    _check_answer_names(exercise)
    _check_names(exercise)
    if (exercise.answer or exercise.condition) and not exercise.goals:
        what = (
            f"the answer {', '.join(exercise.answer)}"
            if exercise.answer
            else "the condition"
        )
        raise InputError(f"goals is missing: say in goals what {what} must satisfy")
    if exercise.keys is not None:
        _check_keys(exercise, exercise.keys)
    if exercise.tokens is not None:
        _check_tokens(exercise, exercise.tokens)
    if exercise.matrices is not None:
        _check_matrices(exercise, exercise.matrices)
    if exercise.integers is not None:
        _check_integers(exercise.integers)
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
    keys, tokens, matrices = exercise.keys, exercise.tokens, exercise.matrices
    if keys is not None:
        yield from (("keys.also", letter) for letter in keys.also)
        yield from (("keys.directions", name) for name in keys.directions)
        yield from (("keys.scales", scale.name) for scale in keys.scales.values())
        if keys.first is not None:
            yield "keys.first", keys.first.set
    if tokens is not None:
        yield "tokens.letter", tokens.letter
        yield from (("tokens.tokens", name) for name in tokens.tokens)
    if matrices is not None:
        sizes = [
            size
            for shape in matrices.shapes.values()
            for size in shape
            if isinstance(size, str)
        ]
        yield from (("matrices.shapes", name) for name in (*matrices.shapes, *sizes))
        yield from (("matrices.sizes", name) for name in matrices.sizes)
    if exercise.integers is not None:
        integers = [
            name for name in exercise.integers.integers if name != "i"
        ]  # a position may be called i
        yield from (("integers.integers", name) for name in integers)
        yield "integers.rows", exercise.integers.rows


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


# Settings


def _check_keys(exercise: Exercise, keys: Keys) -> None:
    first = keys.first
    if (first is None) == (not keys.named) or (
        first is not None and keys.are != "orthonormal"
    ):
        raise InputError(
            "keys: expected the names of some keys (named), or the first of orthonormal ones (first)"
        )
    if first is not None and first.size not in exercise.parameters:
        raise InputError(f"keys.first: {first.size} is not one of the parameters")
    for field, labels in (
        ("scales", keys.scales),
        ("directions", keys.directions.values()),
    ):
        for label in labels:
            if label not in keys.named:
                raise InputError(
                    f"keys.{field}: there is no key {label!r} in keys.named"
                )
    number = exercise.parameters.get("n")
    least = max(1, len(keys.named))
    remedy = f"add n = {{ integer = true, at_least = {max(2, least)} }} to [parameters]"
    if number is None:
        raise InputError(f"the parameter n, the number of keys, is missing: {remedy}")
    if not number.integer or number.at_least is None:
        raise InputError(
            f"the parameter n, the number of keys, must be an integer with a lower bound: {remedy}"
        )
    if number.at_least < least:
        names = ", ".join(keys.named) or "one of the first"
        raise InputError(
            f"the parameter n, the number of keys, must be at least {least}: the keys include {names}"
        )


def _check_tokens(exercise: Exercise, tokens: Tokens) -> None:
    if tokens.length not in exercise.parameters:
        name = tokens.length
        remedy = f"add {name} = {{ above = 0 }} to [parameters]"
        raise InputError(
            f"the parameter {name}, the length of the directions, is missing: {remedy}"
        )


def _check_matrices(exercise: Exercise, matrices: Matrices) -> None:
    shapes = matrices.shapes
    for about, facts in matrices.facts.items():
        names = [part.strip() for part in about.split(",")]
        for name in names:
            if name not in shapes:
                raise InputError(
                    f"matrices.facts: {name} has no shape: add it to matrices.shapes"
                )
        if (
            "orthogonal ranges" in facts
            and len({shapes[name][0] for name in names}) > 1
        ):
            raise InputError(
                f"matrices.facts: {about} have orthogonal ranges: give them the same number of rows"
            )
    taken = {
        *exercise.definitions,
        *(name for name, shape in shapes.items() if shape != (1, 1)),
    }
    for name, shape in shapes.items():
        for size in shape:
            if isinstance(size, str) and not _SIZE.fullmatch(size):
                raise InputError(
                    f"matrices.shapes: the size {size!r} of {name}: expected a letter or a number"
                )
            if isinstance(size, int) and size < 1:
                raise InputError(
                    f"matrices.shapes: {name} has the size {size}: expected at least 1"
                )
            if size in taken:
                raise InputError(
                    f"matrices.shapes: {size}, a size of {name}, is a matrix too; choose another name"
                )
    for size, values in matrices.sizes.items():
        if not values or min(values) < 1:
            raise InputError(
                f"matrices.sizes: {size}: expected some sizes to try, each at least 1"
            )


def _check_integers(integers: Integers) -> None:
    for pair in integers.different:
        for name in pair:
            if name not in integers.integers:
                raise InputError(
                    f"integers.different: {name} is not one of the integers: add it to integers.integers"
                )


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
            if exercise.keys is None and exercise.tokens is None:
                raise InputError(
                    f"blanks: the case {blank.case} is a limit: only [keys] and [tokens] have limits"
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
    """The parameters, the lengths of keys, and the sizes of matrices."""
    known = set(exercise.parameters)
    if exercise.keys is not None:
        known |= {scale.name for scale in exercise.keys.scales.values()}
    if exercise.matrices is not None:
        known |= {
            size
            for shape in exercise.matrices.shapes.values()
            for size in shape
            if isinstance(size, str)
        }
    return known
