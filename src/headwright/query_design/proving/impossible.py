"""Proofs that no query meets a target: distributions that cancel, with more entropy than the targets allow.

No query meets the targets if V = sum_c lambda_c (sum_j pi^c_j k_j - k_c) is 0, or within the room that balls and random
keys leave, and sum_c lambda_c (H(pi^c) + ln p_c) > 0. Floating point finds such shares at the query that comes
nearest to meeting it; `cancellation.py` makes them exact.
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

# Shares below are taken as 0.
CUTS = (0.0, 1e-300, 1e-100, 1e-30, 1e-16, 1e-12, 1e-9, 1e-6, 1e-3)
# By how much sets are shrunk and kinks smoothed, to leave room for rounding.
LEVELS = (1e-3, 1e-5, 1e-7, 1e-9)
# How near to an end of its range a scale is, as a part of it, to be put there.
SNAPS = (1e-6, 1e-3, 0.1)
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
    if question.random:
        guesses = _of_random_keys(question, solution)
    elif problem.certain:
        guesses = _of_certain_keys(question, problem, solution)
    else:
        guesses = _of_sets(question, problem, solution)
    for guess in guesses:
        if _leaves_room(question, guess):
            yield _as_it_is(question, guess)
        for cut in _cuts(guess):
            bound = cancelled(question, cut)
            if bound is not None:
                yield bound


def _of_certain_keys(
    question: DesignQuestion, problem: QueryProblem, solution: QuerySolution
) -> Iterator[Guess]:
    """The patterns at the solver's best query, and at the one that misses the targets least."""
    yield _patterns(question, solution.best, solution.multipliers)
    close = nearest(problem, _near(problem, solution.best), 0.0, 100.0)
    multipliers = close.multipliers.reshape(len(question.keys), -1)
    yield _patterns(question, close.query, multipliers)


def _of_sets(
    question: DesignQuestion, problem: QueryProblem, solution: QuerySolution
) -> Iterator[Guess]:
    """Sets that are shrunk less and less; keys that may vanish often have to, so that ends come first there."""
    has_scales = problem.scale_low is not None
    if _may_vanish(problem):
        yield from _at_ends(question, problem)
    start = _near(problem, solution.best)
    for level in LEVELS:
        smaller = shrunk(problem, level)
        close = nearest(smaller, start, level, 1 / level)
        start = close.query
        if close.violation > 0:
            yield _at(question, smaller, close, level)
    if has_scales:
        yield from _at_ends(question, problem)


def _may_vanish(problem: QueryProblem) -> bool:
    """Some key has 0 in the range of its scale."""
    low = problem.scale_low
    high = problem.scale_high
    if low is None or high is None:
        return False
    return bool(np.any((low <= 0) & (high >= 0) & (low < high)))


def _at_ends(question: DesignQuestion, problem: QueryProblem) -> Iterator[Guess]:
    """Keys of uncertain scale may have to stand at an end of their range, such as 0."""
    for level in LEVELS[:2]:
        close = nearest(problem, np.zeros(problem.shape[1]), level, 1 / level)
        guess = _at(question, problem, close, 0.0)
        for near in SNAPS:
            yield _snapped(question, guess, near)


def _snapped(question: DesignQuestion, guess: Guess, near: float) -> Guess:
    """The guess with scales that are near to an end of their range put there."""
    stand = guess.stand
    if stand is None:
        return guess
    scales = dict(stand.scales)
    own_scales = dict(stand.own_scales)
    for entry in question.entries:
        low, high = entry.scale
        for table in (scales, own_scales):
            for key in entry.keys.tolist():
                if key in table:
                    table[key] = _snap(table[key], low, high, near * (high - low))
    snapped = replace(stand, scales=scales, own_scales=own_scales)
    return replace(guess, stand=snapped)


def _snap(scale: float, low: float, high: float, near: float) -> float:
    """The nearer end, if it is near."""
    if min(scale - low, high - scale) > near:
        return scale
    return low if scale - low < high - scale else high


def _near(
    problem: QueryProblem, query: Float[np.ndarray, " d"]
) -> Float[np.ndarray, " d"]:
    """The query, or 0 if it is too far out to start from."""
    size = max(float(np.abs(keys).max()) for keys in problem.keys) * abs(problem.scale)
    is_near = float(np.abs(query).max()) * size < LARGEST
    return query if is_near else np.zeros_like(query)


