"""An answer sheet as data: its answers, and what of it could not be used or matched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TypeVar

from headwright.errors import InputError
from headwright.grading.markdown import Written
from headwright.grading.verdict import Verdict

Thing = TypeVar("Thing")


@dataclass(frozen=True)
class Problem:
    """What cannot be used or matched, and how to mend it; `line` is 0 where it is about a whole file or folder."""

    file: str
    line: int
    sentence: str

    @property
    def place(self) -> str:
        """Where it stands, as editors read it."""
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True)
class AnswerText:
    """The text that answers one exercise; `line` is that of its heading or mark."""

    file: str
    line: int
    exercise_id: str
    written: Written
    chosen: str = (
        ""  # why it was taken for an answer to this exercise, where no id says so
    )

    @property
    def place(self) -> str:
        """Where the answer stands, as editors read it."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Checked:
    """An answer, the verdict on it, the seconds it took, and whether the check failed: an internal error."""

    answer: AnswerText
    verdict: Verdict
    seconds: float = 0.0
    failed: bool = False


@dataclass(frozen=True)
class Sheet:
    """What was found in a file; `notes` are sections that no exercise was found for, and files that were not read."""

    file: str
    answers: tuple[AnswerText, ...]
    problems: tuple[Problem, ...] = ()
    notes: tuple[Problem, ...] = ()


def find(given: str, known: Mapping[str, Thing]) -> Thing:
    """The exercise with this id, in whatever case it was written."""
    by_id = {name.lower(): name for name in known}
    wanted = given.strip().lower().replace("_", "-")
    if wanted in by_id:
        return known[by_id[wanted]]
    near = get_close_matches(wanted[:60], list(by_id), n=1, cutoff=0.6)
    hint = (
        f"did you mean {by_id[near[0]]}?"
        if near
        else "'headwright exercises' lists them"
    )
    raise InputError(f"no exercise {given[:60]}; {hint}")
