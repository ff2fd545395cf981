"""One head: the best of the ways to assign targets, and the matrix of scores for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice

import numpy as np
from jaxtyping import Float

from headwright.weights.assign import MIXED, Assignment, Mixture, assignments, candidates
from headwright.weights.deploy import deployed, nearest_values
from headwright.weights.head import Head
from headwright.weights.nuclear import of_rank, smallest_nuclear
from headwright.weights.plan import Space, Task
from headwright.weights.rules import Rule, Rules
from headwright.weights.smallest import Aim, smallest
from headwright.weights.tune import Matrix, Solver, tuned
from headwright.weights.values import plain_values

WAYS = 24  # assignments whose matrix of scores is computed, those with the smallest W_V first
MISSED = 0.25  # of a tolerance may be lost to rounding W_V; if it is more, another W_V is tried
STARTS = 6  # random starts of a search for small rank, beside the two that are not random


@dataclass(frozen=True, eq=False)
class Designed:
    """A head in floating point, before rounding. Nothing here is proven."""

    space: Space
    tasks: tuple[Task, ...]
    M: Float[np.ndarray, "D D"]
    W_V: Float[np.ndarray, "m D"]  # in numbers of the type that is deployed
    solver: Solver
    room: float  # what was asked for beyond the rules, for rounding

    def with_room(self, room: float) -> Designed | None:
        """The same with more or less room for rounding; outputs are tuned once more, and more finely."""
        if room == self.room and all(task.rule.output is None for task in self.tasks):
            return self
        found = tuned(self.space, self.tasks, self.W_V, self.solver, room)
        return None if found is None else replace(self, tasks=found.tasks, M=found.M, room=room)

    def deployed(self, dtype: str, head_dim: int | None) -> Head | None:
        """The weights in numbers of a type; None where these do not keep the rules."""
        return deployed(self.space.rules, self.tasks, self.M, self.W_V, dtype, head_dim)

    @property
    def claims(self) -> tuple[Rule, ...]:
        """The rules with all floors that are relied on."""
        return tuple(replace(task.rule, attend=task.floors) for task in self.tasks)

    @property
    def assignment(self) -> list[str]:
        """Who attends to whom, in words."""
        words = []
        for task in self.tasks:
            if not (tokens := sorted(task.mixture)):
                continue
            many = len(tokens) > 1
            listed = f"{', '.join(map(str, tokens[:-1]))} and {tokens[-1]}" if many else str(tokens[0])
            words.append(f"{task.rule.name} attends to token{'s' if many else ''} {listed}")
        return words


def design_head(
    rules: Rules, mine: tuple[Rule, ...], minimise: str, head_dim: int | None, dtype: str, room: float
) -> Designed | None:
    """The smallest head for these rules among the ways to assign targets; None where no way was found.

    Ways are compared by |W_Q|_F^2 + |W_K|_F^2 + |W_V|_F^2, all that there is.
    """
    space = Space.of(rules)
    if not mine:
        D, k = rules.dimension, rules.dimension + rules.biases
        return Designed(space, (), np.zeros((D, k)), np.zeros((rules.width, k)), size_solver, room)
    best = next((found for most in MIXED if (found := _best_way(space, mine, dtype, room, most)) is not None), None)
    if best is None:
        return None
    rank = int(np.linalg.matrix_rank(best.M, tol=1e-10 * np.linalg.norm(best.M) or None))
    if minimise == "size" and (head_dim is None or rank <= head_dim):
        return best
    return _of_small_rank(best, head_dim, room, smallest_possible=minimise == "rank")


def _best_way(space: Space, mine: tuple[Rule, ...], dtype: str, room: float, most: int) -> Designed | None:
    """The best of the ways with mixtures of up to so many tokens."""
    rules, best, least = space.rules, None, np.inf
    options = [
        [mixture for mixture in candidates(rules, rule, most) if _possible(space, rule, mixture)] for rule in mine
    ]
    for way in islice(assignments(rules, mine, options), WAYS):
        W_V = _values(rules, mine, way, dtype)
        tasks = tuple(Task(r, m, _left(r)) for r, m in zip(mine, way.mixtures, strict=True))
        found = tuned(space, tasks, W_V, size_solver, room, rounds=6)
        if found is None:
            continue
        size = 2 * float(np.linalg.norm(found.M, "nuc")) + float(np.linalg.norm(W_V)) ** 2
        if size < least * (1 - 1e-9):
            best, least = Designed(space, found.tasks, found.M, W_V, size_solver, room), size
    return best


def _possible(space: Space, rule: Rule, mixture: Mixture) -> bool:
    """Some matrix makes this token give half of its attention to the mixture; what the rule itself asks for is kept."""
    return rule.attend is not None or smallest(space.aims((Task(rule, mixture, Fraction(1, 2)),), 0.0)).granted


def size_solver(aims: Sequence[Aim]) -> Matrix | None:
    """The matrix of smallest Frobenius norm."""
    found = smallest(aims)
    return found.matrix if found.granted else None


def rank_solver(r: int, starts: Sequence[Matrix]) -> Solver:
    """A matrix of rank r at most, of small nuclear norm: from these starts, or by chance; then from the last one."""
    kept: list[Matrix] = []

    def solver(aims: Sequence[Aim]) -> Matrix | None:
        found = of_rank(aims, r, kept or starts)
        if found is None:
            rng = np.random.default_rng(0)
            found = of_rank(aims, r, [rng.normal(size=starts[0].shape) for _ in range(STARTS)])
        if found is not None:
            kept[:] = [found]
        return found

    return solver


def _of_small_rank(start: Designed, head_dim: int | None, room: float, *, smallest_possible: bool) -> Designed | None:
    """The smallest head dimension for which a matrix was found; or a matrix for the one that is asked for."""
    aims = start.space.aims(start.tasks, room)
    first = smallest(aims).matrix
    starts = [first, smallest_nuclear(aims, first).matrix]
    full = min(start.M.shape[0], len(start.tasks))
    most = full if head_dim is None else min(full, head_dim)
    for r in range(1 if smallest_possible else most, most + 1):
        candidate = replace(start, solver=rank_solver(r, starts), room=-1.0).with_room(room)
        if candidate is not None:
            return candidate
    return None


def _values(rules: Rules, mine: tuple[Rule, ...], way: Assignment, dtype: str) -> Float[np.ndarray, "m D"]:
    """W_V in the numbers of the type; the identity where no rule of any head wants an output."""
    if all(rule.output is None for rule in rules.rules):
        return np.eye(rules.dimension, rules.dimension + rules.biases)
    told = [(rule, m) for rule, m in zip(mine, way.mixtures, strict=True) if rule.output is not None]
    tokens = [rules.asking(X) for X in rules.sequences]
    Y = np.array([sum(float(w) * tokens[rule.sequence][a] for a, w in m.items()) for rule, m in told])
    wanted = np.array([[float(x) for x in rule.output or ()] for rule, _ in told])
    tolerances = np.array([float(rule.tolerance) for rule, _ in told])

    def missed(W: Float[np.ndarray, "m D"]) -> float:
        """The worst miss of a value, in tolerances."""
        return float((np.linalg.norm(Y @ W.T - wanted, axis=1) / tolerances).max(initial=0.0))

    found = nearest_values(way.W_V, Y, wanted, dtype)
    if dtype == "float64" or not told or missed(found) <= MISSED:
        return found
    return min(found, nearest_values(plain_values(Y, wanted), Y, wanted, dtype), key=missed)


def _left(rule: Rule) -> Fraction:
    return 1 - sum(rule.attend.values(), Fraction(0)) if rule.attend else Fraction(1, 2)
