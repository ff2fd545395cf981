"""Keys, targets and uncertainty of a statement: in floats for searching, exactly for deciding."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from tests.referee.answer import Answer, Word, together
from tests.referee.numbers import Vector, as_float, floating, number, real, vector

DIGITS = 60
HAIR = mpmath.mpf(10) ** -40  # differences that sixty digits do not decide
UNIT = 2.0**-52
WHY = {"true": "at least", "false": "less than", "unknown": "near"}


@dataclass(frozen=True, eq=False)
class Entry:
    """One entry of the uncertainty, and the keys it is about."""

    keys: list[int]
    low: Fraction
    high: Fraction
    ball: Fraction
    stretch: Fraction
    factor: list[Vector]  # columns
    random: bool


@dataclass(frozen=True, eq=False)
class Problem:
    """What a statement asks; `entries` name every key at most once."""

    keys: list[np.ndarray]
    scale: Fraction
    targets: dict[int, Fraction]
    entries: list[Entry]
    confidence: Fraction
    heads: int

    @property
    def n(self) -> int:
        return len(self.keys[0])

    @property
    def d(self) -> int:
        return int(self.keys[0].shape[1])

    @property
    def is_random(self) -> bool:
        return any(entry.random for entry in self.entries)

    def entry_of(self) -> dict[int, Entry]:
        return {key: entry for entry in self.entries for key in entry.keys}


def problem_of(statement: Any) -> Problem:
    keys = [
        np.array([[floating(x) for x in row] for row in k["rows"]]).reshape(
            k["n"], k["d"]
        )
        for k in statement["keys"]
    ]
    n, entries = len(keys[0]), []
    named = {
        key for w in statement["uncertainty"] if w["keys"] != "*" for key in w["keys"]
    }
    for w in statement["uncertainty"]:
        about = (
            [key for key in range(n) if key not in named]
            if w["keys"] == "*"
            else list(w["keys"])
        )
        low, high = vector(w["scale"])
        factor = [vector(column) for column in w["factor"]]
        entries.append(
            Entry(
                about,
                low,
                high,
                number(w["ball"]),
                number(w["stretch"]),
                factor,
                w["random"],
            )
        )
    targets = {int(a): number(p) for a, p in statement["targets"].items()}
    scale, confidence = number(statement["scale"]), number(statement["confidence"])
    return Problem(keys, scale, targets, entries, confidence, statement["heads"])


def dots(K: np.ndarray, q: Vector) -> Vector:
    """<k_i, q> exactly."""
    shared = math.lcm(*(x.denominator for x in q))
    tops = [x.numerator * (shared // x.denominator) for x in q]
    found = []
    for row in K.tolist():
        ratios = [x.as_integer_ratio() for x in row]
        bottom = max(b for _, b in ratios)
        total = sum(
            a * (bottom // b) * t for (a, b), t in zip(ratios, tops, strict=True)
        )
        found.append(Fraction(total, bottom * shared))
    return found


@dataclass(frozen=True, eq=False)
class Ends:
    """Highest and lowest scores, over the part of the uncertainty that is not random, with what floats may be off."""

    up: np.ndarray
    low: np.ndarray
    deviation: np.ndarray  # of random keys
    off: np.ndarray


def ends(problem: Problem, K: np.ndarray, q: np.ndarray) -> Ends:
    with np.errstate(all="ignore"):
        s = as_float(problem.scale)
        m = s * (K @ q)
        off = (problem.d + 4) * UNIT * abs(s) * (np.abs(K) @ np.abs(q)) + 1e-300
        up, low, deviation = m.copy(), m.copy(), np.zeros(problem.n)
        for entry in problem.entries:
            at = entry.keys
            square = float(entry.ball) ** 2 * (q @ q)
            for column in entry.factor:
                square += (
                    float(
                        sum(
                            as_float(x) * y
                            for x, y in zip(column, q.tolist(), strict=True)
                        )
                    )
                    ** 2
                )
            c = as_float(entry.low), as_float(entry.high)
            most = max(abs(c[0]), abs(c[1]), 1.0)
            small, large = (
                np.minimum(c[0] * m[at], c[1] * m[at]),
                np.maximum(c[0] * m[at], c[1] * m[at]),
            )
            if entry.random:
                deviation[at] = np.sqrt(
                    s * s * square + (float(entry.stretch) * m[at]) ** 2
                )
            reach = 0.0 if entry.random else abs(s) * math.sqrt(square)
            up[at], low[at] = large + reach, small - reach
            size = (
                abs(s)
                * float(np.linalg.norm(q))
                * sum(sum(abs(as_float(x)) for x in c) for c in entry.factor)
            )
            off[at] = off[at] * most + 1e-14 * (reach + size)
    return Ends(up, low, deviation, off)


def targets_met(problem: Problem, queries: list[Vector]) -> Answer:
    """Do these queries meet the targets, with every key at its worst for each? Nothing is random.

    For one query that is the worst realization there is. For several, the worst of each need not be the same.
    """
    answers = []
    for scenario, K in enumerate(problem.keys):
        near = [ends(problem, K, np.array([as_float(x) for x in q])) for q in queries]
        exact: list[tuple[list[Any], list[Any]]] = []
        for a, p in problem.targets.items():
            where = f"scenario {scenario}, target {a}"
            word = _decided(near, a, 1 - p)
            if word is None:
                exact = exact or [exact_ends(problem, K, q) for q in queries]
                word = _exactly(exact, a, 1 - p)
            if word == "false" and len(queries) > 1 and problem.entries:
                word = (
                    "false"
                    if _fails_in_some_uncertainty(problem, K, queries, a, p)
                    else "unknown"
                )
            answers.append(Answer(word, f"{where}: {WHY[word]} {p}"))
    return together(answers)


def _decided(near: list[Ends], a: int, room: Fraction) -> Word | None:
    """The mean over queries of R / (1 + R), R what competes, against 1 - p; None if floats do not decide."""
    bounds, allowed = [], as_float(room)
    for sign in (1.0, -1.0):
        total = 0.0
        for e in near:
            with np.errstate(all="ignore"):
                x = np.delete(e.up + sign * e.off, a) - (e.low[a] - sign * e.off[a])
                R = float(np.exp(np.minimum(x, 705.0)).sum())
            total += R / (1 + R) / len(near)
        bounds.append(total * (1 + sign * 1e-12))
    if not all(map(math.isfinite, bounds)) or (allowed and allowed < 1e-290):
        return None
    if bounds[0] < allowed * (1 - 1e-12) and len(near[0].up) > 1:
        return "true"
    return "false" if bounds[1] > allowed * (1 + 1e-12) and bounds[1] > 1e-290 else None


def exact_ends(
    problem: Problem, K: np.ndarray, q: Vector
) -> tuple[list[Any], list[Any]]:
    """Highest and lowest scores in sixty digits; exact fractions where no root is taken."""
    with mpmath.workdps(DIGITS):
        m = [problem.scale * x for x in dots(K, q)]
        up: list[Any] = list(m)
        low: list[Any] = list(m)
        for entry in problem.entries:
            square = entry.ball**2 * sum((x * x for x in q), Fraction(0))
            for column in entry.factor:
                square += (
                    sum((x * y for x, y in zip(column, q, strict=True)), Fraction(0))
                    ** 2
                )
            reach = (
                0
                if entry.random or not square
                else abs(real(problem.scale)) * mpmath.sqrt(real(square))
            )
            for key in entry.keys:
                both = entry.low * m[key], entry.high * m[key]
                up[key] = real(max(both)) + reach if reach else max(both)
                low[key] = real(min(both)) - reach if reach else min(both)
    return up, low


def _exactly(exact: list[tuple[list[Any], list[Any]]], a: int, room: Fraction) -> Word:
    with mpmath.workdps(DIGITS):
        total, plain = mpmath.mpf(0), True
        for up, low in exact:
            x = [_less(up[i], low[a]) for i in range(len(up)) if i != a]
            plain = plain and all(isinstance(y, Fraction) and y == 0 for y in x)
            R = mpmath.fsum(
                mpmath.exp(real(y) if isinstance(y, Fraction) else y) for y in x
            )
            total += R / (1 + R) / len(exact)
        if plain:  # all scores are equal
            count = len(exact[0][0])
            return "true" if Fraction(count - 1, count) <= room else "false"
        allowed = real(room)
        if abs(total - allowed) <= HAIR * max(total, allowed):
            return "unknown"
        return "true" if total < allowed else "false"


def _less(x: Any, y: Any) -> Any:
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return x - y
    return (real(x) if isinstance(x, Fraction) else x) - (
        real(y) if isinstance(y, Fraction) else y
    )


def realizations(
    problem: Problem, K: np.ndarray, queries: list[np.ndarray], a: int
) -> list[np.ndarray]:
    """Admissible keys, in floats: near their places, and where they are worst for each query and all together."""
    s, found = as_float(problem.scale), []
    for q in [*queries, np.mean(queries, axis=0), np.zeros(problem.d)]:
        placed = K.copy()
        for entry in problem.entries:
            low, high = as_float(entry.low), as_float(entry.high)
            for key in entry.keys:
                sign = -1.0 if key == a else 1.0
                c = (
                    max((low, high), key=lambda c: sign * s * c * float(K[key] @ q))
                    if q.any()
                    else min(max(1.0, low), high)
                )
                placed[key] = c * K[key]
                if not entry.random and q.any():
                    E = np.array(
                        [[as_float(x) for x in column] for column in entry.factor]
                    ).reshape(-1, problem.d)
                    u = E @ q
                    length = float(np.linalg.norm(u))
                    step = float(entry.ball) * q / float(np.linalg.norm(q)) + (
                        u @ E / length if length else 0.0
                    )
                    placed[key] = (
                        placed[key] + sign * math.copysign(1 - 1e-12, s) * step
                    )
        found.append(placed)
    return found


def _fails_in_some_uncertainty(
    problem: Problem, K: np.ndarray, queries: list[Vector], a: int, p: Fraction
) -> bool:
    given = [np.array([as_float(x) for x in q]) for q in queries]
    s, total = as_float(problem.scale), 1.0
    for placed in realizations(problem, K, given, a):
        with np.errstate(all="ignore"):
            scores = [s * (placed @ q) for q in given]
            if max(float(np.abs(x).max()) for x in scores) > 1e4:
                continue
            weights = [
                1 / float(np.exp(np.minimum(x - x[a], 705.0)).sum()) for x in scores
            ]
        total = min(total, sum(weights) / len(weights))
    return total < as_float(p) * (1 - 1e-6)
