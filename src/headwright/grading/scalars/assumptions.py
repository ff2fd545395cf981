"""What is known of the names: a range for each, hypotheses, and plain numbers to try."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

from headwright.errors import InputError
from headwright.grading.scalars.forms import (
    Number,
    Parameter,
    Scalar,
    number,
    parameter,
)
from headwright.grading.scalars.numbers import REAL, Range

Comparison = Literal["=", "!=", "<", ">", "<=", ">="]
COMPARISONS: tuple[Comparison, ...] = ("=", "!=", "<", ">", "<=", ">=")
OPPOSITE: dict[Comparison, Comparison] = {
    "=": "!=",
    "!=": "=",
    "<": ">=",
    ">": "<=",
    "<=": ">",
    ">=": "<",
}
MIRRORED: dict[Comparison, Comparison] = {
    "=": "=",
    "!=": "!=",
    "<": ">",
    ">": "<",
    "<=": ">=",
    ">=": "<=",
}
SIGNS: dict[
    Comparison, tuple[int, ...]
] = {  # of left - right where the comparison holds
    "=": (0,),
    "!=": (-1, 1),
    "<": (-1,),
    ">": (1,),
    "<=": (-1, 0),
    ">=": (0, 1),
}
Hypothesis = tuple[Scalar, Comparison, Scalar]


def checked(comparison: str) -> Comparison:
    """The comparison, if it is one that is decided here."""
    for known in COMPARISONS:
        if comparison == known:
            return known
    raise InputError(
        f"the comparison is {comparison!r}, expected one of {' '.join(COMPARISONS)}"
    )


@dataclass(frozen=True)
class Where:
    """Ranges of names, and comparisons that may be relied on. A name without a range is any real number."""

    ranges: Mapping[str, Range] = field(default_factory=dict)
    hypotheses: tuple[Hypothesis, ...] = ()
    hints: tuple[
        Fraction, ...
    ] = ()  # further integers that are tried where a counterexample is sought

    def range(self, name: str) -> Range:
        """What is known of one name."""
        return self.ranges.get(name, REAL)

    def name(self, name: str) -> Scalar:
        """The name as a scalar that knows its range."""
        return parameter(name, self.range(name))

    def settled(self, value: Scalar | Number) -> Scalar:
        """The number with all its names knowing their ranges."""
        value = number(value)
        fresh: dict[str, Scalar] = {}
        for atom in value.atoms():
            if isinstance(atom, Parameter):
                declared = self.range(atom.name)
                if not atom.range.holds(declared):
                    raise InputError(
                        f"{atom.name} was used as {atom}, but is declared as {Parameter(atom.name, declared)}; "
                        "make scalars from names that promise no more than is declared"
                    )
                if atom.range != declared:
                    fresh[atom.name] = parameter(atom.name, declared)
        return value.put(fresh)

    def all_hypotheses(self) -> tuple[Hypothesis, ...]:
        """The hypotheses, with names that know their ranges."""
        return tuple(
            (self.settled(left), sign, self.settled(right))
            for left, sign, right in self.hypotheses
        )

    def tied(self) -> frozenset[str]:
        """The names that hypotheses speak of."""
        return frozenset().union(
            *(left.names() | right.names() for left, _, right in self.hypotheses)
        )

    def given(self, *hypotheses: tuple[Scalar | Number, str, Scalar | Number]) -> Where:
        """The same with more hypotheses."""
        more = tuple(
            (number(left), checked(comparison), number(right))
            for left, comparison, right in hypotheses
        )
        return replace(self, hypotheses=self.hypotheses + more)

    def put(self, values: Mapping[str, Scalar | Number]) -> Where:
        """The same once some names have become numbers: their ranges, and hypotheses about numbers alone, are gone."""
        ranges = {
            name: known for name, known in self.ranges.items() if name not in values
        }
        hypotheses = (
            (left.put(values), sign, right.put(values))
            for left, sign, right in self.hypotheses
        )
        return Where(
            ranges,
            tuple(one for one in hypotheses if one[0].names() | one[2].names()),
            self.hints,
        )


ANYTHING = Where()  # nothing is known of any name
WHOLE = (0, 1, 2, 3, 4, 6, 8, 10, 20, 50, 100, 1000, 10**6)
SHARES = tuple(
    Fraction(*pair)
    for pair in ((1, 2), (1, 10), (9, 10), (1, 100), (99, 100), (1, 1000), (1, 10**6))
)
STEPS = tuple(
    Fraction(*pair)
    for pair in (
        (1, 1),
        (2, 1),
        (1, 2),
        (3, 1),
        (1, 10),
        (10, 1),
        (100, 1),
        (1, 100),
        (1000, 1),
        (1, 10**6),
    )
)


def plain_numbers(known: Range) -> list[Fraction]:
    """Numbers to try, each certainly within the range."""
    low, high = known.lower, known.upper
    tried: list[Fraction | int]
    if known.integer and low is not None:
        tried = [low + step for step in range(5)]
        tried += [value for value in WHOLE if value > low + 4] + [
            low + value for value in WHOLE
        ]
    elif known.integer:
        tried = (
            [sign * value for value in WHOLE for sign in (1, -1)]
            if high is None
            else [high - x for x in WHOLE]
        )
    elif low is not None and high is not None:
        tried = [*(low + (high - low) * share for share in SHARES), low, high]
    elif low is not None:
        tried = [low, *(low + step for step in STEPS)]
    elif high is not None:
        tried = [high, *(high - step for step in STEPS)]
    else:
        tried = [0, *(sign * step for step in STEPS for sign in (1, -1))]
    return [
        Fraction(value)
        for value in dict.fromkeys(tried)
        if known.holds(Range(value, value, integer=known.integer))
    ]
