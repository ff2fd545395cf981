"""One answer: read, bound to its names, every statement decided."""

from __future__ import annotations

from collections.abc import Sequence

from headwright.check.answer import Answer, Formula, full_name, read_answer
from headwright.check.exercise import Exercise
from headwright.check.judging import Room
from headwright.check.misfit import MisfitError
from headwright.check.rooms.integers.room import IntegersRoom
from headwright.check.rooms.keys.classes import UndeterminedError
from headwright.check.rooms.keys.room import KeysRoom
from headwright.check.rooms.matrices.room import MatricesRoom
from headwright.check.rooms.tokens.room import TokensRoom
from headwright.check.scalars.sizes import TooLong, at_most_work
from headwright.check.verdict import Verdict
from headwright.errors import InputError
from headwright.formula import FormulaError, parse
from headwright.formula.tree import Name, Node, Relation, walk

__all__ = ["Formula", "check_answer"]


def check_answer(exercise: Exercise, formulas: Sequence[Formula], *, seed: int = 0) -> Verdict:
    r"""The verdict on an answer to an exercise; whatever is wrong with the answer is part of the verdict.

    >>> from headwright.check.exercise import load_exercises
    >>> exercise = load_exercises()["averaging-two"]
    >>> check_answer(exercise, [Formula(r"q = \frac{1}{\sqrt 2}(k_a + k_b)", 1)]).word
    'refuted'
    >>> check_answer(exercise, [Formula(r"q = \lambda (k_a + k_b)", 1)]).threshold
    'lambda >= ln((n - 2)/epsilon), for n > 2'
    """
    if not formulas:
        return Verdict("unreadable", "no formula was found: write it between $ signs")
    try:
        with at_most_work():
            room = _room(exercise, seed)
            answer = read_answer(exercise, formulas, room.knows)
            _check_complete(exercise, answer)
            return room.verdict(answer)
    except FormulaError as error:
        return Verdict("unreadable", str(error))
    except MisfitError as error:
        return Verdict("unreadable", str(error.shown_in(formulas[0].text)))
    except (InputError, TooLong, UndeterminedError) as error:
        return Verdict("undecided", str(error))


def _room(exercise: Exercise, seed: int) -> Room:
    if exercise.keys is not None:
        return KeysRoom(exercise, exercise.keys, seed)
    if exercise.tokens is not None:
        return TokensRoom(exercise, exercise.tokens, seed)
    if exercise.integers is not None:
        return IntegersRoom(exercise, exercise.integers)
    if exercise.matrices is not None:
        return MatricesRoom(exercise, exercise.matrices)
    raise InputError(f"the exercise {exercise.id} has no setting")


def _check_complete(exercise: Exercise, answer: Answer) -> None:
    missing = [name for name in exercise.answer if name not in answer.definitions]
    if missing:
        raise MisfitError(f"no formula defines {' and '.join(missing)}", Name("q"), fix=f"write {missing[0]} = ...")
    if not exercise.about:
        return
    wanted = {_head(parse(source)) for source in exercise.about}
    spoken = {name for said in answer.claims for node in walk(said.node) for name in _heads(node)}
    if not wanted & spoken:
        raise MisfitError(f"nothing is said of {' or '.join(sorted(wanted))}", Name("q"), fix=exercise.skeleton)
    if all(_says_nothing(said.node) for said in answer.claims):
        raise MisfitError("this says nothing: both sides are the same", Name("q"), fix=exercise.skeleton)


def _says_nothing(node: Node) -> bool:
    if not isinstance(node, Relation) or {"!=", "<", ">"} & set(node.comparisons):
        return False
    return all(term == node.terms[0] for term in node.terms)


def _head(node: object) -> str:
    return full_name(node) if isinstance(node, Name) else ""


def _heads(node: object) -> tuple[str, ...]:
    return (full_name(node), node.base) if isinstance(node, Name) else ()
