"""Evidence as data, and put into words that the checker reads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Float

from headwright.queries.guard import Guard
from headwright.queries.statement import Question, hex_floats, statement
from headwright.trusted.certificate import FORMAT, VERSION

Exact = Fraction | float
NOTHING = Fraction(0)


@dataclass(frozen=True)
class Constraint:
    """One target in one scenario, with its multiplier and its distribution over the keys.

    >>> Constraint(0, 3, 1.0).distribution is None          # in proportion to exp of the scores at the part's query
    True
    """

    scenario: int
    target: int
    multiplier: Exact
    distribution: Mapping[int, Exact] | None = None


@dataclass(frozen=True, eq=False)
class Part:
    """Constraints that are combined at one query; the lifts, moves and push say where the keys stand.

    >>> Part(np.zeros(2), (Constraint(0, 0, 1.0),)).push is None
    True
    """

    query: Float[np.ndarray, " d"]
    constraints: tuple[Constraint, ...]
    lifts: Sequence[Exact] | None = None  # one for each entry of the world; None: 0
    moves: Sequence[Sequence[Exact]] | None = None  # the same, with a number for each column of its factor; None: 0
    push: Sequence[Exact] | None = None


@dataclass(frozen=True, eq=False)
class Bound:
    """Why no query is shorter, or why there is none: one part for one head, one for each target `among` for several.

    >>> Bound((Part(np.zeros(2), (Constraint(0, 0, 1.0),)),)).among is None
    True
    """

    parts: tuple[Part, ...]
    among: tuple[int, ...] | None = None
    deviations: Fraction = NOTHING
    scales: Mapping[int, Exact] = field(default_factory=dict)
    own_scales: Mapping[int, Exact] = field(default_factory=dict)


def certificate(
    question: Question,
    claim: str,
    bound: Bound | None = None,
    *,
    queries: Float[np.ndarray, "heads d"] | None = None,
    none_shorter: Fraction = NOTHING,
    guard: Guard | None = None,
) -> str:
    """The document: that these queries grant the wish (and why none is shorter), or that none does.

    >>> from headwright.queries.wish import copy
    >>> from headwright.noise import World
    >>> from headwright.trusted.verify import verify
    >>> question = Question((np.array([[1.0], [-1.0]]),), copy(0, eps=1), World(), Fraction(1), Fraction(1))
    >>> verify(certificate(question, "designed", queries=np.array([[0.1]]))).word
    'verified'
    """
    said = statement(question, claim, queries, none_shorter)
    widths = [len(entry["factor"]) if not entry["random"] else 0 for entry in said["world"]]
    evidence = {
        "guard": None if guard is None else {"kind": guard.kind, "deviations": str(guard.deviations)},
        "bound": None if bound is None else _bound(bound, widths),
    }
    return json.dumps({"format": FORMAT, "version": VERSION, "statement": said, "evidence": evidence}, indent=1) + "\n"


def number(x: Exact) -> str:
    """Written exactly: a float as a float, a fraction as a ratio.

    >>> number(0.5), number(Fraction(1, 3))
    ('0x1.0000000000000p-1', '0x1/0x3')
    """
    return f"{hex(x.numerator)}/{hex(x.denominator)}" if isinstance(x, Fraction) else float(x).hex()


def _bound(bound: Bound, widths: list[int]) -> dict[str, Any]:
    return {
        "among": None if bound.among is None else list(bound.among),
        "deviations": str(bound.deviations),
        "scales": _table(bound.scales),
        "own_scales": _table(bound.own_scales),
        "parts": [_part(part, widths) for part in bound.parts],
    }


def _part(part: Part, widths: list[int]) -> dict[str, Any]:
    lifts = [0.0] * len(widths) if part.lifts is None else part.lifts
    moves = [[0.0] * width for width in widths] if part.moves is None else part.moves
    return {
        "query": hex_floats(part.query),
        "lifts": [number(x) for x in lifts],
        "moves": [[number(x) for x in move] for move in moves],
        "push": None if part.push is None else [number(x) for x in part.push],
        "constraints": [
            {
                "scenario": c.scenario,
                "target": c.target,
                "multiplier": number(c.multiplier),
                "distribution": None if c.distribution is None else _table(c.distribution),
            }
            for c in part.constraints
        ],
    }


def _table(numbers: Mapping[int, Exact]) -> dict[str, str]:
    return {str(key): number(x) for key, x in numbers.items()}
