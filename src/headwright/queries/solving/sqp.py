"""The shortest query from a start: sequential quadratic programming on an exact penalty.

    price(q) = |q|^2 / 2 + rho * max(0, max_c f_c(q))

is convex, and its minimum is the shortest query as soon as rho is above the sum of the multipliers. rho starts small
and grows while the multipliers press against it; in the limit the largest violation is the smallest there is. So the
same steps find the shortest query, or that there is none: then sum_c lambda_c g_c = -q / rho tends to 0.

    One step:   minimise over x:   <q, x> + <x, W x>/2 + rho * max(0, max_c (f_c + <g_c, x>))

W is positive definite. The dual is a small problem over multipliers: with W = R^T R,

    minimise over nu >= 0, sum nu <= rho:   |R^-T (q + G^T nu)|^2 / 2 - <f, nu>,       x = -W^-1 (q + G^T nu)

solved by an active set method.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from headwright.queries.solving.constraints import Program, State, evaluate
from headwright.queries.solving.problem import Status

Vector = Float[np.ndarray, " d"]
PINCH = 1e-11
Tick = Callable[[], None]  # is called at each step

ROOM = 1.5  # rho over the sum of the multipliers: above 1, and below 2 so that curvature spoils no full step
MOST_TRIES = 30
MOST_CUTS = 20
MOST_IDLE = 8  # steps that gain no more than rounding
NOTHING = 1e-15  # a mean slope this much smaller than the keys is rounding
NEARBY, SHRINKS = 0.1, 0.1  # steps this short keep the curvature, as long as the gain shrinks like this
HOPELESS = 1e4  # how many times as long
DOUBTFUL = 1e-10  # and one like this is, where no step succeeds any more


@dataclass(frozen=True, eq=False)
class Step:
    """The step, the multipliers that go with it, and how much lower the model says the price will be."""

    direction: Vector
    multipliers: Float[np.ndarray, " constraints"]
    gain: float


def _best_step(
    q: Vector,
    values: Float[np.ndarray, " constraints"],
    slopes: Float[np.ndarray, "constraints d"],
    curvature: Float[np.ndarray, "d d"],
    price: float,
    guess: Float[np.ndarray, " constraints"] | None = None,
) -> Step:
    """The step that the model likes best; a guess of the multipliers saves time."""
    R = _root(curvature)
    guess = np.zeros(len(values)) if guess is None else guess * min(1.0, price / max(float(guess.sum()), 1e-300))
    A = _solve(R, slopes.T, trans=True)  # (d, constraints)
    b = _solve(R, q + slopes.T @ guess, trans=True)
    change = _multipliers(A, b, values, price, guess) - guess
    multipliers = guess + change
    direction = -_solve(R, b + A @ change)
    active = multipliers > 0
    if float(multipliers.sum()) <= 0.999 * price and active.any():
        # large multipliers of slopes that nearly cancel leave rounding in the step: what it misses, it makes up for
        miss = values[active] + slopes[active] @ direction
        direction -= _solve(R, A[:, active] @ _least(A[:, active], miss))
    half = R @ direction
    before = max(0.0, float(values.max()))
    after = max(0.0, float((values + slopes @ direction).max()))
    gain = -float(q @ direction) - float(half @ half) / 2 + price * (before - after)
    return Step(direction, multipliers, gain)


def _root(curvature: Float[np.ndarray, "d d"]) -> Float[np.ndarray, "d d"]:
    from scipy.linalg.lapack import dpotrf

    W = (curvature + curvature.T) / 2
    W[np.diag_indices_from(W)] += 1.0
    lift = 0.0
    for _ in range(30):  # rounding may cost a huge curvature its sign: lift it by as much as rounding can do
        root: Float[np.ndarray, "d d"]
        root, fault = dpotrf(W, lower=0, clean=1)
        if fault == 0 and math.isfinite(root[-1, -1]):
            return root
        lift = max(10 * lift, 1e-15 * float(np.trace(W)))
        W[np.diag_indices_from(W)] += lift
    raise FloatingPointError("the curvature of the constraints is not a number")


def _multipliers(
    A: Float[np.ndarray, "d c"],
    b: Vector,
    values: Float[np.ndarray, " c"],
    price: float,
    guess: Float[np.ndarray, " c"],
) -> Float[np.ndarray, " c"]:
    lengths = np.sqrt(np.square(A).sum(axis=0))
    lengths[lengths == 0] = 1.0
    base = max(0.0, float(values.max()))  # subtracted early: differences of the values matter, and may be small
    wins = (values - base) / lengths - (A / lengths).T @ b
    search = _ActiveSet(A / lengths, wins, 1 / lengths, price, base, guess * lengths)
    found: Float[np.ndarray, " c"] = search.run() / lengths
    return found


class _ActiveSet:
    """The minimum of |A (x - x0)|^2 / 2 - <wins + base costs, x> over x >= 0 with <costs, x> <= price.

    The primal active set method, from a start x0: entries join the positive ones where the slope asks for it, and
    leave at 0. It is exact, whatever the sizes of the multipliers; interior points would lose the small ones next to
    the large. The columns of A have length 1.
    """

    def __init__(
        self,
        A: Float[np.ndarray, "d c"],
        wins: Float[np.ndarray, " c"],
        costs: Float[np.ndarray, " c"],
        price: float,
        base: float,
        start: Float[np.ndarray, " c"],
    ) -> None:
        """At the start, with what is positive there."""
        self.A, self.wins, self.costs, self.price, self.base = A, wins, costs, price, base
        self.start, self.x = start, start.copy()
        self.positive: list[int] = np.flatnonzero(start).tolist()
        self.capped = float(costs @ start) >= price * (1 - 1e-15)
        self.toll = -base  # what spending one more would save, less the base: at least -base

    def run(self) -> Float[np.ndarray, " c"]:
        """Until no entry wants to join."""
        for _ in range(3 * len(self.x) + 50):
            self._settle()
            eager = self.wins - self.A.T @ (self.A @ (self.x - self.start)) - self.toll * self.costs
            eager -= 1e-15 * (np.abs(self.wins) + abs(self.toll) * self.costs)
            eager[self.positive] = -np.inf
            new = int(eager.argmax())
            if not eager[new] > 0:
                break
            self.positive.append(new)
        return self.x

    def _settle(self) -> None:
        """The minimum over the positive entries, which lose those that would turn negative."""
        for _ in range(2 * len(self.positive) + 5):
            if not self.positive:
                return
            goal = self._goal()
            if self.capped and self.toll < -self.base:
                self.capped, self.toll = False, -self.base
                continue
            now, costs = self.x[self.positive], self.costs[self.positive]
            move = goal - now
            falling = move < 0
            zero = np.where(falling & (goal < 0), now / np.where(falling, -move, 1.0), np.inf)
            spent, more = float(costs @ now), float(costs @ move)
            cap = np.inf
            if not self.capped and spent + more > self.price:  # by rounding, too much may have been spent already
                cap = max(0.0, (self.price - spent) / more) if more > 0 else 0.0
            reach = min(float(zero.min()), cap)
            if reach >= 1:
                self.x[self.positive] = goal
                return
            self.x[self.positive] = now + reach * move
            if cap < float(zero.min()):
                self.capped = True
            else:
                self.x[self.positive.pop(int(zero.argmin()))] = 0.0

    def _goal(self) -> Float[np.ndarray, " p"]:
        """The minimum over the positive entries alone, whatever the signs; sets the toll if it spends all."""
        P = self.positive
        A, costs, start = self.A[:, P], self.costs[P], self.start[P]
        gone = self.start.copy()
        gone[P] = 0.0
        wins = self.wins[P] + A.T @ (self.A @ gone)
        if not self.capped:
            goal: Float[np.ndarray, " p"] = start + _least(A, wins + self.base * costs)
            return goal
        first = int((costs * self.x[P]).argmax())  # this one pays for the others: their differences are well apart
        rest = np.arange(len(P)) != first
        rate = costs[rest] / costs[first]
        more = self.price - float(costs @ start)
        own = A[:, first] * (more / costs[first])
        moves = A[:, rest] - np.outer(A[:, first], rate)
        change = np.empty(len(P))
        change[rest] = _least(moves, wins[rest] - rate * wins[first] - moves.T @ own)
        change[first] = (more - float(costs[rest] @ change[rest])) / costs[first]
        self.toll = float(wins[first] - A[:, first] @ (own + moves @ change[rest])) / float(costs[first])
        change += start
        return change


def _least(A: Float[np.ndarray, "d p"], wins: Float[np.ndarray, " p"]) -> Float[np.ndarray, " p"]:
    """The minimum of |A x|^2 / 2 - <wins, x>; a pinch of |x|^2 keeps parallel columns apart."""
    from scipy.linalg.lapack import dgeqrf

    p = A.shape[1]
    squares = np.square(A).sum(axis=0)
    lengths = np.sqrt(squares)
    lengths[lengths == 0] = 1.0
    x: Float[np.ndarray, " p"]
    if p <= 1:
        x = wins / (squares + (PINCH * lengths) ** 2)
        return x
    R = dgeqrf(np.vstack([A / lengths, PINCH * np.eye(p)]))[0][:p]
    x = _solve(R, _solve(R, wins / lengths, trans=True)) / lengths
    return x


def _solve(R: Float[np.ndarray, "d d"], b: np.ndarray, *, trans: bool = False) -> np.ndarray:
    """R^-1 b, or R^-T b, for an upper triangle R; nan where it has a 0 on its diagonal."""
    from scipy.linalg.lapack import dtrtrs

    x, fault = dtrtrs(R, b, lower=0, trans=int(trans))
    return x if fault == 0 else np.full_like(b, np.nan)


class Cut(NamedTuple):
    """What a query that was not taken taught: its worst constraint is convex, so it lies above its tangent there."""

    constraint: int
    offset: float
    slope: Vector

    @classmethod
    def at(cls, state: State) -> Cut:
        """The tangent of the worst constraint."""
        worst = int(state.values.argmax())
        slope = state.slopes[worst]
        return cls(worst, float(state.values[worst]) - float(slope @ state.query), slope)


@dataclass
class Descent:
    """A point on the way, and what is known there."""

    program: Program
    state: State
    multipliers: Float[np.ndarray, " constraints"]
    rho: float
    smoothing: float = 0.0
    iterations: int = 0
    growth: float = 10.0
    status: Status = "stalled"
    tick: Tick = field(default=lambda: None)
    cuts: list[Cut] = field(default_factory=list)
    margin: float = 0.0  # the constraints should hold with this to spare
    curvature: Float[np.ndarray, "d d"] | None = None  # of the last state where it was asked for, per multiplier

    @classmethod
    def start(cls, program: Program, query: Vector, smoothing: float, tick: Tick) -> Descent:
        """At a query, with no multipliers yet."""
        state = evaluate(program, query, smoothing)
        worst = int(state.values.argmax())
        square = float(state.slopes[worst] @ state.slopes[worst])
        rho = max(float(state.values[worst]), 1e-3) / square if square > 0 else 1.0
        return cls(program, state, np.zeros(len(state.values)), rho, smoothing, tick=tick)

    def resumed(self, query: Vector, smoothing: float) -> Descent:
        """The same at another query and smoothing; from scratch if this one led nowhere."""
        if self.status == "impossible":
            fresh = Descent.start(self.program, query, smoothing, self.tick)
            return replace(fresh, iterations=self.iterations)
        state = evaluate(self.program, query, smoothing)
        return replace(self, state=state, smoothing=smoothing, growth=10.0, status="stalled", cuts=[])

    @property
    def violation(self) -> float:
        """The largest, 0 if there is none."""
        return max(0.0, float(self.state.values.max()) + self.margin)

    def run(self, most: int = 400, nothing: float = NOTHING) -> None:
        """Step until the query is the shortest, or shows that there is none."""
        idle, gained = 0, math.inf
        for _ in range(most):
            self.tick()
            self.iterations += 1
            try:
                step = self._step()
            except FloatingPointError:
                return
            if not self.state.curved and not step.gain < SHRINKS * gained:  # the old curvature has had its day
                self.state = evaluate(self.program, self.state.query, self.smoothing)
                step = self._step()
            if self.cuts and not step.gain > self._rounding():  # the end is near, where cuts are but rounding
                self.cuts.clear()
                step = self._step()
            if not math.isfinite(step.gain):
                return
            pressed = float(step.multipliers.sum()) > 0.999 * self.rho
            if not pressed and step.gain <= self._rounding():
                self.multipliers = step.multipliers
                self.status = "solved"
                return
            direction = self._mean_slope(step) if pressed and self.violation > 0 else math.inf
            before = self._price(self.state)
            gained = step.gain
            length = self._move(step) if direction > nothing and idle < MOST_IDLE else 0.0
            if length == 0.0:
                self.multipliers = step.multipliers
                flat = direction <= max(nothing, DOUBTFUL) or self._hopeless(direction)
                self.status = self._last_word(step, pressed, flat)
                return
            idle = idle + 1 if before - self._price(self.state) <= self._rounding() else 0
            self._reprice(step, pressed, length)

    def _hopeless(self, direction: float) -> bool:
        """Not even a query many times as long would make up for the violation, going by the mean slope."""
        size = self.program.extent * math.sqrt(float(self.state.query @ self.state.query))
        return direction < math.inf and self.violation > HOPELESS * direction * max(size, 1.0)

    def _last_word(self, step: Step, pressed: bool, flat: bool) -> Status:
        """What it means that no step succeeds any more."""
        if flat:
            return "impossible"
        return "solved" if not pressed and step.gain <= 1e-9 * self._price(self.state) else "stalled"

    def spare(self, tolerance: float) -> None:
        """Once more, so that the constraints hold with a small margin: half the tolerance, in length."""
        q, total = self.state.query, float(self.multipliers.sum())
        rounding = 2e-15 * (1 + self.program.extent * math.sqrt(float(q @ q)))
        self.margin = max(tolerance / 2 * float(q @ q) / total, rounding) if total > 0 else 0.0
        self.run(most=5)

    def _step(self) -> Step:
        total = float(self.multipliers.sum())
        if self.state.curved or self.curvature is None:
            curvature = self.state.curvature(self.multipliers)
            self.curvature = curvature / total if total > 0 else None
        else:
            curvature = self.curvature * total
        q, values, slopes = self.state.query, self.state.values + self.margin, self.state.slopes
        if self.cuts:
            values = np.concatenate([values, [cut.offset + float(cut.slope @ q) + self.margin for cut in self.cuts]])
            slopes = np.vstack([slopes, *(cut.slope for cut in self.cuts)])
        guess = np.concatenate([self.multipliers, np.zeros(len(self.cuts))])
        step = _best_step(q, values, slopes, curvature, self.rho, guess)
        multipliers = step.multipliers[: len(self.multipliers)].copy()
        for cut, more in zip(self.cuts, step.multipliers[len(multipliers) :], strict=True):
            multipliers[cut.constraint] += more
        return replace(step, multipliers=multipliers)

    def _rounding(self) -> float:
        """What the price may be wrong by."""
        return 1e-14 * self._price(self.state) + 4e-15 * self.rho

    def _price(self, state: State) -> float:
        return float(state.query @ state.query) / 2 + self.rho * max(0.0, float(state.values.max()) + self.margin)

    def _mean_slope(self, step: Step) -> float:
        """The averaged slope, next to the size of the keys: rounding if there is no way to go."""
        mean = math.sqrt(float(np.square(step.multipliers @ self.state.slopes / self.rho).sum()))
        return mean / self.program.extent if self.program.extent > 0 else 0.0

    def _move(self, step: Step) -> float:
        """Go along the step as far as the price falls; says how far that is."""
        here = self._price(self.state)
        falls = self._slope(self.state, step)
        noise = 1e-15 * (here + self.rho)
        length = 1.0
        q, x = self.state.query, step.direction
        chord = self.curvature is not None and float(x @ x) <= NEARBY**2 * float(q @ q)
        for tries in range(MOST_TRIES):
            query = q + length * x
            state = evaluate(self.program, query, self.smoothing, curved=tries == 0 and not chord)
            there = self._price(state)
            if there <= here - 1e-4 * length * step.gain + noise:
                self.state = state if tries == 0 else evaluate(self.program, query, self.smoothing)
                self.multipliers = self.multipliers + length * (step.multipliers - self.multipliers)
                if tries == 0:
                    self.cuts.clear()
                return length
            if not math.isfinite(there):
                length /= 10
                continue
            self.cuts = [*self.cuts[-MOST_CUTS:], Cut.at(state)]
            length = _where_tangents_meet(here, falls, there, self._slope(state, step), length)
        return 0.0

    def _slope(self, state: State, step: Step) -> float:
        """Of the price along the step."""
        worst = int(state.values.argmax())
        slope = float(state.query @ step.direction)
        return slope + (
            self.rho * float(state.slopes[worst] @ step.direction) if state.values[worst] > -self.margin else 0.0
        )

    def _reprice(self, step: Step, pressed: bool, length: float) -> None:
        q, total = self.state.query, float(step.multipliers.sum())
        if not pressed:
            if length == 1.0 or total * 1.1 > self.rho:
                self.rho = max(ROOM * total, 1e-3 * self.rho)
        elif length < 0.5:
            self.growth = 10.0
        elif step.gain <= 0.2 * float(q @ q):  # this rho has given nearly all it can
            self.rho *= self.growth
            self.multipliers = self.multipliers * self.growth  # they will follow, and W needs their size
            self.growth = min(2 * self.growth, 100.0)


def _where_tangents_meet(here: float, falls: float, there: float, rises: float, length: float) -> float:
    """The lowest point of what is known of a convex function: half way for a parabola, at the kink for a kink."""
    bend = rises - falls
    meet = (here - there + rises * length) / bend if bend > 0 else 0.0
    return min(max(meet, 1e-3 * length), 0.7 * length) if math.isfinite(meet) else length / 10
