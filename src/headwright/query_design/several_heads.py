"""Several heads: the targets are divided among them, so that the mean of the patterns meets the targets.

A head that serves a group of targets alone, one of c such heads among h, must give each of its targets h/c times the
target weight. All partitions of few targets into groups are tried. The one with the shortest longest query is taken,
and improved by a descent over all queries at once:

    minimise the longest |q_h|   subject to   sum_h 1 / (1 + S_a(q_h)) >= h p_a   for every target a,

where S_a sums up what competes with a. That is not convex: the augmented Lagrangian descends from a good start.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from headwright.numerics.enclosure import float_below
from headwright.optimisation.augmented_lagrangian import (
    ConstraintValues,
    minimise_locally,
)
from headwright.query_design.certify import (
    BoundEvidence,
    Checker,
    Constraint,
    GuardEvidence,
    PartEvidence,
    certificate,
    guards,
)
from headwright.query_design.program import program, solved
from headwright.query_design.proving.several_heads import (
    best_common_bound,
    each_target,
    realizations_and_sets,
)
from headwright.query_design.single_query import (
    Longer,
    Phases,
    attempt,
    first_verified_length,
    length_bounds,
)
from headwright.query_design.solving.bounds import program_of
from headwright.query_design.solving.constraints import QueryProgram
from headwright.query_design.statement import DesignQuestion
from headwright.query_design.targets import Targets

MOST_NUMBERS = 256  # in all queries; beyond, a step costs more than it is worth
MOST_KEYS = 20_000  # numbers in the keys
HAIR = 1e-10  # of the weights: so that rounding does no harm
TOLERANCE = 1e-10  # of the constraints, which are of size 1
PENALTY = 10.0  # at first
SMOOTHING = 1e-9  # of the kinks of worst cases
Queries = Float[np.ndarray, "heads d"]
FEW = 6  # targets up to which all groupings are tried: 203 of them
# how much longer queries are made until the checker takes them
LONGER = (0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4)
# by how much a bound is made smaller until the checker takes it; 1: nothing is claimed
SHRINKS = (1e-11, 1e-9, 1e-7, 1e-5, 1e-3, 1.0)
Group = tuple[int, ...]
Heads = list[tuple[Group, Float[np.ndarray, " d"]]]


@dataclass(frozen=True, eq=False)
class SharedTargets:
    """|q_h|^2 <= x_0 for every head h, and sum_h 1 / (1 + S_a(q_h)) >= h p_a for every target a; x = (x_0, q_1, ...).

    Squares are divided by those of a start, and weights by the wanted ones, so that all constraints are of size 1.
    """

    program: QueryProgram
    wanted: Float[np.ndarray, " c"]  # h p_a, for each scenario and target
    heads: int
    first_square: float  # of the longest query at the start

    @property
    def floors(self) -> Float[np.ndarray, " m"]:
        """Of multipliers: there are no equalities."""
        return np.zeros(self.heads + len(self.wanted))

    def at(self, point: Float[np.ndarray, " all"]) -> ConstraintValues:
        """All constraints, lengths first."""
        queries = point[1:].reshape(self.heads, -1)
        longer = (np.square(queries).sum(axis=1) - point[0]) / self.first_square
        log_slacks = np.tile(self.program.log_slacks, len(self.program.scenarios))
        weights = np.empty((self.heads, len(self.wanted)))
        slopes = np.empty((*weights.shape, queries.shape[1]))
        for h, query in enumerate(queries):
            state = self.program.at(query, curved=False)
            log_sums = state.values + log_slacks
            weights[h] = np.exp(-np.logaddexp(0.0, log_sums))
            falls = np.exp(log_sums - 2 * np.logaddexp(0.0, log_sums))
            slopes[h] = -falls[:, None] * state.slopes
        missing = (1 + HAIR) - weights.sum(axis=0) / self.wanted

        def weighted_slope(multipliers: Float[np.ndarray, " m"]) -> np.ndarray:
            of_lengths = multipliers[: self.heads]
            of_targets = multipliers[self.heads :] / self.wanted
            by_query = 2 * of_lengths[:, None] * queries / self.first_square
            by_query -= np.einsum("c,hcd->hd", of_targets, slopes)
            by_square = -float(of_lengths.sum()) / self.first_square
            return np.concatenate([[by_square], by_query.ravel()])

        return ConstraintValues(np.concatenate([longer, missing]), weighted_slope)


def _improve(
    question: DesignQuestion, guard: GuardEvidence | None, queries: Queries
) -> Queries | None:
    """Shorter queries that meet the targets together, in floating point; None if none were found."""
    problem = program(question, guard)
    if queries.size > MOST_NUMBERS or problem.keys[0].size > MOST_KEYS:
        return None
    query_program, unit = program_of(problem)
    smoothing = 0.0 if problem.certain else SMOOTHING
    inside = np.stack([unit.inside(query) for query in queries])
    square = float(np.square(inside).sum(axis=1).max())
    heads = len(queries)
    shared = SharedTargets(
        replace(query_program, smoothing=smoothing),
        np.tile(problem.floors, len(problem.keys)) * heads,
        heads,
        square,
    )
    gradient = np.zeros(1 + inside.size)
    gradient[0] = 1 / square
    end, _ = minimise_locally(
        lambda x: (float(x[0]) / square, gradient),
        shared,
        np.concatenate([[square], inside.ravel()]),
        PENALTY,
        TOLERANCE,
    )
    better = end[1:].reshape(inside.shape)
    if not np.all(np.isfinite(end)):
        return None
    is_met = float(shared.at(end).values[heads:].max()) <= HAIR
    is_shorter = float(np.square(better).sum(axis=1).max()) < square
    if not is_met or not is_shorter:
        return None
    return np.stack([unit.outside(query) for query in better])


@dataclass(frozen=True)
class Share:
    """Which targets a head serves."""

    head: int
    targets: Group


@dataclass(frozen=True, eq=False)
class Shared:
    """A verified design for several heads."""

    queries: Float[np.ndarray, "heads d"]
    shares: tuple[Share, ...]
    lower_bound: float
    certificate: str
    words: str


def divide_targets(
    question: DesignQuestion, checker: Checker, phases: Phases
) -> Shared | None:
    """The best way of sharing that was found, verified; None if there is none."""
    splits = []
    for guard in guards(question) or (None,):
        heads = _split(question, guard, phases)
        if heads:
            splits.append((guard, heads))
    splits.sort(key=lambda split: _longest(_queries(split[1])))
    for guard, heads in splits:
        queries = _queries(heads)
        candidates = [queries]
        if queries.any():  # nothing is shorter than 0
            better = _improve(question, guard, queries)
            if better is not None:
                candidates.insert(0, better)
        for candidate in candidates:
            shared = _certified(question, checker, guard, heads, candidate)
            if shared is not None:
                return shared
    return None


def prove_longer_for_heads(question: DesignQuestion, checker: Checker) -> Longer | None:
    """Verified: one of the queries is not shorter than this, however the targets are shared out; or None.

    Some head gives some target of a set at least a certain weight among the keys outside the set (see
    `proving.several_heads`): no shorter query does that than the shortest for the easiest of these targets.
    """
    candidates = []
    for scenario, scales, among in realizations_and_sets(
        question, np.zeros(question.d)
    ):
        parts = []
        least = math.inf
        for alone in each_target(question, scenario, scales, among):
            evidence, length = max(
                length_bounds(alone.question, attempt(alone.question)),
                key=lambda bound: bound[1],
            )
            (part,) = evidence.parts
            parts.append(
                PartEvidence(part.query, (Constraint(scenario, alone.target, 1.0),))
            )
            least = min(least, length)
        candidates.append((BoundEvidence(tuple(parts), among, scales=scales), least))
    return first_verified_length(question, checker, candidates)


def _split(
    question: DesignQuestion, guard: GuardEvidence | None, phases: Phases
) -> Heads:
    """The way of sharing with the shortest longest query; empty if there is none."""
    if question.met_by_nothing:
        return [
            (tuple(question.targets.indices), np.zeros(question.d))
        ] * question.heads
    known: dict[tuple[Group, Fraction], Float[np.ndarray, " d"] | None] = {}
    best: tuple[float, Heads] | None = None
    ways = list(_ways(tuple(question.targets.indices), question.heads))
    for number, way in enumerate(ways):
        heads: Heads = []
        for group, count in way:
            factor = Fraction(question.heads, count)
            if (group, factor) not in known:
                known[group, factor] = _served(question, guard, group, factor)
            query = known[group, factor]
            if query is None:
                break
            heads += [(group, query)] * count
        else:
            length = _longest(_queries(heads))
            if best is None or length < best[0]:
                best = length, heads
        phases.solving((number + 1) / len(ways))
    return [] if best is None else best[1]


def _served(
    question: DesignQuestion,
    guard: GuardEvidence | None,
    group: Group,
    factor: Fraction,
) -> Float[np.ndarray, " d"] | None:
    least = {a: question.targets.least[a] * factor for a in group}
    total = sum(least.values())
    if total > 1 or (total == 1 and len(group) < question.n):
        return None
    solution = solved(program(replace(question, targets=Targets(least)), guard))
    return None if solution.status == "impossible" else solution.query


def _certified(
    question: DesignQuestion,
    checker: Checker,
    guard: GuardEvidence | None,
    heads: Heads,
    queries: Float[np.ndarray, "heads d"],
) -> Shared | None:
    for longer in LONGER:
        lengthened = queries * (1 + longer)
        verdict = checker.verify(
            text := certificate(question, "designed", queries=lengthened, guard=guard)
        )
        if verdict.word == "verified":
            break
    else:
        return None
    claimed = Fraction(0)
    words = verdict.words
    bound, least = best_common_bound(question, lengthened.mean(axis=0))
    for shrink in (
        SHRINKS if bound is not None and least > 0 and not question.wider else ()
    ):
        none_shorter = Fraction(f"{min(least, 1e300) * (1 - shrink):.15g}")
        stronger = certificate(
            question,
            "designed",
            bound,
            queries=lengthened,
            none_shorter=none_shorter,
            guard=guard,
        )
        verdict = checker.verify(stronger)
        if verdict.word == "verified":
            claimed = none_shorter
            text = stronger
            words = verdict.words
            break
    shares = tuple(Share(h, group) for h, (group, _) in enumerate(heads))
    return Shared(lengthened, shares, float_below(claimed), text, words)


def _queries(heads: Heads) -> Float[np.ndarray, "heads d"]:
    return np.stack([query for _, query in heads])


def _longest(queries: Float[np.ndarray, "heads d"]) -> float:
    return float(np.linalg.norm(queries, axis=1).max())


def _ways(targets: Group, heads: int) -> Iterator[list[tuple[Group, int]]]:
    """Groups of targets with the number of heads that serve each; all together with all heads comes first."""
    yield [(targets, heads)]
    groupings = (
        _partitions(list(targets)) if len(targets) <= FEW else [_even(targets, heads)]
    )
    for groups in groupings:
        if 1 < len(groups) <= heads:
            spare = heads - len(groups)
            counts = [
                1 + spare // len(groups) + (g < spare % len(groups))
                for g in range(len(groups))
            ]
            yield list(zip(sorted(groups), counts, strict=True))


def _partitions(targets: list[int]) -> Iterator[list[Group]]:
    if not targets:
        yield []
        return
    first = targets[0]
    rest = targets[1:]
    for smaller in _partitions(rest):
        yield [(first,), *smaller]
        for g, group in enumerate(smaller):
            yield [*smaller[:g], (first, *group), *smaller[g + 1 :]]


def _even(targets: Group, heads: int) -> list[Group]:
    return [
        tuple(part.tolist())
        for part in np.array_split(np.array(targets), min(heads, len(targets)))
    ]
