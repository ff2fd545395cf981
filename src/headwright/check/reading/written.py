"""An answer as it was written: its text, words and formulas mixed, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Form = Literal["markdown", "latex", "plain"]
MOST_FORMULAS = 200  # of one answer


@dataclass(frozen=True)
class Formula:
    """A formula as it was written, and the line of its file (counted from 1).

    >>> Formula("q = k_a", 3).line
    3
    """

    text: str
    line: int


@dataclass(frozen=True)
class Written:
    r"""The text that answers one exercise, and the line of its file at which the text begins (counted from 1).

    >>> Written("Take $q = k_a$.", 3).lines
    1
    """

    text: str
    line: int = 1
    form: Form = "markdown"

    @property
    def lines(self) -> int:
        """How many lines it has."""
        return self.text.count("\n") + 1
