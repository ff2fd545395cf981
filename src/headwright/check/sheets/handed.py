"""What was handed in: an answer's formulas, the exercise they answer, and where they stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TypeVar

from headwright.check.reading.written import Formula, Written
from headwright.errors import InputError

Thing = TypeVar("Thing")


def find(given: str, known: Mapping[str, Thing]) -> Thing:
    """The exercise with this id, in whatever case it was written.

    >>> find("Copying", {"copying": 1})
    1
    >>> find("coping", {"copying": 1})
    Traceback (most recent call last):
    headwright.errors.InputError: no exercise coping; did you mean copying?
    """
    by_id = {name.lower(): name for name in known}
    wanted = given.strip().lower().replace("_", "-")
    if wanted in by_id:
        return known[by_id[wanted]]
    near = get_close_matches(wanted[:60], list(by_id), n=1, cutoff=0.6)
    hint = f"did you mean {by_id[near[0]]}?" if near else "'headwright exercises' lists them"
    raise InputError(f"no exercise {given[:60]}; {hint}")


@dataclass(frozen=True)
class Handed:
    """The formulas that answer one exercise; `line` is that of the heading, or of the first formula without one."""

    file: str
    line: int
    exercise_id: str
    formulas: tuple[Formula, ...]
    written: Written | None = None  # all of its text: what is judged, where it is given; else the formulas alone
    chosen: str = ""  # why it was taken for an answer to this exercise, where no id says so

    @property
    def place(self) -> str:
        """Where the answer stands, as editors read it."""
        return f"{self.file}:{self.line}"

    @property
    def text(self) -> str:
        """All its formulas, one below the other."""
        return "\n".join(formula.text for formula in self.formulas)


@dataclass(frozen=True)
class Complaint:
    """What cannot be used of a sheet, and how to mend it; `line` is 0 where it is about the whole file, or a folder."""

    file: str
    line: int
    sentence: str

    @property
    def place(self) -> str:
        """Where it stands, as editors read it."""
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True)
class Note(Complaint):
    """What a document holds and is not judged, and why: no error."""

    unjudged: bool = False  # it may well be an answer
