"""Numbers, lists and comments in Rocq syntax."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from headwright.errors import InputError

SMALLEST = Fraction(-700)  # exponents below have no share worth a digit
SHORT = 10**20  # whole numbers from here on are written in hexadecimal digits, which are read in linear time


def z(number: int) -> str:
    """A whole number."""
    text = str(abs(number)) if abs(number) < SHORT else hex(abs(number))
    return text if number >= 0 else f"(-{text})"


def numbers(them: Iterable[int]) -> str:
    """A list of whole numbers."""
    return f"[{'; '.join(map(z, them))}]"


def table(rows: Iterable[Iterable[int]]) -> str:
    """A list of lists of whole numbers."""
    return "[" + ";\n   ".join(map(numbers, rows)) + "]"


def places(them: Iterable[int]) -> str:
    """A list of indices."""
    return "[" + "; ".join(f"{place}%nat" for place in them) + "]"


def ratio(number: Fraction) -> str:
    """A pair: numerator and denominator."""
    return f"({z(number.numerator)}, {z(number.denominator)})"


def comment(words: str) -> str:
    """Words that stand in a comment as they are: nothing in them may end it, open another or start a string."""
    if any(mark in words for mark in ("(*", "*)", '"')) or words.endswith("*") or not words.isprintable():
        raise InputError(f"the statement's words cannot stand in a comment of Rocq's: {words[:80]!r}")
    return f"(** {words} *)"


def whole(them: Sequence[Fraction]) -> tuple[int, list[int]]:
    """A common denominator, and the numerators over it."""
    common = math.lcm(1, *(number.denominator for number in them))
    return common, over(common, them)


def over(common: int, them: Iterable[Fraction]) -> list[int]:
    """The numerators over a common denominator that fits all."""
    return [number.numerator * (common // number.denominator) for number in them]


def rounded(scores: Sequence[Fraction], bits: int) -> list[Fraction]:
    """The pattern of these scores over 2^bits, summing to 1."""
    top, unit = max(scores), 2**bits
    weights = [math.exp(score - top) if score - top > SMALLEST else 0.0 for score in scores]
    total = Fraction(math.fsum(weights))
    counts = [int(Fraction(weight) / total * unit) for weight in weights]
    counts[weights.index(max(weights))] += unit - sum(counts)
    return [Fraction(count, unit) for count in counts]
