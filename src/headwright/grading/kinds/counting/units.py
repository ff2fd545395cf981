"""Units as numbers: 1.5 GB is 1.5 times 10^9 bytes, 2 GiB are 2 times 2^30."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Literal

Quantity = Literal["parameters", "bytes", "FLOPs", "numbers", "ratio"]

_DECIMAL = {"k": 3, "K": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18, "Z": 21}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50}


def _prefixed(*bases: str) -> dict[str, Fraction]:
    units = {base: Fraction(1) for base in bases}
    for prefix, power in _DECIMAL.items():
        units |= {f"{prefix}{base}": Fraction(10**power) for base in bases}
    for prefix, power in _BINARY.items():
        units |= {f"{prefix}{base}": Fraction(2**power) for base in bases}
    return units


_COUNTED = {
    "thousand": Fraction(10**3),
    "million": Fraction(10**6),
    "billion": Fraction(10**9),
    "trillion": Fraction(10**12),
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
        units |= _prefixed("B", "bytes", "Bytes")
        units |= {unit: size / 8 for unit, size in _prefixed("bit", "bits").items()}
    if quantity == "FLOPs":
        units |= _prefixed("FLOPs", "FLOP", "FLOPS", "flops")
    if quantity in ("parameters", "numbers"):
        units |= _SHORT
    return units


def every_unit() -> frozenset[str]:
    """The units of all quantities."""
    quantities: tuple[Quantity, ...] = ("parameters", "bytes", "FLOPs", "numbers")
    return frozenset(unit for one in quantities for unit in units_of(one))


_UNIT = "|".join(sorted(map(re.escape, every_unit()), key=len, reverse=True))
_FORMULA = re.compile(r"(?<!\\)(\$\$?)((?:\\.|[^$\\])+)\1")
_BEHIND = re.compile(rf"((?:\s|~|\\[,; ])*)({_UNIT})(?![A-Za-z])")
_IN_TEXT = re.compile(
    rf"\\(?:text|textrm|mbox|mathrm|operatorname)\{{\s*({_UNIT})\s*([.,;]?)\s*\}}"
)
_BARE = re.compile(rf"(?<=\d)((?:\s|~|\\[,;: ])*)({_UNIT})(?![A-Za-z_^'])")
_SAYS = re.compile(r"=|≈|\\(?:approx|simeq|sim|cong)")
_PLAIN_WORDS = frozenset({"weights", "values", "entries", "elements", "times"})


def with_units_inside(text: str) -> str:
    """A text in which units are names in its formulas, those behind a formula too: '$M = 1.5$ GB'.

    >>> print(with_units_inside("So $M = 1.5$ GB in all."))
    So $M = 1.5 \\mathrm{GB}$ in all.
    """
    pieces: list[str] = []
    at = 0
    for match in _FORMULA.finditer(text):
        marks, formula = match.groups()
        pieces.append(text[at : match.start()])
        at = match.end()
        formula = _IN_TEXT.sub(r"\\mathrm{\1}\2", formula)
        formula = _BARE.sub(_named_bare, formula)
        behind = _BEHIND.match(text, at)
        if (
            behind is not None
            and _SAYS.search(formula)
            and behind[2] not in _PLAIN_WORDS
        ):
            formula = f"{formula} \\mathrm{{{behind[2]}}}"
            at = behind.end()
        pieces.append(f"{marks}{formula}{marks}")
    return "".join([*pieces, text[at:]])


def _named_bare(match: re.Match[str]) -> str:
    unit = match[2]
    return match[0] if len(unit) == 1 else f" \\mathrm{{{unit}}}"
