"""The smallest matrix of scores that meets attention targets (untrusted, in floating point).

    minimise |N|_F   subject to   ln sum_{l != a} exp(<N, (k_l - k_a) z^T>) <= ln slack_a    for each query z, target a

Where several targets of a query leave next to nothing to others, their weights are fixed by equalities. Those leave an
affine subspace N0 + Z, N0 orthogonal to Z, in which the program is the same again, since |N|^2 = |N0|^2 + |Z|^2.

Each query has keys k_l of its own, and all share N: scores are k_l^T N z. With tokens for keys and query this is the
smallest M = W_K^T W_Q; with queries B x it is the smallest W_K for a given W_Q = B, and so on.

It is the same convex program as that of the shortest query, with N row by row for the query, on as few unknowns as
matter; `optimisation.sqp` solves it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headwright.head_design.matrix_program import (
    Matrix,
    MatrixProgram,
    ReducedProgram,
    RestrictedProgram,
    ScoreConstraint,
    largest_violation,
)
from headwright.optimisation.sqp import minimise_norm, start_at

EVENED = 1e-4  # what is left to others, from which on the weights of several targets are fixed
LARGEST = 6000  # unknowns; a step costs their cube
RANK = 1e-13  # singular values this much smaller than the largest are 0
STRETCHES = (0.0, 1e-14, 1e-13, 1e-12, 1e-11)  # that meet what rounding left open
# A combination of the keys' scores, and what it may be at most.
ScoreCap = tuple[Float[np.ndarray, " n"], float]


@dataclass(frozen=True, eq=False)
class PatternGoal:
    """One targets: keys seen by one query, and the slack 1/p - 1 of each target."""

    keys: Float[np.ndarray, "n p"]
    query: Float[np.ndarray, " r"]
    targets: tuple[int, ...]
    slacks: Float[np.ndarray, " m"]
    left: float | None = (
        None  # by all targets together to others, where it is known better than from the slacks
    )
    caps: tuple[ScoreCap, ...] = ()  # more constraints, which are linear
    added: Float[np.ndarray, " n"] | None = None  # to the scores of the keys

    @property
    def shifts(self) -> Float[np.ndarray, " n"]:
        """What is added to the scores of the keys."""
        return np.zeros(len(self.keys)) if self.added is None else self.added

    @property
    def over(self) -> float:
        """What the floors together leave to others."""
        return (
            1.0 - float((1 / (1 + self.slacks)).sum())
            if self.left is None
            else self.left
        )

    @property
    def evened(self) -> bool:
        """Several targets leave so little that their weights are fixed: the scores of these are then set equal."""
        return len(self.targets) > 1 and 0 < self.over < EVENED


@dataclass(frozen=True, eq=False)
class ScoreMatrix:
    """What was found: nothing here is proven."""

    matrix: Float[np.ndarray, "p r"]
    # One for each target of each target, of the constraint as above.
    multipliers: tuple[Float[np.ndarray, " m"], ...]
    violation: float  # the largest; at most 0 if all is met

    @property
    def met(self) -> bool:
        """All targets are met, as far as floating point can tell."""
        return self.violation <= 1e-12


def smallest(goals: Sequence[PatternGoal]) -> ScoreMatrix:
    """The matrix of smallest Frobenius norm that meets all constraints."""
    reduced = reduce_program(goals)
    if reduced is None or is_too_large(reduced):
        none = tuple(np.zeros(len(goal.targets)) for goal in goals)
        nothing = np.zeros((goals[0].keys.shape[1], len(goals[0].query)))
        return ScoreMatrix(nothing, none, -np.inf if reduced is None else np.inf)

    zero = np.zeros(reduced.shape)
    if largest_violation(reduced.constraints, zero) <= 0:
        return as_score_matrix(goals, reduced, zero, np.zeros(len(reduced.constraints)))
    return as_score_matrix(goals, reduced, *_minimise(reduced))


def _minimise(
    reduced: ReducedProgram,
) -> tuple[Matrix, Float[np.ndarray, " c"]]:
    """The smallest coordinates, and the multipliers of all constraints."""
    equal = np.array([constraint.equal for constraint in reduced.constraints])
    inequalities = [c for c in reduced.constraints if not c.equal]
    equalities = [c for c in reduced.constraints if c.equal]
    program = MatrixProgram(inequalities)
    multipliers = np.zeros(len(equal))
    if not equalities:
        end = minimise_norm(program, start_at(program, np.zeros(program.dimension)))
        multipliers = end.multipliers
        x = end.state.point
    else:
        rows = _slopes_of_equalities(equalities)
        sides = np.array([c.bound - float(np.sum(c.shifts)) for c in equalities])
        x, basis = _solutions(rows, sides)
        pull = x
        if inequalities and basis.size:
            restricted = RestrictedProgram(program, x, basis)
            zero = np.zeros(restricted.dimension)
            inside = minimise_norm(restricted, start_at(restricted, zero))
            multipliers[~equal] = inside.multipliers
            x = x + basis @ inside.state.point
            pull = x + inside.multipliers @ inside.state.whole.slopes
        # x + sum_c lambda_c grad f_c + rows^T nu = 0
        multipliers[equal] = np.linalg.lstsq(rows.T, -pull, rcond=RANK)[0]
    X = _stretched(reduced.constraints, x.reshape(reduced.shape))
    return X, multipliers


def _solutions(
    rows: Float[np.ndarray, "e d"], sides: Float[np.ndarray, " e"]
) -> tuple[Float[np.ndarray, " d"], Float[np.ndarray, "d k"]]:
    """The shortest x with rows x = sides, as well as it can be had, and a basis of what solves rows x = 0."""
    U, sizes, V = np.linalg.svd(rows)
    rank = int((sizes > RANK * sizes[0]).sum())
    shortest = V[:rank].T @ ((U.T @ sides)[:rank] / sizes[:rank])
    return shortest, V[rank:].T


def _stretched(constraints: Sequence[ScoreConstraint], X: Matrix) -> Matrix:
    """Slightly longer, where that meets what rounding left open."""
    for stretch in STRETCHES:
        longer = X * (1 + stretch)
        if largest_violation(constraints, longer) <= 0:
            return longer
    return X


def as_score_matrix(
    goals: Sequence[PatternGoal],
    reduced: ReducedProgram,
    X: Matrix,
    multipliers: Float[np.ndarray, " c"],
) -> ScoreMatrix:
    """The matrix with these coordinates, with the multipliers of each target."""
    N = reduced.matrix(X)
    rest = _share_between_equalities(reduced.constraints, multipliers)
    by_goal = []
    for goal in goals:
        if len(goal.keys) == 1:
            by_goal.append(np.zeros(len(goal.targets)))
            continue
        number = len(_constraints_of(goal))
        own = rest[:number]
        rest = rest[number:]
        by_goal.append(_evened_multipliers(goal, N, own) if goal.evened else own)
    return ScoreMatrix(N, tuple(by_goal), largest_violation(reduced.constraints, X))


def is_too_large(reduced: ReducedProgram) -> bool:
    """There are more unknowns than a Newton step can be taken with."""
    return reduced.program.dimension > LARGEST


def reduce_program(goals: Sequence[PatternGoal]) -> ReducedProgram | None:
    """All constraints; None if there are none, since every target is alone with itself."""
    constraints = []
    for goal in goals:
        if len(goal.keys) > 1:
            constraints += _constraints_of(goal)
    for goal in goals:
        for combination, most in goal.caps:
            row = (combination @ goal.keys)[None]
            bound = most - combination @ goal.shifts
            constraints.append(ScoreConstraint(row, goal.query, bound))
    return ReducedProgram.of(constraints) if constraints else None


def _constraints_of(goal: PatternGoal) -> list[ScoreConstraint]:
    return _evened(goal) if goal.evened else _plain(goal)


def _plain(goal: PatternGoal) -> list[ScoreConstraint]:
    """For each target: all other scores less its own, in log-sum-exp, are at most the logarithm of the slack."""
    constraints = []
    for target, slack in zip(goal.targets, goal.slacks, strict=True):
        differences = np.delete(goal.keys, target, axis=0) - goal.keys[target]
        shifts = np.delete(goal.shifts, target) - goal.shifts[target]
        bound = float(np.log(slack))
        constraints.append(
            ScoreConstraint(differences, goal.query, bound, shifts=shifts)
        )
    return constraints


def _evened(goal: PatternGoal) -> list[ScoreConstraint]:
    """Targets with weights in the ratio of their floors, and all others together below what is left.

    As inequalities these would hold in a sliver that is as thin as what is left, where Newton's steps get lost.
    """
    # Everything is compared with the first target.
    first = goal.targets[0]
    differences = goal.keys - goal.keys[first]
    shifts = goal.shifts - goal.shifts[first]
    floors = 1 / (1 + goal.slacks)
    constraints = []
    # All others together, against what the floors leave.
    rivals = np.delete(differences, goal.targets, axis=0)
    if len(rivals):
        bound = float(np.log(goal.over / floors[0]))
        rival_shifts = np.delete(shifts, goal.targets)
        constraints.append(
            ScoreConstraint(rivals, goal.query, bound, shifts=rival_shifts)
        )
    # Each other target has exactly its ratio to the first.
    for target, floor in zip(goal.targets[1:], floors[1:], strict=True):
        ratio = float(np.log(floor / floors[0]) - shifts[target])
        difference = differences[target][None]
        constraints.append(ScoreConstraint(difference, goal.query, ratio, equal=True))
    return constraints


def _share_between_equalities(
    constraints: Sequence[ScoreConstraint], multipliers: Float[np.ndarray, " c"]
) -> Float[np.ndarray, " c"]:
    """The same sum of gradients, where equalities of several queries have parallel ones: by what the others push.

    The push of the others in a query bounds what its equalities may bear, if the plain constraints are to have
    multipliers of 0 or more.
    """
    equal = np.array([constraint.equal for constraint in constraints])
    if not equal.any():
        return multipliers
    # each equality with the number of the first constraint of its query
    first_of_query = np.maximum.accumulate(np.where(equal, 0, np.arange(len(equal))))
    least = 1e-9 * np.abs(multipliers).max() + 1e-300
    weights = np.maximum(np.abs(multipliers[first_of_query]), least)[equal]
    slopes = _slopes_of_equalities(constraints)
    total = multipliers[equal] @ slopes
    shares = np.linalg.lstsq((slopes * weights[:, None]).T, total, rcond=1e-12)[0]
    shared = multipliers.copy()
    shared[equal] = weights * shares
    return shared


def _slopes_of_equalities(
    constraints: Sequence[ScoreConstraint],
) -> Float[np.ndarray, "e k"]:
    """The slope of the score difference of each equality in the matrix, as a row."""
    slopes = []
    for constraint in constraints:
        if constraint.equal:
            slope = np.outer(constraint.differences[0], constraint.query)
            slopes.append(slope.ravel())
    return np.array(slopes)


def _evened_multipliers(
    goal: PatternGoal, N: Float[np.ndarray, "p r"], evened: Float[np.ndarray, " c"]
) -> Float[np.ndarray, " m"]:
    """Multipliers of the plain constraints that add up to the same slope as those of `_evened`."""
    scores = (goal.keys - goal.keys[goal.targets[0]]) @ N @ goal.query + goal.shifts
    alpha = np.exp(scores - scores.max())
    alpha /= alpha.sum()
    # The multiplier of all others together, where there are any, and those of the targets but the first.
    has_others = len(evened) == len(goal.targets)
    of_others = float(evened[0]) if has_others else 0.0
    of_ratios = evened[1:] if has_others else evened
    of_first = -of_others - sum(of_ratios)
    of_targets = np.array([of_first, *of_ratios])
    # Plain constraints push each key in proportion to its weight: so hard that the others get what they got.
    weight_of_others = float(np.delete(alpha, goal.targets).sum())
    per_weight = of_others / max(weight_of_others, 1e-300)
    shares = per_weight * alpha[list(goal.targets)] - of_targets
    rest = goal.slacks / (1 + goal.slacks)  # 1 - floor
    plain: Float[np.ndarray, " m"] = np.maximum(shares, 0.0) * rest
    return plain
