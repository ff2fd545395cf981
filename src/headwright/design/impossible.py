"""Proofs that no query whatever grants a wish: distributions over the keys that cancel exactly.

No query grants the wish if sum_c lambda_c (sum_i pi^c_i k_i - k_c) = 0 exactly, sum_c lambda_c (H(pi^c) + ln p_c) > 0.
Floating point finds such lambda and pi up to rounding (the pattern at the query that comes closest); then a few of the
largest entries are corrected by exact rationals, so that the sum is 0 and not nearly 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import mul
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from jaxtyping import Float

from headwright import attention
from headwright.design.certify import impossible
from headwright.design.program import ends, program
from headwright.design.statement import Question
from headwright.trusted.keys import Keys
from headwright.trusted.verify import verify

ONE = 2**160  # guesses are whole numbers of 1 / ONE: rounding them is free, since they are corrected anyway
CUTS = (0.0, 1e-300, 1e-100, 1e-30, 1e-16, 1e-12, 1e-9, 1e-6, 1e-3)  # entries of pi below are taken as 0


def prove_impossible(
    question: Question,
    best: Float[np.ndarray, " d"],
    multipliers: Float[np.ndarray, "scenarios targets"],
    contents: list[bytes],
) -> str | None:
    """A verified certificate of impossibility, or None where none was found; the query and multipliers are guesses.

    >>> from fractions import Fraction
    >>> from headwright.design.wish import copy
    >>> from headwright.noise import World
    >>> twins = np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 1.0]])
    >>> question = Question((twins,), copy(0), World(), Fraction(1), Fraction(1))
    >>> proof = prove_impossible(question, np.array([40.0, 40.0]), np.ones((1, 1)), [])
    >>> verify(proof).word
    'verified'
    """
    for text in _within_balls(question, best, multipliers):
        if verify(text, contents).word == "verified":
            return text
    patterns = [
        attention.pattern(attention.scores(keys, best[None], scale=float(question.scale)))[0] for keys in question.keys
    ]
    seen: set[tuple[int, ...]] = set()
    for cut in CUTS:
        supports = [np.flatnonzero(pattern > cut * pattern.max()) for pattern in patterns]
        sizes = tuple(len(support) for support in supports)
        if sizes in seen:
            continue
        seen.add(sizes)
        constraints = _cancelling(question, patterns, supports, multipliers)
        if constraints:
            certificate = impossible(question, constraints)
            if verify(certificate, contents).word == "verified":
                return certificate
    return None


def _within_balls(
    question: Question, best: Float[np.ndarray, " d"], multipliers: Float[np.ndarray, "scenarios targets"]
) -> Iterator[str]:
    """Where keys may move within balls nothing has to cancel exactly: what is left over must be less than the radii.

    At the best query it equals them; a little beyond it, it is less.
    """
    problem = program(question)
    if problem.ball is None or not problem.ball.any():
        return
    for beyond in (1e-9, 1e-6, 1e-3, 0.05):
        up, low = ends(problem, 0, best * (1 + beyond))
        constraints = []
        for k, a in enumerate(question.wish.targets):
            shares = np.exp(np.clip(up - low[a], -700, 700))
            shares[a] = 1.0
            distribution = {str(i): float(x).hex() for i, x in enumerate(shares) if x > 0}
            multiplier = float(multipliers[0, k]).hex()
            constraints.append({"scenario": 0, "target": a, "multiplier": multiplier, "distribution": distribution})
        yield impossible(question, constraints)


def _cancelling(
    question: Question,
    patterns: list[Float[np.ndarray, " n"]],
    supports: list[np.ndarray],
    multipliers: Float[np.ndarray, "scenarios targets"],
) -> list[dict[str, Any]]:
    """Constraints whose keys cancel exactly; none if the correction makes a share negative.

    In one scenario all targets may share one distribution pi, since the pattern does not depend on the target.
    """
    unknowns = list(_unknowns(question, patterns, supports, multipliers))
    exact = [
        Keys.of_bytes(np.ascontiguousarray(keys, "<f8").tobytes(), len(keys), keys.shape[1], "float64")
        for keys in question.keys
    ]
    d, scenarios = question.keys[0].shape[1], len(question.keys)

    def column(unknown: Unknown) -> list[fmpq]:
        # The d coordinates of the sum; each scenario's shares sum to its multipliers; all multipliers sum to 1.
        place = [
            fmpq(x * unknown.sign, 2 ** exact[unknown.scenario].bits) for x in exact[unknown.scenario].row(unknown.key)
        ]
        same = [fmpq(unknown.sign if w == unknown.scenario else 0) for w in range(scenarios)]
        return [*place, *same, fmpq(int(unknown.sign < 0))]

    right = [-x for x in _sum(unknowns, exact, scenarios)]
    right[-1] += 1
    few = sorted(unknowns, key=lambda unknown: -unknown.guess)[: 3 * (d + scenarios + 1)]
    correction = _solve([column(unknown) for unknown in few], right)
    if correction is None:
        return []
    values = {unknown: fmpq(unknown.guess, ONE) for unknown in unknowns}
    for unknown, delta in zip(few, correction, strict=True):
        values[unknown] += delta
    if any(value < 0 for value in values.values()):
        return []
    return _as_constraints(values, scenarios)


def _sum(unknowns: list[Unknown], exact: list[Keys], scenarios: int) -> list[fmpq]:
    """The left sides of all equations at the guesses, in whole numbers until the end."""
    places = [fmpq(0)] * exact[0].d
    for w, keys in enumerate(exact):
        mine = [unknown for unknown in unknowns if unknown.scenario == w]
        factors = [unknown.guess * unknown.sign for unknown in mine]
        columns = zip(*(keys.row(unknown.key) for unknown in mine), strict=True)
        places = [p + fmpq(sum(map(mul, factors, c)), ONE * 2**keys.bits) for p, c in zip(places, columns, strict=True)]
    same = [fmpq(sum(u.guess * u.sign for u in unknowns if u.scenario == w), ONE) for w in range(scenarios)]
    return [*places, *same, fmpq(sum(u.guess for u in unknowns if u.sign < 0), ONE)]


@dataclass(frozen=True)
class Unknown:
    """A share of a key in a scenario's distribution (sign 1), or the multiplier of a target (sign -1)."""

    scenario: int
    key: int
    sign: int
    guess: int  # in units of 1 / ONE


