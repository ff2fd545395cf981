"""Design one head: choose what each token attends to, find the matrix of scores, and bound its norm from below."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, product

import numpy as np
from jaxtyping import Float

from headwright.weights.assignment import MIXED, Assignment, Mixture, assignments, candidates, smallest_values
from headwright.weights.certify import Bound
from headwright.weights.dimension import dimension_bound, signs
from headwright.weights.head import Head
from headwright.weights.low_rank import Factors, along_signs, by_chance, factored, on_a_curve, truncated_svd
from headwright.weights.round_weights import deployed, factors, nearest_values
from headwright.weights.rules import Rule, Rules
from headwright.weights.slack import Matrix, Solver, tuned_slack
from headwright.weights.smallest_matrix import Aim, Found, reduced, smallest
from headwright.weights.task import Space, Task

MOST_NUCLEAR = 16  # rules; of more, the checker's elimination in exact numbers would take longer than all else
WAYS = 24  # assignments whose matrix of scores is computed, those with the smallest W_V first
MISSED = 0.25  # of a tolerance may be lost to rounding W_V; if it is more, another W_V is tried
LARGE = 256  # unknown scores: a search for small rank then begins without the smallest matrix
NO_ROOM = -1.0  # nothing was solved for yet
TRIES = 6  # random starts of a search for small rank, beside those that are not random
FLIPPED = 4  # connected parts of the rules whose signs in one dimension are tried both ways


def lower_bound(
    space: Space,
    tasks: tuple[Task, ...],
    places: Sequence[int],
    head: int,
    norm: str,
    near: Float[np.ndarray, "D D"] | None = None,
) -> Bound | None:
    """The bound for the floors of these tasks, whose rules have these numbers; None where there is nothing to bound.

    The witness is the smallest matrix of scores for the floors, without any room, and where tokens are certain. It is
    found sooner where a matrix is given that is nearly that.
    """
    if not tasks:
        return None
    aims = space.aims(tasks, 0.0)
    if norm == "nuclear" and len(tasks) > MOST_NUCLEAR:
        return None
    found = smallest(aims, None if near is None else space.inside(near))
    if norm == "nuclear" and found.granted and found.matrix.any():
        rows = min(*found.matrix.shape, sum(len(aim.targets) for aim in aims))
        found = factored(aims, [truncated_svd(found.matrix, rows)]) or found
    if not found.multipliers or not found.matrix.any() or not np.isfinite(found.violation):
        return None
    least = value(aims, found, norm)
    if not least > 0:
        return None
    shares = _scaled_multipliers(aims, found)
    multipliers = {
        (place, a): float(x)
        for place, task, mine in zip(places, tasks, shares, strict=True)
        for a, x in zip(task.floors, mine, strict=True)
    }
    return Bound(head, norm, Fraction(f"{least:.15g}"), factors(space.lifted(found.matrix)), multipliers)


def value(aims: Sequence[Aim], found: Found, norm: str) -> float:
    """The bound that these multipliers and the patterns at this matrix give, in floating point."""
    G, right = np.zeros(found.matrix.shape), 0.0
    for aim, mine in zip(aims, _scaled_multipliers(aims, found), strict=True):
        for a, slack, x in zip(aim.targets, aim.slacks, mine, strict=True):
            others = np.delete(aim.keys, a, axis=0) - aim.keys[a]  # differences: all of this may nearly cancel
            scores = others @ found.matrix @ aim.query
            e = np.exp(np.minimum(scores + np.delete(aim.shifts, a) - aim.shifts[a], 700.0))
            pi = e / (1 + e.sum())
            G += x * np.outer(pi @ others, aim.query)
            right += x * float(np.log1p(e.sum()) - np.log1p(slack) - pi @ scores)
    size = float(np.linalg.norm(G, "fro" if norm == "frobenius" else 2))
    return right / size if size > 0 else 0.0


def _scaled_multipliers(aims: Sequence[Aim], found: Found) -> list[Float[np.ndarray, " m"]]:
    """Multipliers of the constraint ln(1 + sum) <= ln(1 + slack) instead of ln sum <= ln slack."""
    shares = [m * (1 + aim.slacks) / aim.slacks for m, aim in zip(found.multipliers, aims, strict=True)]
    most = max((float(x.max(initial=0.0)) for x in shares), default=0.0)
    return [np.where(x > 1e-12 * most, x, 0.0) / (most or 1.0) for x in shares]


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
        found = tuned_slack(self.space, self.tasks, self.W_V, self.solver, room)
        return None if found is None else replace(self, tasks=found.tasks, M=found.M, room=room)

    def deployed(self, dtype: str, head_dim: int | None) -> Head | None:
        """The weights in numbers of a type; None where these do not keep the rules."""
        return deployed(self.space.rules, self.tasks, self.M, self.W_V, dtype, head_dim)

    @property
    def claims(self) -> tuple[Rule, ...]:
        """The rules with all floors that are relied on."""
        return tuple(replace(task.rule, attend=task.floors) for task in self.tasks)

    @property
    def rank(self) -> int:
        """The rank of M, which is the least head dimension that has it; 1 for a head that does nothing."""
        return max(1, int(np.linalg.matrix_rank(self.M, tol=1e-10 * np.linalg.norm(self.M) or None)))

    @property
    def head(self) -> int:
        """The number of the head."""
        return self.tasks[0].rule.head or 0

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
        return Designed(space, (), np.zeros((D, k)), np.zeros((rules.width, k)), _size_solver, room)
    if _kept_evenly(rules, mine):  # nothing is smaller than 0, and rounding needs no room there
        return replace(next(_ways(space, mine, dtype, min(MIXED))), room=room)
    unknowns = min(rules.dimension, sum(map(len, rules.sequences))) ** 2
    if minimise == "rank" and unknowns > LARGE:
        ways = (way for most in MIXED for way in _ways(space, mine, dtype, most))
        return next((found for way in ways if (found := _of_small_rank(way, head_dim, room)) is not None), None)
    best = _best_way(space, mine, dtype, room)
    if best is None:
        return None
    fits = head_dim is None or best.rank <= head_dim
    if minimise == "size":
        return best if fits else _of_rank(best, head_dim or best.rank, room)
    return _of_small_rank(best, head_dim, room) or (best if fits else None)


def too_many_unknowns(rules: Rules, mine: tuple[Rule, ...], dtype: str) -> bool:
    """Whether the matrix of scores of a way has more unknowns than `smallest` takes on, so that it was not tried."""
    space = Space.of(rules)
    for most in MIXED:
        for way in _ways(space, mine, dtype, most):
            task = reduced(space.aims(way.tasks, 0.0))
            if task is not None and task.too_large:
                return True
    return False


def _best_way(space: Space, mine: tuple[Rule, ...], dtype: str, room: float) -> Designed | None:
    """The best of the ways with mixtures of as few tokens as will do."""
    for most in MIXED:
        best, least = None, np.inf
        for way in _ways(space, mine, dtype, most):
            found = tuned_slack(space, way.tasks, way.W_V, _size_solver, room, rounds=6)
            if found is None:
                continue
            size = 2 * float(np.linalg.norm(found.M, "nuc")) + float(np.linalg.norm(way.W_V)) ** 2
            if size < least * (1 - 1e-9):
                best, least = replace(way, tasks=found.tasks, M=found.M, room=room), size
        if best is not None:
            return best
    return None


def _kept_evenly(rules: Rules, mine: tuple[Rule, ...]) -> bool:
    """Whether a head whose scores are all 0 keeps the rules, in exact numbers: none of them about an output."""
    if rules.bias or any(rule.output is not None for rule in mine):
        return False
    shares = [(rule, Fraction(1, len(rules.seen(rule)))) for rule in mine]
    return all(
        all(p <= share for p in (rule.attend or {}).values()) and all(p >= share for p in (rule.at_most or {}).values())
        for rule, share in shares
    )


def _ways(space: Space, mine: tuple[Rule, ...], dtype: str, most: int) -> Iterator[Designed]:
    """The ways with mixtures of up to so many tokens, before any matrix of scores is known."""
    rules = space.rules
    nothing = np.zeros((rules.dimension, rules.dimension + rules.biases))
    options = [
        [mixture for mixture in candidates(rules, rule, most) if _possible(space, rule, mixture)] for rule in mine
    ]
    for way in islice(assignments(rules, mine, options), WAYS):
        tasks = tuple(Task(r, m, _left(r)) for r, m in zip(mine, way.mixtures, strict=True))
        yield Designed(space, tasks, nothing, _values(rules, mine, way, dtype), _size_solver, NO_ROOM)


def _possible(space: Space, rule: Rule, mixture: Mixture) -> bool:
    """Some matrix makes this token give half of its attention to the mixture; what the rule itself asks for is kept."""
    return rule.attend is not None or smallest(space.aims((Task(rule, mixture, Fraction(1, 2)),), 0.0)).granted


def _size_solver(aims: Sequence[Aim]) -> Matrix | None:
    """The matrix of smallest Frobenius norm."""
    found = smallest(aims)
    return found.matrix if found.granted else None


def _rank_solver(r: int, starts: Callable[[Sequence[Aim]], Iterable[Factors]]) -> Solver:
    """A matrix of rank r at most, of small nuclear norm: from these starts; and once there is one, from the last."""
    kept: list[Matrix] = []

    def solver(aims: Sequence[Aim]) -> Matrix | None:
        found = factored(aims, [truncated_svd(M, r) for M in kept] or starts(aims))
        if found is not None:
            kept[:] = [found.matrix]
        return None if found is None else found.matrix

    return solver


def _of_small_rank(start: Designed, head_dim: int | None, room: float) -> Designed | None:
    """The smallest head dimension for which a matrix was found, from the first that is not proven impossible."""
    full = min(start.space.basis.shape[1], len(start.tasks))
    bound = dimension_bound(start.space.rules, start.claims, start.head)
    sizes = range(1 if bound is None else bound.least, min(full, head_dim or full) + 1)
    return next((found for r in sizes if (found := _of_rank(start, r, room)) is not None), None)


def _of_rank(start: Designed, r: int, room: float) -> Designed | None:
    """A head of this dimension at most; None where none was found."""
    return replace(start, solver=_rank_solver(r, _starts(start, r)), room=NO_ROOM).with_room(room)


def _starts(start: Designed, r: int) -> Callable[[Sequence[Aim]], Iterator[Factors]]:
    """Where a search for rank r begins, the most promising first."""

    def found(aims: Sequence[Aim]) -> Iterator[Factors]:
        if r == 1:
            rules = start.space.rules
            known = signs(rules, start.claims, start.head)
            mine = [known.of(rules.asking(rules.sequences[t.rule.sequence][t.rule.token])) for t in start.tasks]
            parts = sorted({part for _, part in mine})[:FLIPPED]
            for flips in product((1, -1), repeat=len(parts) - 1):
                flip = dict(zip(parts, (1, *flips), strict=True))
                yield along_signs(aims, [sign * flip.get(part, 1) for sign, part in mine])
        else:
            yield on_a_curve(aims, r)
        if start.M.any():
            yield truncated_svd(start.space.inside(start.M), r)
        yield from by_chance(aims, r, TRIES)

    return found


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


def plain_values(Y: Float[np.ndarray, "k D"], wanted: Float[np.ndarray, "k m"]) -> Float[np.ndarray, "m D"]:
    """Another such matrix, with as few columns as will do: larger, and often of numbers that every type has."""
    from scipy.linalg import qr

    _, triangle, order = qr(Y, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(triangle))
    chosen = order[: int((sizes > 1e-12 * sizes.max(initial=0.0)).sum())]
    W = np.zeros((wanted.shape[1], Y.shape[1]))
    W[:, chosen] = smallest_values(Y[:, chosen], wanted)
    return W


def _left(rule: Rule) -> Fraction:
    return 1 - sum(rule.attend.values(), Fraction(0)) if rule.attend else Fraction(1, 2)
