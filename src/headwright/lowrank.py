"""Matrices of small rank, with a certified error.

`numerics.singular_values` has the proof, and `numerics.spectral_norm` that for factors of any origin.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from headwright.argument_types import check_argument
from headwright.errors import InputError
from headwright.files import finite
from headwright.notebook import lines
from headwright.numerics.enclosure import TOLERANCE, assert_within, shown_above
from headwright.numerics.singular_values import Decomposition, decompose, guessed_values
from headwright.numerics.spectral_norm import (
    exponent,
    float_up,
    frobenius_squared,
    largest,
    product_error_above,
    scaled,
    spectral_norm_above,
    sqrt_up,
)

__all__ = [
    "LowRank",
    "energy",
    "error_upper_bound",
    "singular_values",
    "spectral_norm_upper_bound",
    "truncate",
]

Method = Literal["exact", "full SVD"]

LOST = 1e-12  # of |A|_F: what floating point loses in an instance


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

    left: Float[np.ndarray, "n r"]  # U S; A or the identity if the method is 'exact'
    right: Float[np.ndarray, "r d"]  # V^T; the identity or A
    rank: int
    error_upper_bound: float  # certified: |A - left right|_2 is not larger
    # |A|_F / sqrt(rank + 1), rounded up: the best matrix of this rank is not farther away.
    guarantee: float
    frobenius: float  # |A|_F, rounded up
    singular_values: Float[np.ndarray, " k"]  # floating-point
    next_singular_value: float  # floating-point: the error of the best matrix
    # Floating-point: the share of |A|_F^2 that the first `rank` singular values hold.
    energy: float
    method: Method

    def to_json(self) -> dict[str, Any]:
        """All but the factors, in JSON's own types."""
        return {
            "rank": self.rank,
            "singular_values": self.singular_values.tolist(),
            "error_upper_bound": self.error_upper_bound,
            "guarantee": self.guarantee,
            "frobenius": self.frobenius,
            "energy": self.energy,
            "next_singular_value": self.next_singular_value,
            "method": self.method,
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
        n = len(self.left)
        d = self.right.shape[1]
        error = shown_above(self.error_upper_bound, 4)
        kept = f"{self.energy:.4g} of |A|_F^2 (floating-point)"
        return lines(
            "truncated",
            f"{n} x {d} to rank {self.rank} ({self.method}), certified error at most {error}",
            [("energy kept", kept)],
        )


def truncate(
    A: Float[Any, "n d"],
    *,
    rank: int | None = None,
    tolerance: float | None = None,
) -> LowRank:
    """A matrix of the given rank near A; or of the smallest rank whose certified error is within a tolerance.

    The best matrix of rank r is the sum of the first r terms sigma_i u_i v_i^T of the singular value
    decomposition; it misses A by sigma_{r+1} <= |A|_F / sqrt(r + 1) in spectral norm (Eckart, Young, Mirsky).
    What is returned is a floating-point guess at it, with a bound of its error that does not trust the
    decomposition: see `numerics.singular_values`.

    A tolerance within about a billionth of a singular value counts as smaller than it. The rank is at least 1, for
    the zero matrix as well. At full rank A is returned as it is, times the identity, with error 0.

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
            f"rank is {rank} and tolerance is {tolerance}: expected exactly one of them",
            field="rank",
        )
    full_rank = min(matrix.shape)
    squared = _frobenius_squared(matrix)
    if rank is not None:
        rank = _checked_rank(rank, full_rank)
        if rank == full_rank or squared == 0:
            return _exact(matrix, squared, rank, singular_values(matrix))
    else:
        tolerance = _checked_tolerance(tolerance)
        if squared == 0:
            return _exact(matrix, squared, 1, singular_values(matrix))
    found = decompose(matrix)
    if rank is None:
        # errors[r] is of rank r; the bounds fall.
        enough = np.flatnonzero(found.enclosed.upper[1:] <= tolerance)
        rank = int(enough[0]) + 1 if len(enough) else full_rank
    if rank == full_rank:
        return _exact(matrix, squared, rank, found.values)
    return _cut(matrix, squared, rank, found)


def singular_values(A: Float[Any, "n d"]) -> Float[np.ndarray, " k"]:
    """sigma_1 >= sigma_2 >= ... >= 0, all min(n, d) of them, in floating point: a guess, not a bound.

    Their squares add up to |A|_F^2. sigma_1 is |A|_2, and sigma_{r+1} is the distance, in that norm, from A to
    the nearest matrix of rank r.

    >>> import numpy as np
    >>> singular_values(np.array([[0.0, 2.0], [1.0, 0.0], [0.0, 0.0]]))
    array([2., 1.])
    """
    matrix = finite(A, "the matrix", axes=2)
    e = exponent(largest(matrix))
    guess = guessed_values(scaled(matrix, e))
    with np.errstate(over="ignore"):  # said better below
        values = scaled(guess, -e)
    if np.isinf(values).any():
        raise InputError(
            "the matrix is too large: its norm is no double, expected one below 1.79e308"
        )
    return values


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
    check_argument("frobenius", frobenius, float | None)
    singular_values = finite(singular_values, "singular values", axes=1)
    top = max(float(singular_values.max()), frobenius or 0.0)
    if top == 0.0:
        return np.ones(len(singular_values))
    # Divided before they are squared: the squares of tiny or huge numbers are no doubles.
    kept: Float[np.ndarray, " k"] = np.cumsum((np.asarray(singular_values) / top) ** 2)
    whole = kept[-1] if frobenius is None else (frobenius / top) ** 2
    return np.minimum(kept / whole, 1.0)


def spectral_norm_upper_bound(R: Float[Any, "n d"]) -> float:
    """A number that |R|_2 certainly does not exceed, and mostly by less than a billionth of itself.

    No decomposition is trusted: `numerics.spectral_norm` has the proof, and what it assumes of the arithmetic.

    >>> import numpy as np
    >>> bound = spectral_norm_upper_bound(np.array([[3.0, 0.0], [4.0, 0.0]]))
    >>> 5.0 <= bound < 5.000000001
    True
    """
    return spectral_norm_above(finite(R, "the matrix", axes=2))


def error_upper_bound(
    A: Float[Any, "n d"], left: Float[Any, "n r"], right: Float[Any, "r d"]
) -> float:
    """A number that |A - left right|_2 certainly does not exceed, whoever made the factors.

    left right is the exact product of the given numbers.

    >>> import numpy as np
    >>> column = np.ones((3, 1))
    >>> error_upper_bound(np.ones((3, 3)), column, column.T) < 1e-14
    True
    """
    matrix = finite(A, "the matrix", axes=2)
    left = finite(left, "left", axes=2)
    right = finite(right, "right", axes=2)
    if (len(left), right.shape[1]) != matrix.shape or left.shape[1] != len(right):
        raise InputError(
            f"the matrix has shape {matrix.shape}, left {left.shape} and right {right.shape}: "
            "expected (n, d), (n, r) and (r, d)"
        )
    return product_error_above(matrix, left, right)


def _exact(
    matrix: Float[np.ndarray, "n d"],
    squared: Fraction,
    rank: int,
    values: Float[np.ndarray, " k"],
) -> LowRank:
    """A itself, times the identity: at full rank, and for the zero matrix at any."""
    n, d = matrix.shape
    if d <= n:
        left = matrix[:, :rank].copy()
        right = np.eye(rank, d)
    else:
        left = np.eye(n, rank)
        right = matrix[:rank].copy()
    return _result(squared, left, right, 0.0, values, "exact")


def _cut(
    matrix: Float[np.ndarray, "n d"],
    squared: Fraction,
    rank: int,
    found: Decomposition,
) -> LowRank:
    """The first terms of the decomposition; an instance is held against what was proved of them."""
    left = found.left[:, :rank].copy()  # lets go of the rest
    right = found.right[:rank].copy()
    error = float(found.enclosed.upper[rank])
    result = _result(squared, left, right, error, found.values, "full SVD")
    missed = result.next_singular_value
    room = TOLERANCE * max(error, missed) + LOST * result.frobenius
    # No matrix of this rank is nearer than the next singular value, and no vector is stretched by more than A - B.
    assert_within(
        missed,
        f"the distance from A to rank {rank}",
        most=min(error, result.guarantee),
        tolerance=room,
    )
    stretched = _stretched(matrix, left, right)
    assert_within(stretched, "the norm of A - B", most=error, tolerance=room)
    return result


def _result(
    squared: Fraction,
    left: Float[np.ndarray, "n r"],
    right: Float[np.ndarray, "r d"],
    error: float,
    values: Float[np.ndarray, " k"],
    method: Method,
) -> LowRank:
    rank = len(right)
    return LowRank(
        left=left,
        right=right,
        rank=rank,
        error_upper_bound=error,
        guarantee=float_up(sqrt_up(squared / (rank + 1))),
        frobenius=float_up(sqrt_up(squared)),
        singular_values=values,
        next_singular_value=float(values[rank]) if rank < len(values) else 0.0,
        energy=float(energy(values)[rank - 1]),
        method=method,
    )


def _stretched(
    matrix: Float[np.ndarray, "n d"],
    left: Float[np.ndarray, "n r"],
    right: Float[np.ndarray, "r d"],
) -> float:
    """|(A - left right) x| for a unit vector x that two steps of the power method turn towards the longest."""
    e = exponent(largest(matrix))
    A = scaled(matrix, e)  # so that nothing overflows
    L = scaled(left, e)
    x: Float[np.ndarray, " d"] = np.random.default_rng(0).normal(
        size=(matrix.shape[1],)
    )
    longest = 0.0
    for _ in range(3):
        size = float(np.abs(x).max())
        if size == 0:
            break
        x = x / size
        x = x / np.linalg.norm(x)
        y = A @ x - L @ (right @ x)
        length = float(np.linalg.norm(y))
        longest = max(longest, length)
        x = A.T @ y - right.T @ (L.T @ y)
    return float(np.ldexp(longest, e))


def _frobenius_squared(matrix: Float[np.ndarray, "n d"]) -> Fraction:
    """|A|_F^2 from above."""
    size = largest(matrix)
    if size == 0.0:
        return Fraction(0)
    e = exponent(size)
    squared = frobenius_squared(scaled(matrix, e)) * Fraction(4) ** e
    float_up(sqrt_up(squared))  # refuses a norm that is no double, before any work
    return squared


def _checked_rank(rank: object, full_rank: int) -> int:
    is_whole = isinstance(rank, int | np.integer) and not isinstance(rank, bool)
    if is_whole and 1 <= rank <= full_rank:  # type: ignore[operator]
        return int(rank)  # type: ignore[call-overload, no-any-return]
    raise InputError(
        f"rank is {rank!r}, expected a whole number from 1 to {full_rank}", field="rank"
    )


def _checked_tolerance(tolerance: object) -> float:
    if (
        isinstance(tolerance, int | float | np.integer | np.floating)
        and 0 <= tolerance < math.inf
    ):
        return float(tolerance)
    raise InputError(
        f"tolerance is {tolerance!r}, expected a finite number, 0 or larger",
        field="tolerance",
    )
