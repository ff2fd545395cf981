"""W_Q and W_K with few rows that meet attention targets, and the smallest of them: a search over both (untrusted).

    minimise (|A|_F^2 + |B|_F^2) / 2   subject to   ln sum_l exp(d_l^T A^T B z) <= bound    for each query z, target

With A and B of r rows each, A^T B has rank r at most, and for a given product the objective is at least its nuclear
norm, and equal to it for balanced factors: with enough rows this is the convex problem of smallest nuclear norm, with
few it is one of small rank. `optimisation.augmented_lagrangian` solves it: a pass costs no more than the scores.

With few rows not every start leads to a solution. Good ones:

* in one dimension only the ends of a line can be copied, so what matters are the signs of the queries: dimension.py
* in 2 k dimensions points on the curve (cos t, sin t, ..., cos kt, sin kt) are such that for any k of them some query
  scores these highest and alike: so for tokens that are linearly independent, one rule each, 2 k dimensions do
* a matrix of full rank, cut; and random ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from headwright.head_design.matrix_program import (
    Matrix,
    ReducedProgram,
    ScoreConstraint,
    largest_violation,
)
from headwright.head_design.smallest_matrix import (
    PatternGoal,
    ScoreMatrix,
    as_score_matrix,
    reduce_program,
    smallest,
)
from headwright.optimisation.augmented_lagrangian import (
    ConstraintValues,
    minimise_by_lbfgs,
    minimise_locally,
    squared_violations,
)
from headwright.optimisation.convex_program import Vector

TOLERANCE = 1e-6  # of the constraints; twice as much is asked for beyond what is wanted
ENOUGH_STARTS = 3  # are tried at least, and the smallest solution is taken,
FEW_NUMBERS = 30_000  # where there are so many in all differences at most; else the first is taken
Rows = Float[np.ndarray, "r k"]


@dataclass(frozen=True, eq=False)
class QueryKeyFactors:
    """Keys and queries in r dimensions: W_K and W_Q in the coordinates of the tokens; one of them may be left open."""

    keys: Float[np.ndarray, "r p"] | None
    queries: Float[np.ndarray, "r q"] | None


def factored(
    goals: Sequence[PatternGoal], starts: Iterable[QueryKeyFactors]
) -> ScoreMatrix | None:
    """A^T B that meets the goals, of small nuclear norm, with the rows of a start; None where no start led to one."""
    reduced = reduce_program(goals)
    if reduced is None or _is_met_by_zero(reduced):
        no_multipliers = tuple(np.zeros(len(goal.targets)) for goal in goals)
        zero = np.zeros((goals[0].keys.shape[1], len(goals[0].query)))
        return ScoreMatrix(zero, no_multipliers, 0.0)

    stack = StackedConstraints(reduced.constraints)
    best = None
    least = np.inf
    for tried, start in enumerate(starts):
        is_large = stack.differences.size > FEW_NUMBERS
        if best is not None and (tried >= ENOUGH_STARTS or is_large):
            break
        A, B, multipliers = _minimise_factors(stack, *_complete(stack, reduced, start))
        X: Matrix | None = A.T @ B
        if any(goal.evened for goal in goals):
            X = _polish(goals, reduced, A, B)
        if X is None or largest_violation(reduced.constraints, X) > 0:
            continue
        size = float(np.linalg.norm(X, "nuc"))
        if size < least * (1 - 1e-9):
            best = as_score_matrix(goals, reduced, X, multipliers)
            least = size
    return best


def _is_met_by_zero(reduced: ReducedProgram) -> bool:
    return largest_violation(reduced.constraints, np.zeros(reduced.shape)) <= 0


class StackedConstraints:
    """All constraints together, so that a pass over them is a few products of matrices."""

    def __init__(self, constraints: Sequence[ScoreConstraint]) -> None:
        """Their differences one below the other."""
        lengths = [len(constraint.differences) for constraint in constraints]
        shifts = [
            np.broadcast_to(constraint.shifts, n)
            for constraint, n in zip(constraints, lengths, strict=True)
        ]
        equal = np.array([constraint.equal for constraint in constraints])
        bounds = np.array([constraint.bound for constraint in constraints])
        self.differences = np.vstack([c.differences for c in constraints])
        self.first = np.cumsum([0, *lengths[:-1]])
        self.constraint_of = np.repeat(np.arange(len(constraints)), lengths)
        self.shifts = np.concatenate(shifts)
        self.queries = np.array([constraint.query for constraint in constraints])
        self.bounds = bounds - np.where(equal, 0.0, 2 * TOLERANCE)
        self.floors = np.where(equal, -np.inf, 0.0)  # of multipliers

    def split(self, point: Vector) -> tuple[Rows, Rows]:
        """A and B, which are one point together."""
        p = self.differences.shape[1]
        q = self.queries.shape[1]
        r = len(point) // (p + q)
        return point[: r * p].reshape(r, p), point[r * p :].reshape(r, q)

    def at(self, point: Vector) -> ConstraintValues:
        """By how much each constraint is violated."""
        A, B = self.split(point)
        keys = self.differences @ A.T
        queries = (self.queries @ B.T)[self.constraint_of]
        scores = (keys * queries).sum(axis=1) + self.shifts
        # ln sum exp of each constraint's scores, relative to the highest of them
        tops = np.maximum.reduceat(scores, self.first)
        e = np.exp(scores - tops[self.constraint_of])
        totals = np.add.reduceat(e, self.first)

        def weighted_slope(weights: Float[np.ndarray, " m"]) -> Vector:
            # sum_c w_c sum_l share_l of the slope of d_l^T A^T B z in A, and in B
            shares = ((weights / totals)[self.constraint_of] * e)[:, None]
            slope_A = (shares * queries).T @ self.differences
            slope_B = np.add.reduceat(shares * keys, self.first).T @ self.queries
            return np.concatenate([slope_A.ravel(), slope_B.ravel()])

        return ConstraintValues(tops + np.log(totals) - self.bounds, weighted_slope)


def _joined(A: Rows, B: Rows) -> Vector:
    return np.concatenate([A.ravel(), B.ravel()])


def _minimise_factors(
    stack: StackedConstraints, A: Rows, B: Rows
) -> tuple[Rows, Rows, Float[np.ndarray, " m"]]:
    """Factors of small norm that nearly keep the constraints, from these, with multipliers; if all goes well."""
    start = _joined(A, B)
    penalty = max(float(start @ start) / 2, 1e-3) / len(stack.bounds)
    end, multipliers = minimise_locally(
        lambda x: (float(x @ x) / 2, x), stack, start, penalty, TOLERANCE
    )
    return *stack.split(end), multipliers


def along_signs(goals: Sequence[PatternGoal], signs: Sequence[int]) -> QueryKeyFactors:
    """Queries of one dimension with these signs, as far as they can be had; the keys are left open."""
    queries = np.array([goal.query for goal in goals])
    wanted = np.array(signs, dtype=float)
    return QueryKeyFactors(None, np.linalg.lstsq(queries, wanted, rcond=None)[0][None])


def on_a_curve(goals: Sequence[PatternGoal], r: int) -> QueryKeyFactors:
    """Keys on a closed curve, in the order in which they come, as far as they can be had; the queries are left open."""
    rows = [tuple(key) for goal in goals for key in goal.keys.tolist()]
    keys = np.array(list(dict.fromkeys(rows)))
    t = 2 * np.pi * np.arange(len(keys)) / len(keys)
    waves = []
    for k in range(r):
        wave = np.sin if k % 2 else np.cos
        waves.append(wave((k // 2 + 1) * t))
    factor = np.linalg.lstsq(keys, np.array(waves).T, rcond=None)[0].T
    return QueryKeyFactors(factor, None)


def by_chance(
    goals: Sequence[PatternGoal], r: int, tries: int
) -> Iterable[QueryKeyFactors]:
    """So many starts, always the same."""
    rng = np.random.default_rng(0)
    for _ in range(tries):
        keys = rng.normal(size=(r, goals[0].keys.shape[1]))
        yield QueryKeyFactors(keys, rng.normal(size=(r, len(goals[0].query))))


def truncated_svd(M: Float[np.ndarray, "p q"], r: int) -> QueryKeyFactors:
    """The matrix of rank r that is nearest."""
    U, sizes, V = np.linalg.svd(M, full_matrices=False)
    roots = np.sqrt(sizes[:r, None])
    return QueryKeyFactors(U[:, :r].T * roots, V[:r] * roots)


def _polish(
    goals: Sequence[PatternGoal], reduced: ReducedProgram, A: Rows, B: Rows
) -> Matrix | None:
    """With these queries the smallest keys, or the other way round: to the last digit, as equal scores need it."""
    keys = A @ reduced.left.T
    queries = B @ reduced.right.T
    by_keys = smallest([replace(goal, query=queries @ goal.query) for goal in goals])
    if by_keys.met:
        return reduced.coordinates(by_keys.matrix @ queries)
    by_queries = smallest([replace(goal, keys=goal.keys @ keys.T) for goal in goals])
    if by_queries.met:
        return reduced.coordinates(keys.T @ by_queries.matrix)
    return None


def _complete(
    stack: StackedConstraints, reduced: ReducedProgram, start: QueryKeyFactors
) -> tuple[Rows, Rows]:
    """The start in coordinates; what it leaves open is chosen so that it violates as little as can be."""
    given_factor = start.queries if start.keys is None else start.keys
    r = 0 if given_factor is None else len(given_factor)
    A = np.zeros((r, reduced.shape[0]))
    B = np.zeros((r, reduced.shape[1]))
    if start.keys is not None:
        A = start.keys @ reduced.left * reduced.unit
    if start.queries is not None:
        B = start.queries @ reduced.right

    if start.keys is None or start.queries is None:
        is_open = _joined(
            np.full(A.shape, start.keys is None),
            np.full(B.shape, start.queries is None),
        )
        violations = squared_violations(stack)

        def violations_by_open(x: Vector) -> tuple[float, Vector]:
            value, slope = violations(x)
            return value, slope * is_open

        A, B = stack.split(minimise_by_lbfgs(violations_by_open, _joined(A, B)))
    # of equal size, which their product does not see
    size_A = float(np.linalg.norm(A)) or 1.0
    size_B = float(np.linalg.norm(B)) or 1.0
    ratio = size_B / size_A
    return A * ratio**0.5, B / ratio**0.5
