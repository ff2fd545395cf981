"""Certificates for the tests of the checker, written by hand: no code of ours makes them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

from headwright.certificates import floating
from headwright.certificates.exact.certificate import VERSION
from headwright.certificates.exact.verify import verify

CORPUS = Path(__file__).parents[1] / "corpus"


def accepted(name: str) -> Any:
    """A certificate of the corpus that is accepted, as a document."""
    return json.loads((CORPUS / "accept" / f"{name}.json").read_text())


def both(document: Any) -> str:
    """The verdict of the exact checker; neither checker proves false what the other accepts."""
    text = document if isinstance(document, str) else json.dumps(document)
    exact, floats = verify(text), floating.verify(text)
    assert not (exact.word == "verified" and floats.excluded)
    assert not (floats.word == "verified" and exact.excluded)
    return exact.word


def words(document: Any) -> str:
    return verify(json.dumps(document)).words


def named(keys: np.ndarray, inline: bool = True) -> dict[str, Any]:
    keys = np.ascontiguousarray(keys, dtype="<f8")
    rows = [[float(x).hex() for x in row] for row in keys] if inline else None
    return {
        "n": len(keys),
        "d": keys.shape[1],
        "sha256": hashlib.sha256(keys.tobytes()).hexdigest(),
        "rows": rows,
    }


def certificate(
    keys: np.ndarray | Sequence[np.ndarray],
    targets: Mapping[int, str],
    *queries: Any,
    claim: str = "designed",
    heads: int | None = None,
    scale: str = "1",
    uncertainty: Sequence[Any] = (),
    confidence: str = "1",
    none_shorter: str = "0",
    guard: Any = None,
    bound: Any = None,
    inline: bool = True,
) -> dict[str, Any]:
    matrices = [keys] if isinstance(keys, np.ndarray) else keys
    statement = {
        "claim": claim,
        "heads": heads or max(1, len(queries)),
        "keys": [named(K, inline) for K in matrices],
        "scale": scale,
        "targets": {str(a): p for a, p in targets.items()},
        "uncertainty": list(uncertainty),
        "confidence": confidence,
        "queries": [hexed(q) for q in queries],
        "none_shorter": none_shorter,
    }
    evidence = {"guard": guard, "bound": bound}
    return {
        "format": "headwright certificate",
        "version": VERSION,
        "statement": statement,
        "evidence": evidence,
    }


def spread(
    keys: Any = "*",
    scale: Sequence[str] = ("1", "1"),
    ball: str = "0",
    stretch: str = "0",
    factor: Sequence[Sequence[str]] = (),
    random: bool = False,
) -> dict[str, Any]:
    columns = [list(column) for column in factor]
    return {
        "keys": keys,
        "scale": list(scale),
        "ball": ball,
        "stretch": stretch,
        "factor": columns,
        "random": random,
    }


def of(
    target: int = 0, shares: Any = None, multiplier: str = "1", scenario: int = 0
) -> dict[str, Any]:
    return {
        "scenario": scenario,
        "target": target,
        "multiplier": multiplier,
        "distribution": shares,
    }


def part(
    query: Any,
    *constraints: Any,
    lifts: Sequence[str] = (),
    moves: Sequence[Any] = (),
    push: Any = None,
) -> dict[str, Any]:
    used = list(constraints) or [of()]
    return {
        "query": hexed(query),
        "lifts": list(lifts),
        "moves": list(moves),
        "push": push,
        "constraints": used,
    }


def bound(
    *parts: Any,
    among: Any = None,
    deviations: str = "0",
    scales: Any = None,
    own_scales: Any = None,
) -> dict[str, Any]:
    tables = {"scales": scales or {}, "own_scales": own_scales or {}}
    return {"among": among, "deviations": deviations, **tables, "parts": list(parts)}


def hexed(query: Any) -> list[str]:
    return [float(x).hex() for x in np.atleast_1d(query)]


def deviations(tail: float) -> float:
    """z with P(N > z) = tail, nearly."""
    return NormalDist().inv_cdf(1 - tail)
