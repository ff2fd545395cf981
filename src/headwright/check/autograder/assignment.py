"""assignment.toml: which exercises a submission should answer, for how many points, and what students are told.

Points are for the object (what was asked for) and for the formulas, separately:

object     all of them if every part of what was asked for is proved, else the share of the parts that are
formulas   the share of true ones among those that are true or false; a formula that does not count is left out

A right object earns its points whatever else is said. What is not decided earns nothing by machine: a person decides.
"""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from headwright.check.exercise import Exercise
from headwright.check.report.page import Classroom
from headwright.check.report.text import Hints
from headwright.check.sheets.sheet import find
from headwright.check.verdict import Verdict
from headwright.errors import InputError

MOST_POINTS = 10_000.0
Visibility = Literal["visible", "after_due_date", "after_published", "hidden"]


class Worth(BaseModel):
    """The points of an exercise."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    object: Annotated[float, Field(gt=0)]  # a right object is never worth nothing
    formulas: Annotated[float, Field(ge=0)] = 0.0

    @property
    def most(self) -> float:
        """Both together."""
        return self.object + self.formulas


class Assignment(BaseModel):
    """What the file says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    timeout: Annotated[float, Field(gt=0, le=300)] = 20.0  # seconds for one answer
    seed: Annotated[int, Field(ge=0)] = 0
    hints: Hints = "direction"  # what students are told at once
    after_deadline: Hints = "full"  # what they are told besides, once the deadline has passed
    visibility: Visibility = "visible"  # when students see results at all
    formulas: Annotated[float, Field(ge=0, le=0.9)] = 0.25  # their share where an exercise has one number of points
    points: dict[str, float | Worth] = {}

    def worth(self, exercise: str) -> Worth:
        """The points of an exercise; 1 where none are given.

        >>> Assignment(points={"copying": 4.0}).worth("copying")
        Worth(object=3.0, formulas=1.0)
        """
        points = self.points.get(exercise, 1.0)
        if isinstance(points, Worth):
            return points
        return Worth(object=points * (1 - self.formulas), formulas=points * self.formulas)


@dataclass(frozen=True)
class Award:
    """Points for the object or for the formulas; and why not all of them."""

    part: Literal["object", "formulas"]
    points: float
    most: float
    why: str = ""

    def __str__(self) -> str:
        """For the student."""
        return f"{self.part}: {self.points:.4g} of {self.most:g} points" + (f" ({self.why})" if self.why else "")


def awards(verdicts: Sequence[Verdict], worth: Worth) -> list[Award]:
    """What the answers to one exercise earn: each part with the worst of them, so that guessing does not pay.

    >>> from headwright.check.verdict import Asked, Formula
    >>> part, claim = Asked("q", "proved", 1, "q = k_a", ""), Formula(2, "1 = 2", "false", "claim", True)
    >>> verdict = Verdict("proved", "", (part,), (claim,))
    >>> [str(award) for award in awards([verdict], Worth(object=2, formulas=1))]
    ['object: 2 of 2 points', 'formulas: 0 of 1 points (1 of 1 is false)']
    """
    found = [(_object(verdict, worth.object), _formulas(verdict, worth.formulas)) for verdict in verdicts]
    given = [min(same, key=lambda award: award.points) for same in zip(*found, strict=True)]
    return [award for award in given if award.most]


def _object(verdict: Verdict, points: float) -> Award:
    parts = [one.word for one in verdict.asked if not one.optional] or [verdict.word]
    proved = len(parts) if verdict.word == "proved" else parts.count("proved")
    why = f"{proved} of {len(parts)} parts proved" if proved else f"it is {verdict.word}"
    return Award("object", points * proved / len(parts), points, why if proved < len(parts) else "")


def _formulas(verdict: Verdict, points: float) -> Award:
    false, right = len(verdict.false_formulas), verdict.word == "proved"
    true = sum(one.status == "true" and (right or one.role != "definition") for one in verdict.formulas)
    if not true + false:  # nothing but the object, or nothing
        return Award("formulas", points if right else 0.0, points, "" if right else "none was found true")
    why = f"{false} of {true + false} {'is' if false == 1 else 'are'} false" if false else ""
    return Award("formulas", points * true / (true + false), points, why)


def grades(room: Classroom, assignment: Assignment) -> str:
    """The points of a class as CSV, for object and formulas of each exercise; empty where a person has to decide."""
    heads = [f"{each} {part}" for each in room.exercises for part in ("object", "formulas")]
    lines = [["student", *heads, "total", "sentences to read"]]
    for one in room.students:
        cells, total = [], 0.0
        for exercise in room.exercises:
            verdicts = [each.verdict for each in one.answers if each.answer.exercise_id == exercise]
            points = [award.points for award in awards(verdicts, assignment.worth(exercise))] or [0.0, 0.0]
            undecided = one.word(exercise) == "undecided"  # a person enters the points
            cells += ["" if undecided else f"{points[0]:.4g}", f"{points[1]:.4g}"]
            total += sum(points)
        name = f"'{one.name}" if one.name[:1] in "=+-@" else one.name  # a spreadsheet would read a formula
        lines.append([name, *cells, f"{total:.4g}", str(one.to_read)])
    made = io.StringIO()
    csv.writer(made, lineterminator="\n").writerows(lines)
    return made.getvalue()


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
    return found.model_copy(update={"points": _checked_points(found.points, known)})


def read_points(text: str, known: Collection[str]) -> dict[str, float | Worth]:
    """Points as given on the command line.

    >>> read_points("copying=2, energy", ["copying", "energy"])
    {'copying': 2.0, 'energy': 1.0}
    """
    given = {name.strip(): worth for name, _, worth in (part.partition("=") for part in text.split(","))}
    try:
        points: dict[str, float | Worth] = {name: float(worth or 1) for name, worth in given.items()}
    except ValueError as error:
        raise InputError(f"--points {text!r}: expected exercises and points, such as copying=2,energy=5") from error
    return _checked_points(points, known)


def _checked_points(points: Mapping[str, float | Worth], known: Collection[str]) -> dict[str, float | Worth]:
    """The same points under the ids as the exercises spell them."""
    for name, worth in points.items():
        value = worth.most if isinstance(worth, Worth) else worth
        if not 0 < value <= MOST_POINTS:  # refuses NaN as well
            raise InputError(f"{name} is worth {value} points, expected more than 0 and at most {MOST_POINTS:g}")
    ids = {name: name for name in known}
    return {find(name, ids): worth for name, worth in points.items()}
