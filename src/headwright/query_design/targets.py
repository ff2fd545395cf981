"""Targets: what a head should attend to, as lower bounds on its pattern."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from headwright.argument_types import check_argument
from headwright.errors import InputError
from headwright.files import indices

Number = Fraction | float | int | str
MOST_DIGITS = 300  # certificates have room for 400; and 1e9999999999 would take all the memory there is
_FAR = re.compile(r"[eE][+-]?[0-9_]{4,}")


@dataclass(frozen=True)
class Targets:
    """alpha_a >= p_a for every target a. The numbers are exact: a float is read as the decimal it prints as.

    >>> copy(3, eps=0.01)
    Targets(least={3: Fraction(100, 101)})
    """

    least: dict[int, Fraction]

    def __post_init__(self) -> None:
        check_argument("least", self.least, Mapping[int, float])
        if not self.least:
            raise InputError("the targets have no target: expected at least one key")
        object.__setattr__(
            self,
            "least",
            dict(zip(indices(self.least, "targets"), self.least.values(), strict=True)),
        )
        for key, p in self.least.items():
            if key < 0:
                raise InputError(f"target {key}: expected an index from 0")
            if not 0 < p <= 1:
                raise InputError(
                    f"key {key} should get at least {float(p):g}: expected a weight above 0, at most 1"
                )

    @property
    def indices(self) -> list[int]:
        """The target keys in ascending order."""
        return sorted(self.least)

    def check_fits(self, n: int) -> None:
        """Refuse a target that is not about n keys, or asks for more than there is to give."""
        for key in self.indices:
            if key >= n:
                raise InputError(
                    f"target {key}, and there are {n} keys: expected 0 to {n - 1}"
                )
        total = sum(self.least.values())
        if total > 1 or (total == 1 and len(self.least) < n):
            raise InputError(
                f"the targets should get {float(total):g} in all: expected less than 1, "
                "since every other key keeps a little"
            )


def copy(key: int, eps: Number = Fraction(1, 100)) -> Targets:
    """Attend to one key: alpha_j >= 1/(1 + eps).

    >>> copy(0, eps="1e-30").least[0] < 1
    True
    """
    return average([key], eps)


def average(keys: Iterable[int], eps: Number = Fraction(1, 100)) -> Targets:
    """Attend evenly: alpha_a >= 1/(|S| + eps) for every a in S.

    >>> average([0, 2]).least
    {0: Fraction(100, 201), 2: Fraction(100, 201)}
    """
    targets = indices(keys, "targets")
    if len(set(targets)) < len(targets):
        raise InputError(f"targets {targets}: expected each key once", field="targets")
    slack = exact(eps, "eps")
    if slack <= 0:
        raise InputError(f"eps is {float(slack):g}: expected more than 0", field="eps")
    return Targets(dict.fromkeys(targets, 1 / (len(targets) + slack)))


def at_least(bounds: Mapping[int, Number]) -> Targets:
    """Any lower bounds: alpha_a >= p_a.

    >>> at_least({0: 0.6, 1: "1/4"}).least
    {0: Fraction(3, 5), 1: Fraction(1, 4)}
    """
    if not isinstance(bounds, Mapping):
        raise InputError(
            f"least weights {bounds!r}: expected a weight for each key, such as {{0: 0.6, 1: 0.3}}"
        )
    return Targets(
        {key: exact(p, f"the weight of key {key}") for key, p in bounds.items()}
    )


def exact(number: Number, what: str) -> Fraction:
    """The exact number that is meant: a float is read as the decimal it prints as.

    >>> exact(0.1, "eps")
    Fraction(1, 10)
    """
    text = str(number)
    if len(text) > MOST_DIGITS or _FAR.search(text):
        raise InputError(
            f"{what} is {text[:20]!r}...: expected a number of at most {MOST_DIGITS} digits",
            field=what,
        )
    try:
        meant = Fraction(text)
    except (ValueError, ZeroDivisionError) as error:
        raise InputError(
            f"{what} is {number!r}: expected a number", field=what
        ) from error
    if max(abs(meant.numerator), meant.denominator) > 10**MOST_DIGITS:
        raise InputError(
            f"{what} is {text[:20]!r}: expected a number of at most {MOST_DIGITS} digits on each side",
            field=what,
        )
    return meant