def _patterns(
    question: DesignQuestion,
    query: Float[np.ndarray, " d"],
    multipliers: Float[np.ndarray, "scenarios targets"],
) -> Guess:
    """Certain keys: in one scenario all targets share the pattern at the query, since it does not depend on them."""
    constraints = []
    of_constraints = []
    shared = []
    patterns: list[Float[np.ndarray, " n"]] = []
    for scenario, keys in enumerate(question.keys):
        used = np.flatnonzero(multipliers[scenario] > 0).tolist()
        for k in used:
            constraints.append((scenario, question.targets.indices[k]))
            of_constraints.append(multipliers[scenario, k])
            shared.append(len(patterns))
        if used:
            scale = float(question.scale)
            scores = attention.scores(keys, query[None], scale=scale)
            patterns.append(attention.pattern(scores)[0])
    return Guess(
        constraints=tuple(constraints),
        multipliers=np.array(of_constraints),
        shared=tuple(shared),
        pi=tuple(patterns),
    )


def _at(
    question: DesignQuestion, problem: QueryProblem, close: Nearest, shrink: float
) -> Guess:
    """Sets: each constraint has shares of its own, for the worst places of its rivals and of its target."""
    up, low = ends(problem, 0, close.query, close.smoothing)
    targets = question.targets.indices
    pi = []
    for target in targets:
        scores = up.copy()
        scores[target] = low[target]
        e = np.exp(scores - scores.max())
        pi.append(e / e.sum())
    return Guess(
        constraints=tuple((0, target) for target in targets),
        multipliers=close.multipliers,
        shared=tuple(range(len(targets))),
        pi=tuple(pi),
        stand=places(question, close.query, close.smoothing, shrink),
    )


def _of_random_keys(
    question: DesignQuestion, solution: QuerySolution
) -> Iterator[Guess]:
    """Shares for which z deviations, jointly, are enough to make V vanish."""
    for level in LEVELS[:2]:
        value = BoundSearch(question, level).best(
            solution.best, solution.multipliers[0], solution.smoothing
        )
        if value.least == math.inf:
            shares = value.shares
            yield Guess(
                constraints=tuple((0, target) for target in shares.targets),
                multipliers=shares.multipliers,
                shared=tuple(range(len(shares.targets))),
                pi=tuple(shares.pi),
                stand=shares.stand,
                deviations=deviations_of_any(question),
                pushes=value.pushes,
            )


def _leaves_room(question: DesignQuestion, guess: Guess) -> bool:
    """Some key with a share may move within a ball, so that nothing has to cancel exactly."""
    with_share = {target for _, target in guess.constraints}
    for pi in guess.pi:
        with_share |= set(np.flatnonzero(pi).tolist())
    for entry in question.entries:
        if entry.ball > 0 and not with_share.isdisjoint(entry.keys.tolist()):
            return True
    return False


def _as_it_is(question: DesignQuestion, guess: Guess) -> BoundEvidence:
    """The evidence in floating point, for where nothing has to cancel exactly."""
    tables = []
    for pi in guess.pi:
        tables.append({int(j): float(pi[j]) for j in np.flatnonzero(pi)})
    constraints = []
    for c, (scenario, target) in enumerate(guess.constraints):
        multiplier = float(guess.multipliers[c])
        table = tables[guess.shared[c]]
        constraints.append(Constraint(scenario, target, multiplier, table))
    zero = np.zeros(question.keys[0].shape[1])
    moves = None
    scales: dict[int, float] = {}
    own_scales: dict[int, float] = {}
    if guess.stand is not None:
        moves = [move.tolist() for move in guess.stand.moves]
        scales = guess.stand.scales
        own_scales = guess.stand.own_scales
    if guess.pushes is None:
        parts = [PartEvidence(zero, tuple(constraints), moves=moves)]
    else:
        parts = []
        for constraint, push in zip(constraints, guess.pushes, strict=True):
            of_push = PartEvidence(zero, (constraint,), None, moves, push.tolist())
            parts.append(of_push)
    return BoundEvidence(tuple(parts), None, guess.deviations, scales, own_scales)


def _cuts(guess: Guess) -> Iterator[Guess]:
    """The guess with ever more of its small shares taken as 0: in boundary cases they have to be."""
    seen: set[tuple[int, ...]] = set()
    for cut in CUTS:
        distributions = []
        for pi in guess.pi:
            large = np.where(pi > cut * pi.max(), pi, 0.0)
            distributions.append(large / large.sum())
        sizes = tuple(int(np.count_nonzero(pi)) for pi in distributions)
        if sizes not in seen:
            seen.add(sizes)
            yield replace(guess, pi=tuple(distributions))
