"""Is a statement about queries true? Another way to the answer, with no code of the checkers': high precision at the
worst places, chance by drawing, and a search for queries that are shorter than any is said to be."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import mpmath
import numpy as np
from scipy.optimize import minimize

from tests.certificates.truth import number

HAIR = mpmath.mpf(10) ** -25
DRAWS, SURE = 4000, 5.0  # of chance, and by how many of its own deviations it must be off to count as false


@dataclass(frozen=True)
class Spread:
    low: float
    high: float
    ball: float
    stretch: float
    factor: np.ndarray
    random: bool


class Question:
    """What is asked: keys, wish and world, in floats."""

    def __init__(self, statement: Any) -> None:
        self.keys = [np.array([[float(number(x)) for x in row] for row in k["rows"]]) for k in statement["keys"]]
        self.wish = {int(a): float(number(p)) for a, p in statement["wish"].items()}
        self.scale, self.heads = float(number(statement["scale"])), statement["heads"]
        self.confidence = float(number(statement["confidence"]))
        n, d = self.keys[0].shape
        self.spreads = [Spread(1.0, 1.0, 0.0, 0.0, np.zeros((d, 0)), False)] * n
        for w in sorted(statement["world"], key=lambda w: w["keys"] != "*"):
            factor = np.array([[float(number(x)) for x in c] for c in w["factor"]]).reshape(-1, d).T
            low, high = (float(number(x)) for x in w["scale"])
            spread = Spread(low, high, float(number(w["ball"])), float(number(w["stretch"])), factor, w["random"])
            for key in range(n) if w["keys"] == "*" else w["keys"]:
                self.spreads[key] = spread
        self.random = any(w["random"] for w in statement["world"])

    def ends(self, K: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The highest and lowest scores over the part of the world that is not random, and their deviations."""
        up, low, deviation = np.zeros(len(K)), np.zeros(len(K)), np.zeros(len(K))
        for i, (k, s) in enumerate(zip(K, self.spreads, strict=True)):
            m, c = self.scale * (k @ q), self.scale
            size = math.sqrt(c * c * (s.ball**2 * (q @ q) + ((s.factor.T @ q) ** 2).sum()) + (s.stretch * m) ** 2)
            fixed = 0.0 if s.random else size
            up[i], low[i] = max(s.low * m, s.high * m) + fixed, min(s.low * m, s.high * m) - fixed
            deviation[i] = size if s.random else 0.0
        return up, low, deviation

    def excess(self, q: np.ndarray, z: float = 0.0) -> np.ndarray:
        """For each scenario and target, ln of what competes less ln of what may: not above 0 if the wish is granted."""
        found = []
        for K in self.keys:
            up, low, deviation = self.ends(K, q)
            for a, p in self.wish.items():
                x = np.delete(up + z * np.hypot(deviation, deviation[a]), a) - low[a]
                rivals = x.max() + math.log(np.exp(x - x.max()).sum()) if len(x) else -math.inf
                found.append(rivals - (math.log(1 / p - 1) if p < 1 else -1e3))
        return np.array(found)

    def chance(self, queries: list[np.ndarray], draws: int = DRAWS) -> float:
        """How often the queries grant the wish, with the part of the world that is not random at its worst for each."""
        rng, K, total = np.random.default_rng(0), self.keys[0], dict.fromkeys(self.wish, 0.0)
        drawn = [
            [rng.normal(size=(draws, len(k) + 1 + s.factor.shape[1])) for k, s in zip(K, self.spreads, strict=True)]
        ]
        for q in queries:
            up, low, _ = self.ends(K, q)
            off = np.stack([
                self.scale * (e @ np.concatenate([s.ball * q, [s.stretch * (k @ q)], s.factor.T @ q])) if s.random
                else np.zeros(draws) for k, s, e in zip(K, self.spreads, drawn[0], strict=True)
            ], axis=1)  # fmt: skip
            for a in self.wish:
                x = np.delete(up + off, a, axis=1) - (low[a] + off[:, a])[:, None]
                total[a] += 1 / (1 + np.exp(np.minimum(x, 700)).sum(axis=1)) / len(queries)
        return float(np.mean(np.all([total[a] >= p * (1 - 1e-12) for a, p in self.wish.items()], axis=0)))


def is_true(statement: Any, draws: int = DRAWS, search: bool = True) -> bool:
    """The queries grant the wish; and no shorter ones, or none at all, are found to (if they are searched for)."""
    question = Question(statement)
    queries = [np.array([float(number(x)) for x in q]) for q in statement["queries"]]
    if queries and question.random:
        off = SURE * math.sqrt(question.confidence * (1 - question.confidence) / draws) + 1 / draws
        if question.chance(queries, draws) < question.confidence - off:
            return False
    if queries and not question.random and not _granted(statement):
        return False
    length, claim = float(number(statement["none_shorter"])), statement["claim"]
    if not search or (claim != "impossible" and not length):
        return True
    asked = {name: statement[name] for name in ("heads", "keys", "scale", "wish", "world", "confidence")}
    found = shortest(json.dumps(asked))
    return found == math.inf if claim == "impossible" else found >= length * (1 - 1e-6)


