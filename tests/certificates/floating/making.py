"""Certificates of every kind, drawn at random: any evidence proves something, and the referee says what."""

from __future__ import annotations

import hashlib
import io
import json
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from headwright.certificates.exact.certificate import VERSION
from tests.certificates.floating.referee import DIGITS, Referee

FORMS = ("certain", "scenarios", "sets", "random", "mixed")


def npy(keys: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, keys)
    return file.getvalue()


def keys_name(keys: np.ndarray, *, rows: bool = True) -> dict[str, Any]:
    exact = np.ascontiguousarray(keys, "<f8")
    written = (
        [[float(x).hex() for x in row] for row in exact.tolist()] if rows else None
    )
    n, d = exact.shape
    return {
        "n": n,
        "d": d,
        "sha256": hashlib.sha256(exact.tobytes()).hexdigest(),
        "rows": written,
    }


def entry(
    keys: Any,
    scale: tuple[str, str] = ("1", "1"),
    ball: str = "0",
    stretch: str = "0",
    factor: list[list[str]] | None = None,
    random: bool = False,
) -> dict[str, Any]:
    return {
        "keys": keys,
        "scale": list(scale),
        "ball": ball,
        "stretch": stretch,
        "factor": factor or [],
        "random": random,
    }


def part(
    query: Any, targets: list[int], entries: int = 0, **more: Any
) -> dict[str, Any]:
    constraints = [
        {"scenario": 0, "target": a, "multiplier": "1", "distribution": None}
        for a in targets
    ]
    plain = {
        "query": hexed(query),
        "lifts": ["0"] * entries,
        "moves": [[] for _ in range(entries)],
        "push": None,
    }
    return plain | {"constraints": constraints} | more


def bound(*parts: Any, **more: Any) -> dict[str, Any]:
    return {
        "among": None,
        "deviations": "0",
        "scales": {},
        "own_scales": {},
        "parts": list(parts),
    } | more


def document(
    keys: list[np.ndarray] | np.ndarray, targets: dict[int, str], **more: Any
) -> dict[str, Any]:
    """A document about these keys; `more` are fields of the statement, and guard and bound."""
    matrices = keys if isinstance(keys, list) else [keys]
    evidence = {"guard": more.pop("guard", None), "bound": more.pop("bound", None)}
    if "queries" in more:
        more["queries"] = [hexed(q) for q in more["queries"]]
    statement = {
        "claim": "designed",
        "heads": 1,
        "keys": [keys_name(matrix) for matrix in matrices],
        "scale": "1",
        "targets": {str(a): p for a, p in targets.items()},
        "uncertainty": [],
        "confidence": "1",
        "queries": [],
        "none_shorter": "0",
    } | more
    return {
        "format": "headwright certificate",
        "version": VERSION,
        "statement": statement,
        "evidence": evidence,
    }


def hexed(numbers: Any) -> list[str]:
    return [float(x).hex() for x in np.asarray(numbers, dtype=float).tolist()]


