"""Minimise under constraints ln sum_l exp(d_l^T X z) <= bound on a matrix X: the method of multipliers (untrusted).

Inside are Newton steps: nothing has to be feasible at the start, and where there is no solution the multipliers grow
without bound. As soon as the constraints in use are known, Newton's method on the optimality conditions ends it, to
all the digits there are. The curvature of a constraint is a Kronecker product with z z^T, so all of them are summed
by one product of matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy.linalg import LinAlgError

OUTER, INNER = 60, 100
NEAR = 1e-4  # of its bound: a constraint is in use
ROUNDING = 1e-13  # scores that should be equal may differ by so much
ENDLESS = 1e20  # multipliers of this size: there is no solution. A near-twin of a target, 1e-7 away, needs 1e15
Matrix = Float[np.ndarray, "p r"]
Curve = Float[np.ndarray, "d d"]


@dataclass(frozen=True)
class Objective:
    """What is minimised: its value at X, and its slope and curvature there (d = p r: X row by row)."""

    value: Callable[[Matrix], float]
    shape: Callable[[Matrix], tuple[Matrix, Curve]]


squared = Objective(lambda X: float((X * X).sum()) / 2, lambda X: (X.copy(), np.eye(X.size)))


@dataclass(frozen=True, eq=False)
class Term:
    """One constraint."""

    rows: Float[np.ndarray, "n p"]  # d_l
    query: Float[np.ndarray, " r"]  # z
    bound: float
    equal: bool = False  # = instead of <=, for a single row; its multiplier may then have any sign
    shifts: Float[np.ndarray, " n"] | float = 0.0  # added to d_l^T X z

    def at(self, X: Matrix) -> tuple[np.float64, Float[np.ndarray, " n"]]:
        """By how much it is violated, and the shares of its terms."""
        s = self.rows @ (X @ self.query) + self.shifts
        top = s.max()
        e = np.exp(s - top)
        total = e.sum()
        return top + np.log(total) - self.bound, e / total


@dataclass(frozen=True, eq=False)
class State:
    """Values, slopes and curvatures of all constraints at one place.

    The slope of a constraint is `lefts` z^T, and its curvature `spreads` times z z^T.
    """

    values: Float[np.ndarray, " m"]
    lefts: Float[np.ndarray, "m p"]
    spreads: Float[np.ndarray, "m p p"]

    @classmethod
    def of(cls, terms: list[Term], X: Matrix) -> State:
        """Evaluate them."""
        values, lefts, spreads = [], [], []
        for term in terms:
            value, w = term.at(X)
            left = w @ term.rows
            values.append(value)
            lefts.append(left)
            spreads.append((term.rows * w[:, None]).T @ term.rows - np.outer(left, left))
        return cls(np.array(values), np.array(lefts), np.array(spreads))


def by_multipliers(
    terms: list[Term], objective: Objective, X: Matrix, multipliers: Float[np.ndarray, " m"]
) -> tuple[Matrix, Float[np.ndarray, " m"], float]:
    """X, the multipliers and the largest violation, which is 0 or less if all went well."""
    rho, before = 10.0, np.inf
    for _ in range(OUTER):
        try:
            X = _newton(terms, objective, X, multipliers, rho)
        except LinAlgError:
            break
        values = violations(terms, X)
        floors = _floors(terms)
        miss = float(np.abs(np.maximum(values, (floors - multipliers) / rho)).max())
        multipliers = np.maximum(floors, multipliers + rho * values)
        if miss < 0.1 and (ended := _polished(terms, objective, X, multipliers)) is not None:
            return _lengthened(terms, *ended)
        if multipliers.max() > ENDLESS:
            return X, multipliers, float(values.max())
        if miss > before / 10:
            rho *= 10
        before = miss
    return _lengthened(terms, X, multipliers)


def from_near(
    terms: list[Term], objective: Objective, X: Matrix
) -> tuple[Matrix, Float[np.ndarray, " m"], float] | None:
    """The same from a place that is nearly the solution; None where it is not near enough."""
    state, floors = State.of(terms, X), _floors(terms)
    used = (state.values > -NEAR) | np.isinf(floors)
    slopes = [np.outer(left, term.query).ravel() for left, term in zip(state.lefts, terms, strict=True)]
    multipliers = np.zeros(len(terms))
    if not used.any():
        return None
    slope = objective.shape(X)[0].ravel()
    multipliers[used] = np.linalg.lstsq(np.array(slopes)[used].T, -slope, rcond=1e-13)[0]
    ended = _polished(terms, objective, X, np.maximum(floors, multipliers))
    return None if ended is None else _lengthened(terms, *ended)


def violations(terms: list[Term], X: Matrix) -> Float[np.ndarray, " m"]:
    """By how much each constraint is violated: above 0 if it is; for an equality, the difference of its sides."""
    return np.array([term.at(X)[0] for term in terms])


def worst(terms: list[Term], X: Matrix) -> float:
    """The largest violation; at most 0 where inequalities hold. Equalities hold up to rounding, or count as well."""
    values = violations(terms, X)
    equal = np.array([term.equal for term in terms])
    off = np.abs(values[equal])
    return float(max(values[~equal].max(initial=-np.inf), np.where(off > ROUNDING, off, -np.inf).max(initial=-np.inf)))


def _floors(terms: list[Term]) -> Float[np.ndarray, " m"]:
    """What multipliers are at least."""
    return np.array([-np.inf if term.equal else 0.0 for term in terms])


def _newton(
    terms: list[Term], objective: Objective, X: Matrix, multipliers: Float[np.ndarray, " m"], rho: float
) -> Matrix:
    """The minimum of the objective + sum_c (max(0, m_c + rho h_c)^2 - m_c^2) / (2 rho)."""
    from scipy.linalg import cho_solve

    def merit(at: Matrix) -> float:
        active = np.maximum(_floors(terms), multipliers + rho * violations(terms, at))
        return objective.value(at) + float(active @ active) / (2 * rho)

    now, floors = merit(X), _floors(terms)
    for _ in range(INNER):
        slope, curve = objective.shape(X)
        state = State.of(terms, X)
        push = np.maximum(floors, multipliers + rho * state.values)
        stiff = np.where(push > floors, rho, 0.0)[:, None, None] * (state.lefts[:, :, None] * state.lefts[:, None, :])
        slope = slope + _slope(terms, push[:, None] * state.lefts)
        curve = curve + _curve(terms, push[:, None, None] * state.spreads + stiff)
        step = -cho_solve(_factored(curve), slope.ravel(), check_finite=False).reshape(X.shape)
        fall = float((slope * step).sum())
        if -fall <= 1e-14 * max(1.0, abs(now)):  # nothing that the merit could still tell
            return X + step
        size = 1.0
        while (new := merit(X + size * step)) > now + 1e-4 * size * fall and size > 1e-10:
            size /= 2
        if size <= 1e-10:
            break
        X, now = X + size * step, new
    return X


def _polished(
    terms: list[Term], objective: Objective, X: Matrix, multipliers: Float[np.ndarray, " m"]
) -> tuple[Matrix, Float[np.ndarray, " m"]] | None:
    """Newton's method on slope + sum_c m_c slope_c = 0, h_c = 0 for constraints in use; None where it does not end."""
    from scipy.linalg import cho_solve

    least = np.array([-np.inf if term.equal else 1e-9 * multipliers.max() for term in terms])
    used = np.flatnonzero(multipliers > least)
    if not len(used):
        return None
    mine, some = multipliers[used], [terms[c] for c in used]
    exact = 1e-13 * max(1.0, *(abs(term.bound) for term in some))
    for _ in range(20):
        own, curve = objective.shape(X)
        state = State.of(some, X)
        rest = own + _slope(some, mine[:, None] * state.lefts)
        if np.abs(rest).max() <= 1e-12 * np.abs(own).max() and np.abs(state.values).max() <= exact:
            whole = np.zeros(len(multipliers))
            whole[used] = mine
            good = bool((whole >= _floors(terms)).all()) and worst(terms, X) <= 1e-11
            return (X, whole) if good else None
        slopes = np.array([np.outer(left, term.query).ravel() for left, term in zip(state.lefts, some, strict=True)])
        try:
            factor = _factored(curve + _curve(some, mine[:, None, None] * state.spreads))
            inside = cho_solve(factor, slopes.T, check_finite=False)  # curve^-1 J^T
            direct = cho_solve(factor, rest.ravel(), check_finite=False)
            change = np.linalg.lstsq(slopes @ inside, state.values - slopes @ direct, rcond=1e-15)[0]
        except (LinAlgError, ValueError):
            return None
        step = (-direct - inside @ change).reshape(X.shape)
        if not np.isfinite(step).all() or np.abs(step).max() > max(float(np.abs(X).max()), 1e-300):
            return None
        X, mine = X + step, mine + change
    return None


