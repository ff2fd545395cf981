"""A verdict as JSON and back: what crosses from the process that checks, and what scripts read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, get_args

from headwright.check.verdict import Curve, Part, Reading, Verdict, Word
from headwright.errors import InputError


def to_json(verdict: Verdict) -> dict[str, Any]:
    """Numbers, texts, lists and objects only; NaN and the infinities, which JSON does not have, become texts.

    >>> to_json(Verdict("refuted", "too small", counterexample={"n": 10}))["counterexample"]
    {'n': 10}
    """
    curve = verdict.curve
    return {
        "verdict": verdict.word,
        "reason": verdict.reason,
        "counterexample": plain(verdict.counterexample),
        "threshold": verdict.threshold,
        "probability": plain(verdict.probability),
        "suggestion": verdict.suggestion,
        "hint": verdict.hint,
        "parts": [
            {
                "statement": part.statement,
                "role": part.role,
                "verdict": part.word,
                "reason": part.reason,
                "line": part.line,
                "counterexample": plain(part.counterexample),
                "used": part.used,
                "replayed": part.replayed,
            }
            for part in verdict.parts
        ],
        "read": [
            {
                "line": one.line,
                "role": one.role,
                "statement": one.statement,
                "under": list(one.under),
                "verdict": one.word,
                "why": one.why,
            }
            for one in verdict.read
        ],
        "instances": verdict.instances,
        "details": plain(verdict.details),
        "curve": None
        if curve is None
        else {
            "parameter": curve.parameter,
            "values": [float(value) for value in curve.values],
            "series": {name: [_or_gap(value) for value in values] for name, values in curve.series.items()},
            "levels": {name: float(level) for name, level in curve.levels.items()},
            "words": curve.words,
        },
    }


def from_json(given: dict[str, Any]) -> Verdict:
    """The verdict that `to_json` wrote.

    >>> from_json(to_json(Verdict("proved", "for all n"))) == Verdict("proved", "for all n")
    True
    """
    if given["verdict"] not in get_args(Word):
        raise InputError(f"the verdict is {given['verdict']!r}, expected one of {', '.join(get_args(Word))}")
    curve = given["curve"]
    return Verdict(
        word=given["verdict"],
        reason=given["reason"],
        parts=tuple(
            Part(
                statement=part["statement"],
                role=part["role"],
                word=part["verdict"],
                reason=part["reason"],
                line=part["line"],
                counterexample=part["counterexample"],
                used=part["used"],
                replayed=part["replayed"],
            )
            for part in given["parts"]
        ),
        counterexample=given["counterexample"],
        threshold=given["threshold"],
        probability=given["probability"],
        suggestion=given["suggestion"],
        hint=given["hint"],
        curve=None
        if curve is None
        else Curve(
            parameter=curve["parameter"],
            values=tuple(curve["values"]),
            series={
                name: tuple(math.nan if value is None else value for value in values)
                for name, values in curve["series"].items()
            },
            levels=curve["levels"],
            words=curve["words"],
        ),
        read=tuple(
            Reading(
                line=one["line"],
                role=one["role"],
                statement=one["statement"],
                under=tuple(one["under"]),
                word=one["verdict"],
                why=one["why"],
            )
            for one in given["read"]
        ),
        instances=given["instances"],
        details=given["details"],
    )


def plain(value: Any) -> Any:
    """A value in JSON's own types.

    >>> plain({"n": (1, float("inf"))})
    {'n': [1, 'inf']}
    """
    if value is None or isinstance(value, bool | str):
        return value
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
