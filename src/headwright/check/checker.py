"""One answer from its formulas to its verdict: read, taken apart into claims, decided, looked at twice, told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headwright.check.answer import Answer, Formula, MisfitError, MissingError, WrongKindError, read_answer
from headwright.check.claims import Role, claims
from headwright.check.earning import earned
from headwright.check.exercise import Exercise, parsed
from headwright.check.judging import Court, Judged, Setting, composed
from headwright.check.replay import looked_at_twice
from headwright.check.scalars.numbers import TooLong, at_most_work
from headwright.check.settings.keys.conditions import states_condition
from headwright.check.settings.keys.court import KeysSetting
from headwright.check.settings.keys.scene import UndeterminedError
from headwright.check.settings.matrices.deciding import MatricesSetting
from headwright.check.settings.tokens import TokensSetting
from headwright.check.verdict import Verdict
from headwright.errors import InputError
from headwright.formula import FormulaError

__all__ = ["Formula", "check_answer"]


def check_answer(exercise: Exercise, formulas: Sequence[Formula], *, seed: int = 0) -> Verdict:
    r"""The verdict on an answer to an exercise; whatever is wrong with the answer is part of the verdict.

    The seed is that of the random instances on which a proof is looked at again.

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
            setting = _setting(exercise)
            answer = read_answer(exercise, formulas, setting.knows)
            court = setting.opened(answer)
            judgements = _decided(exercise, answer, setting, court)
            judgements = looked_at_twice(exercise, answer, judgements, seed)
            verdict = earned(exercise, answer, court, composed(judgements), judgements)
            return court.told(_with_the_words(verdict, formulas), judgements)
    except FormulaError as error:
        return Verdict("unreadable", str(error))
    except WrongKindError as error:
        return Verdict("refuted", str(error.shown()), counterexample={"words": error.message})
    except MisfitError as error:
        return Verdict("unreadable", str(error.shown()))
    except (InputError, TooLong, UndeterminedError) as error:
        return Verdict("undecided", str(error))


def _with_the_words(verdict: Verdict, formulas: Sequence[Formula]) -> Verdict:
    """What would pass is left open where a word beside a formula may turn what is meant."""
    turned = next((formula for formula in formulas if formula.beside), None)
    if turned is None or verdict.word not in ("proved", "holds"):
        return verdict
    reason = f"'{turned.beside}', beside a formula in line {turned.line}, was not understood: say it in a formula"
    return replace(verdict, word="undecided", reason=reason)


def _setting(exercise: Exercise) -> Setting:
    if exercise.keys is not None:
        return KeysSetting(exercise, exercise.keys)
    if exercise.tokens is not None:
        return TokensSetting(exercise, exercise.tokens)
    if exercise.integers is not None:
        from headwright.check.settings.integers import IntegersSetting  # it brings z3 along

        return IntegersSetting(exercise, exercise.integers)
    if exercise.matrices is not None:
        return MatricesSetting(exercise, exercise.matrices)
    raise InputError(f"the exercise {exercise.id} has no setting")


def _decided(exercise: Exercise, answer: Answer, setting: Setting, court: Court) -> list[Judged]:
    """Every goal, every claim, and what is doubtful about the conditions; goals wait for what they are about."""
    found: list[Judged] = []
    in_vain = exercise.asks_in_vain(answer.definitions, any(states_condition(said.node) for said in answer.claims))
    if not in_vain:
        for source in exercise.goals:
            for claim in claims(parsed(source), "goal", whole=setting.whole):
                found += court.decide(claim)
    for said in court.claims:
        role: Role = "step" if exercise.derive else "statement"
        try:
            for claim in claims(said.node, role, said, whole=setting.whole):
                found += court.decide(claim)
        except (MissingError, FormulaError):
            if not in_vain:
                raise
    if in_vain and exercise.condition:  # what holds under a condition that is not stated is not judged
        found = [one for one in found if one.decision.word != "refuted"]
    return [*found, *court.conditions]
