"""The verdict on an answer: what was asked for part by part, every formula, and the sentences to read.

An asked-for part is `proved`, `refuted` (with the smallest counterexample found), `undecided`, or `missing` (no formula
has the asked-for name or shape). An answer is refuted if a part is, proved if all are, missing if all are, and
undecided otherwise; optional parts do not count.

A formula is `true`, `false` (with a counterexample), `open`, or `quoted` (mentioned, not asserted). Words are never
judged: sentences with words beyond connectives are listed to read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from numbers import Integral, Real
from typing import Any, Literal, get_args

from headwright.errors import InputError
from headwright.formulas import FormulaError, parse
from headwright.formulas.show import plain
from headwright.notebook import card

Word = Literal["proved", "refuted", "undecided", "missing"]
Status = Literal["true", "false", "open", "quoted"]
WORST_FIRST: tuple[Word, ...] = ("refuted", "missing", "undecided", "proved")


def readable(formula: str) -> str:
    """A formula in plain spelling."""
    try:
        return plain(parse(formula))
    except FormulaError:  # it is shown as it was written
        return " ".join(formula.split())


@dataclass(frozen=True)
class AskedPart:
    """One part of what the exercise asks for, and the formula that answers it."""

    part: (
        str  # what was asked for, as a name or formula: 'q', 'condition', 'derivation'
    )
    word: Word
    line: int  # of the formula that answers it; 0 where there is none
    latex: str  # that formula, with the conditions it stands under
    reason: str
    counterexample: Mapping[str, Any] | None = None
    optional: bool = False  # a follow-up: where it is missing, the verdict stays


@dataclass(frozen=True)
class Formula:
    """One formula of an answer, as it stands, under the conditions it stands in."""

    line: int
    latex: str
    status: Status
    role: str  # definition, claim, condition, step, unread
    counts: bool  # whether a false one decides the exit code
    reason: str = ""
    counterexample: Mapping[str, Any] | None = None
    used: str = ""  # what proved it


@dataclass(frozen=True)
class ToRead:
    """A sentence with words that a person has to read."""

    line: int
    text: str


@dataclass(frozen=True)
class Curve:
    """How an answer does as one parameter grows."""

    parameter: str
    values: tuple[float, ...]
    series: Mapping[str, tuple[float, ...]]
    levels: Mapping[str, float]  # horizontal lines: what was wanted
    words: str = ""  # a sentence under the picture


@dataclass(frozen=True)
class Verdict:
    """The verdict on one answer."""

    word: Word
    reason: str
    asked: tuple[AskedPart, ...] = ()
    formulas: tuple[Formula, ...] = ()
    to_read: tuple[ToRead, ...] = ()
    threshold: str | None = None  # 'lambda >= ln((n - 2)/epsilon)'
    suggestion: str | None = None  # what a teacher would add
    hint: str | None = None  # what kind of thing is wrong, without the remedy
    curve: Curve | None = None

    @property
    def counterexample(self) -> Mapping[str, Any] | None:
        """That of the first refuted part."""
        return next(
            (
                one.counterexample
                for one in self.asked
                if one.word == "refuted" and not one.optional
            ),
            None,
        )

    @property
    def false_formulas(self) -> tuple[Formula, ...]:
        """The false formulas that decide the exit code."""
        return tuple(
            one for one in self.formulas if one.status == "false" and one.counts
        )

    def _repr_html_(self) -> str:
        """For notebooks: the word, the reason, and what was found of each part."""
        sides = {"left": "left side", "right": "right side"}
        values = [
            pair for pair in (self.counterexample or {}).items() if pair[0] != "weights"
        ]
        against = ", ".join(
            f"{sides.get(name, name)} = {value}" for name, value in values
        )
        told = (
            ("counterexample", against),
            ("works from", self.threshold),
            ("suggestion", self.suggestion),
        )
        found = [(one.part, f"{one.word}: {readable(one.latex)}") for one in self.asked]
        found += [(readable(one.latex), one.status) for one in self.formulas]
        return card(
            self.word,
            self.reason,
            [*((name, said) for name, said in told if said), *found],
        )


def overall(parts: Iterable[AskedPart]) -> Word:
    """The word of an answer from those of its parts."""
    words = [one.word for one in parts if not one.optional]
    if "refuted" in words:
        return "refuted"
    return words[0] if words and len(set(words)) == 1 else "undecided"


def worst(words: Iterable[Word]) -> Word:
    """The word for several answers."""
    return min(words, key=WORST_FIRST.index)


def to_json(verdict: Verdict) -> dict[str, Any]:
    """Numbers, texts, lists and objects only; NaN and the infinities, which JSON does not have, become texts."""
    found: dict[str, Any] = _as_json(verdict)
    for name in ("asked", "formulas"):
        found[name] = [
            {
                field: value
                for field, value in one.items()
                if value not in (None, "", False) or field in KEPT
            }
            for one in found[name]
        ]
    return found


KEPT = ("part", "verdict", "line", "latex", "reason", "status", "role", "counts")


def from_json(given: dict[str, Any]) -> Verdict:
    """The verdict that `to_json` wrote."""
    if given["verdict"] not in get_args(Word):
        raise InputError(
            f"the verdict is {given['verdict']!r}, expected one of {', '.join(get_args(Word))}"
        )
    curve = given["curve"]
    if curve is not None:
        series = {
            name: tuple(map(float, values)) for name, values in curve["series"].items()
        }
        curve = Curve(**{**curve, "values": tuple(curve["values"]), "series": series})
    made = {
        "word": given["verdict"],
        "asked": tuple(
            AskedPart(word=one["verdict"], **_without_verdict(one))
            for one in given["asked"]
        ),
        "formulas": tuple(Formula(**one) for one in given["formulas"]),
        "to_read": tuple(ToRead(**one) for one in given["to_read"]),
        "curve": curve,
    }
    return Verdict(**{**_without_verdict(given), **made})


def _without_verdict(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name != "verdict"}


def _as_json(value: Any) -> Any:
    """A value in JSON's own types; of a dataclass its fields, where the word is the verdict."""
    if value is None or isinstance(value, bool | str):
        return value
    if is_dataclass(value):
        named = (
            (one.name, _as_json(getattr(value, one.name))) for one in fields(value)
        )
        return {"verdict" if name == "word" else name: item for name, item in named}
    if isinstance(value, Mapping):
        return {str(name): _as_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_as_json(item) for item in value]
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and not hasattr(value, "numerator"):
        return float(value) if math.isfinite(value) else str(value)
    return str(value)  # an exact fraction stays exact
