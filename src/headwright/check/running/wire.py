"""A verdict as JSON and back: what crosses from the process that checks, and what scripts read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from numbers import Integral, Real
from typing import Any, get_args

from headwright.check.verdict import Curve, Part, Reading, Verdict, Word
from headwright.errors import InputError


def to_json(verdict: Verdict) -> dict[str, Any]:
    """Numbers, texts, lists and objects only; NaN and the infinities, which JSON does not have, become texts.

    >>> to_json(Verdict("refuted", "too small", counterexample={"n": 10}))["counterexample"]
    {'n': 10}
    """
    found: dict[str, Any] = plain(verdict)
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


def plain(value: Any) -> Any:
    """A value in JSON's own types; of a dataclass its fields, where the word is the verdict.

    >>> plain({"n": (1, float("inf"))})
    {'n': [1, 'inf']}
    """
    if value is None or isinstance(value, bool | str):
        return value
    if is_dataclass(value):
        named = ((field.name, plain(getattr(value, field.name))) for field in fields(value))
        return {"verdict" if name == "word" else name: item for name, item in named}
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and not hasattr(value, "numerator"):
        return float(value) if math.isfinite(value) else str(value)
    return str(value)  # an exact fraction stays exact


def _or_gap(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
