"""Bounds for several heads: in each realization, some head gives a set of targets at least their total target weight.

With P the sum of the least weights of a set S, some head gives S at least P; the highest of its |S| scores is at some
a in S, so that the keys outside S sum to at most |S| (1 - P) / P of exp(s_a). So that head gives a the weight
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

from headwright.query_design.certify import (
    BoundEvidence,
    Checker,
    Constraint,
    PartEvidence,
    certificate,
)
from headwright.query_design.program import program, solved
from headwright.query_design.proving.impossible import (
    ImpossibilityProof,
    prove_impossible,
)
from headwright.query_design.solving.problem import QuerySolution
from headwright.query_design.solving.solver import dual_bound
from headwright.query_design.statement import DesignQuestion
from headwright.query_design.targets import Targets
from headwright.uncertainty import Noise, OneOf, Uncertainty

MOST_SETS = 24  # sets of targets that are tried


@dataclass(frozen=True, eq=False)
class SingleTarget:
    """One target of a set in one realization, as a question of its own: certain keys, some of them left out."""

    question: DesignQuestion
    rows: Int[np.ndarray, " some"]  # which keys of the whole question these are
    scenario: int
    target: int


def best_common_bound(
    question: DesignQuestion, query: Float[np.ndarray, " d"]
) -> tuple[BoundEvidence | None, float]:
    """The best bound for several heads, and its value in floating point; the query selects an uncertainty to try."""
    best: tuple[BoundEvidence | None, float] = None, 0.0
    for scenario, scales, among in realizations_and_sets(question, query):
        parts = []
        least = math.inf
        for alone in each_target(question, scenario, scales, among):
            solution = solved(program(alone.question))
            least = min(least, _least(alone.question, solution))
            parts.append(
                PartEvidence(solution.query, (Constraint(scenario, alone.target, 1.0),))
            )
            if least <= best[1]:
                break
        if least > best[1]:
            best = BoundEvidence(tuple(parts), among, scales=scales), least
    return best


def prove_impossible_for_heads(
    question: DesignQuestion, checker: Checker
) -> ImpossibilityProof | None:
    """A verified proof that no heads meet the targets: for each target of a set, in one realization, none does."""
    for scenario, scales, among in realizations_and_sets(
        question, np.zeros(question.keys[0].shape[1])
    ):
        parts = []
        for alone in each_target(question, scenario, scales, among):
            problem = program(alone.question)
            proof = prove_impossible(
                alone.question, Checker(alone.question), problem, solved(problem)
            )
            if proof is None:
                break
            (part,) = proof.evidence.parts
            (constraint,) = part.constraints
            shares = {
                int(alone.rows[j]): x
                for j, x in (constraint.distribution or {}).items()
            }
            parts.append(
                PartEvidence(
                    part.query, (Constraint(scenario, alone.target, 1.0, shares),)
                )
            )
        else:
            evidence = BoundEvidence(tuple(parts), among, scales=scales)
            text = certificate(question, "impossible", evidence)
            verdict = checker.verify(text)
            if verdict.word == "verified":
                return ImpossibilityProof(text, verdict.words, evidence)
    return None


def realizations_and_sets(
    question: DesignQuestion, query: Float[np.ndarray, " d"]
) -> Iterator[tuple[int, dict[int, Fraction], tuple[int, ...]]]:
    """Scenarios with scales to try, and sets of targets; the query selects scales that are worst for it."""
    certain = [a for a in question.targets.indices if a not in question.random_keys]
    sizes = [len(certain), 1, *range(2, len(certain))]
    sets = list(
        itertools.islice(
            dict.fromkeys(
                chosen
                for size in sizes
                for chosen in itertools.combinations(certain, size)
                if size
            ),
            MOST_SETS,
        )
    )
    for scenario in range(len(question.keys)):
        for scales in _scales(question, query):
            for among in sets:
                yield scenario, scales, among


def _scales(
    question: DesignQuestion, query: Float[np.ndarray, " d"]
) -> list[dict[int, Fraction]]:
    """Uncertainty to try: scales nearest to 1, and those that are worst at the query."""
    worst: dict[int, Fraction] = {}
    targets = set(question.targets.indices)
    for entry in question.entries:
        low, high = entry.ends
        if low < high:
            scores = float(question.scale) * (question.keys[0][entry.keys] @ query)
            for i, score in zip(entry.keys.tolist(), scores.tolist(), strict=True):
                worst[i] = high if (score > 0) != (i in targets) else low
    return [{}, worst] if worst else [{}]


def each_target(
    question: DesignQuestion,
    scenario: int,
    scales: dict[int, Fraction],
    among: tuple[int, ...],
) -> Iterator[SingleTarget]:
    """Each target of a set in one realization, alone with the keys outside the set."""
    keys = question.keys[scenario]
    P = sum((question.targets.least[a] for a in among), Fraction(0))
    nominal = np.ones(question.n, dtype=object)
    for entry in question.entries:
        nominal[entry.keys] = min(max(Fraction(1), entry.ends[0]), entry.ends[1])
    for i, scale in scales.items():
        nominal[i] = scale
    for a in among:
        left_out = (set(among) - {a}) | question.random_keys
        rows = np.array([i for i in range(question.n) if i not in left_out])
        least = P / (P + len(among) * (1 - P))
        place = int(np.flatnonzero(rows == a)[0])
        uncertainty = Uncertainty(
            {
                k: Noise(scale=OneOf((float(nominal[i]),)))
                for k, i in enumerate(rows)
                if nominal[i] != 1
            }
        )
        small = replace(
            question,
            keys=(keys[rows],),
            targets=Targets({place: least}),
            uncertainty=uncertainty,
            heads=1,
        )
        yield SingleTarget(small, rows, scenario, a)


def _least(question: DesignQuestion, solution: QuerySolution) -> float:
    return (
        0.0
        if solution.status == "impossible"
        else dual_bound(program(question), solution)
    )
