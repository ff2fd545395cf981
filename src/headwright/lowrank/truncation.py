"""A matrix of small rank near a given one, and a certified bound of how near."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from headwright.errors import InputError, typed_errors
from headwright.files import finite
from headwright.lowrank.matrix import exponent, largest, scaled
from headwright.lowrank.norm_bounds import (
    error_upper_bound,
    float_up,
    frobenius_squared,
    sqrt_up,
)
from headwright.lowrank.svd import (
    OVERSAMPLING,
    Factors,
    full_svd,
    randomised_svd,
    singular_values,
    sketch_fits,
)
from headwright.notebook import lines
from headwright.numerics.enclosure import TOLERANCE, assert_within, shown_above

Progress = Callable[[str], None]  # hears a few words before each step that takes time
Method = Literal["exact", "full SVD", "randomised"]

LOST = 1e-12  # of |A|_F: what floating point loses in an instance
FIRST_SKETCH = (
    2 * OVERSAMPLING
)  # columns of the first try when only a tolerance is given; then twice as many


@dataclass(frozen=True, eq=False)
class LowRank:
    """B = left right, whose rank is at most the one said, and what is known of its distance from A.

    Proven: |A - B|_2 <= error_upper_bound, where left right is the exact product of these numbers; and the best
    matrix of this rank misses A by no more than the guarantee. Floating-point: the singular values, and what is
    read off them.

    >>> import numpy as np
    >>> result = truncate(np.diag([3.0, 2.0, 1.0]), rank=2)
    >>> result.rank, result.method, result.next_singular_value
    (2, 'full SVD', 1.0)
    >>> (result.left @ result.right).round(6) + 0.0
    array([[3., 0., 0.],
           [0., 2., 0.],
           [0., 0., 0.]])
    """

    left: Float[
        np.ndarray, "n r"
    ]  # U sqrt(S); A or the identity if the method is 'exact'
    right: Float[np.ndarray, "r d"]  # sqrt(S) V^T; the identity or A
    rank: int
    error_upper_bound: float  # certified: |A - left right|_2 is not larger
    guarantee: float  # |A|_F / sqrt(rank + 1), rounded up: the best matrix of this rank is not farther away
    frobenius: float  # |A|_F, rounded up
    singular_values: Float[
        np.ndarray, " k"
    ]  # floating-point: all, or the rank + 1 leading ones if randomised
    next_singular_value: float  # floating-point: the error of the best matrix; a little low if randomised
    energy: float  # floating-point: the share of |A|_F^2 that the first `rank` singular values hold
    method: Method

    def to_json(self, seed: int) -> dict[str, Any]:
        """All but the factors, in JSON's own types; `seed` is the random seed that was used."""
        return {
            "rank": self.rank,
            "singular_values": self.singular_values.tolist(),
            "error_upper_bound": self.error_upper_bound,
            "guarantee": self.guarantee,
            "frobenius": self.frobenius,
            "energy": self.energy,
            "next_singular_value": self.next_singular_value,
            "method": self.method,
            "seed": seed,
            "kinds": {
                "error_upper_bound": "proven",
                "guarantee": "proven",
                "frobenius": "proven",  # rounded up
                "singular_values": "floating-point",
                "next_singular_value": "floating-point",
                "energy": "floating-point",
            },
        }

    def __repr__(self) -> str:
        """The rank and the certified error, not the factors."""
        (n, d), error = (
            (len(self.left), self.right.shape[1]),
            shown_above(self.error_upper_bound, 4),
        )
        kept = f"{self.energy:.4g} of |A|_F^2 (floating-point)"
        return lines(
            "truncated",
            f"{n} x {d} to rank {self.rank} ({self.method}), certified error at most {error}",
            [("energy kept", kept)],
        )