def _lengthened(
    terms: list[Term], X: Matrix, multipliers: Float[np.ndarray, " m"]
) -> tuple[Matrix, Float[np.ndarray, " m"], float]:
    """Slightly longer, where that meets what rounding left open."""
    for longer in (0.0, 1e-14, 1e-13, 1e-12, 1e-11):
        most = worst(terms, X * (1 + longer))
        if most <= 0:
            return X * (1 + longer), multipliers, most
    return X, multipliers, worst(terms, X)


def _slope(terms: list[Term], lefts: Float[np.ndarray, "m p"]) -> Matrix:
    slope: Matrix = lefts.T @ np.array([term.query for term in terms])
    return slope


def _curve(terms: list[Term], parts: Float[np.ndarray, "m p p"]) -> Curve:
    """The sum of Kronecker products of parts and z z^T."""
    Z = np.array([np.outer(term.query, term.query).ravel() for term in terms])  # (m, r r)
    p, r = parts.shape[1], len(terms[0].query)
    summed = parts.reshape(len(parts), -1).T @ Z  # (p p, r r)
    curve: Curve = summed.reshape(p, p, r, r).transpose(0, 2, 1, 3).reshape(p * r, p * r)
    return curve


def _factored(curve: Curve) -> tuple[Curve, bool]:
    """Cholesky's factor; of a matrix that rounding has made indefinite, after a little is added."""
    from scipy.linalg import cho_factor

    for more in (0.0, 1e-15, 1e-13, 1e-11):
        try:
            added = curve + more * np.trace(curve) * np.eye(len(curve)) if more else curve
            return cho_factor(added, check_finite=False)
        except LinAlgError:
            continue
    raise LinAlgError
