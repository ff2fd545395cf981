"""assignment.toml: which exercises a submission should answer, for how many points, and what students are told."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from headwright.check.autograder.points import PartOfAnswer, Worth, most, parts_of
from headwright.check.exercise import Exercise
from headwright.check.sheets.handed import find
from headwright.check.telling.hints import Hints
from headwright.errors import InputError

MOST_POINTS = 10_000.0
Visibility = Literal["visible", "after_due_date", "after_published", "hidden"]


class Assignment(BaseModel):
    """What the file says.

    >>> Assignment(points={"copying": 2}).hints
    'direction'
    """

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