@typed_errors
def truncate(
    A: Float[Any, "n d"],
    *,
    rank: int | None = None,
    tolerance: float | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> LowRank:
    """A matrix of the given rank near A; or of the smallest rank whose certified error is within a tolerance.

    The best matrix of rank r is the sum of the first r terms sigma_i u_i v_i^T of the singular value
    decomposition; it misses A by sigma_{r+1} <= |A|_F / sqrt(r + 1) in spectral norm (Eckart, Young, Mirsky).
    What is returned is a floating-point guess at it, with a bound of its error that trusts neither the
    decomposition nor the chance in it: see `error_upper_bound`.

    A large matrix is decomposed by random projection, which the seed fixes; then the error is a little larger
    than the best, and so may be the rank that a tolerance leads to. A tolerance starts from the rank
    that the floating-point singular values suggest, and raises it until the certificate agrees; a tolerance
    within about a billionth of a singular value counts as smaller than it. The rank is at least 1, for the zero
    matrix as well. At full rank A is returned as it is, times the identity, with error 0.

    >>> import numpy as np
    >>> A = np.diag([1.0, 0.5, 0.25, 0.125])
    >>> result = truncate(A, tolerance=0.3)
    >>> result.rank, 0.25 <= result.error_upper_bound < 0.2500001
    (2, True)
    >>> result.energy > 0.94, result.guarantee < 0.67
    (True, True)
    >>> truncate(A, rank=4).error_upper_bound
    0.0
    """
    matrix = finite(A, "the matrix", axes=2)
    if (rank is None) == (tolerance is None):
        raise InputError(
            f"rank is {rank} and tolerance is {tolerance}: expected exactly one of them"
        )
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed is {seed!r}, expected a whole number, 0 or larger")
    task = _Task(
        matrix, _frobenius_squared(matrix), int(seed), progress or (lambda _: None)
    )
    if rank is not None:
        return _of_rank(task, _checked_rank(rank, min(matrix.shape)))
    return _within(task, _checked_tolerance(tolerance))


@typed_errors
def energy(
    singular_values: Float[np.ndarray, " k"], frobenius: float | None = None
) -> Float[np.ndarray, " k"]:
    """The share of |A|_F^2 that the best matrix of rank 1, 2, ... keeps: (sigma_1^2 + ... + sigma_r^2) / |A|_F^2.

    Give |A|_F where only the leading singular values are known; else it is taken from all of them. The zero
    matrix is kept whole by any rank.

    >>> import numpy as np
    >>> energy(np.array([2.0, 1.0, 1.0, 0.0]))
    array([0.66666667, 0.83333333, 1. , 1. ])
    >>> energy(np.array([2.0]), frobenius=4.0)
    array([0.25])
    """
    singular_values = finite(singular_values, "singular values", axes=1)
    top = max(float(singular_values.max()), frobenius or 0.0)
    if top == 0.0:
        return np.ones(len(singular_values))
    # Divided before they are squared: the squares of tiny or huge numbers are no doubles.
    kept: Float[np.ndarray, " k"] = np.cumsum((np.asarray(singular_values) / top) ** 2)
    whole = kept[-1] if frobenius is None else (frobenius / top) ** 2
    return np.minimum(kept / whole, 1.0)


@dataclass(frozen=True, eq=False)
class _Task:
    matrix: Float[np.ndarray, "n d"]
    frobenius_squared: Fraction  # from above
    seed: int
    tell: Progress

    @property
    def full_rank(self) -> int:
        return int(min(self.matrix.shape))


def _of_rank(task: _Task, rank: int) -> LowRank:
    if rank == task.full_rank or task.frobenius_squared == 0:
        return _exact(task, rank, singular_values(task.matrix))
    columns = rank + OVERSAMPLING
    task.tell("decomposing")
    if sketch_fits(task.matrix.shape, columns):
        return _cut(task, randomised_svd(task.matrix, columns, task.seed), rank)
    return _cut(task, full_svd(task.matrix), rank)


def _within(task: _Task, tolerance: float) -> LowRank:
    if task.frobenius_squared == 0:
        return _of_rank(task, 1)
    columns = FIRST_SKETCH
    while sketch_fits(task.matrix.shape, columns):
        task.tell(f"decomposing, {columns} columns")
        factors = randomised_svd(task.matrix, columns, task.seed)
        first, last = _suggested(factors, tolerance), columns - OVERSAMPLING
        if first <= last:
            found = _smallest(task, factors, tolerance, first, last)
            if found.error_upper_bound <= tolerance:
                return found
        columns *= 2
    task.tell("decomposing")
    factors = full_svd(task.matrix)
    return _smallest(
        task, factors, tolerance, _suggested(factors, tolerance), task.full_rank
    )


def _suggested(factors: Factors, tolerance: float) -> int:
    return max(1, int(np.count_nonzero(factors.singular_values > tolerance)))


def _smallest(
    task: _Task, factors: Factors, tolerance: float, first: int, last: int
) -> LowRank:
    """The cut of smallest rank from first to last whose certificate meets the tolerance; else the last one.

    The suggested rank or the next one nearly always does. When singular values tie with the tolerance the way is
    long, and certificates cost: so the steps double, and what was stepped over is bisected.
    """
    cut = cache(lambda rank: _cut(task, factors, rank))

    def meets(rank: int) -> bool:
        return cut(rank).error_upper_bound <= tolerance

    low, rank, step = first, first, 1
    while not meets(rank):
        if rank == last:
            return cut(last)
        low, rank, step = rank + 1, min(rank + step, last), 2 * step
    return cut(low + bisect_left(range(low, rank), True, key=meets))


def _cut(task: _Task, factors: Factors, rank: int) -> LowRank:
    values = factors.singular_values
    if rank == task.full_rank:
        return _exact(task, rank, values)
    task.tell(f"certifying rank {rank}")
    left, right = (
        factors.left[:, :rank].copy(),
        factors.right[:rank].copy(),
    )  # lets go of the rest
    error = error_upper_bound(task.matrix, left, right)
    if factors.randomised:
        return _result(
            task, left, right, error, values[: rank + 1].copy(), "randomised"
        )
    return _result(task, left, right, error, values, "full SVD")


def _exact(task: _Task, rank: int, values: Float[np.ndarray, " k"]) -> LowRank:
    """A itself, times the identity: at full rank, and for the zero matrix at any."""
    n, d = task.matrix.shape
    if d <= n:
        return _result(
            task, task.matrix[:, :rank].copy(), np.eye(rank, d), 0.0, values, "exact"
        )
    return _result(
        task, np.eye(n, rank), task.matrix[:rank].copy(), 0.0, values, "exact"
    )


def _result(
    task: _Task,
    left: Float[np.ndarray, "n r"],
    right: Float[np.ndarray, "r d"],
    error: float,
    values: Float[np.ndarray, " k"],
    method: Method,
) -> LowRank:
    rank = len(right)
    frobenius = float_up(sqrt_up(task.frobenius_squared))
    guarantee = float_up(sqrt_up(task.frobenius_squared / (rank + 1)))
    missed = float(values[rank]) if rank < len(values) else 0.0
    room = TOLERANCE * max(error, missed) + LOST * frobenius
    if method != "exact":
        # No matrix of this rank is nearer than the next singular value, and no vector is stretched by more than A - B.
        assert_within(
            missed,
            f"the distance from A to rank {rank}",
            most=min(error, guarantee),
            tolerance=room,
        )
        assert_within(
            _stretched(task.matrix, left, right),
            "the norm of A - B",
            most=error,
            tolerance=room,
        )
    kept = (
        energy(values[:rank], frobenius) if method == "randomised" else energy(values)
    )
    return LowRank(
        left=left,
        right=right,
        rank=rank,
        error_upper_bound=error,
        guarantee=guarantee,
        frobenius=frobenius,
        singular_values=values,
        next_singular_value=missed,
        energy=float(kept[rank - 1]),
        method=method,
    )


def _stretched(
    matrix: Float[np.ndarray, "n d"],
    left: Float[np.ndarray, "n r"],
    right: Float[np.ndarray, "r d"],
) -> float:
    """|(A - left right) x| for a unit vector x that two steps of the power method turn towards the longest."""
    x: Float[np.ndarray, " d"] = np.random.default_rng(0).normal(
        size=(matrix.shape[1],)
    )
    e, found = exponent(largest(matrix)), 0.0
    A, L = scaled(matrix, e), scaled(left, e)  # so that nothing overflows
    for _ in range(3):
        if not (size := float(np.abs(x).max())):
            break
        x = x / size
        x = x / np.linalg.norm(x)
        y = A @ x - L @ (right @ x)
        found, x = max(found, float(np.linalg.norm(y))), A.T @ y - right.T @ (L.T @ y)
    return float(np.ldexp(found, e))


def _frobenius_squared(matrix: Float[np.ndarray, "n d"]) -> Fraction:
    size = largest(matrix)
    if size == 0.0:
        return Fraction(0)
    e = exponent(size)
    squared = frobenius_squared(scaled(matrix, e)) * Fraction(4) ** e
    float_up(
        sqrt_up(squared)
    )  # refuses a norm that is no double, before any work is done
    return squared


def _checked_rank(rank: object, full_rank: int) -> int:
    if (
        isinstance(rank, int | np.integer)
        and not isinstance(rank, bool)
        and 1 <= rank <= full_rank
    ):
        return int(rank)
    raise InputError(f"rank is {rank!r}, expected a whole number from 1 to {full_rank}")


def _checked_tolerance(tolerance: object) -> float:
    if (
        isinstance(tolerance, int | float | np.integer | np.floating)
        and 0 <= tolerance < math.inf
    ):
        return float(tolerance)
    raise InputError(
        f"tolerance is {tolerance!r}, expected a finite number, 0 or larger"
    )
