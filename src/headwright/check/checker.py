"""One answer from its text to its verdict. This file is the table of contents of check:

read      `reading.statements` finds what a text says: sentences, plainer words, clauses, what each adds (`saying`)
sort      `sorting` makes an `Answer` of it: names (`naming`), definitions, conditions, claims, cases (`variants`)
claims    `judging.claims` takes a statement apart: one comparison each, with what it is said for
decide    a setting (`settings`) says what names mean, and its `Court` decides one claim at a time
replay    `replay` looks at every decision again, on explicit instances; `hearing` does these three for all that is said
doubt     `doubts`: what was not understood is not held against an answer, and leaves open what would pass
earn      `earning`: whether what is true is what was asked for
tell      the `Verdict`, with how each statement was read; `telling` puts it into words and pages
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from headwright.check.answer import OWN, Answer, MisfitError, MissingError, Unread, WrongKindError
from headwright.check.doubts import held, with_what_was_not_judged
from headwright.check.earning import earned
from headwright.check.exercise import Exercise, Keys
from headwright.check.hearing import Bench, heard
from headwright.check.judging import Judged, Setting, composed
from headwright.check.reading.discourse import Read
from headwright.check.reading.statements import read
from headwright.check.reading.things import Objects
from headwright.check.reading.written import Formula, Written
from headwright.check.scalars.numbers import TooLong, at_most_work
from headwright.check.settings.keys.court import KeysSetting, without_sets
from headwright.check.settings.keys.scene import UndeterminedError
from headwright.check.settings.matrices.deciding import MatricesSetting
from headwright.check.settings.tokens import TokensSetting
from headwright.check.sorting import of_formulas, read_answer
from headwright.check.verdict import Reading, Verdict
from headwright.errors import InputError
from headwright.formula import FormulaError
from headwright.formula.show import latex
from headwright.formula.tree import Node, Relation

__all__ = ["Formula", "Written", "check_answer"]


def check_answer(exercise: Exercise, given: Sequence[Formula] | Written, *, seed: int = 0) -> Verdict:
    r"""The verdict on an answer to an exercise: a text, or bare formulas; what is wrong with it is part of the verdict.

    The seed is that of the random instances on which a proof is looked at again.

    >>> from headwright.check.exercise import load_exercises
    >>> exercise = load_exercises()["averaging-two"]
    >>> check_answer(exercise, [Formula(r"q = \frac{1}{\sqrt 2}(k_a + k_b)", 1)]).word
    'refuted'
    >>> check_answer(exercise, Written(r"Take $q = \lambda (k_a + k_b)$ for a large $\lambda > 0$.")).threshold
    'lambda >= ln((n - 2)/epsilon), for n > 2'
    """
    names = (*exercise.parameters, *_indexed(exercise))
    try:
        as_read = read(given, names, _objects(exercise)) if isinstance(given, Written) else of_formulas(given, names)
    except MisfitError as error:
        return Verdict("unreadable", str(error.shown()))
    if not as_read.statements:
        return Verdict("unreadable", "no formula was found: write it between $ signs")
    verdict = _in_their_names(_checked(exercise, without_sets(as_read, exercise), seed))
    return verdict if verdict.read else replace(verdict, read=_readings(as_read, (), ()))


def _checked(exercise: Exercise, as_read: Read, seed: int) -> Verdict:
    answer = Answer()
    try:
        with at_most_work():
            setting = _setting(exercise)
            answer = read_answer(exercise, as_read, setting.gives)
            court = setting.opened(answer)
            judgements = held(exercise, heard(Bench(exercise, setting, seed, _setting), answer, court), answer, as_read)
            verdict = earned(exercise, answer, court, composed(judgements), judgements)
            if not any(variant.definitions != answer.definitions for variant in answer.variants if answer.by_cases):
                verdict = court.advised(verdict, judgements)
            verdict = with_what_was_not_judged(verdict, answer, as_read)
            return replace(verdict, read=_readings(as_read, judgements, answer.unread))
    except FormulaError as error:
        return Verdict("unreadable", str(error))
    except WrongKindError as error:
        verdict = Verdict("refuted", str(error.shown()), counterexample={"words": error.message})
        return with_what_was_not_judged(verdict, answer, as_read)
    except MissingError as error:
        return Verdict("no answer", f"{error.message}: {error.fix}")
    except MisfitError as error:
        return Verdict("unreadable", str(error.shown()))
    except (InputError, TooLong, UndeterminedError) as error:
        return Verdict("undecided", str(error))


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


def _indexed(exercise: Exercise) -> list[str]:
    """The names with an index, which people write ka and va too: R_tq is R_t q."""
    if exercise.keys is not None:
        return [f"{base}_{which}" for base in ("k", "v", *exercise.keys.also) for which in exercise.keys.named]
    return (
        [name for name in exercise.matrices.shapes if re.fullmatch("[A-Za-z]_[a-z]", name)] if exercise.matrices else []
    )


def _objects(exercise: Exercise) -> Objects:
    """What words of an answer may refer to."""
    keys, asked = exercise.keys, exercise.answer[0] if len(exercise.answer) == 1 else ""
    if keys is None:
        tokens = len(exercise.tokens.tokens) if exercise.tokens is not None else 0
        facts = exercise.matrices.facts if exercise.matrices is not None else {}
        matrices = exercise.matrices is not None
        output = exercise.about[0] if tokens and len(exercise.about) == 1 else ""
        changed = [(name, exercise.tokens.tokens[name]) for name in exercise.redefines] if exercise.tokens else []
        return Objects(
            tokens=tokens, asked=asked, pair=_pair(exercise), matrices=matrices, facts=facts, output=output,
            changed=changed[0] if len(changed) == 1 else ("", ""), hoped=exercise.hoped,
        )  # fmt: skip
    first, called = (keys.first.size, keys.first.set) if keys.first is not None else ("", "")
    queries = tuple(name for name in exercise.answer if name.startswith("q_")) or ("q",)
    nearly = keys.noise != "none"
    most = exercise.parameters["n"].at_most if "n" in exercise.parameters else None
    complete = most is not None and most == len(keys.named)
    noise = nearly and not keys.scales
    return Objects(
        keys.named, first, called, queries, 0, complete, asked, exercise.condition, nearly=nearly, noise=noise,
        scaled={scale.name: key for key, scale in keys.scales.items()}, even=frozenset(_even(keys)),
        separated=keys.are == "separated",
    )  # fmt: skip


def _even(keys: Keys) -> Iterator[str]:
    """The cases of a random length that have probability one half: above and below the mean, or one of two values."""
    for scale in keys.scales.values():
        if scale.normal is not None:
            signs = ("<", ">", r"\le", r"\ge", r"\leq", r"\geq")
            yield from (f"{scale.name}{sign}{scale.normal.mean}" for sign in signs)
        elif len(scale.one_of) == 2:
            yield from (f"{scale.name}={value}" for value in scale.one_of)


def _pair(exercise: Exercise) -> tuple[str, str] | None:
    """The two things of which is asked whether they differ."""
    if exercise.integers is not None and exercise.integers.different:
        rows, (one, other) = exercise.integers.rows, exercise.integers.different[0]
        return rf"\{rows}_{{{one}}}", rf"\{rows}_{{{other}}}"
    two = exercise.matrices is not None and len(exercise.about) == 2
    return (exercise.about[0], exercise.about[1]) if two else None


TOLD = ("reason", "counterexample", "threshold", "suggestion", "hint")


def _in_their_names(verdict: Verdict) -> Verdict:
    """Names of the answer's own, that the exercise has too, as they were written."""
    parts = tuple(
        replace(part, statement=_plainly(part.statement), reason=_plainly(part.reason),
                counterexample=_plainly(part.counterexample))
        for part in verdict.parts
    )  # fmt: skip
    curve = None if verdict.curve is None else replace(verdict.curve, words=_plainly(verdict.curve.words))
    return replace(verdict, parts=parts, curve=curve, **{one: _plainly(getattr(verdict, one)) for one in TOLD})


