"""The account of an answer: whether everything that was written about an object is used.

An object is decided only if every formula, condition, definition and range beside it is used, and no words are left
over that may restrict or change it. What is left is named with its line, and the answer is then undecided.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from headwright.formulas import tree as t
from headwright.formulas.show import plain
from headwright.grading.answer import full_name, full_names, named
from headwright.grading.candidates import Contents, Definition, is_sign
from headwright.grading.exercise import Exercise
from headwright.grading.text import LeftOver

_ANYTHING = (
    t.Domain("R"),
    t.Domain("N"),
    t.Domain("Z"),
)  # 'lambda in R' says what kind of thing lambda is


def left_over(
    exercise: Exercise,
    contents: Contents,
    made: Sequence[Definition],
    *,
    refuted: bool = False,
) -> str:
    """What is written about these definitions and was not used, in words; '' if nothing is left.

    `made` are the definitions of one candidate for what was asked for. One that is refuted and leaves no name open is
    given in full: 'the unit vector q = (k_a + k_b)/sqrt(2)' is what it says.
    """
    free = open_names(exercise, contents, made)
    if refuted and not free:
        return ""
    sentences = {one.statement.sentence for one in made}
    return _words_left(exercise, contents, free, sentences) or _ranges_left(
        contents, free
    )


def open_names(
    exercise: Exercise, contents: Contents, made: Sequence[Definition]
) -> set[str]:
    """The names of the answer's own in these definitions that are nowhere defined; they may be bounded."""
    used = names_behind(contents, *(one.value for one in made))
    defined = {one.name for one in contents.own}
    labels = exercise.kind.labels()
    given = {*labels, *exercise.parameters, "e", "pi"}
    return {name for name in used - defined - given if "_" not in name}


def names_behind(contents: Contents, *nodes: t.Node) -> set[str]:
    """The names in formulas, and those in the definitions of the answer's own names among them."""
    used = full_names(*nodes)
    waiting = list(used)
    while waiting:
        name = waiting.pop()
        for definition in contents.own:
            if definition.name == name:
                new = full_names(definition.value) - used
                used |= new
                waiting += new
    return used


# Letters for the sizes of a model: the dimension of the keys, the length of the sequence.
_SIZES = ("d", "D", "N", "T", "L")


_SIZE_IN_WORDS = re.compile(r"is (the )?(dimension|width|length|number)\b[a-z ]*")


def is_size_in_words(name: str, words: str) -> bool:
    """'d is the dimension of the keys': that says no more than the letter does."""
    said = _SIZE_IN_WORDS.fullmatch(words.strip())
    return said is not None and named(name).base in _SIZES


def sizes_among(exercise: Exercise, open_ones: Iterable[str]) -> list[str]:
    """Which of these names are written for a size that the exercise does not give."""
    kind = exercise.kind
    if not kind.has_own_numbers:
        return []
    nodes = [named(name) for name in sorted(open_ones)]
    return [
        full_name(node)
        for node in nodes
        if node.base in _SIZES and not kind.gives(node)
    ]


def _words_left(
    exercise: Exercise, contents: Contents, free: set[str], sentences: set[int]
) -> str:
    """Words in the sentence of the object, or about a name in it that is open, that no formula stands for."""
    asked = set(exercise.answer)
    bounded = {
        name
        for said, _ in contents.bounds
        if not is_sign(said.node)
        for name in full_names(said.node)
    }
    for one in contents.left_over:
        if one.unless_bounded and one.names <= bounded:
            continue
        here = one.sentence in sentences
        if one.of_given:
            restricts = here and any(
                _is_restricting(exercise, name, one.words) for name in one.names
            )
        elif one.of_own:
            restricts = bool(one.names & free)
        elif one.names:
            restricts = bool(one.names & (free | asked))
        else:
            restricts = here
        if restricts:
            return _not_used(one)
    return ""


def size_left(
    exercise: Exercise, words: Sequence[LeftOver], sentences: set[int]
) -> str:
    """'for small beta' beside a value that is asked for as beta grows; '' where nothing of this kind is left."""
    for one in words:
        here = one.of_given and one.sentence in sentences
        if here and any(
            _is_restricting(exercise, name, one.words) for name in one.names
        ):
            return _not_used(one)
    return ""


def _not_used(one: LeftOver) -> str:
    return f"line {one.line} says '{one.words}', which is not read and may change what is meant"


def _is_restricting(exercise: Exercise, name: str, words: str) -> bool:
    """Whether a given number is said to be large or small, and the exercise does not say so."""
    given = exercise.parameters.get(name)
    if given is None:
        return False
    size = "small" if {"small", "tiny"} & set(words.split()) else "large"
    return not (given.small if size == "small" else given.large or given.integer)


def _ranges_left(contents: Contents, free: set[str]) -> str:
    """'s in {1, 2}': a range of a name that is open otherwise, and is not used as a bound."""
    for claim in contents.claims:
        node = t.unquantified(claim.node)
        match node:
            case t.Bond("in", t.Name() as name, domain) if (
                full_name(name) in free and domain not in _ANYTHING
            ):
                return f"line {claim.statement.line} says {plain(node)}, which was not used"
    return ""
