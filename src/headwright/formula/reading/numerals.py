"""Numbers as they are written, and how large they may be."""

from __future__ import annotations

from fractions import Fraction

from headwright.formula.bounds import LARGEST_EXPONENT, MOST_DIGITS
from headwright.formula.errors import FormulaError
from headwright.formula.tree import Span


def check_size(text: str, source: str, span: Span) -> None:
    """Refuse a number that is too long or too large to be written out, before it is."""
    mantissa, _, exponent = text.lower().partition("e")
    digits = sum(c.isdigit() for c in mantissa)
    if digits > MOST_DIGITS:
        message = f"a number has {digits} digits, and at most {MOST_DIGITS} are read"
        raise FormulaError(message, source, span, fix="write it as a power, or round it")
    sizeable = len(exponent.lstrip("+-0")) <= 4 and abs(int(exponent or 0)) <= LARGEST_EXPONENT
    if not sizeable or not _leading(mantissa, int(exponent or 0)):
        message = f"a number is outside 1e-{LARGEST_EXPONENT} to 1e{LARGEST_EXPONENT}"
        raise FormulaError(message, source, span, fix="write it as a power, such as 10^{1000}")


def _leading(mantissa: str, exponent: int) -> bool:
    """Whether the first digit that is not 0 stands at a place between the bounds."""
    whole, _, part = mantissa.partition(".")
    digits = (whole + part).lstrip("0")
    place = len(digits) - 1 - len(part) + exponent
    return not digits or abs(place) <= LARGEST_EXPONENT


def value(text: str) -> Fraction:
    """The exact value of a number as written.

    >>> value("0.1"), value("1e-3")
    (Fraction(1, 10), Fraction(1, 1000))
    """
    return Fraction(text)