def _plainly(told: Any) -> Any:
    if isinstance(told, str):
        return told.replace(r"\_own", "").replace(OWN, "")
    return {_plainly(name): _plainly(value) for name, value in told.items()} if isinstance(told, Mapping) else told


def _readings(as_read: Read, judgements: Sequence[Judged], unread: Sequence[Unread]) -> tuple[Reading, ...]:
    """How each statement was read, and what became of it."""
    words: dict[int, list[str]] = {}
    for one in judgements:
        if one.claim.said is not None and one.claim.said.statement is not None:
            words.setdefault(one.claim.said.statement.number, []).append(one.part.word)
    nearly: dict[int, Node] = {}  # 'the output is $v_a$' in words, judged as what it tends to
    for one in judgements:
        said = one.claim.said.statement if one.claim.said is not None else None
        exact = said is not None and isinstance(said.node, Relation) and said.node.comparisons == ("=",)
        if said is not None and exact and one.link.comparisons == ("~",):
            nearly[said.number] = one.link
    why = {one.statement.number: one.why for one in unread}
    return tuple(
        Reading(
            statement.line,
            statement.role,
            latex(nearly.get(statement.number, statement.node)) if statement.node is not None else statement.text,
            tuple(latex(node) for node in statement.under),
            _worst(words.get(statement.number, [])),
            why.get(statement.number) or statement.why,
        )
        for statement in sorted((*as_read.statements, *as_read.beside), key=lambda one: one.line)
    )


def _worst(words: Sequence[str]) -> str:
    return next((word for word in ("refuted", "undecided", "holds", "proved") if word in words), "")
