"""How many points a verdict earns: for the whole of an answer, or for its object, its claims and its argument apart.

object     every goal is proved for what the answer defines, whatever else it says
claims     and nothing that it says is false, and what was to be said is said
argument   and enough steps lead there

A share of the points may be given for what `holds` without a proof. Nothing is given by machine for an answer that
could not be read or not decided.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from headwright.check.exercise import Exercise
from headwright.check.verdict import Part, Verdict, Word, worst

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
    """The points that an exercise is worth in all.

    >>> most({"object": 2.0, "claims": 1.0})
    3.0
    """
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
