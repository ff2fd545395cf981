"""assignment.toml: which exercises a submission should answer, and for how many points."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from headwright.check.sheets.handed import find
from headwright.errors import InputError

MOST_POINTS = 10_000.0


class Assignment(BaseModel):
    """What the file says.

    >>> Assignment(points={"copying": 2}).timeout
    20.0
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    timeout: float = Field(20.0, gt=0, le=300)  # seconds for one answer
    seed: int = Field(0, ge=0)
    points: dict[str, float] = {}


def read_assignment(path: Path, known: Collection[str]) -> Assignment:
    """The assignment in a file, for the exercises with these ids."""
    try:
        found = Assignment.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path.name} cannot be read: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(f"{path.name}: {where}: {first['msg'].lower()}, given {first['input']!r}") from error
    return found.model_copy(update={"points": checked_points(found.points, known)})


def read_points(text: str, known: Collection[str]) -> dict[str, float]:
    """Points as given on the command line.

    >>> read_points("copying=2, energy", ["copying", "energy"])
    {'copying': 2.0, 'energy': 1.0}
    """
    points: dict[str, float] = {}
    for part in text.split(","):
        name, equals, worth = part.partition("=")
        try:
            points[name.strip()] = float(worth) if equals else 1.0
        except ValueError as error:
            raise InputError(f"--points {text!r}: expected exercises and points, such as copying=2,energy=5") from error
    return checked_points(points, known)


def checked_points(points: Mapping[str, float], known: Collection[str]) -> dict[str, float]:
    """The same points under the ids as the exercises spell them.

    >>> checked_points({"Copying": 2}, ["copying"])
    {'copying': 2.0}
    """
    ids = {name: name for name in known}
    for name, worth in points.items():
        if not 0 <= worth <= MOST_POINTS:  # refuses NaN as well
            raise InputError(f"{name} is worth {worth} points, expected 0 to {MOST_POINTS:g}")
    return {find(name, ids): float(worth) for name, worth in points.items()}
