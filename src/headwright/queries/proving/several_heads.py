"""Bounds for several heads: in each world, some head gives a set of targets at least their total wished weight.

With P the sum of the least weights of a set S, some head gives S at least P; the highest of its |S| scores is at some
a in S, so that the keys outside S sum to at most |S| (1 - P) / P of exp(s_a). So that head grants a the weight
P / (P + |S| (1 - P)) among the keys outside S and a: no shorter query does than the shortest for the easiest a in S.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from jaxtyping import Float, Int

from headwright.noise import Noise, OneOf, World
from headwright.queries.certify import Bound, Checker, Constraint, Part, certificate
from headwright.queries.program import program, solved
from headwright.queries.proving.impossible import Proof, prove_impossible
from headwright.queries.solving.problem import Solution
from headwright.queries.solving.solver import dual_bound
from headwright.queries.statement import Question
from headwright.queries.wish import Wish

MOST_SETS = 24  # sets of targets that are tried


@dataclass(frozen=True, eq=False)
class SingleTarget:
    """One target of a set in one world, as a question of its own: certain keys, some of them left out."""

    question: Question
    rows: Int[np.ndarray, " some"]  # which keys of the whole question these are
    scenario: int
    target: int


def best_common_bound(question: Question, query: Float[np.ndarray, " d"]) -> tuple[Bound | None, float]:
    """The best bound for several heads, and its value in floating point; the query selects a world to try."""
    best: tuple[Bound | None, float] = None, 0.0
    for scenario, scales, among in worlds_and_sets(question, query):
        parts, least = [], math.inf
        for alone in each_target(question, scenario, scales, among):
            solution = solved(program(alone.question))
            least = min(least, _least(alone.question, solution))
            parts.append(Part(solution.query, (Constraint(scenario, alone.target, 1.0),)))
            if least <= best[1]:
                break
        if least > best[1]:
            best = Bound(tuple(parts), among, scales=scales), least
    return best


def prove_impossible_for_heads(question: Question, checker: Checker) -> Proof | None:
    """A verified proof that no heads grant the wish: for each target of a set, alone in one world, no query does."""
    for scenario, scales, among in worlds_and_sets(question, np.zeros(question.keys[0].shape[1])):
        parts = []
        for alone in each_target(question, scenario, scales, among):
            problem = program(alone.question)
            proof = prove_impossible(alone.question, Checker(alone.question), problem, solved(problem))
            if proof is None:
                break
            (part,) = proof.evidence.parts
            (constraint,) = part.constraints
            shares = {int(alone.rows[j]): x for j, x in (constraint.distribution or {}).items()}
            parts.append(Part(part.query, (Constraint(scenario, alone.target, 1.0, shares),)))
        else:
            evidence = Bound(tuple(parts), among, scales=scales)
            text = certificate(question, "impossible", evidence)
            verdict = checker.verify(text)
            if verdict.word == "verified":
                return Proof(text, verdict.words, evidence)
    return None


def worlds_and_sets(
    question: Question, query: Float[np.ndarray, " d"]
) -> Iterator[tuple[int, dict[int, Fraction], tuple[int, ...]]]:
    """Scenarios with scales to try, and sets of targets; the query selects scales that are worst for it."""
    certain = [a for a in question.wish.targets if a not in question.random_keys]
    sizes = [len(certain), 1, *range(2, len(certain))]
    sets = list(itertools.islice(
        dict.fromkeys(chosen for size in sizes for chosen in itertools.combinations(certain, size) if size), MOST_SETS
    ))  # fmt: skip
    for scenario in range(len(question.keys)):
        for scales in _scales(question, query):
            for among in sets:
                yield scenario, scales, among


def _scales(question: Question, query: Float[np.ndarray, " d"]) -> list[dict[int, Fraction]]:
    """Worlds to try: scales nearest to 1, and those that are worst at the query."""
    worst: dict[int, Fraction] = {}
    targets = set(question.wish.targets)
    for entry in question.entries:
        low, high = entry.ends
        if low < high:
            scores = float(question.scale) * (question.keys[0][entry.keys] @ query)
            for i, score in zip(entry.keys.tolist(), scores.tolist(), strict=True):
                worst[i] = high if (score > 0) != (i in targets) else low
    return [{}, worst] if worst else [{}]


def each_target(
    question: Question, scenario: int, scales: dict[int, Fraction], among: tuple[int, ...]
) -> Iterator[SingleTarget]:
    """Each target of a set in one world, alone with the keys outside the set."""
    keys = question.keys[scenario]
    P, nominal = sum((question.wish.least[a] for a in among), Fraction(0)), np.ones(question.n, dtype=object)
    for entry in question.entries:
        nominal[entry.keys] = min(max(Fraction(1), entry.ends[0]), entry.ends[1])
    for i, scale in scales.items():
        nominal[i] = scale
    for a in among:
        left_out = (set(among) - {a}) | question.random_keys
        rows = np.array([i for i in range(question.n) if i not in left_out])
        least = P / (P + len(among) * (1 - P))
        place = int(np.flatnonzero(rows == a)[0])
        world = World({k: Noise(scale=OneOf((float(nominal[i]),))) for k, i in enumerate(rows) if nominal[i] != 1})
        small = replace(question, keys=(keys[rows],), wish=Wish({place: least}), world=world, heads=1)
        yield SingleTarget(small, rows, scenario, a)


def _least(question: Question, solution: Solution) -> float:
    return 0.0 if solution.status == "impossible" else dual_bound(program(question), solution)
