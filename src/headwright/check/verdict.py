"""What is said of an answer.

proved      true for all parameters in range, with the argument
holds       no counterexample among the instances tried; how many, and which, is said
no answer   true, but not what was asked: the object is missing, or the argument, or it holds whatever is answered
refuted     false, with the smallest counterexample found; the evaluation is rigorous, so this is a proof too
unreadable  not a formula, or not one for this exercise; says where and how to mend it
undecided   out of time, or beyond what can be decided here

As JSON it crosses from the process that checks, and scripts read it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from numbers import Integral, Real
from typing import Any, Literal, get_args

from headwright.cards import card
from headwright.errors import InputError

Word = Literal["proved", "holds", "no answer", "refuted", "unreadable", "undecided"]
WORST_FIRST: tuple[Word, ...] = ("unreadable", "refuted", "no answer", "undecided", "holds", "proved")


@dataclass(frozen=True)
class Part:
    """One statement of an answer (a goal, a step, a reason) and what was found."""

    statement: str  # LaTeX
    role: Literal["goal", "statement", "step", "condition", "definition"]
    word: Word
    reason: str
    line: int = 0  # of the formula within its source, counted from 0
    counterexample: Mapping[str, Any] | None = None
    used: str = ""  # what proved it
    replayed: int = 0  # explicit instances on which a second look agreed


@dataclass(frozen=True)
class Reading:
    """How one statement of an answer was read: its role, what it is said for, and whether it was judged."""

    line: int
    role: str
    statement: str  # LaTeX, or as it was written where it cannot be read
    under: tuple[str, ...] = ()  # LaTeX
    word: str = ""  # what was found, where it was judged by itself
    why: str = ""  # why it was not judged


@dataclass(frozen=True)
class Curve:
    """How an answer does as one parameter grows: what a picture of its failure shows."""

    parameter: str
    values: tuple[float, ...]
    series: Mapping[str, tuple[float, ...]]
    levels: Mapping[str, float]  # horizontal lines: what was wanted
    words: str = ""  # a sentence under the picture


@dataclass(frozen=True)
class Verdict:
    """The verdict on one answer; its word is the worst of its parts."""

    word: Word
    reason: str
    parts: tuple[Part, ...] = ()
    counterexample: Mapping[str, Any] | None = None  # numbers, texts and lists only
    threshold: str | None = None  # 'lambda >= ln((n - 2)/epsilon)'
    probability: Mapping[str, Any] | None = None
    suggestion: str | None = None  # what a teacher would add
    hint: str | None = None  # what kind of thing is wrong, without the remedy
    curve: Curve | None = None
    instances: int = 0  # how many were tried
    details: Mapping[str, Any] = field(default_factory=dict)
    read: tuple[Reading, ...] = ()  # how the answer was read, statement by statement

    def _repr_html_(self) -> str:
        """For notebooks: the word, the reason, and what was found of each part."""
        found = [(_spelt(part.statement), f"{part.role}: {part.word}") for part in self.parts]
        sides = {"left": "left side", "right": "right side"}
        against = ", ".join(
            f"{sides.get(one, one)} = {number}"
            for name, value in (self.counterexample or {}).items()
            for one, number in (value.items() if isinstance(value, Mapping) else [(name, value)])
        )
        told = (("counterexample", against), ("works from", self.threshold), ("suggestion", self.suggestion))
        return card(self.word, self.reason, [*((name, said) for name, said in told if said), *found])


def _spelt(statement: str) -> str:
    """A statement in plain letters, where it can be read: a notebook's card holds no formulas."""
    from headwright.formula import FormulaError, parse
    from headwright.formula.show import plain

    try:
        return plain(parse(statement))
    except FormulaError:
        return statement


def worst(words: list[Word]) -> Word:
    """The word that an answer gets from those of its parts.

    >>> worst(["proved", "refuted", "holds"])
    'refuted'
    """
    return min(words, key=WORST_FIRST.index)


METHODS = {
    "exact algebra": "exact algebra",
    "z3": "the solver z3",
    "normal forms": "comparing normal forms",
    "limits": "limits",
    "dominant growth": "comparing growth",
    "dominant terms": "comparing the largest terms",
    "the normal law in balls": "the normal law, enclosed",
}


def by_what(*used: str) -> str:
    """What proved a statement, or several: each method once, in words.

    >>> by_what("exact algebra", "exact algebra and z3"), by_what("every term is nonnegative"), by_what("")
    (' (by exact algebra and the solver z3)', ' (every term is nonnegative)', '')
    """
    said: dict[str, None] = {}
    for one in used:
        pieces = re.split(", | and ", one)
        said |= dict.fromkeys([METHODS[piece] for piece in pieces] if set(pieces) <= set(METHODS) else [one])
    methods = [text for text in said if text in METHODS.values()]
    others = [text for text in said if text and text not in methods]
    told = [f"by {' and '.join([*filter(None, [', '.join(methods[:-1])]), methods[-1]])}"] if methods else []
    told += [text if _sentence(text) else f"by {text}" for text in others]
    return f" ({'; '.join(told)})" if told else ""


def _sentence(text: str) -> bool:
    return (" is " in text or " are " in text) and " that " not in text


def to_json(verdict: Verdict) -> dict[str, Any]:
    """Numbers, texts, lists and objects only; NaN and the infinities, which JSON does not have, become texts.

    >>> to_json(Verdict("refuted", "too small", counterexample={"n": 10}))["counterexample"]
    {'n': 10}
    """
    found: dict[str, Any] = _as_json(verdict)
    if verdict.curve is not None:
        found["curve"] |= {
            "values": [float(value) for value in verdict.curve.values],
            "series": {name: [_or_gap(value) for value in values] for name, values in verdict.curve.series.items()},
            "levels": {name: float(level) for name, level in verdict.curve.levels.items()},
        }
    return found


def from_json(given: dict[str, Any]) -> Verdict:
    """The verdict that `to_json` wrote.

    >>> from_json(to_json(Verdict("proved", "for all n"))) == Verdict("proved", "for all n")
    True
    """
    if given["verdict"] not in get_args(Word):
        raise InputError(f"the verdict is {given['verdict']!r}, expected one of {', '.join(get_args(Word))}")
    read = ({**_with_word(one), "under": tuple(one["under"])} for one in given["read"])
    made = {
        "parts": tuple(Part(**_with_word(part)) for part in given["parts"]),
        "read": tuple(Reading(**one) for one in read),
        "curve": None if given["curve"] is None else _curve(given["curve"]),
    }
    return Verdict(**{**_with_word(given), **made})


def _with_word(given: Mapping[str, Any]) -> dict[str, Any]:
    return {"word" if name == "verdict" else name: value for name, value in given.items()}


def _curve(given: Mapping[str, Any]) -> Curve:
    series = {
        name: tuple(math.nan if value is None else value for value in values)
        for name, values in given["series"].items()
    }
    return Curve(**{**given, "values": tuple(given["values"]), "series": series})


def _as_json(value: Any) -> Any:
    """A value in JSON's own types; of a dataclass its fields, where the word is the verdict.

    >>> _as_json({"n": (1, float("inf"))})
    {'n': [1, 'inf']}
    """
    if value is None or isinstance(value, bool | str):
        return value
    if is_dataclass(value):
        named = ((one.name, _as_json(getattr(value, one.name))) for one in fields(value))
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


def _or_gap(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