def _unknowns(
    question: Question,
    patterns: list[Float[np.ndarray, " n"]],
    supports: list[np.ndarray],
    multipliers: Float[np.ndarray, "scenarios targets"],
) -> Iterator[Unknown]:
    for w, (pattern, support) in enumerate(zip(patterns, supports, strict=True)):
        mass = float(multipliers[w].sum())
        if mass > 0:
            shares = pattern[support] * (mass / float(pattern[support].sum()))
            for i, share in zip(support.tolist(), shares.tolist(), strict=True):
                yield Unknown(w, i, 1, round(share * ONE))
            for k, a in enumerate(question.wish.targets):
                if multipliers[w, k] > 0:
                    yield Unknown(w, a, -1, round(float(multipliers[w, k]) * ONE))


def _solve(columns: list[list[fmpq]], right: list[fmpq]) -> list[fmpq] | None:
    """Some exact x with sum_j x_j columns_j = right, using the first columns that suffice; None if there is none."""
    table = fmpq_mat(len(right), len(columns) + 1)
    for j, column in enumerate([*columns, right]):
        for i, entry in enumerate(column):
            table[i, j] = entry
    reduced, rank = table.rref()
    x = [fmpq(0)] * len(columns)
    for i in range(rank):
        pivot = next(j for j in range(len(columns) + 1) if reduced[i, j] != 0)
        if pivot == len(columns):
            return None
        x[pivot] = reduced[i, len(columns)]
    return x


def _as_constraints(values: dict[Unknown, fmpq], scenarios: int) -> list[dict[str, Any]]:
    shares: list[dict[str, str]] = [{} for _ in range(scenarios)]
    for unknown, value in values.items():
        if unknown.sign > 0 and value != 0:
            shares[unknown.scenario][str(unknown.key)] = f"{hex(int(value.p))}/{hex(int(value.q))}"
    return [
        {
            "scenario": unknown.scenario,
            "target": unknown.key,
            "multiplier": f"{hex(int(value.p))}/{hex(int(value.q))}",
            "distribution": shares[unknown.scenario],
        }
        for unknown, value in values.items()
        if unknown.sign < 0 and value != 0
    ]
