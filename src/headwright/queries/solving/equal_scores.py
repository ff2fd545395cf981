"""Wishes that leave next to nothing to other keys: all constraints are tight, which restricts queries to a subspace.

Where every constraint sum_b e^{t_b} + R <= e^{t_a} / p_a of the targets' scores t is tight, all t_a - ln p_a are equal.
On the queries that make them so, one constraint is left, R e^{-t_a} <= (1 - sum p) / p_a over the other keys alone, and
it is as easy for a spare 1 - sum p of 1e-30 as for one of 0.1; the constraints themselves agree up to the spare, and
floats cannot tell them apart. The shortest query of the subspace is the shortest of all if the multipliers

    lambda_a  =  c p_a + M_a,        q + sum_a M_a (rest - k_a) = 0,      sum_a M_a = c (1 - sum p)

are not negative. M is small next to c p_a and given apart, so that a sum can be formed exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
from flint import fmpz_mat
from jaxtyping import Float

from headwright.queries.solving.constraints import Program, State, evaluate
from headwright.queries.solving.log_sum_exp import Scenario
from headwright.queries.solving.problem import Problem
from headwright.queries.solving.score_ranges import Vector

MOST_SPARE = 0.1  # of one target's slack: beyond, constraints are seldom all tight
FLAT = 1e-13  # a difference of targets this much shorter than the longest is rounding
MOST_MOVED, SHORT = 64, 256  # coordinates that a query is levelled with, and about how far they move
MOST_ROUNDINGS = 8
DIGITS = 60  # of logarithms
NEAR = 0.1  # values nearer to 0 are worth a closer look
EXACT = 1e-5  # how well the multipliers must explain the query


@dataclass(frozen=True, eq=False)
class Equal:
    """A program on the queries that give all targets equal scores, less the logarithms of their floors."""

    plain: Program  # one target, and the keys that are none
    basis: Float[np.ndarray, "d rank"]  # of the differences between targets
    offset: Vector  # the shortest query of the subspace: 0 if the floors are equal
    differences: Float[np.ndarray, "scenarios m d"]  # of the targets from the first
    floors: Float[np.ndarray, " m"]
    left: float  # what the wish leaves to other keys

    @classmethod
    def of(cls, program: Program) -> Equal | None:
        """None where the wish is not of this kind."""
        targets, spare, floors = program.targets, program.spare, program.floors
        if len(targets) < 2 or spare is None or not 0 < float(spare.min()) <= MOST_SPARE:
            return None
        if any(s.uncertainty is not None and s.uncertainty.moves[targets].any() for s in program.scenarios):
            return None
        differences = np.array([s.keys[targets] - s.keys[targets[0]] for s in program.scenarios])
        rows = differences[:, 1:].reshape(-1, differences.shape[2])
        wanted = np.tile(np.log(floors[1:] / floors[0]), len(program.scenarios))
        u, sizes, v = np.linalg.svd(rows, full_matrices=False)
        rank = int(np.count_nonzero(sizes > FLAT * sizes.max(initial=0.0)))
        basis = v[:rank].T
        offset = basis @ ((u[:, :rank].T @ wanted) / sizes[:rank])
        if np.abs(rows @ offset - wanted).max() > 1e-12:  # some targets cannot be told apart, and should be
            return None
        if offset.any() and not program.certain:  # worst cases are about whole scores
            return None
        plain = tuple(_without(s, targets, offset) for s in program.scenarios)
        left = float(spare[0] * floors[0])
        whole = float(floors.sum()) + left  # 1, or a little less where a little more is asked for
        one = replace(program, targets=targets[:1], log_slacks=np.log(spare[:1]), floors=floors[:1], spare=None)
        return cls(
            plain=replace(one, scenarios=plain),
            basis=basis,
            offset=offset,
            differences=differences,
            floors=floors / whole,
            left=left / whole,
        )

    def program(self) -> Program:
        """The program on the subspace: the plain one with all keys projected onto it."""
        return replace(self.plain, scenarios=tuple(_projected(s, self.basis) for s in self.plain.scenarios))

    def projected(self, q: Vector) -> Vector:
        """The same without what rounding has led out of the subspace."""
        for _ in range(2):
            q = q - self.basis @ (self.basis.T @ q)
        return q

    def state(self, query: Vector, smoothing: float) -> State:
        """The one constraint of each scenario, with slopes that lead out of the subspace; the query is within it."""
        return evaluate(self.plain, query, smoothing, curved=False)

    def multipliers(
        self, query: Vector, smoothing: float, found: Float[np.ndarray, " scenarios"]
    ) -> tuple[Float[np.ndarray, " scenarios"], Float[np.ndarray, "scenarios m"]] | None:
        """c and M for each scenario, from the multipliers of the one constraint; None if they explain no query."""
        pull = query + self.offset + found @ self.state(query, smoothing).slopes
        rows = self.differences[:, 1:].reshape(-1, len(query))
        small = np.linalg.lstsq(rows.T, pull, rcond=FLAT)[0]
        if not math.sqrt(float(np.square(pull - rows.T @ small).sum())) <= EXACT * math.sqrt(float(query @ query)):
            return None
        M = np.empty(self.differences.shape[:2])
        M[:, 1:] = small.reshape(len(found), -1)
        M[:, 0] = found - M[:, 1:].sum(axis=1)
        # with c as above, where no multiplier is negative then: else the bound is not tight, and that will show
        return np.maximum(found / self.left, 1.000001 * (-M / self.floors).max(axis=1)), M


def _without(scenario: Scenario, targets: np.ndarray, offset: Vector) -> Scenario:
    """All targets but the first count no more; the scores of the others start from those at the offset."""
    log_mass = (scenario.keys - scenario.keys[targets[0]]) @ offset if offset.any() else np.zeros(len(scenario.keys))
    log_mass[targets[1:]] = -np.inf
    return replace(scenario, log_mass=log_mass)


def _projected(scenario: Scenario, basis: Float[np.ndarray, "d rank"]) -> Scenario:
    keys = scenario.keys - (scenario.keys @ basis) @ basis.T
    uncertainty = scenario.uncertainty
    if uncertainty is not None:
        factors = tuple(matrix - basis @ (basis.T @ matrix) for matrix in uncertainty.factors)
        uncertainty = replace(uncertainty, factors=factors)
    return replace(scenario, keys=keys, uncertainty=uncertainty)


def apart(problem: Problem, query: Vector) -> Float[np.ndarray, "scenarios m"]:
    """How far each target's score less ln p is from the first one's: exact, then rounded."""
    u = [[0.0, *map(float, row)] for row in _Differences.of(problem).at([Fraction(x) for x in query.tolist()])]
    return np.array(u)


@dataclass(frozen=True)
class _Differences:
    """The differences of the targets from the first, and what they should be: exact, the logarithms to many digits."""

    rows: list[list[list[Fraction]]]  # scenario, target but the first, coordinate; times the scale
    logs: list[Fraction]

    @classmethod
    def of(cls, problem: Problem) -> _Differences:
        scale = Fraction(problem.scale)
        rows = []
        for keys in problem.keys:
            first, *others = ([Fraction(x) for x in keys[a].tolist()] for a in problem.targets)
            rows.append([[scale * (x - y) for x, y in zip(other, first, strict=True)] for other in others])
        least = problem.least or tuple(Fraction(x) for x in problem.floors.tolist())
        with localcontext(prec=DIGITS):
            logs = [
                Fraction((Decimal(r.numerator) / Decimal(r.denominator)).ln())
                for r in (p / least[0] for p in least[1:])
            ]
        return cls(rows, logs)

    def at(self, q: list[Fraction]) -> list[list[Fraction]]:
        """How far apart the scores are at a query, less what they should be."""
        some = [(j, x) for j, x in enumerate(q) if x]
        return [
            [sum((row[j] * x for j, x in some), -log) for row, log in zip(rows, self.logs, strict=True)]
            for rows in self.rows
        ]


def room(equal: Equal, u: Float[np.ndarray, "scenarios m"]) -> Float[np.ndarray, " scenarios"]:
    """What is left to other keys, next to the first target's e^t / p, when the targets are apart by u."""
    left: Float[np.ndarray, " scenarios"] = equal.left + np.expm1(u.min(axis=1)) - np.expm1(u) @ equal.floors
    return left


