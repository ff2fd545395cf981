"""An assignment: one file for the page of a class, `check --class` and the autograder.

It says which exercises are set and for how many points, how much students are told,
what the page says of the deadline and of help, and where own exercises lie.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from headwright.errors import InputError
from headwright.grading.exercise import Exercise
from headwright.grading.report.text import Hints
from headwright.grading.sheets.sheet import find
from headwright.validation import sentence

MOST_BYTES = 100_000
Points = Annotated[float, Field(gt=0, le=10_000)]
Sentence = Annotated[str, Field(max_length=500)]


class Assignment(BaseModel):
    """What the file says; everything has a value if it is left out.

    >>> Assignment(exercises=("copying",), points={"energy": 5}).ids(["energy", "copying"])
    ['copying', 'energy']
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: Annotated[str, Field(max_length=200)] = "Check an answer"
    deadline: Sentence = ""  # as students read it, such as 'Friday, 18:00'
    help: Sentence = ""  # where students get help, as they read it
    exercises: Annotated[tuple[str, ...], Field(max_length=200)] = ()
    points: dict[str, Points] = {}  # an exercise that is set without points has 1
    formulas: Annotated[float, Field(ge=0, le=0.9)] = (
        0.25  # their share of the points; the rest is for the object
    )
    hints: Hints = "direction"  # the most that students are told
    solutions: bool = False  # whether the page shows solutions and examples
    folder: str | None = None  # of own exercises, relative to the file
    timeout: Annotated[float, Field(gt=0, le=300)] = 20.0  # seconds for one answer
    seed: Annotated[int, Field(ge=0)] = 0

    def ids(self, known: Collection[str]) -> list[str]:
        """The exercises that are set: those of the list, then those with points; all if there are none."""
        return list(dict.fromkeys((*self.exercises, *self.points))) or list(known)

    def worth(self, exercise: str) -> float:
        """The points of an exercise."""
        return self.points.get(exercise, 1.0)


def read_assignment(path: Path) -> Assignment:
    """The assignment in a TOML file."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(
                f"{path} is too large for an assignment: expected at most {MOST_BYTES} bytes"
            )
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not TOML: {error}") from None
    return parse_assignment(content, str(path))


def parse_assignment(content: Mapping[str, Any], name: str) -> Assignment:
    """An assignment from data; `name` is that of the file, for messages."""
    try:
        return Assignment.model_validate(content)
    except ValidationError as error:
        raise InputError(f"{name}: {sentence(error, Assignment)}") from None


def own_folder(assignment: Assignment, path: Path | None) -> Path | None:
    """The folder of own exercises, which lies beside the file of the assignment."""
    if assignment.folder is None:
        return None
    return (path.parent if path else Path()) / assignment.folder


def set_exercises(
    assignment: Assignment, known: Mapping[str, Exercise]
) -> list[Exercise]:
    """The exercises of an assignment; an unknown id is refused by name.

    >>> from headwright.grading.exercise import load_exercises
    >>> chosen = Assignment(exercises=("copying", "energy"))
    >>> [exercise.id for exercise in set_exercises(chosen, load_exercises())]
    ['copying', 'energy']
    """
    names = {name: name for name in known}
    ids = dict.fromkeys(find(name, names) for name in assignment.ids(known))
    return [known[name] for name in ids]


def with_known_ids(assignment: Assignment, known: Collection[str]) -> Assignment:
    """The same assignment with the ids of its exercises as these are spelt."""
    names = {name: name for name in known}
    ids = tuple(find(name, names) for name in assignment.exercises)
    points = {find(name, names): worth for name, worth in assignment.points.items()}
    return assignment.model_copy(update={"exercises": ids, "points": points})
