"""Finished parts of a long run, in files of a folder: a part is the results for some groups with one goal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from headwright.errors import InputError
from headwright.files import write_whole
from headwright.text_bounds.induction.groups import InductionGoal, TextGroup
from headwright.text_bounds.induction.results import GroupResult
from headwright.text_bounds.induction.statement import DECIMAL


@dataclass(frozen=True)
class PartQuestion:
    """The question that a part of a run answers: groups of texts of one length, and one goal for all of them."""

    groups: Sequence[TextGroup]
    goal: InductionGoal
    length: int
    tokens: int
    opening: int | None

    def why_not(self, results: Sequence[GroupResult]) -> str | None:
        """Why these results are no answer to it; None if they are one: each group once, with a text that lies in it."""
        groups = [result.group for result in results]
        if groups != list(self.groups) or not all(map(_has_numbers, groups)):
            return "holds other groups than were asked about"
        for result in results:
            reason = self._why_not_one(result)
            if reason is not None:
                return reason
        return None

    def _why_not_one(self, result: GroupResult) -> str | None:
        if result.head != self.goal.head:
            return f"is about head {result.head}, and head {self.goal.head} was asked about"
        if not self._holds_text(result):
            group = f"({result.a}, {result.b}, {result.c}, {result.j})"
            return (
                f"has the text {list(result.text)}, which is none of the group {group}"
            )
        if result.least is not None and not self._is_above_target(result.least):
            return f"claims a bound of {result.least!r}, and more than {self.goal.target:g} was asked about"
        return None

    def _holds_text(self, result: GroupResult) -> bool:
        """Whether each place holds one of the tokens that the group lets stand there."""
        allowed = result.group.allowed(self.length, self.tokens, self.opening)
        if len(result.text) != self.length:
            return False
        return all(
            type(token) is int and token in tokens
            for token, tokens in zip(result.text, allowed, strict=True)
        )

    def _is_above_target(self, least: object) -> bool:
        """Whether it is a decimal above what makes a group proved."""
        if not isinstance(least, str) or DECIMAL.fullmatch(least) is None:
            return False
        return float(least) > self.goal.target


def _has_numbers(group: TextGroup) -> bool:
    """True, too, equals 1: it is no token."""
    return all(type(number) is int for number in (group.a, group.b, group.j))


@dataclass(frozen=True, eq=False)
class GroupPartStore:
    """Finished parts, in files of a folder: `resume` takes those that are there; without a folder none are written."""

    folder: Path | None = None
    resume: bool = False
    used: list[Path] = field(default_factory=list)

    def get(self, name: str, question: PartQuestion) -> list[GroupResult] | None:
        """The part of that name; None if it is not there, or was not written to its end.

        A part that answers another question is refused: what was proved would not be what was asked.
        """
        if self.folder is None or not self.resume:
            return None
        path = self.folder / f"{name}.json"
        try:
            rows = json.loads(path.read_text())
            results = [
                GroupResult(**(row | {"text": tuple(row["text"])})) for row in rows
            ]
        except (OSError, ValueError, TypeError, KeyError):
            return None  # it will be done again
        reason = question.why_not(results)
        if reason is not None:
            raise InputError(
                f"{path}: this part of an interrupted run {reason}; delete the file and run again"
            )
        self.used.append(path)
        return results

    def put(self, name: str, results: Sequence[GroupResult]) -> None:
        """Keep a part, whole or not at all: where there is no room, it would be done again after a kill."""
        if self.folder is None:
            return
        path = self.folder / f"{name}.json"
        content = json.dumps([asdict(result) for result in results])
        with suppress(OSError, InputError):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(path, content.encode())
            self.used.append(path)

    def clear(self) -> None:
        """Remove the files: all is done."""
        for path in self.used:
            path.unlink(missing_ok=True)