def worst_value(equal: Equal, problem: Problem, query: Vector, state: State) -> float:
    """The largest of ln(sum_{i != a} e^(s_i - s_a) / slack_a), from the one constraint's state; inf if not near 0."""
    u = apart(problem, query)
    beyond = _excess(equal, state, u)[:, None] - np.expm1(u)
    relative = float((beyond / (np.exp(u) * problem.floors * problem.slacks)).max())
    return math.log1p(relative) if abs(relative) < NEAR else math.inf


def _rest(equal: Equal, state: State) -> Float[np.ndarray, " scenarios"]:
    """The sum of e^x over the other keys."""
    rest: Float[np.ndarray, " scenarios"] = np.exp(state.values) * equal.left
    return rest


def _excess(equal: Equal, state: State, u: Float[np.ndarray, "scenarios m"]) -> Float[np.ndarray, " scenarios"]:
    """By how much the sum of all e^x is above 1."""
    excess: Float[np.ndarray, " scenarios"] = np.expm1(u) @ equal.floors + _rest(equal, state) - equal.left
    return excess


@dataclass(frozen=True, eq=False)
class SplitMultipliers:
    """Multipliers share_w p_a + lean_wa, up to a factor; the leans are small, and matter."""

    shares: Float[np.ndarray, " scenarios"]
    leans: Float[np.ndarray, "scenarios m"]

    def matched(self, equal: Equal, state: State, u: Float[np.ndarray, "scenarios m"]) -> SplitMultipliers:
        """The same distance from the pattern that the witness has, which rounding leaves a little off."""
        moved = np.expm1(u) - _excess(equal, state, u)[:, None]
        return replace(self, leans=self.leans + self.shares[:, None] * equal.floors * moved)

    def bound(self, equal: Equal, state: State, u: Float[np.ndarray, "scenarios m"]) -> float:
        """No query of the program that grants the wish is shorter; from the one constraint's state at the witness.

        With x_a = ln p_a + u_a for the targets and Z the sum of all e^x, near 1, only small numbers are subtracted.
        """
        p, logs = equal.floors, np.log(equal.floors)
        right, vector = 0.0, np.zeros(len(state.query))
        for w, excess in enumerate(_excess(equal, state, u)):
            off = float(self.leans[w].sum() / self.shares[w]) - equal.left  # the multipliers sum to share (1 + off)
            Z, moved, rest = 1 + excess, np.expm1(u[w]), _rest(equal, state)[w] / (1 + excess)
            beyond = (p * (excess - moved - off * (1 + moved)) + self.leans[w] / self.shares[w] * Z) / ((1 + off) * Z)
            entropy = math.log1p(excess) + float(beyond @ logs) - float(p * (1 + moved) / Z @ u[w])
            weight = float(self.shares[w]) * (1 + off)
            right += weight * (entropy - rest * (float(state.scores[w]) + logs[0]))
            vector += weight * (rest * state.slopes[w] - beyond @ equal.differences[w])
        length = math.sqrt(float(vector @ vector))
        if not right > 0 or math.isnan(length):
            return 0.0
        return right / length if length > 0 else math.inf


