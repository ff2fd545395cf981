"""Proofs that no query meets a target: distributions that cancel, with more entropy than the targets allows.

No query meets the targets if V = sum_c lambda_c (sum_j pi^c_j k_j - k_c) is 0, or within the room that balls and random
keys leave, and sum_c lambda_c (H(pi^c) + ln p_c) > 0. Floating point finds such shares at the query that comes
nearest to meeting it; `cancel` makes them exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from headwright import attention
from headwright.query_design.certify import (
    BoundEvidence,
    Checker,
    Constraint,
    PartEvidence,
    certificate,
    deviations_of_any,
)
from headwright.query_design.program import ends
from headwright.query_design.proving.cancellation import Guess, cancelled
from headwright.query_design.proving.key_placement import places
from headwright.query_design.proving.least_violation import Nearest, nearest, shrunk
from headwright.query_design.proving.random_keys import BoundSearch
from headwright.query_design.solving.problem import QueryProblem, QuerySolution
from headwright.query_design.statement import DesignQuestion

CUTS = (
    0.0,
    1e-300,
    1e-100,
    1e-30,
    1e-16,
    1e-12,
    1e-9,
    1e-6,
    1e-3,
)  # shares below are taken as 0
LEVELS = (
    1e-3,
    1e-5,
    1e-7,
    1e-9,
)  # by how much sets are shrunk and kinks smoothed, to leave room for rounding
SNAPS = (
    1e-6,
    1e-3,
    0.1,
)  # how near to an end of its range a scale is, as a part of it, to be put there
LARGEST = 1e3  # scores beyond this are no good start: floats cannot tell them apart well enough


@dataclass(frozen=True, eq=False)
class ImpossibilityProof:
    """A verified certificate that no query meets the targets, and what it says.

    >>> ImpossibilityProof("{}", "...", BoundEvidence(())).words
    '...'
    """

    certificate: str
    words: str
    evidence: BoundEvidence


def prove_impossible(
    question: DesignQuestion,
    checker: Checker,
    problem: QueryProblem,
    solution: QuerySolution,
) -> ImpossibilityProof | None:
    """A proof that was verified, or None where none was found; the problem and its solution are where to look."""
    if question.met_by_nothing:
        return None
    for bound in _bounds(question, problem, solution):
        text = certificate(question, "impossible", bound)
        verdict = checker.verify(text)
        if verdict.word == "verified":
            return ImpossibilityProof(text, verdict.words, bound)
    return None


def _bounds(
    question: DesignQuestion, problem: QueryProblem, solution: QuerySolution
) -> Iterator[BoundEvidence]:
    """Evidence that may be accepted, the likeliest first."""
    guesses = (
        _random(question, solution)
        if question.random
        else _certain_or_sets(question, problem, solution)
    )
    for guess in guesses:
        if _leaves_room(question, guess):
            yield _as_it_is(question, guess)
        for cut in _cuts(guess):
            if (bound := cancelled(question, cut)) is not None:
                yield bound


def _certain_or_sets(
    question: DesignQuestion, problem: QueryProblem, solution: QuerySolution
) -> Iterator[Guess]:
    if problem.certain:
        yield _patterns(question, solution.best, solution.multipliers)
        found = nearest(problem, _near(problem, solution.best), 0.0, 100.0)
        yield _patterns(
            question, found.query, found.multipliers.reshape(len(question.keys), -1)
        )
        return
    low, high = problem.scale_low, problem.scale_high
    if (
        low is not None
        and high is not None
        and bool(np.any((low <= 0) & (high >= 0) & (low < high)))
    ):
        yield from _at_ends(question, problem)  # keys that may vanish often have to
    start = _near(problem, solution.best)
    for level in LEVELS:
        found = nearest(smaller := shrunk(problem, level), start, level, 1 / level)
        start = found.query
        if found.violation > 0:
            yield _at(question, smaller, found, level)
    if low is not None:
        yield from _at_ends(question, problem)


def _at_ends(question: DesignQuestion, problem: QueryProblem) -> Iterator[Guess]:
    """Keys of uncertain scale may have to stand at an end of their range, such as 0."""
    for level in LEVELS[:2]:
        found = nearest(problem, np.zeros(problem.shape[1]), level, 1 / level)
        for near in SNAPS:
            yield _snapped(question, _at(question, problem, found, 0.0), near)


def _snapped(question: DesignQuestion, guess: Guess, near: float) -> Guess:
    """The guess with scales that are near to an end of their range put there."""
    scales, own = dict(guess.stand.scales), dict(guess.stand.own_scales)  # type: ignore[union-attr]
    for entry in question.entries:
        low, high = entry.scale
        for table in (scales, own):
            for i in entry.keys.tolist():
                if i in table and min(table[i] - low, high - table[i]) <= near * (
                    high - low
                ):
                    table[i] = low if table[i] - low < high - table[i] else high
    return replace(guess, stand=replace(guess.stand, scales=scales, own_scales=own))  # type: ignore[type-var]


def _near(
    problem: QueryProblem, query: Float[np.ndarray, " d"]
) -> Float[np.ndarray, " d"]:
    """The query, or 0 if it is too far out to start from."""
    size = max(float(np.abs(keys).max()) for keys in problem.keys) * abs(problem.scale)
    return (
        query if float(np.abs(query).max()) * size < LARGEST else np.zeros_like(query)
    )


def _patterns(
    question: DesignQuestion,
    query: Float[np.ndarray, " d"],
    multipliers: Float[np.ndarray, "scenarios targets"],
) -> Guess:
    """Certain keys: in one scenario all targets share the pattern at the query, since it does not depend on them."""
    used = [
        (w, k)
        for w in range(len(question.keys))
        for k in range(multipliers.shape[1])
        if multipliers[w, k] > 0
    ]
    scenarios = sorted({w for w, _ in used})
    pi = tuple(
        attention.pattern(
            attention.scores(question.keys[w], query[None], scale=float(question.scale))
        )[0]
        for w in scenarios
    )
    return Guess(
        tuple((w, question.targets.indices[k]) for w, k in used),
        np.array([multipliers[w, k] for w, k in used]),
        tuple(scenarios.index(w) for w, _ in used),
        pi,
    )


def _at(
    question: DesignQuestion, problem: QueryProblem, found: Nearest, shrink: float
) -> Guess:
    """Sets: each constraint has shares of its own, for the worst places of its rivals and of its target."""
    up, low = ends(problem, 0, found.query, found.smoothing)
    targets, pi = question.targets.indices, []
    for a in targets:
        x = up.copy()
        x[a] = low[a]
        e = np.exp(x - x.max())
        pi.append(e / e.sum())
    stand = places(question, found.query, found.smoothing, shrink)
    return Guess(
        tuple((0, a) for a in targets),
        found.multipliers,
        tuple(range(len(targets))),
        tuple(pi),
        stand,
    )


def _random(question: DesignQuestion, solution: QuerySolution) -> Iterator[Guess]:
    """Random keys: shares for which z deviations, jointly, are enough to make V vanish."""
    for level in LEVELS[:2]:
        value = BoundSearch(question, level).best(
            solution.best, solution.multipliers[0], solution.smoothing
        )
        if value.least == math.inf:
            shares = value.shares
            yield Guess(
                tuple((0, a) for a in shares.targets),
                shares.multipliers,
                tuple(range(len(shares.targets))),
                tuple(shares.pi),
                shares.stand,
                deviations_of_any(question),
                value.pushes,
            )


def _leaves_room(question: DesignQuestion, guess: Guess) -> bool:
    """Some key with a share may move within a ball, so that nothing has to cancel exactly."""
    present = {a for _, a in guess.constraints} | {
        j for pi in guess.pi for j in np.flatnonzero(pi).tolist()
    }
    return any(
        entry.ball > 0 and not present.isdisjoint(entry.keys.tolist())
        for entry in question.entries
    )


def _as_it_is(question: DesignQuestion, guess: Guess) -> BoundEvidence:
    constraints = tuple(
        Constraint(
            w,
            a,
            float(x),
            {int(j): float(guess.pi[g][j]) for j in np.flatnonzero(guess.pi[g])},
        )
        for (w, a), x, g in zip(
            guess.constraints, guess.multipliers, guess.shared, strict=True
        )
    )
    stand, zero = guess.stand, np.zeros(question.keys[0].shape[1])
    moves = None if stand is None else [move.tolist() for move in stand.moves]
    scales, own = ({}, {}) if stand is None else (stand.scales, stand.own_scales)
    if guess.pushes is None:
        return BoundEvidence(
            (PartEvidence(zero, constraints, moves=moves),),
            None,
            guess.deviations,
            scales,
            own,
        )
    parts = tuple(
        PartEvidence(zero, (c,), None, moves, push.tolist())
        for c, push in zip(constraints, guess.pushes, strict=True)
    )
    return BoundEvidence(parts, None, guess.deviations, scales, own)


def _cuts(guess: Guess) -> Iterator[Guess]:
    """The guess with ever more of its small shares taken as 0: in boundary cases they have to be."""
    seen: set[tuple[int, ...]] = set()
    for cut in CUTS:
        pi = tuple(np.where(one > cut * one.max(), one, 0.0) for one in guess.pi)
        sizes = tuple(int(np.count_nonzero(one)) for one in pi)
        if sizes not in seen:
            seen.add(sizes)
            yield replace(guess, pi=tuple(one / one.sum() for one in pi))
