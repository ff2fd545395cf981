"""One step of sequential quadratic programming, with an exact penalty on violated constraints.

    minimise over the step x:   <q, x> + <x, W x>/2 + price * max(0, max_c (f_c + <g_c, x>))

W is positive definite. The dual is a small problem over multipliers: with W = R^T R,

    minimise over nu >= 0, sum nu <= price:   |R^-T (q + G^T nu)|^2 / 2 - <f, nu>,       x = -W^-1 (q + G^T nu)

solved by an active set method.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

Vector = Float[np.ndarray, " d"]
PINCH = 1e-11


@dataclass(frozen=True, eq=False)
class Step:
    """The step, the multipliers that go with it, and how much lower the model says the price will be."""

    direction: Vector
    multipliers: Float[np.ndarray, " constraints"]
    gain: float


def best_step(
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
