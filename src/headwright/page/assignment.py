"""An assignment: which exercises a page offers, and how much it shows."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from headwright.check.catalogue import load_exercises
from headwright.errors import InputError

MOST_BYTES = 100_000


class Assignment(BaseModel):
    """The exercises of a page (all of them unless given), the hints that it may show, and its title.

    >>> Assignment(exercises=("averaging-two",)).hints
    'full'
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = Field("Check an answer", max_length=200)
    exercises: tuple[str, ...] = Field((), max_length=200)  # ids; none means all
    hints: Literal["none", "direction", "full"] = "full"  # the most that the page shows
    folder: str | None = None  # of one's own exercises, beside the file


def read_assignment(path: Path) -> Assignment:
    """An assignment from a TOML file; exercises that do not exist are refused by name."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{path} is too large for an assignment: expected at most {MOST_BYTES} bytes")
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not TOML: {error}") from None
    try:
        found = Assignment.model_validate(given, strict=False)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InputError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg'].lower()}") from None
    known = load_exercises(path.parent / found.folder if found.folder else None)
    for one in found.exercises:
        if one not in known:
            raise InputError(f"{path}: there is no exercise {one!r}: expected one of {', '.join(sorted(known))}")
    return found
