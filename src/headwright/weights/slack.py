"""How much each token may leave to others: outputs stay within tolerance, and the matrix of scores is smallest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from headwright.weights.smallest_matrix import Aim
from headwright.weights.task import LOST, Space, Task, error, spent, value_error

Matrix = Float[np.ndarray, "k k"]
Solver = Callable[[Sequence[Aim]], Matrix | None]  # None where it found nothing
ROUNDS, WORLDS = 14, 40
MOST_LEFT = 0.9  # what may be left to others at most, of what a token attends to for an output
ENOUGH = 0.998  # of a tolerance is used up: then the rest is left


@dataclass(frozen=True, eq=False)
class Tuned:
    """Tasks whose floors suffice, and the matrix of scores that was found for them, in floating point."""

    tasks: tuple[Task, ...]
    M: Float[np.ndarray, "D D"]


def tuned_slack(
    space: Space,
    tasks: tuple[Task, ...],
    W_V: Float[np.ndarray, "m D"],
    solver: Solver,
    room: float,
    rounds: int = ROUNDS,
) -> Tuned | None:
    """The tasks with what they leave adjusted until every tolerance is met and nearly used up; None where it fails.

    An output's error is nearly proportional to what is left to others, so a few corrections in proportion suffice.
    """
    rules, best = space.rules, None
    tasks = tuple(_first(space, task, W_V) for task in tasks)
    tolerances = [float(task.rule.tolerance) * (1 - 1e-9) * (1 - room) for task in tasks]
    bases = [_base(space, task, W_V) for task in tasks]
    if any(base >= tolerance for base, tolerance in zip(bases, tolerances, strict=True)):
        return None
    for _ in range(rounds):
        M = _solved(space, tasks, solver, room)
        if M is None and best is None:  # perhaps less will do
            looser = tuple(_changed(task, 10.0) for task in tasks)
            if [task.left for task in looser] == [task.left for task in tasks]:
                return None
            tasks = looser
            continue
        if M is None:
            return best
        errors = [error(rules, task.rule, M, W_V) for task in tasks]
        if all(e <= t for e, t in zip(errors, tolerances, strict=True)):
            if best is None or np.linalg.norm(M) < np.linalg.norm(best.M):
                best = Tuned(tasks, M)
            if all(
                e >= ENOUGH * t or task.left >= _most(task)
                for e, t, task in zip(errors, tolerances, tasks, strict=True)
            ):
                break
        changed = tuple(
            _changed(task, (t - b) / max(e - b, 1e-3 * (t - b)))
            for task, e, t, b in zip(tasks, errors, tolerances, bases, strict=True)
        )
        if [task.left for task in changed] == [task.left for task in tasks]:
            break
        tasks = changed
    return best


def _first(space: Space, task: Task, W_V: Float[np.ndarray, "m D"]) -> Task:
    """A first guess at what may be left: all of it would go to the value that is farthest off."""
    if task.rule.output is None:
        return task
    wanted = np.array([float(x) for x in task.rule.output])
    farthest = float(np.linalg.norm(space.rules.asking(space.rules.tokens(task.rule)) @ W_V.T - wanted, axis=1).max())
    return _leaving(task, float(task.rule.tolerance) / max(2 * farthest, 1e-300))


def _changed(task: Task, factor: float) -> Task:
    return _leaving(task, float(task.left) * min(max(factor * 0.9995, 1e-3), 10.0))


def _leaving(task: Task, left: float) -> Task:
    """The task with so much left to others, within what its rule allows, as a short decimal."""
    if task.rule.output is None:
        return task
    return replace(task, left=min(Fraction(f"{min(left, 1.0):.6g}"), _most(task)))


def _most(task: Task) -> Fraction:
    """What the rule's own floors leave, or nearly everything."""
    return 1 - sum(task.rule.attend.values(), Fraction(0)) if task.rule.attend else Fraction(str(MOST_LEFT))


def _base(space: Space, task: Task, W_V: Float[np.ndarray, "m D"]) -> float:
    """The part of the error that no pattern takes away: of the values themselves, and of tokens off their places."""
    if task.rule.output is None:
        return -1.0
    X = space.rules.asking(space.rules.sequences[task.rule.sequence])
    y = sum(float(w) * X[a] for a, w in task.mixture.items())
    missed = float(np.linalg.norm(W_V @ y - np.array([float(x) for x in task.rule.output])))
    return missed + value_error(space.rules, task.rule, W_V)


def _solved(space: Space, tasks: tuple[Task, ...], solver: Solver, room: float) -> Float[np.ndarray, "D D"] | None:
    """The matrix of scores; what it loses to a world, and how largest weights limit it, depend on itself: by turns."""
    M, lost, size = None, None, np.inf
    once = space.rules.certain and not any(task.rule.at_most for task in tasks)
    for _ in range(1 if once else WORLDS):
        N = solver(space.aims(tasks, room, lost, M))
        if N is None:
            return None
        M = space.lifted(N)
        lost = None if space.rules.certain else [spent(space.rules, task.rule, M) for task in tasks]
        before, size = size, float(np.linalg.norm(M))
        if lost is not None and max(float(off.max()) for off in lost) > LOST / 2:
            return None  # it grows without end: the world is too wide
        if abs(before - size) <= 1e-6 * size:
            break
    return M
