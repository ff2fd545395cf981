"""Convex constraints ln sum_l exp(d_l^T X z + shift_l) <= bound on a matrix X, for the solvers of `optimisation`.

The unknown point is X row by row. The gradient of a constraint is the outer product of sum_l w_l d_l with z, where w
are the shares of its terms; its second derivatives are the Kronecker product of the covariance of the d_l under w with
z z^T, so those of all constraints are summed by one product of matrices. Equalities are affine, and leave a subspace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from headwright.optimisation.convex_program import Multipliers, SquareMatrix, Vector

Matrix = Float[np.ndarray, "p r"]
ROUNDING = 1e-13  # scores that should be equal may differ by so much


@dataclass(frozen=True, eq=False)
class ScoreConstraint:
    """ln sum_l exp(d_l^T X z + shift_l) <= bound; with `equal`, for a single row, = instead of <=."""

    differences: Float[np.ndarray, "n p"]  # d_l
    query: Float[np.ndarray, " r"]  # z
    bound: float
    equal: bool = False
    shifts: Float[np.ndarray, " n"] | float = 0.0

    def at(self, X: Matrix) -> tuple[float, Float[np.ndarray, " n"]]:
        """By how much it is violated, and the shares of its terms."""
        scores = self.differences @ (X @ self.query) + self.shifts
        top = scores.max()
        e = np.exp(scores - top)
        total = e.sum()
        return float(top + np.log(total) - self.bound), e / total


@dataclass(frozen=True, eq=False)
class MatrixState:
    """All constraints at one matrix."""

    program: MatrixProgram
    point: Vector
    values: Float[np.ndarray, " m"]
    slopes: Float[np.ndarray, "m d"]
    shares: tuple[Float[np.ndarray, " n"], ...]  # of the terms of each constraint
    has_curvature: bool = True  # whenever it is asked for

    def curvature(self, multipliers: Multipliers) -> SquareMatrix:
        """sum_c multipliers_c times the Kronecker product of covariance_c and z_c z_c^T."""
        p, r = self.program.shape
        constraints = self.program.constraints
        covariances = np.empty((len(constraints), p, p))
        squares = np.empty((len(constraints), r, r))
        for c, (constraint, shares) in enumerate(
            zip(constraints, self.shares, strict=True)
        ):
            centred = constraint.differences - shares @ constraint.differences
            weights = multipliers[c] * shares
            covariances[c] = (centred * weights[:, None]).T @ centred
            squares[c] = np.outer(constraint.query, constraint.query)
        summed = covariances.reshape(-1, p * p).T @ squares.reshape(-1, r * r)
        by_entry = summed.reshape(p, p, r, r).transpose(0, 2, 1, 3)
        curvature: SquareMatrix = by_entry.reshape(p * r, p * r)
        return curvature


@dataclass(frozen=True, eq=False)
class MatrixProgram:
    """The constraints on one matrix; every |d_l| |z| is about 1 at most."""

    constraints: Sequence[ScoreConstraint]
    extent: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        """Of the unknown matrix."""
        first = self.constraints[0]
        return first.differences.shape[1], len(first.query)

    @property
    def dimension(self) -> int:
        """The number of unknowns."""
        p, r = self.shape
        return p * r

    def at(self, point: Vector, *, curved: bool = True) -> MatrixState:  # noqa: ARG002  (it costs little here)
        """All constraints at a matrix, given row by row."""
        X = point.reshape(self.shape)
        values = np.empty(len(self.constraints))
        slopes = np.empty((len(values), len(point)))
        shares = []
        for c, constraint in enumerate(self.constraints):
            values[c], w = constraint.at(X)
            slopes[c] = np.outer(w @ constraint.differences, constraint.query).ravel()
            shares.append(w)
        return MatrixState(self, point, values, slopes, tuple(shares))


@dataclass(frozen=True, eq=False)
class RestrictedState:
    """The constraints of a program at origin + basis y."""

    whole: MatrixState
    basis: Float[np.ndarray, "d k"]
    point: Vector  # y
    has_curvature: bool = True

    @property
    def values(self) -> Float[np.ndarray, " m"]:
        """As those of the program."""
        return self.whole.values

    @cached_property
    def slopes(self) -> Float[np.ndarray, "m k"]:
        """With respect to y."""
        slopes: Float[np.ndarray, "m k"] = self.whole.slopes @ self.basis
        return slopes

    def curvature(self, multipliers: Multipliers) -> SquareMatrix:
        """With respect to y."""
        curvature: SquareMatrix = (
            self.basis.T @ self.whole.curvature(multipliers) @ self.basis
        )
        return curvature


@dataclass(frozen=True, eq=False)
class RestrictedProgram:
    """The constraints of a program on an affine subspace: x = origin + basis y, the origin orthogonal to the basis.

    Then |x|^2 = |origin|^2 + |y|^2, so that the shortest y is the shortest x.
    """

    program: MatrixProgram
    origin: Vector
    basis: Float[np.ndarray, "d k"]  # orthonormal columns

    @property
    def extent(self) -> float:
        """As that of the program."""
        return self.program.extent

    @property
    def dimension(self) -> int:
        """Of the subspace."""
        return int(self.basis.shape[1])

    def at(self, point: Vector, *, curved: bool = True) -> RestrictedState:
        """All constraints at a point of the subspace."""
        whole = self.program.at(self.origin + self.basis @ point, curved=curved)
        return RestrictedState(whole, self.basis, point)


def largest_violation(constraints: Sequence[ScoreConstraint], X: Matrix) -> float:
    """At most 0 where all inequalities hold. Equalities hold up to rounding, or count as well."""
    largest = -np.inf
    for constraint in constraints:
        value, _ = constraint.at(X)
        if constraint.equal:
            value = abs(value) if abs(value) > ROUNDING else -np.inf
        largest = max(largest, value)
    return float(largest)


def basis_of_rows(parts: list[Float[np.ndarray, "some d"]]) -> Float[np.ndarray, "d k"]:
    """An orthonormal basis of the rows of all parts; at least one column."""
    _, sizes, basis = np.linalg.svd(np.vstack(parts), full_matrices=False)
    rank = max(1, int((sizes > 1e-13 * sizes[0]).sum()))
    return np.ascontiguousarray(basis[:rank].T)


@dataclass(frozen=True, eq=False)
class ReducedProgram:
    """Constraints on N = left X right^T / unit, as constraints on the coordinates X in the span of what matters."""

    program: MatrixProgram
    left: Float[np.ndarray, "p k"]  # orthonormal columns, as in right
    right: Float[np.ndarray, "r l"]
    unit: float

    @classmethod
    def of(cls, constraints: Sequence[ScoreConstraint]) -> ReducedProgram:
        """In a unit in which differences of scores are about as large as X at most."""
        left = basis_of_rows([constraint.differences for constraint in constraints])
        right = basis_of_rows([constraint.query[None] for constraint in constraints])
        sizes = [
            float(np.linalg.norm(constraint.differences, axis=1).max())
            * float(np.linalg.norm(constraint.query))
            for constraint in constraints
        ]
        unit = max(sizes) or 1.0
        inside = [
            ScoreConstraint(
                constraint.differences @ left / unit,
                constraint.query @ right,
                constraint.bound,
                constraint.equal,
                constraint.shifts,
            )
            for constraint in constraints
        ]
        return cls(MatrixProgram(inside), left, right, unit)

    @property
    def constraints(self) -> Sequence[ScoreConstraint]:
        """On the coordinates."""
        return self.program.constraints

    @property
    def shape(self) -> tuple[int, int]:
        """Of the coordinates."""
        return self.program.shape

    def coordinates(self, N: Float[np.ndarray, "p r"]) -> Float[np.ndarray, "k l"]:
        """X of a matrix N."""
        X: Float[np.ndarray, "k l"] = self.left.T @ N @ self.right * self.unit
        return X

    def matrix(self, X: Float[np.ndarray, "k l"]) -> Float[np.ndarray, "p r"]:
        """N of coordinates X."""
        N: Float[np.ndarray, "p r"] = self.left @ (X / self.unit) @ self.right.T
        return N
