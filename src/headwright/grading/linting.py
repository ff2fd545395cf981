"""What is wrong with an exercise before anyone answers it: goals that trivial answers meet, names that are not told."""

from __future__ import annotations

from collections.abc import Iterator

from headwright.formulas import FormulaError
from headwright.formulas.lexer import words
from headwright.formulas.tree import BigSum, every_name, walk
from headwright.grading.exercise import Exercise, parsed
from headwright.grading.grade import grade
from headwright.grading.markdown import find_formulas, of_formulas

CONSTANTS = ("pi", "e", "infinity", "I", "ones")
COMPARED = ("=", r"\le", r"\ge")


def lint(exercise: Exercise) -> list[str]:
    """All that is wrong with an exercise, one sentence each; nothing where it is fit for use."""
    return [*_told(exercise), *_tried(exercise)]


def _told(exercise: Exercise) -> Iterator[str]:
    """What the file leaves out: bounds, names that goals and definitions use, what is asked for."""
    for name, known in exercise.parameters.items():
        bounded = {known.at_least, known.above} != {None} and {
            known.at_most,
            known.below,
        } != {None}
        if known.small and not bounded:
            yield f"{name} is a tolerance without bound: give it above = 0 and below = 1, and say so in the statement"
    told = {*CONSTANTS, *exercise.kind.names_in_goals()}
    for piece in find_formulas(exercise.statement)[0]:
        try:
            told |= {word.text for word in words(piece.text) if word.kind == "name"}
        except FormulaError:
            continue
    used = {
        name
        for name, known in exercise.parameters.items()
        if known.small or known.large
    }
    sides = [side for pair in exercise.derive for side in pair]
    for node in map(
        parsed, [*exercise.goals, *sides, *exercise.about, *exercise.answer]
    ):
        bound = {part.index for part in walk(node) if isinstance(part, BigSum)}
        indices = set(every_name(*(name.index for name in every_name(node))))
        used |= {name.base for name in every_name(node) if name not in indices} - bound
    for name in sorted(used - told):
        yield f"{name} is used in what is checked, and the statement does not name it"
    if exercise.goals and not exercise.answer and not exercise.condition:
        yield "the goals do not depend on what is answered: name an object (answer), or a condition"
    if not (
        exercise.answer
        or exercise.about
        or exercise.blanks
        or exercise.condition
        or exercise.derive
    ):
        yield "nothing is asked for: name an object (answer), a condition, a derivation (derive), or values (blanks)"


def _tried(exercise: Exercise) -> Iterator[str]:
    """Answers that should not pass and do, and samples that are not judged as they should be."""
    for what, formulas in _trivial_answers(exercise):
        if _accepted(exercise, formulas)[0]:
            yield f"{what} passes as an answer: {', '.join(formulas)}"
    for kind in ("right", "wrong"):
        answers = getattr(exercise.samples, kind)
        if not answers:
            yield f"no {kind} answer is given as a sample: add one to [samples]"
        for formulas in answers:
            accepted, word = _accepted(exercise, formulas)
            if accepted != (kind == "right"):
                yield f"the {kind} sample {', '.join(formulas)} is {word}"


def _trivial_answers(exercise: Exercise) -> Iterator[tuple[str, list[str]]]:
    if exercise.skeleton:
        yield (
            "the skeleton",
            [line for line in exercise.skeleton.split("\n") if line.strip()],
        )
    if exercise.answer:
        yield "nothing at all", [f"{name} = 0" for name in exercise.answer]
    if exercise.goals:
        yield "a restatement of the goals", list(exercise.goals)
    for left, right in exercise.derive:
        for sign in COMPARED:
            yield "a restatement of what is to be shown", [f"{left} {sign} {right}"]
    for source in (
        *exercise.about,
        *(source for blank in exercise.blanks for source in blank.of),
    ):
        yield "saying nothing", [f"{source} = {source}"]
    yield from exercise.kind.trivial_answers()


def _accepted(
    exercise: Exercise, formulas: list[str] | tuple[str, ...]
) -> tuple[bool, str]:
    """Whether an answer is proved and no formula in it is false; and the verdict."""
    verdict = grade(exercise, of_formulas(formulas))
    false = any(one.status == "false" for one in verdict.formulas)
    return (
        verdict.word == "proved" and not false,
        f"{verdict.word}{', with a false formula' if false else ''}",
    )
