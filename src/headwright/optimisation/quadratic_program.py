"""The quadratic program of one SQP step, solved in its multipliers by a primal active-set method.

    minimise over x:   <g, x> + <x, W x>/2 + rho * max(0, max_c (f_c + <G_c, x>))

With W = R^T R and A = R^-T G^T, b = R^-T g, its dual is

    minimise   |A nu + b|^2 / 2 - <f, nu>   subject to   nu >= 0,  sum nu <= rho;        x = -R^-1 (A nu + b).

Multipliers may differ by many orders of magnitude: 1e15 for a near-duplicate of a target, beside 1. The active-set
method is exact whatever their sizes; interior points lose the small ones next to the large. For the same reason all
is computed relative to a guess nu0 and to the largest f_c, so that no difference is taken of large numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from headwright.optimisation.convex_program import Multipliers, SquareMatrix, Vector

RIDGE = 1e-11  # relative; keeps parallel columns apart in least squares
CAP_ROUNDING = 1e-15
BINDING = 0.999  # of rho: from this sum of the multipliers on, the cap is taken to bind


class QuadraticStep(NamedTuple):
    """The minimiser x, its multipliers, and by how much the model falls from x = 0."""

    direction: Vector
    multipliers: Multipliers
    decrease: float


def minimise_model(
    gradient: Vector,
    hessian: SquareMatrix,
    values: Float[np.ndarray, " m"],
    slopes: Float[np.ndarray, "m d"],
    penalty: float,
    guess: Multipliers,
) -> QuadraticStep:
    """The minimiser of <g, x> + <x, W x>/2 + rho * max(0, max_c (f_c + <G_c, x>)); W = hessian is positive definite."""
    R = _cholesky(hessian)
    guess = guess * min(1.0, penalty / max(float(guess.sum()), 1e-300))
    A = solve_triangular(R, slopes.T, transposed=True)  # (d, m)
    b = solve_triangular(R, gradient + slopes.T @ guess, transposed=True)
    multipliers = _solve_dual(A, b, values, penalty, guess)
    change = multipliers - guess
    direction = -solve_triangular(R, b + A @ change)

    # Large multipliers of gradients that nearly cancel leave rounding in the step. Where the cap does not bind, active
    # constraints are 0 after the step: what it misses of that is made up for.
    active = multipliers > 0
    if active.any() and float(multipliers.sum()) <= BINDING * penalty:
        missed = values[active] + slopes[active] @ direction
        correction = least_squares_form(A[:, active], missed)
        direction -= solve_triangular(R, A[:, active] @ correction)

    scaled = R @ direction
    before = max(0.0, float(values.max()))
    after = max(0.0, float((values + slopes @ direction).max()))
    decrease = (
        -float(gradient @ direction)
        - float(scaled @ scaled) / 2
        + penalty * (before - after)
    )
    return QuadraticStep(direction, multipliers, decrease)


def _solve_dual(
    A: Float[np.ndarray, "d m"],
    b: Vector,
    values: Float[np.ndarray, " m"],
    penalty: float,
    guess: Multipliers,
) -> Multipliers:
    """The dual above, with b as it is at the guess: b + A (nu - guess) in place of A nu + b."""
    lengths = np.sqrt(np.square(A).sum(axis=0))
    lengths[lengths == 0] = 1.0
    unit_columns = A / lengths
    offset = max(0.0, float(values.max()))
    gains = (values - offset) / lengths - unit_columns.T @ b
    if len(A) > len(values):
        # only inner products of columns matter, and a triangle of the size of the constraints has the same
        unit_columns = np.linalg.qr(unit_columns, mode="r")
    method = _ActiveSet(
        unit_columns, gains, 1 / lengths, penalty, offset, guess * lengths
    )
    multipliers: Multipliers = method.run() / lengths
    return multipliers


class _ActiveSet:
    """The minimum of |A (x - x0)|^2 / 2 - <gains + offset * costs, x> over x >= 0 with <costs, x> <= budget.

    Starts at x0. Entries join the positive ones where the objective falls with them, and leave at 0. The columns of A
    have length 1.
    """

    def __init__(
        self,
        A: Float[np.ndarray, "d m"],
        gains: Float[np.ndarray, " m"],
        costs: Float[np.ndarray, " m"],
        budget: float,
        offset: float,
        start: Multipliers,
    ) -> None:
        """At the start, with what is positive there."""
        self.A = A
        self.gains = gains
        self.costs = costs
        self.budget = budget
        self.offset = offset
        self.start = start
        self.x = start.copy()
        self.positive: list[int] = np.flatnonzero(start).tolist()
        self.budget_binds = float(costs @ start) >= budget * (1 - CAP_ROUNDING)
        self.price = (
            -offset
        )  # the multiplier of the budget, less the offset: at least -offset

    def run(self) -> Float[np.ndarray, " m"]:
        """Until no entry wants to join."""
        for _ in range(3 * len(self.x) + 50):
            self._minimise_over_positive()
            # by how much the objective falls with each entry, beyond what rounding makes of it
            fall = self.gains - self.A.T @ (self.A @ (self.x - self.start))
            fall -= self.price * self.costs
            fall -= 1e-15 * (np.abs(self.gains) + abs(self.price) * self.costs)
            fall[self.positive] = -np.inf
            joining = int(fall.argmax())
            if not fall[joining] > 0:
                break
            self.positive.append(joining)
        return self.x

    def _minimise_over_positive(self) -> None:
        """Go to the minimum over the positive entries; those that would turn negative on the way are dropped."""
        for _ in range(2 * len(self.positive) + 5):
            if not self.positive:
                return
            minimiser, price = self._unsigned_minimiser()
            current = self.x[self.positive]
            move = minimiser - current
            turning = (move < 0) & (minimiser < 0)
            reach_zero = np.full(len(move), np.inf)
            reach_zero[turning] = current[turning] / -move[turning]
            first_zero = float(reach_zero.min())
            first_cap = self._steps_to_budget(current, move)
            if min(first_zero, first_cap) >= 1:
                self.x[self.positive] = minimiser
                self.price = max(price, -self.offset)
                if price >= -self.offset:
                    return
                # the multiplier of the budget is negative: the minimum lies inside
                self.budget_binds = False
            elif first_cap < first_zero:
                self.x[self.positive] = current + first_cap * move
                self.budget_binds = True
            else:
                self.x[self.positive] = current + first_zero * move
                self.x[self.positive.pop(int(reach_zero.argmin()))] = 0.0

    def _steps_to_budget(
        self, current: Float[np.ndarray, " p"], move: Float[np.ndarray, " p"]
    ) -> float:
        """The part of the move after which the budget is spent; inf if it never is."""
        costs = self.costs[self.positive]
        spent = float(costs @ current)
        increase = float(costs @ move)
        if self.budget_binds or spent + increase <= self.budget:
            return np.inf
        # by rounding, too much may have been spent already
        return max(0.0, (self.budget - spent) / increase) if increase > 0 else 0.0

    def _unsigned_minimiser(self) -> tuple[Float[np.ndarray, " p"], float]:
        """The minimum over the positive entries alone, whatever their signs, and the budget's price there."""
        P = self.positive
        A = self.A[:, P]
        costs = self.costs[P]
        start = self.start[P]
        dropped = self.start.copy()
        dropped[P] = 0.0
        gains = self.gains[P] + A.T @ (self.A @ dropped)
        if not self.budget_binds:
            minimiser: Float[np.ndarray, " p"] = start + least_squares_form(
                A, gains + self.offset * costs
            )
            return minimiser, -self.offset

        # On the plane <costs, x> = budget one entry pays for the others, the one that costs most now: then only
        # differences of columns and of gains appear, which are well apart.
        payer = int((costs * self.x[P]).argmax())
        others = np.arange(len(P)) != payer
        rate = costs[others] / costs[payer]
        unspent = self.budget - float(costs @ start)
        paid = A[:, payer] * (unspent / costs[payer])
        exchanges = A[:, others] - np.outer(A[:, payer], rate)
        change = np.empty(len(P))
        change[others] = least_squares_form(
            exchanges, gains[others] - rate * gains[payer] - exchanges.T @ paid
        )
        change[payer] = (unspent - float(costs[others] @ change[others])) / costs[payer]
        residual = paid + exchanges @ change[others]
        price = float(gains[payer] - A[:, payer] @ residual) / float(costs[payer])
        change += start
        return change, price


