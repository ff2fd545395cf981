"""What was handed in: an answer's formulas, the exercise they answer, and where they stand."""

from __future__ import annotations

from dataclasses import dataclass

from headwright.check.answer import Formula


@dataclass(frozen=True)
class Handed:
    """The formulas that answer one exercise; `line` is that of the heading, or of the first formula without one.

    >>> Handed("sheet.md", 1, "copying", (Formula("q = k_j", 3),)).place
    'sheet.md:1'
    """

    file: str
    line: int
    exercise_id: str
    formulas: tuple[Formula, ...]

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
    """What cannot be used of a sheet, and how to mend it.

    >>> Complaint("sheet.md", 4, "a $ has no partner").place
    'sheet.md:4'
    """

    file: str
    line: int
    sentence: str

    @property
    def place(self) -> str:
        """Where it stands, as editors read it."""
        return f"{self.file}:{self.line}"
