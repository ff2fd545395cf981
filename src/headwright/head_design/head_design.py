"""Design one head: choose what each token attends to, find the matrix of scores, and bound its norm from below."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, product

import numpy as np
from jaxtyping import Float

from headwright.head_design.assignment import (
    MIXED,
    Mixture,
    MixtureAssignment,
    assignments,
    candidates,
    smallest_values,
)
from headwright.head_design.attention_plan import AttentionPlan, TokenSpace
from headwright.head_design.certify import NormBound
from headwright.head_design.dimension import dimension_bound, signs
from headwright.head_design.factored_matrix import (
    QueryKeyFactors,
    along_signs,
    by_chance,
    factored,
    on_a_curve,
    truncated_svd,
)
from headwright.head_design.head import Head
from headwright.head_design.round_weights import deployed, factors, nearest_values
from headwright.head_design.rules import Rule, Rules
from headwright.head_design.slack import Matrix, Solver, tuned_slack
from headwright.head_design.smallest_matrix import (
    PatternGoal,
    ScoreMatrix,
    is_too_large,
    reduce_program,
    smallest,
)

MOST_NUCLEAR = 16  # rules; of more, the checker's elimination in exact numbers would take longer than all else
WAYS = 24  # assignments whose matrix of scores is computed, those with the smallest W_V first
MISSED = 0.25  # of a tolerance may be lost to rounding W_V; if it is more, another W_V is tried
LARGE = 256  # unknown scores: a search for small rank then begins without the smallest matrix
NO_ROOM = -1.0  # nothing was solved for yet
TRIES = 6  # random starts of a search for small rank, beside those that are not random
FLIPPED = (
    4  # connected parts of the rules whose signs in one dimension are tried both ways
)


def lower_bound(
    space: TokenSpace,
    plans: tuple[AttentionPlan, ...],
    places: Sequence[int],
    head: int,
    norm: str,
) -> NormBound | None:
    """The bound for the floors of these plans, whose rules have these numbers; None where there is nothing to bound.

    The witness is the smallest matrix of scores for the floors, without any room, and where tokens are certain.
    """
    if not plans or (norm == "nuclear" and len(plans) > MOST_NUCLEAR):
        return None
    goals = space.goals(plans, 0.0)
    witness = smallest(goals)
    if norm == "nuclear" and witness.met and witness.matrix.any():
        rows = min(*witness.matrix.shape, sum(len(goal.targets) for goal in goals))
        start = truncated_svd(witness.matrix, rows)
        witness = factored(goals, [start]) or witness
    if not witness.matrix.any() or not np.isfinite(witness.violation):
        return None
    least = value(goals, witness, norm)
    if not least > 0:
        return None
    multipliers = {}
    by_plan = _scaled_multipliers(goals, witness)
    for place, plan, of_plan in zip(places, plans, by_plan, strict=True):
        for a, x in zip(plan.floors, of_plan.tolist(), strict=True):
            multipliers[place, a] = x
    least_fraction = Fraction(f"{least:.15g}")
    lifted = factors(space.lifted(witness.matrix))
    return NormBound(head, norm, least_fraction, lifted, multipliers)


def value(goals: Sequence[PatternGoal], witness: ScoreMatrix, norm: str) -> float:
    """The bound that the multipliers and the patterns at a matrix give, in floating point."""
    G = np.zeros(witness.matrix.shape)
    right = 0.0
    by_goal = _scaled_multipliers(goals, witness)
    for goal, multipliers in zip(goals, by_goal, strict=True):
        targets = zip(
            goal.targets, goal.slacks.tolist(), multipliers.tolist(), strict=True
        )
        for a, slack, x in targets:
            # differences, since all of this may nearly cancel
            others = np.delete(goal.keys, a, axis=0) - goal.keys[a]
            shifts = np.delete(goal.shifts, a) - goal.shifts[a]
            scores = others @ witness.matrix @ goal.query
            e = np.exp(np.minimum(scores + shifts, 700.0))
            pi = e / (1 + e.sum())
            G += x * np.outer(pi @ others, goal.query)
            right += x * float(np.log1p(e.sum()) - np.log1p(slack) - pi @ scores)
    size = float(np.linalg.norm(G, "fro" if norm == "frobenius" else 2))
    return right / size if size > 0 else 0.0


def _scaled_multipliers(
    goals: Sequence[PatternGoal], witness: ScoreMatrix
) -> list[Float[np.ndarray, " m"]]:
    """Multipliers of the constraint ln(1 + sum) <= ln(1 + slack) instead of ln sum <= ln slack; the largest is 1."""
    scaled = [
        multipliers * (1 + goal.slacks) / goal.slacks
        for multipliers, goal in zip(witness.multipliers, goals, strict=True)
    ]
    most = max((float(x.max(initial=0.0)) for x in scaled), default=0.0)
    return [np.where(x > 1e-12 * most, x, 0.0) / (most or 1.0) for x in scaled]


@dataclass(frozen=True, eq=False)
class UnroundedHead:
    """A head in floating point, before rounding. Nothing here is proven."""

    space: TokenSpace
    plans: tuple[AttentionPlan, ...]
    M: Float[np.ndarray, "D D"]
    W_V: Float[np.ndarray, "m D"]  # in numbers of the type that is deployed
    solver: Solver
    room: float  # what was asked for beyond the rules, for rounding

    def with_room(self, room: float) -> UnroundedHead | None:
        """The same with more or less room for rounding; outputs are tuned once more, and more finely."""
        if room == self.room and all(plan.rule.output is None for plan in self.plans):
            return self
        tuned = tuned_slack(self.space, self.plans, self.W_V, self.solver, room)
        if tuned is None:
            return None
        return replace(self, plans=tuned.plans, M=tuned.M, room=room)

    def deployed(self, dtype: str, head_dim: int | None) -> Head | None:
        """The weights in numbers of a type; None where these do not keep the rules."""
        return deployed(self.space.rules, self.plans, self.M, self.W_V, dtype, head_dim)

    @property
    def claims(self) -> tuple[Rule, ...]:
        """The rules with all floors that are relied on."""
        return tuple(replace(plan.rule, attend=plan.floors) for plan in self.plans)

    @property
    def rank(self) -> int:
        """The rank of M, which is the least head dimension that has it; 1 for a head that does nothing."""
        tolerance = 1e-10 * float(np.linalg.norm(self.M)) or None
        return max(1, int(np.linalg.matrix_rank(self.M, tol=tolerance)))

    @property
    def head(self) -> int:
        """The number of the head."""
        return self.plans[0].rule.head or 0

    @property
    def assignment(self) -> list[str]:
        """Who attends to whom, in words."""
        words = []
        for plan in self.plans:
            if not (tokens := sorted(plan.mixture)):
                continue
            name = plan.rule.name
            if len(tokens) == 1:
                words.append(f"{name} attends to token {tokens[0]}")
            else:
                first = ", ".join(map(str, tokens[:-1]))
                words.append(f"{name} attends to tokens {first} and {tokens[-1]}")
        return words


def design_head(
    rules: Rules,
    rules_of_head: tuple[Rule, ...],
    minimise: str,
    head_dim: int | None,
    dtype: str,
    room: float,
) -> UnroundedHead | None:
    """The smallest head for these rules among the ways to assign targets; None where no way was found.

    Ways are compared by |W_Q|_F^2 + |W_K|_F^2 + |W_V|_F^2, all that there is.
    """
    space = TokenSpace.of(rules)
    if not rules_of_head:
        D = rules.dimension
        k = D + rules.biases
        no_scores = np.zeros((D, k))
        no_values = np.zeros((rules.width, k))
        return UnroundedHead(space, (), no_scores, no_values, _size_solver, room)
    if _kept_evenly(rules, rules_of_head):
        # nothing is smaller than 0, and rounding needs no room there
        return replace(next(_ways(space, rules_of_head, dtype, min(MIXED))), room=room)

    # where there are many unknowns, rank is searched for without the smallest matrix
    unknowns = min(rules.dimension, sum(map(len, rules.sequences))) ** 2
    if minimise == "rank" and unknowns > LARGE:
        for most in MIXED:
            for way in _ways(space, rules_of_head, dtype, most):
                head = _of_small_rank(way, head_dim, room)
                if head is not None:
                    return head
        return None

    best = _best_way(space, rules_of_head, dtype, room)
    if best is None:
        return None
    fits = head_dim is None or best.rank <= head_dim
    if minimise == "size":
        return best if fits else _of_rank(best, head_dim or best.rank, room)
    return _of_small_rank(best, head_dim, room) or (best if fits else None)


def too_many_unknowns(
    rules: Rules, rules_of_head: tuple[Rule, ...], dtype: str
) -> bool:
    """Whether the matrix of scores of a way has more unknowns than `smallest` takes on, so that it was not tried."""
    space = TokenSpace.of(rules)
    for most in MIXED:
        for way in _ways(space, rules_of_head, dtype, most):
            reduced = reduce_program(space.goals(way.plans, 0.0))
            if reduced is not None and is_too_large(reduced):
                return True
    return False


def _best_way(
    space: TokenSpace, rules_of_head: tuple[Rule, ...], dtype: str, room: float
) -> UnroundedHead | None:
    """The best of the ways with mixtures of as few tokens as will do."""
    for most in MIXED:
        best = None
        least = np.inf
        for way in _ways(space, rules_of_head, dtype, most):
            tuned = tuned_slack(space, way.plans, way.W_V, _size_solver, room, rounds=6)
            if tuned is None:
                continue
            # |W_Q|^2 + |W_K|^2 of balanced factors is twice the nuclear norm
            in_scores = 2 * float(np.linalg.norm(tuned.M, "nuc"))
            size = in_scores + float(np.linalg.norm(way.W_V)) ** 2
            if size < least * (1 - 1e-9):
                best = replace(way, plans=tuned.plans, M=tuned.M, room=room)
                least = size
        if best is not None:
            return best
    return None


def _kept_evenly(rules: Rules, rules_of_head: tuple[Rule, ...]) -> bool:
    """Whether a head whose scores are all 0 keeps the rules, in exact numbers: none of them about an output."""
    if rules.bias or any(rule.output is not None for rule in rules_of_head):
        return False
    for rule in rules_of_head:
        share = Fraction(1, len(rules.seen(rule)))
        if any(p > share for p in (rule.attend or {}).values()):
            return False
        if any(p < share for p in (rule.at_most or {}).values()):
            return False
    return True


def _ways(
    space: TokenSpace, rules_of_head: tuple[Rule, ...], dtype: str, most: int
) -> Iterator[UnroundedHead]:
    """The ways with mixtures of up to so many tokens, before any matrix of scores is known."""
    rules = space.rules
    nothing = np.zeros((rules.dimension, rules.dimension + rules.biases))
    options = []
    for rule in rules_of_head:
        mixtures = candidates(rules, rule, most)
        options.append([m for m in mixtures if _is_possible(space, rule, m)])
    for way in islice(assignments(rules, rules_of_head, options), WAYS):
        plans = tuple(
            AttentionPlan(rule, mixture, _left(rule))
            for rule, mixture in zip(rules_of_head, way.mixtures, strict=True)
        )
        W_V = _values(rules, rules_of_head, way, dtype)
        yield UnroundedHead(space, plans, nothing, W_V, _size_solver, NO_ROOM)


def _is_possible(space: TokenSpace, rule: Rule, mixture: Mixture) -> bool:
    """Some matrix makes this token give half of its attention to the mixture; what the rule itself asks for is kept."""
    if rule.attend is not None:
        return True
    half = AttentionPlan(rule, mixture, Fraction(1, 2))
    return smallest(space.goals((half,), 0.0)).met


def _size_solver(goals: Sequence[PatternGoal]) -> Matrix | None:
    """The matrix of smallest Frobenius norm."""
    scores = smallest(goals)
    return scores.matrix if scores.met else None


def _rank_solver(
    r: int, starts: Callable[[Sequence[PatternGoal]], Iterable[QueryKeyFactors]]
) -> Solver:
    """A matrix of rank r at most, of small nuclear norm: from these starts; and once there is one, from the last."""
    last: list[Matrix] = []

    def solver(goals: Sequence[PatternGoal]) -> Matrix | None:
        from_last = [truncated_svd(M, r) for M in last]
        scores = factored(goals, from_last or starts(goals))
        if scores is None:
            return None
        last[:] = [scores.matrix]
        return scores.matrix

    return solver


def _of_small_rank(
    start: UnroundedHead, head_dim: int | None, room: float
) -> UnroundedHead | None:
    """The smallest head dimension for which a matrix was found, from the first that is not proven impossible."""
    full = min(start.space.basis.shape[1], len(start.plans))
    bound = dimension_bound(start.space.rules, start.claims, start.head)
    first = 1 if bound is None else bound.least
    for r in range(first, min(full, head_dim or full) + 1):
        head = _of_rank(start, r, room)
        if head is not None:
            return head
    return None


def _of_rank(start: UnroundedHead, r: int, room: float) -> UnroundedHead | None:
    """A head of this dimension at most; None where none was found."""
    solver = _rank_solver(r, _starts(start, r))
    return replace(start, solver=solver, room=NO_ROOM).with_room(room)


def _starts(
    start: UnroundedHead, r: int
) -> Callable[[Sequence[PatternGoal]], Iterator[QueryKeyFactors]]:
    """Where a search for rank r begins, the most promising first."""

    def starts(goals: Sequence[PatternGoal]) -> Iterator[QueryKeyFactors]:
        if r == 1:
            for signs_of_queries in _possible_signs(start):
                yield along_signs(goals, signs_of_queries)
        else:
            yield on_a_curve(goals, r)
        if start.M.any():
            yield truncated_svd(start.space.inside(start.M), r)
        yield from by_chance(goals, r, TRIES)

    return starts


def _possible_signs(start: UnroundedHead) -> Iterator[list[int]]:
    """The signs of the queries in one dimension: as the rules say, with connected parts of them flipped."""
    rules = start.space.rules
    known = signs(rules, start.claims, start.head)
    signs_and_parts = []
    for plan in start.plans:
        x = rules.sequences[plan.rule.sequence][plan.rule.token]
        signs_and_parts.append(known.of(rules.asking(x)))
    parts = sorted({part for _, part in signs_and_parts})[:FLIPPED]
    for flips in product((1, -1), repeat=len(parts) - 1):
        flip = dict(zip(parts, (1, *flips), strict=True))
        yield [sign * flip.get(part, 1) for sign, part in signs_and_parts]


def _values(
    rules: Rules, rules_of_head: tuple[Rule, ...], way: MixtureAssignment, dtype: str
) -> Float[np.ndarray, "m D"]:
    """W_V in the numbers of the type; the identity where no rule of any head wants an output."""
    if all(rule.output is None for rule in rules.rules):
        return np.eye(rules.dimension, rules.dimension + rules.biases)
    tokens = [rules.asking(X) for X in rules.sequences]
    attended = []
    wanted_rows = []
    tolerances = []
    for rule, mixture in zip(rules_of_head, way.mixtures, strict=True):
        if rule.output is None:
            continue
        X = tokens[rule.sequence]
        attended.append(sum(float(w) * X[a] for a, w in mixture.items()))
        wanted_rows.append([float(x) for x in rule.output])
        tolerances.append(float(rule.tolerance))
    Y = np.array(attended)
    wanted = np.array(wanted_rows)

    def missed(W: Float[np.ndarray, "m D"]) -> float:
        """The worst miss of a value, in tolerances."""
        misses = np.linalg.norm(Y @ W.T - wanted, axis=1) / np.array(tolerances)
        return float(misses.max(initial=0.0))

    nearest = nearest_values(way.W_V, Y, wanted, dtype)
    if dtype == "float64" or not tolerances or missed(nearest) <= MISSED:
        return nearest
    plain = nearest_values(plain_values(Y, wanted), Y, wanted, dtype)
    return min(nearest, plain, key=missed)


def plain_values(
    Y: Float[np.ndarray, "k D"], wanted: Float[np.ndarray, "k m"]
) -> Float[np.ndarray, "m D"]:
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
