"""Words beside a number that scale it: 'percent', 'gigabytes'; with one a number is not the number alone."""

from __future__ import annotations

import re
from collections.abc import Collection

FORMULA = re.compile(r"(?<!\\)(\$\$?)((?:\\.|[^$\\])+)\1")
SAYS = re.compile(r"=|≈|\\(?:approx|simeq|sim|cong)")
WORD = re.compile(r"(?:\s|~)*([^\W\d_]{2,})")
LABEL = re.compile(r"(?:^|[\s(])in\s+([^\W\d_]+)(?:\s+of\s+[a-z]+)?\s*[:,]\s*$", re.I)
_SCALES = re.compile(
    r"(?:kilo|mega|giga|tera|peta|exa|kibi|mebi|gibi|tebi)\w*|\w*(?:bytes?|bits?|octets?|illions?|illiards?)"
    r"|percent|words?|dozens?|hundreds?|thousands?|\w+(?:th|ieth)s|[kmgt]i?[bo]",
    re.IGNORECASE,
)


def is_scale(word: str) -> bool:
    """Whether a word looks like one for a unit or a scale, known or not: gigaquads, percent, thirteenths.

    >>> is_scale("megawords"), is_scale("thirteenths"), is_scale("because")
    (True, True, False)
    """
    return _SCALES.fullmatch(word) is not None


def gives(formula: str, asked: Collection[str]) -> bool:
    """Whether a formula begins with a name that was asked for, and says what it is."""
    says = SAYS.search(formula)
    return says is not None and formula[: says.start()].strip(" \\{}") in asked


def with_scales_inside(text: str, asked: Collection[str]) -> str:
    """A text in which scales in words, beside what was asked for, are names: '$p = (50, 50)$ percent'.

    >>> print(with_scales_inside("In percent, $p = (50, 50)$.", ["p"]))
    In percent, $p = (50, 50) \\mathrm{percent}$.
    """
    pieces: list[str] = []
    at = 0
    for match in FORMULA.finditer(text):
        marks, formula = match.groups()
        before = text[at : match.start()]
        at = match.end()
        beside = [WORD.match(text, at), LABEL.search(before)]
        scales = [one[1] for one in beside if one is not None and is_scale(one[1])]
        if scales and gives(formula, asked):
            formula += rf" \mathrm{{{scales[0]}}}"
        pieces += [before, f"{marks}{formula}{marks}"]
    return "".join([*pieces, text[at:]])