def draw(
    seed: int,
    form: str,
    heads: int = 1,
    claim: str = "designed",
    n: int = 7,
    d: int = 3,
) -> dict[str, Any]:
    """A document with random evidence; its least weights and its length are still to be set: see `tightened`."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 4)) if heads == 1 else int(rng.integers(2, 4))
    scenarios = 2 if form == "scenarios" else 1
    about = rng.normal(size=(n, d)) * (0.4 if rng.random() < 0.8 else 30.0)
    keys = [about * rng.normal(1.0, 0.05, size=(n, d)) for _ in range(scenarios)]
    if rng.random() < 0.3:
        keys = [np.round(2 * matrix) / 2 for matrix in keys]  # ties, and scores of 0
    if rng.random() < 0.2:
        keys = [matrix + 1e5 for matrix in keys]
    targets = [int(a) for a in rng.permutation(n)[:m]]
    uncertainty = (
        []
        if form in ("certain", "scenarios")
        else _uncertainty(rng, form, targets if heads > 1 else [], n, d)
    )
    chance = any(w["random"] for w in uncertainty)
    size = 1 / max(float(np.abs(matrix).max()) for matrix in keys)
    queries = [
        rng.normal(size=d) * size * rng.choice([0.0, 1.0, 10.0], p=[0.1, 0.6, 0.3])
        for _ in range(heads)
    ]
    several = heads > 1
    chosen = (
        targets
        if several
        else list(rng.permutation(targets)[: int(rng.integers(1, m + 1))])
    )
    apart = len(chosen) > 1 and rng.random() < 0.4  # a part for each, added up
    one = several or (chance and not apart and len(chosen) > 1)
    parts = []
    for targeted in [[a] for a in chosen] if several or apart else [chosen]:
        free = [w["random"] or not one for w in uncertainty]
        table = rng.random() < 0.3
        constraints = [
            {
                "scenario": s,
                "target": int(a),
                "multiplier": float(rng.random() + 0.1).hex(),
                "distribution": _table(rng, n, several, targets, uncertainty, int(a))
                if table
                else None,
            }
            for a in targeted
            for s in (range(scenarios) if not several else [0])
        ]
        parts.append(
            {
                "query": hexed(
                    rng.normal(size=d) * size * rng.choice([0.0, 1.0], p=[0.1, 0.9])
                ),
                "lifts": [f"{rng.normal() * 0.3:.6f}" for _ in uncertainty],
                "moves": [
                    []
                    if w["random"]
                    else [
                        f"{rng.uniform(-0.5, 0.5):.6f}" if ok else "0"
                        for _ in w["factor"]
                    ]
                    for w, ok in zip(uncertainty, free, strict=True)
                ],
                "push": hexed(rng.normal(size=d) * 0.2)
                if chance and rng.random() < 0.7
                else None,
                "constraints": constraints,
            }
        )
    z = f"{rng.uniform(0.3, 1.2):.4f}" if chance else "0"
    scales, own = _scales(rng, uncertainty, n, targets, one)
    guard = (
        {
            "kind": str(rng.choice(["keys", "pairs"])),
            "deviations": f"{rng.uniform(2.5, 4):.4f}",
        }
        if chance
        else None
    )
    return document(
        keys,
        dict.fromkeys(targets, "1/2"),
        claim=claim,
        heads=heads,
        uncertainty=uncertainty,
        confidence="9/10" if chance else "1",
        scale=str(rng.choice(["1", "-3/7", "0.125"])),
        queries=queries if claim == "designed" else [],
        guard=guard if claim == "designed" else None,
        bound=bound(
            *parts,
            among=targets if several else None,
            deviations=z,
            scales=scales,
            own_scales=own,
        ),
    )


def _uncertainty(
    rng: np.random.Generator, form: str, certain: list[int], n: int, d: int
) -> list[dict[str, Any]]:
    """Some entries; those keys that must not be random are not."""

    def sets(keys: Any) -> dict[str, Any]:
        low, high = sorted(rng.uniform(0.7, 1.3, size=2))
        scale = (f"{low:.5f}", f"{high:.5f}") if rng.random() < 0.6 else ("1", "1")
        ball = f"{rng.uniform(0, 0.05):.5f}" if rng.random() < 0.5 else "0"
        columns = [
            hexed(rng.normal(size=d) * 0.05) for _ in range(int(rng.integers(1, 3)))
        ]
        return entry(keys, scale, ball, factor=None if ball != "0" else columns)

    def random(keys: Any) -> dict[str, Any]:
        scale = ("0.9", "1.1") if rng.random() < 0.3 else ("1", "1")
        stretch = f"{rng.uniform(0, 0.1):.5f}" if rng.random() < 0.5 else "0"
        columns = [hexed(rng.normal(size=d) * 0.02)] if rng.random() < 0.5 else None
        return entry(
            keys, scale, f"{rng.uniform(0, 0.02):.5f}", stretch, columns, random=True
        )

    if certain:
        others = [key for key in range(n) if key not in certain][: n - len(certain) - 2]
        return [sets(certain), sets("*") if form == "sets" else random(others)]
    some = [int(key) for key in rng.permutation(n)[:3]]
    make = {"sets": (sets, sets), "random": (random, random), "mixed": (sets, random)}[
        form
    ]
    first = [make[0](some)] if rng.random() < 0.7 or form == "mixed" else []
    return [*first, make[1]("*")] if rng.random() < 0.7 or not first else first


def _table(
    rng: np.random.Generator,
    n: int,
    several: bool,
    targets: list[int],
    uncertainty: Any,
    a: int,
) -> dict[str, str]:
    named = {key for w in uncertainty if w["keys"] != "*" for key in w["keys"]}
    random = {
        key
        for w in uncertainty
        if w["random"]
        for key in (set(range(n)) - named if w["keys"] == "*" else w["keys"])
    }
    out = (set(targets) - {a}) | random if several else set()
    return {
        str(j): str(Fraction(int(rng.integers(1, 9)), 7))
        for j in range(n)
        if j == a or j not in out
    }


def _scales(
    rng: np.random.Generator, uncertainty: Any, n: int, targets: list[int], one: bool
) -> tuple[Any, Any]:
    scales, own = {}, {}
    for w in uncertainty:
        for key in (
            [k for k in range(n) if rng.random() < 0.3]
            if w["keys"] == "*"
            else w["keys"][:1]
        ):
            if any(
                key in other["keys"]
                for other in uncertainty
                if other is not w and other["keys"] != "*"
            ):
                continue
            low, high = (Fraction(c) for c in w["scale"])
            scales[str(key)] = str((2 * low + high) / 3)
            if key in targets and not one:
                own[str(key)] = str((low + high) / 2)
    return scales, own


def tightened(made: dict[str, Any], gap: str) -> dict[str, Any]:
    """The same, with least weights and a length that the evidence proves but for a gap; it proves less for gap < 0.

    A claim that nothing is possible cannot be made tight in this way, and is left as it is.
    """
    found: dict[str, Any] = json.loads(json.dumps(made))
    said, b = found["statement"], found["evidence"]["bound"]
    with mpmath.workdps(DIGITS):
        room = 1 - mpmath.mpf(gap)
        referee = Referee(found)
        if said["claim"] == "designed":
            referee.targets = {a: mpmath.mpf(0) for a in referee.targets}
            guard = found["evidence"]["guard"]
            z = mpmath.mpf(0) if guard is None else mpmath.mpf(guard["deviations"])
            queries = [
                [mpmath.mpf(float.fromhex(x)) for x in q] for q in said["queries"]
            ]
            for a in referee.targets:
                weights = [
                    mpmath.fsum(referee.weight(keys, q, a, z, guard) for q in queries)
                    / len(queries)
                    for keys in referee.scenarios
                ]
                said["targets"][str(a)] = mpmath.nstr(
                    1 / (1 + (1 / min(weights) - 1) / room), 40, min_fixed=-60
                )
        else:
            said["targets"] = dict.fromkeys(
                said["targets"], f"9/{10 * len(said['targets'])}"
            )
        if said["claim"] != "impossible":
            lengths = []
            referee = Referee(found)
            for right, V, space in referee.inequalities(b, mpmath.mpf(b["deviations"])):
                beyond = mpmath.sqrt(mpmath.fsum(v * v for v in V)) - space
                lengths.append(
                    right / (abs(referee.s) * beyond)
                    if beyond > 0 and right > 0
                    else mpmath.mpf(-1)
                )
            least = min(lengths)
            said["none_shorter"] = (
                mpmath.nstr(least * room, 40, min_fixed=-60) if least > 0 else "0"
            )
            if least <= 0:
                found["evidence"]["bound"] = None
    return found