def _granted(statement: Any) -> bool:
    """At the worst places for each query, which are exact for one query, in sixty digits."""
    with mpmath.workdps(60):
        s, world = _mp(statement["scale"]), {}
        for w in sorted(statement["world"], key=lambda w: w["keys"] != "*"):
            for key in range(statement["keys"][0]["n"]) if w["keys"] == "*" else w["keys"]:
                world[key] = w
        for keys in statement["keys"]:
            totals = dict.fromkeys(statement["wish"], mpmath.mpf(0))
            for query in statement["queries"]:
                q = [_mp(x) for x in query]
                ends = [_ends(s, [_mp(x) for x in row], q, world.get(i)) for i, row in enumerate(keys["rows"])]
                for a in totals:
                    own = ends[int(a)][0]
                    rivals = mpmath.fsum(mpmath.exp(up - own) for i, (_, up) in enumerate(ends) if i != int(a))
                    totals[a] += 1 / (1 + rivals) / len(statement["queries"])
            if any(total < _mp(statement["wish"][a]) * (1 - HAIR) for a, total in totals.items()):
                return False
    return True


def _ends(s: Any, k: list[Any], q: list[Any], w: Any) -> tuple[Any, Any]:
    m = s * mpmath.fdot(k, q)
    if w is None:
        return m, m
    size = _mp(w["ball"]) * mpmath.norm(q)
    size += mpmath.norm([mpmath.fdot([_mp(x) for x in c], q) for c in w["factor"]]) if w["factor"] else 0
    ends = [_mp(w["scale"][0]) * m, _mp(w["scale"][1]) * m]
    return min(ends) - abs(s) * size, max(ends) + abs(s) * size


def _mp(text: str) -> Any:
    return mpmath.mpf(number(text).numerator) / number(text).denominator


@cache
def shortest(asked: str) -> float:
    """The length of the shortest queries that a search finds to grant the wish; inf if it finds none."""
    question = Question(json.loads(asked))
    unit = max(float(np.abs(K).max()) for K in question.keys) * abs(question.scale) or 1.0
    question.keys = [K / unit for K in question.keys]  # so that numbers are near 1
    question.spreads = [
        Spread(s.low, s.high, s.ball / unit, s.stretch, s.factor / unit, s.random) for s in question.spreads
    ]
    if question.heads > 1:
        return _several(question) / unit
    depths = (0.0, 0.5, 1.0, 1.6449, 2.5) if question.random else (0.0,)
    return min(_one(question, z) for z in depths) / unit


def _one(question: Question, z: float) -> float:
    """One head: SLSQP from a few starts; where keys are random, as long as drawing says it must be."""
    rng, d, best = np.random.default_rng(1), question.keys[0].shape[1], math.inf
    towards = question.scale * (question.keys[0][list(question.wish)].mean(axis=0) - question.keys[0].mean(axis=0))
    towards = towards / (np.linalg.norm(towards) or 1.0)
    for start in (towards, 8 * towards, 3 * rng.normal(size=d), 10 * rng.normal(size=d)):
        with np.errstate(all="ignore"):
            found = minimize(  # type: ignore[call-overload]
                lambda q: q @ q / 2, start, jac=lambda q: q, method="SLSQP",
                constraints={"type": "ineq", "fun": lambda q: -question.excess(q, z)},
                options={"maxiter": 200, "ftol": 1e-13},
            ).x  # fmt: skip
        if np.all(np.isfinite(found)) and np.any(found):
            best = min(best, _stretched([found], question) * float(np.linalg.norm(found)))
    return best


def _several(question: Question) -> float:
    """Several heads: each attends to one target in turn, with one weight of a few for all."""
    best, wish, heads = math.inf, question.wish, question.heads
    for least in (0.6, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995):
        queries = []
        for head in range(heads):
            head_target = list(wish)[head % len(wish)]
            question.wish = {head_target: least}
            with np.errstate(all="ignore"):
                queries.append(minimize(  # type: ignore[call-overload]
                    lambda q: q @ q / 2, 5 * question.scale * question.keys[0][head_target], jac=lambda q: q,
                    constraints={"type": "ineq", "fun": lambda q: -question.excess(q)}, method="SLSQP",
                ).x)  # fmt: skip
        question.wish = wish
        longest = max(float(np.linalg.norm(q)) for q in queries)
        if np.isfinite(longest):
            best = min(best, _stretched(queries, question) * longest)
    return best


def _stretched(queries: list[np.ndarray], question: Question) -> float:
    """The least factor of some, near 1 first, at which the queries grant the wish (surely, where there is chance)."""

    def granted(t: float) -> bool:
        tried = [t * q for q in queries]
        if question.random:
            need = question.confidence + SURE * math.sqrt(question.confidence * (1 - question.confidence) / DRAWS)
            return question.chance(tried) >= need
        if question.heads == 1:
            return bool(question.excess(tried[0]).max() <= 1e-9)
        return question.chance(tried, 1) == 1.0

    with np.errstate(all="ignore"):
        return next(
            (t for t in (0.5, 0.7, 0.85, 0.95, 1.0, 1 + 1e-7, 1.02, 1.1, 1.3, 2, 5, 30) if granted(t)), math.inf
        )
