"""An assignment: which exercises a page offers, and how much it shows."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from headwright.errors import InputError
from headwright.grading.exercise import Exercise, load_exercises
from headwright.grading.sheets.sheet import find
from headwright.validation import sentence

MOST_BYTES = 100_000


class Assignment(BaseModel):
    """The exercises of a page (all of them unless given), the hints and solutions that it shows, and its title.

    >>> Assignment(exercises=("averaging-two",)).hints
    'full'
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = Field("Check an answer", max_length=200)
    exercises: tuple[str, ...] = Field((), max_length=200)  # ids; none means all
    hints: Literal["none", "direction", "full"] = "full"  # the most that the page shows
    solutions: bool = False  # whether each exercise shows its right samples, and the page its examples
    folder: str | None = None  # of one's own exercises, relative to the file


def read_assignment(path: Path) -> Assignment:
    """An assignment from a TOML file."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(
                f"{path} is too large for an assignment: expected at most {MOST_BYTES} bytes"
            )
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not TOML: {error}") from None
    try:
        found = Assignment.model_validate(given, strict=False)
    except ValidationError as error:
        raise InputError(f"{path}: {sentence(error, Assignment)}") from None
    return found


def exercises(assignment: Assignment, beside: Path) -> list[Exercise]:
    """The exercises of an assignment, whose own folder lies beside its file; an unknown id is refused by name.

    >>> [one.id for one in exercises(Assignment(exercises=("copying", "energy")), Path())]
    ['copying', 'energy']
    """
    known = load_exercises(beside / assignment.folder if assignment.folder else None)
    names = {name: name for name in known}
    return [known[find(one, names)] for one in assignment.exercises or known]
