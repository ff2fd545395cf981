"""Units as numbers: 1.5 GB is 1.5 times 10^9 bytes, 2 GiB are 2 times 2^30."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Literal

from headwright.grading.exact_arrays.scales import (
    FORMULA,
    LABEL,
    SAYS,
    WORD,
    gives,
    is_scale,
)
from headwright.grading.wording import word_list

Quantity = Literal["parameters", "bytes", "FLOPs", "numbers", "ratio"]

_DECIMAL = {"k": 3, "K": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18, "Z": 21}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50}

_DECIMAL_WORDS = {"kilo": 3, "mega": 6, "giga": 9, "tera": 12, "peta": 15, "exa": 18}
_BINARY_WORDS = {"kibi": 10, "mebi": 20, "gibi": 30, "tebi": 40, "pebi": 50}

# Words that lead on behind a number, and are no unit of it.
_LEADING = """
about according after against although altogether approximately around before but can can't compared
could counting due e.g. exactly excluding how however ignoring including instead into its just minus
must my namely our over overall per plus rather roughly rounded see sum though too total under until
using versus via was well were which while who whose would und weil da also denn donc car et parce
"""
LEADING = frozenset(_LEADING.split())


def _prefixed(*bases: str) -> dict[str, Fraction]:
    units = {base: Fraction(1) for base in bases}
    for prefix, power in _DECIMAL.items():
        units |= {f"{prefix}{base}": Fraction(10**power) for base in bases}
    for prefix, power in _BINARY.items():
        units |= {f"{prefix}{base}": Fraction(2**power) for base in bases}
    return units


def _prefixed_in_words(*bases: str) -> dict[str, Fraction]:
    """Units with a prefix that is written out, small or capital: gigabytes, Kibibyte."""
    sizes = {word: Fraction(10**power) for word, power in _DECIMAL_WORDS.items()}
    sizes |= {word: Fraction(2**power) for word, power in _BINARY_WORDS.items()}
    units: dict[str, Fraction] = {}
    for prefix, size in sizes.items():
        for base in bases:
            units[f"{prefix}{base}"] = units[f"{prefix.capitalize()}{base}"] = size
    return units


_COUNTED = {
    "thousand": Fraction(10**3),
    "thousands": Fraction(10**3),
    "million": Fraction(10**6),
    "millions": Fraction(10**6),
    "Millionen": Fraction(10**6),
    "billion": Fraction(10**9),
    "billions": Fraction(10**9),
    "bn": Fraction(10**9),
    "milliard": Fraction(10**9),
    "milliards": Fraction(10**9),
    "Milliarde": Fraction(10**9),
    "Milliarden": Fraction(10**9),
    "Mrd": Fraction(10**9),
    "trillion": Fraction(10**12),
    "trillions": Fraction(10**12),
    "mega": Fraction(10**6),
    "giga": Fraction(10**9),
}
_SHORT = {
    "K": Fraction(10**3),
    "M": Fraction(10**6),
    "B": Fraction(10**9),
}
_WORDS: Mapping[Quantity, tuple[str, ...]] = {
    "parameters": ("parameters", "parameter", "params", "weights"),
    "bytes": ("bytes", "byte"),
    "FLOPs": ("FLOPs", "FLOP", "FLOPS", "flops", "flop"),
    "numbers": ("numbers", "values", "entries", "elements", "floats"),
    "ratio": ("times",),
}


def units_of(quantity: Quantity) -> dict[str, Fraction]:
    """The units of a quantity, each as a multiple of the basic one.

    >>> units_of("bytes")["GiB"] == 2**30
    True
    """
    units = {word: Fraction(1) for word in _WORDS[quantity]} | _COUNTED
    if quantity == "bytes":
        units |= _prefixed("B", "bytes", "Bytes", "Byte")
        units |= _prefixed_in_words("byte", "bytes", "octet", "octets")
        bits = _prefixed("bit", "bits") | _prefixed_in_words("bit", "bits")
        units |= {unit: size / 8 for unit, size in bits.items()}
    if quantity == "FLOPs":
        units |= _prefixed("FLOPs", "FLOP", "FLOPS", "flops")
        units |= _prefixed_in_words("FLOPs", "FLOP", "flops", "flop")
    if quantity == "ratio":
        units["percent"] = Fraction(1, 100)
    if quantity in ("parameters", "numbers"):
        units |= _SHORT
    return units


def every_unit() -> frozenset[str]:
    """The units of all quantities."""
    quantities: tuple[Quantity, ...] = (
        "parameters",
        "bytes",
        "FLOPs",
        "numbers",
        "ratio",
    )
    return frozenset(unit for one in quantities for unit in units_of(one))


_UNIT = "|".join(sorted(map(re.escape, every_unit()), key=len, reverse=True))
_BEHIND = re.compile(rf"((?:\s|~|\\[,; ])*)({_UNIT})(?![A-Za-z])")
_IN_TEXT = re.compile(
    rf"\\(?:text|textrm|mbox|mathrm|operatorname)\{{\s*({_UNIT})\s*([.,;]?)\s*\}}"
)
_BARE = re.compile(rf"(?<=\d)((?:\s|~|\\[,;: ])*)({_UNIT})(?![A-Za-z_^'])")
_PLAIN_WORDS = frozenset({"weights", "values", "entries", "elements", "times"})
_ENDS_IN_NUMBER = re.compile(r"(?:\d|\d\s*\}|\d\s*\))\s*$")
_NO_UNITS = frozenset({"total", "all", "sum", "short", "general", "summary", "fact"})


def with_units_inside(text: str, asked: Collection[str] = ()) -> str:
    """A text in which units are names in its formulas, those beside a formula too: '$M = 1.5$ GB'.

    Beside what was asked for, a word that may be a unit becomes a name of which nobody says what it is.

    >>> print(with_units_inside("So $M = 1.5$ GB in all."))
    So $M = 1.5 \\mathrm{GB}$ in all.
    >>> print(with_units_inside("In GB: $M = 1.5$.", ["M"]))
    In GB: $M = 1.5 \\mathrm{GB}$.
    >>> print(with_units_inside("So $M = 1.5$ furlongs.", ["M"]))
    So $M = 1.5 \\mathrm{furlongs}$.
    """
    pieces: list[str] = []
    at = 0
    for match in FORMULA.finditer(text):
        marks, formula = match.groups()
        before = text[at : match.start()]
        pieces.append(before)
        at = match.end()
        formula = _IN_TEXT.sub(r"\\mathrm{\1}\2", formula)
        formula = _BARE.sub(_named_bare, formula)
        is_asked = gives(formula, asked)
        is_number = _ENDS_IN_NUMBER.search(formula) is not None
        units, at = _units_behind(text, at) if SAYS.search(formula) else ([], at)
        unknown = WORD.match(text, at) if is_asked else None
        if unknown is not None and _may_be_unit(unknown[1], is_number and not units):
            units.append(unknown[1])
            at = unknown.end()
        label = LABEL.search(before) if is_asked and is_number and not units else None
        if label is not None and label[1].lower() not in _NO_UNITS:
            units.append(label[1])
        formula += "".join(rf" \mathrm{{{unit}}}" for unit in units)
        pieces.append(f"{marks}{formula}{marks}")
    return "".join([*pieces, text[at:]])


def _units_behind(text: str, at: int) -> tuple[list[str], int]:
    """The units that follow one another: 'thousand million'; and where they end."""
    units: list[str] = []
    while (found := _BEHIND.match(text, at)) and found[2] not in _PLAIN_WORDS:
        units.append(found[2])
        at = found.end()
    return units, at


def _may_be_unit(word: str, is_number: bool) -> bool:
    """Whether a word behind a formula may be a unit; behind a number any word that leads nowhere else is one."""
    if word in _PLAIN_WORDS:
        return False
    if is_scale(word):
        return True
    known = LEADING.union(*word_list().values())
    return is_number and word.lower() not in known


def _named_bare(match: re.Match[str]) -> str:
    unit = match[2]
    return match[0] if len(unit) == 1 else f" \\mathrm{{{unit}}}"
