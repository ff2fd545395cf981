"""Numbers as docs/reference/certificate.md writes them: read exactly, and written in any of their spellings."""

from __future__ import annotations

import hashlib
import random
import struct
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import mpmath

Vector = list[Fraction]


@lru_cache(maxsize=200_000)
def number(text: str) -> Fraction:
    """Exactly what is written: 0.1 is 1/10, and 0x1.8p+1 is 3."""
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
    if not digits.startswith("0x"):
        return sign * Fraction(digits)
    if "/" in digits:
        top, bottom = digits.split("/")
        return sign * Fraction(int(top, 16), int(bottom, 16))
    whole, _, power = digits[2:].partition("p")
    before, _, after = whole.partition(".")
    return (
        sign
        * Fraction(int(before + after, 16), 16 ** len(after))
        * Fraction(2) ** int(power)
    )


def vector(texts: Sequence[str]) -> Vector:
    return [number(text) for text in texts]


def matrix(rows: Sequence[Sequence[str]]) -> list[Vector]:
    return [vector(row) for row in rows]


def as_float(x: Fraction) -> float:
    """The nearest float; beyond all floats, the largest."""
    try:
        return float(x)
    except OverflowError:
        return 1.7e308 if x > 0 else -1.7e308


@lru_cache(maxsize=200_000)
def floating(text: str) -> float:
    return as_float(number(text))


def is_float(x: Fraction) -> bool:
    try:
        return Fraction(float(x)) == x
    except OverflowError:
        return False


def real(x: Fraction) -> Any:
    """As an mpmath number of the working precision."""
    return mpmath.mpf(x.numerator) / x.denominator


def hexed(x: Fraction) -> str:
    """As a float where it is one, else as a hexadecimal ratio."""
    if is_float(x):
        return float(x).hex()
    return f"{'-' if x < 0 else ''}{abs(x.numerator):#x}/{x.denominator:#x}"


def spelled(x: Fraction, chance: random.Random) -> str:
    """The same number in one of its spellings, which may have a common factor above and below."""
    way = chance.randrange(5)
    if way == 0:
        return hexed(x)
    factor = chance.choice([1, 3, 7, 2**40, 3 * 2**60, 10**9 + 7])
    top, bottom = abs(x.numerator) * factor, x.denominator * factor
    sign = "-" if x < 0 else ""
    if way == 1 and max(len(str(top)), len(str(bottom))) <= 390:
        return f"{sign}{top}/{bottom}"
    if way == 2:
        places = next((k for k in range(380) if 10**k % x.denominator == 0), None)
        if places is not None and top < 10**380:
            digits = str(abs(x.numerator) * (10**places // x.denominator)).rjust(
                places + 1, "0"
            )
            if len(digits) - places <= 390:
                return sign + (
                    digits[:-places] + "." + digits[-places:] if places else digits
                )
    if way == 3 and is_float(x) and x != 0:  # 0x0.8p+1 for 1
        mantissa, power = abs(x), 0
        while mantissa >= 1:
            mantissa, power = mantissa / 2, power + 1
        while mantissa < Fraction(1, 2):
            mantissa, power = mantissa * 2, power - 1
        shifted = mantissa * 2**52
        if shifted.denominator == 1:
            return f"{sign}0x0.{int(shifted):013x}p{power:+d}"
    return f"{sign}{top:#x}/{bottom:#x}"


def digest(rows: Sequence[Sequence[str]]) -> str:
    """Of keys: SHA-256 of their numbers as little-endian float64, row after row."""
    floats = [_signed(text) for row in rows for text in row]
    return hashlib.sha256(struct.pack(f"<{len(floats)}d", *floats)).hexdigest()


def _signed(text: str) -> float:
    """A float with the sign of its spelling, so that -0 is kept."""
    value = floating(text)
    return -0.0 if value == 0 and text.startswith("-") else value