def least_squares_form(
    A: Float[np.ndarray, "d p"], gains: Float[np.ndarray, " p"]
) -> Float[np.ndarray, " p"]:
    """The minimum of |A x|^2 / 2 - <gains, x>, by QR; a small ridge keeps parallel columns apart."""
    from scipy.linalg.lapack import dgeqrf

    p = A.shape[1]
    squares = np.square(A).sum(axis=0)
    lengths = np.sqrt(squares)
    lengths[lengths == 0] = 1.0
    x: Float[np.ndarray, " p"]
    if p <= 1:
        x = gains / (squares + (RIDGE * lengths) ** 2)
        return x
    R = dgeqrf(np.vstack([A / lengths, RIDGE * np.eye(p)]))[0][:p]
    y = solve_triangular(R, gains / lengths, transposed=True)
    x = solve_triangular(R, y) / lengths
    return x


def solve_triangular(
    R: SquareMatrix, b: np.ndarray, *, transposed: bool = False
) -> np.ndarray:
    """R^-1 b, or R^-T b, for an upper triangle R; nan where its diagonal has a 0."""
    from scipy.linalg.lapack import dtrtrs

    x, fault = dtrtrs(R, b, lower=0, trans=int(transposed))
    return x if fault == 0 else np.full_like(b, np.nan)


def _cholesky(hessian: SquareMatrix) -> SquareMatrix:
    """R with R^T R = W; a multiple of the identity is added where rounding cost a large W its sign."""
    from scipy.linalg.lapack import dpotrf

    W = (hessian + hessian.T) / 2
    lift = 0.0
    for _ in range(30):
        R: SquareMatrix
        R, fault = dpotrf(W, lower=0, clean=1)
        if fault == 0 and np.isfinite(R[-1, -1]):
            return R
        lift = max(10 * lift, 1e-15 * float(np.trace(W)))
        W[np.diag_indices_from(W)] += lift
    raise FloatingPointError("the curvature of the constraints is not a number")
