"""assignment.toml: which exercises a submission should answer, for how many points, and what students are told.

Points are for the whole of an answer, or for its parts:

object     every goal is proved for what the answer defines, whatever else it says
claims     and nothing that it says is false, and what was to be said is said
argument   and enough steps lead there

A share of the points may be given for what `holds` without a proof. Nothing is given by machine for an answer that
could not be read or not decided.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from headwright.check.exercise import Exercise
from headwright.check.sheets.handed import find
from headwright.check.telling.told import Hints
from headwright.check.verdict import Part, Verdict, Word, worst
from headwright.errors import InputError

PartOfAnswer = Literal["object", "claims", "argument"]
Counted = PartOfAnswer | Literal["whole"]
Worth = float | Mapping[PartOfAnswer, float]  # of an exercise: as a whole, or part by part
PARTS: tuple[PartOfAnswer, ...] = ("object", "claims", "argument")
WHOLE: Literal["whole"] = "whole"


@dataclass(frozen=True)
class Award:
    """Points for one part of an answer, or for the whole of it; and why not all of them.

    >>> str(Award("object", 1.0, 2.0, "it holds, without a proof"))
    'object: 1 of 2 points (it holds, without a proof)'
    """

    part: Counted
    points: float
    most: float
    why: str = ""

    def __str__(self) -> str:
        """For the student."""
        name = "" if self.part == WHOLE else f"{self.part}: "
        return f"{name}{self.points:g} of {self.most:g} points" + (f" ({self.why})" if self.why else "")


def parts_of(exercise: Exercise, least_steps: int = 0) -> tuple[PartOfAnswer, ...]:
    """The parts that an answer to this exercise has.

    >>> from headwright.check.exercise import load_exercises
    >>> known = load_exercises()
    >>> parts_of(known["averaging-two"]), parts_of(known["energy"])
    (('object', 'claims'), ('claims', 'argument'))
    """
    has = {"object": bool(exercise.goals), "claims": True, "argument": bool(exercise.derive) or least_steps > 0}
    return tuple(part for part in PARTS if has[part])


def most(worth: Worth) -> float:
    """The points that an exercise is worth in all."""
    return float(sum(worth.values())) if isinstance(worth, Mapping) else float(worth)


def awards(verdicts: Sequence[Verdict], worth: Worth, *, holds: float = 0.0, least_steps: int = 0) -> list[Award]:
    """What the answers to one exercise earn: each part with the worst of them, so that guessing does not pay.

    >>> goal, claim = Part("a", "goal", "proved", ""), Part("b", "statement", "refuted", "")
    >>> [str(award) for award in awards([Verdict("refuted", "", (goal, claim))], {"object": 2.0, "claims": 1.0})]
    ['object: 2 of 2 points', 'claims: 0 of 1 points (something that is said is false)']
    """
    wanted: Mapping[Counted, float]
    wanted = {name: worth[name] for name in PARTS if name in worth} if isinstance(worth, Mapping) else {WHOLE: worth}
    found = [list(_awards(verdict, wanted, holds, least_steps)) for verdict in verdicts]
    return [min(same, key=lambda award: award.points) for same in zip(*found, strict=True)]


def _awards(verdict: Verdict, wanted: Mapping[Counted, float], holds: float, least_steps: int) -> Iterator[Award]:
    for part, points in wanted.items():
        word, why = _object(verdict) if part == "object" else _all(verdict)
        steps = _steps(verdict.parts)
        if part in ("argument", WHOLE) and word in ("proved", "holds") and steps < least_steps:
            word, why = "no answer", f"{steps} steps were found, and at least {least_steps} are asked for"
        share = 1.0 if word == "proved" else holds if word == "holds" else 0.0
        yield Award(part, share * points, points, why if share < 1 else "")


def _object(verdict: Verdict) -> tuple[Word, str]:
    """The word on the goals alone; a false claim does not spoil the object."""
    goals = [part.word for part in verdict.parts if part.role == "goal"]
    if verdict.word in ("unreadable", "undecided") or not goals:
        return _all(verdict) if verdict.word != "proved" else ("no answer", "nothing was judged")
    word = worst(goals)
    return word, {"refuted": "a goal is not met", "holds": "it holds, without a proof"}.get(word, "")


def _all(verdict: Verdict) -> tuple[Word, str]:
    false = any(part.word == "refuted" and part.role != "goal" for part in verdict.parts)
    said = {
        "proved": "",
        "holds": "it holds, without a proof",
        "no answer": "what was asked for is missing",
        "refuted": "something that is said is false" if false else "a goal is not met",
        "unreadable": "it could not be read",
        "undecided": "it was not decided",
    }
    return verdict.word, said[verdict.word]


def _steps(parts: Sequence[Part]) -> int:
    """Different statements of the answer's own; one that is said twice counts once."""
    return len({part.statement for part in parts if part.role in ("step", "statement") and part.word == "proved"})


