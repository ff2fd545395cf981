"""What is known of one name: the interval it lives in, and whether it is an integer."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from headwright.errors import InputError

if TYPE_CHECKING:
    from headwright.check.scalars.scalar import Scalar


@dataclass(frozen=True)
class Range:
    """lower <= x <= upper; None: no bound on that side; open: the end itself is excluded.

    >>> Range(2, integer=True)
    Range(lower=Fraction(2, 1), upper=None, lower_open=False, upper_open=False, integer=True)
    >>> Range(0, 1, lower_open=True, upper_open=True).positive
    True
    """

    lower: Fraction | Scalar | int | None = None
    upper: Fraction | Scalar | int | None = None
    lower_open: bool = False
    upper_open: bool = False
    integer: bool = False

    def __post_init__(self) -> None:
        for end in ("lower", "upper"):
            value = getattr(self, end)
            if isinstance(value, int | Fraction):
                object.__setattr__(self, end, Fraction(value))
        if isinstance(self.lower, Fraction) and isinstance(self.upper, Fraction):
            empty = self.lower > self.upper or (self.lower == self.upper and (self.lower_open or self.upper_open))
            if empty:
                raise InputError(f"the range from {self.lower} to {self.upper} is empty, expected lower below upper")

    @property
    def positive(self) -> bool:
        """Whether all of it certainly lies above 0."""
        return isinstance(self.lower, Fraction) and (self.lower > 0 or (self.lower == 0 and self.lower_open))

    @property
    def numeric(self) -> Range:
        """The same without bounds that are formulas; the ends of integers are integers."""
        lower = self.lower if isinstance(self.lower, Fraction) else None
        upper = self.upper if isinstance(self.upper, Fraction) else None
        lower_open, upper_open = self.lower_open and lower is not None, self.upper_open and upper is not None
        if self.integer:
            if lower is not None:
                lower = Fraction(lower.__floor__() + 1 if lower_open else lower.__ceil__())
            if upper is not None:
                upper = Fraction(upper.__ceil__() - 1 if upper_open else upper.__floor__())
            lower_open = upper_open = False
        return Range(lower, upper, lower_open, upper_open, self.integer)

    def holds(self, other: Range) -> bool:
        """Whether everything in the other (numeric) range is in this (numeric) one."""
        if self.integer and not other.integer:
            return False
        if self.lower is not None:
            if other.lower is None or other.lower < self.lower:  # type: ignore[operator]
                return False
            if other.lower == self.lower and self.lower_open and not other.lower_open:
                return False
        if self.upper is not None:
            if other.upper is None or other.upper > self.upper:  # type: ignore[operator]
                return False
            if other.upper == self.upper and self.upper_open and not other.upper_open:
                return False
        return True


REAL = Range()
POSITIVE = Range(0, lower_open=True)