def levelled(problem: Problem, query: Vector, wanted: float) -> Vector:
    """A query next to the given one that makes the targets' scores equal to within what is wanted, if one is found.

    Rounding a query to floats leaves its scores apart by 1e-16 of their size, which a wish may not leave room for. A
    few coordinates, each moved by a whole number of units in its last place, undo that: a short vector of a lattice.
    """
    before = float(np.abs(apart(problem, query)).max())
    if before <= wanted or not np.isfinite(query).all():
        return query
    differences = _Differences.of(problem)
    rows = [row for scenario in differences.rows for row in scenario]
    step = Fraction(2) ** (math.frexp(float(np.abs(query).max()))[1] - 52)  # one grid for all, or 0 might not be on it
    start = [round(Fraction(x) / step) * step for x in query.tolist()]
    reach = np.abs(np.array([[float(x) for x in row] for row in rows])).max(axis=0)
    some = np.argsort(-reach)[: min(MOST_MOVED, 8 * len(rows) + 2)].tolist()
    fine = SHORT / Fraction(wanted)
    misses = [miss for scenario in differences.at(start) for miss in scenario]
    lattice = [
        [int(k == j) for k in range(len(some))] + [round(fine * row[at] * step) for row in rows]
        for j, at in enumerate(some)
    ]
    moves = _near(lattice, [0] * len(some) + [-round(fine * miss) for miss in misses])
    for at, move in zip(some, moves, strict=False):
        start[at] += step * move
    level: Vector = np.array([float(x) for x in start])
    return level if float(np.abs(apart(problem, level)).max()) < before else query


def _near(lattice: list[list[int]], goal: list[int]) -> list[int]:
    """A vector of the lattice that is near the goal: in a basis of short vectors, coordinates are rounded."""
    short = [[int(x) for x in row] for row in fmpz_mat(lattice).lll().tolist()]
    inverse = np.linalg.pinv(np.array(short, dtype=np.float64))
    near = [0] * len(goal)
    for _ in range(MOST_ROUNDINGS):  # a goal far away takes more than one float's digits
        steps = np.rint(np.array([float(x - y) for x, y in zip(goal, near, strict=True)]) @ inverse)
        if not steps.any() or not np.isfinite(steps).all():
            break
        for step, row in zip(steps.tolist(), short, strict=True):
            near = [x + int(step) * y for x, y in zip(near, row, strict=True)]
    return near