MOST_POINTS = 10_000.0
Visibility = Literal["visible", "after_due_date", "after_published", "hidden"]


class Assignment(BaseModel):
    """What the file says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    timeout: Annotated[float, Field(gt=0, le=300)] = 20.0  # seconds for one answer
    seed: Annotated[int, Field(ge=0)] = 0
    hints: Hints = "direction"  # what students are told at once
    after_deadline: Hints = "full"  # what they are told besides, once the deadline has passed
    visibility: Visibility = "visible"  # when students see results at all
    holds: Annotated[float, Field(ge=0, le=1)] = 0.0  # the share of the points for what holds without a proof
    points: dict[str, float | dict[PartOfAnswer, float]] = {}
    least_steps: dict[str, int] = {}  # of an argument, by exercise


def read_assignment(path: Path, known: Mapping[str, Exercise]) -> Assignment:
    """The assignment in a file, for these exercises."""
    try:
        found = Assignment.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path.name} cannot be read: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(f"{path.name}: {where}: {first['msg'].lower()}, given {first['input']!r}") from error
    points, steps = checked_points(found.points, known), _checked_steps(found.least_steps, known)
    for name, worth in points.items():
        there = parts_of(known[name], steps.get(name, 0))
        strange = sorted(set(worth) - set(there)) if isinstance(worth, Mapping) else []
        if strange:
            raise InputError(f"{name} has no part {strange[0]}, expected {' and '.join(there)}")
    return found.model_copy(update={"points": points, "least_steps": steps})


def read_points(text: str, known: Collection[str]) -> dict[str, Worth]:
    """Points as given on the command line.

    >>> read_points("copying=2, energy", ["copying", "energy"])
    {'copying': 2.0, 'energy': 1.0}
    """
    points: dict[str, Worth] = {}
    for part in text.split(","):
        name, equals, worth = part.partition("=")
        try:
            points[name.strip()] = float(worth) if equals else 1.0
        except ValueError as error:
            raise InputError(f"--points {text!r}: expected exercises and points, such as copying=2,energy=5") from error
    return checked_points(points, known)


def checked_points(points: Mapping[str, Worth], known: Collection[str]) -> dict[str, Worth]:
    """The same points under the ids as the exercises spell them.

    >>> checked_points({"Copying": 2.0}, ["copying"])
    {'copying': 2.0}
    """
    ids = {name: name for name in known}
    for name, worth in points.items():
        each = list(worth.values()) if isinstance(worth, Mapping) else [worth]
        for value in [*each, most(worth)]:
            if not 0 <= value <= MOST_POINTS:  # refuses NaN as well
                raise InputError(f"{name} is worth {value} points, expected 0 to {MOST_POINTS:g}")
    return {find(name, ids): worth for name, worth in points.items()}


def _checked_steps(steps: Mapping[str, int], known: Collection[str]) -> dict[str, int]:
    ids = {name: name for name in known}
    for name, least in steps.items():
        if least < 0:
            raise InputError(f"least_steps.{name} is {least}, expected 0 or more")
    return {find(name, ids): least for name, least in steps.items()}
