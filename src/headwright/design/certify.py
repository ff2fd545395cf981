"""Evidence put into words that the checker reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
from jaxtyping import Float

from headwright.design.statement import Question, hex_floats, statement
from headwright.trusted.certificate import FORMAT, VERSION


def designed(
    question: Question,
    queries: Float[np.ndarray, "heads d"],
    bound_query: Float[np.ndarray, " d"],
    multipliers: Float[np.ndarray, "scenarios targets"],
    none_shorter: Fraction,
    *,
    scales: Mapping[int, float] = MappingProxyType({}),
    own_scales: Mapping[int, float] = MappingProxyType({}),
) -> str:
    """A certificate that these queries grant the wish, and that none shorter does.

    >>> from headwright.design.wish import copy
    >>> from headwright.noise import World
    >>> from headwright.trusted.verify import verify
    >>> question = Question((np.array([[1.0], [-1.0]]),), copy(0, eps=1), World(), Fraction(1), Fraction(1))
    >>> q = np.array([0.1])
    >>> verify(designed(question, q[None], q, np.ones((1, 1)), Fraction(0))).word
    'verified'
    """
    targets = question.wish.targets
    constraints = [
        {"scenario": w, "target": a, "multiplier": float(multipliers[w, k]).hex()}
        for w in range(len(question.keys))
        for k, a in enumerate(targets)
        if multipliers[w, k] > 0
    ]
    bound = {
        "query": hex_floats(bound_query),
        "scales": {str(key): float(c).hex() for key, c in scales.items()},
        "own_scales": {str(key): float(c).hex() for key, c in own_scales.items()},
        "constraints": constraints,
    }
    evidence = {"queries": [hex_floats(query) for query in queries], "bound": bound}
    return _document(statement(question, "designed", none_shorter), evidence)


def impossible(question: Question, constraints: list[dict[str, Any]]) -> str:
    """A certificate that no query grants the wish."""
    return _document(statement(question, "impossible"), {"constraints": constraints})


def _document(said: dict[str, Any], evidence: dict[str, Any]) -> str:
    return json.dumps({"format": FORMAT, "version": VERSION, "statement": said, "evidence": evidence}, indent=1) + "\n"
