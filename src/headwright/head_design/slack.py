"""How much each token may leave to others: outputs stay within tolerance, and the matrix of scores is smallest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from headwright.head_design.attention_plan import (
    LOST,
    AttentionPlan,
    TokenSpace,
    error,
    spent,
    value_error,
)
from headwright.head_design.smallest_matrix import PatternGoal

Matrix = Float[np.ndarray, "k k"]
Solver = Callable[[Sequence[PatternGoal]], Matrix | None]  # None where it found nothing
ROUNDS = 14  # of corrections of what is left
TURNS = 40  # between a matrix and what it loses to an uncertainty
MOST_LEFT = 0.9  # to others, of what a token attends to for an output
ENOUGH = 0.998  # of a tolerance is used up: then the rest is left
SETTLED = 1e-6  # the size of the matrix changes by less


@dataclass(frozen=True, eq=False)
class TunedPlans:
    """Plans whose floors suffice, and the matrix of scores that was found for them, in floating point."""

    plans: tuple[AttentionPlan, ...]
    M: Float[np.ndarray, "D D"]


def tuned_slack(
    space: TokenSpace,
    plans: tuple[AttentionPlan, ...],
    W_V: Float[np.ndarray, "m D"],
    solver: Solver,
    room: float,
    rounds: int = ROUNDS,
) -> TunedPlans | None:
    """The plans with what they leave adjusted until every tolerance is met and nearly used up; None where it fails.

    An output's error is nearly proportional to what is left to others, so a few corrections in proportion suffice.
    """
    rules = space.rules
    plans = tuple(_first(space, plan, W_V) for plan in plans)
    share = (1 - 1e-9) * (1 - room)
    tolerances = [float(plan.rule.tolerance) * share for plan in plans]
    bases = [_base(space, plan, W_V) for plan in plans]
    if not _leave_something(bases, tolerances):
        return None
    best = None
    for _ in range(rounds):
        M = _solve_for_scores(space, plans, solver, room)
        if M is None and best is not None:
            return best
        if M is None:  # perhaps less will do
            adjusted = tuple(_scale_left(plan, 10.0) for plan in plans)
        else:
            errors = [error(rules, plan.rule, M, W_V) for plan in plans]
            if _all_within(errors, tolerances):
                if best is None or np.linalg.norm(M) < np.linalg.norm(best.M):
                    best = TunedPlans(plans, M)
                if _all_used_up(plans, errors, tolerances):
                    break
            adjusted = _in_proportion(plans, errors, tolerances, bases)
        if [plan.left for plan in adjusted] == [plan.left for plan in plans]:
            break
        plans = adjusted
    return best


def _leave_something(bases: Sequence[float], tolerances: Sequence[float]) -> bool:
    """No tolerance is used up by what no pattern takes away."""
    return all(base < t for base, t in zip(bases, tolerances, strict=True))


def _all_within(errors: Sequence[float], tolerances: Sequence[float]) -> bool:
    return all(e <= t for e, t in zip(errors, tolerances, strict=True))


def _all_used_up(
    plans: Sequence[AttentionPlan],
    errors: Sequence[float],
    tolerances: Sequence[float],
) -> bool:
    """Nothing is gained by leaving more."""
    for plan, e, tolerance in zip(plans, errors, tolerances, strict=True):
        if e < ENOUGH * tolerance and plan.left < _most_left(plan):
            return False
    return True


def _in_proportion(
    plans: Sequence[AttentionPlan],
    errors: Sequence[float],
    tolerances: Sequence[float],
    bases: Sequence[float],
) -> tuple[AttentionPlan, ...]:
    """Plans that leave as much more as their errors may grow, beyond what no pattern takes away."""
    adjusted = []
    for plan, e, tolerance, base in zip(plans, errors, tolerances, bases, strict=True):
        allowed = tolerance - base
        adjusted.append(_scale_left(plan, allowed / max(e - base, 1e-3 * allowed)))
    return tuple(adjusted)


def _first(
    space: TokenSpace, plan: AttentionPlan, W_V: Float[np.ndarray, "m D"]
) -> AttentionPlan:
    """A first guess at what may be left: all of it would go to the value that is farthest off."""
    if plan.rule.output is None:
        return plan
    wanted = np.array([float(x) for x in plan.rule.output])
    values = space.rules.asking(space.rules.tokens(plan.rule)) @ W_V.T
    farthest = float(np.linalg.norm(values - wanted, axis=1).max())
    return _leaving(plan, float(plan.rule.tolerance) / max(2 * farthest, 1e-300))


def _scale_left(plan: AttentionPlan, factor: float) -> AttentionPlan:
    return _leaving(plan, float(plan.left) * min(max(factor * 0.9995, 1e-3), 10.0))


def _leaving(plan: AttentionPlan, left: float) -> AttentionPlan:
    """The plan with so much left to others, within what its rule allows, as a short decimal."""
    if plan.rule.output is None:
        return plan
    return replace(plan, left=min(Fraction(f"{min(left, 1.0):.6g}"), _most_left(plan)))


def _most_left(plan: AttentionPlan) -> Fraction:
    """What the rule's own floors leave, or nearly everything."""
    if plan.rule.attend:
        return 1 - sum(plan.rule.attend.values(), Fraction(0))
    return Fraction(str(MOST_LEFT))


def _base(
    space: TokenSpace, plan: AttentionPlan, W_V: Float[np.ndarray, "m D"]
) -> float:
    """The part of the error that no pattern takes away: of the values themselves, and of tokens off their places."""
    if plan.rule.output is None:
        return -1.0
    X = space.rules.asking(space.rules.sequences[plan.rule.sequence])
    y = sum(float(w) * X[a] for a, w in plan.mixture.items())
    wanted = np.array([float(x) for x in plan.rule.output])
    missed = float(np.linalg.norm(W_V @ y - wanted))
    return missed + value_error(space.rules, plan.rule, W_V)


def _solve_for_scores(
    space: TokenSpace, plans: tuple[AttentionPlan, ...], solver: Solver, room: float
) -> Float[np.ndarray, "D D"] | None:
    """The matrix of scores; what uncertainty costs it, and how largest weights limit it, depend on itself: by turns."""
    rules = space.rules
    M = None
    losses = None
    size = np.inf
    once = rules.certain and not any(plan.rule.at_most for plan in plans)
    for _ in range(1 if once else TURNS):
        N = solver(space.goals(plans, room, losses, M))
        if N is None:
            return None
        M = space.lifted(N)
        if not rules.certain:
            losses = [spent(rules, plan.rule, M) for plan in plans]
            if max(float(loss.max()) for loss in losses) > LOST / 2:
                return None  # it grows without end: the uncertainty is too wide
        before = size
        size = float(np.linalg.norm(M))
        if abs(before - size) <= SETTLED * size:
            break
    return M
