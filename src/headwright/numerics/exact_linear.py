"""Systems of linear equations in exact rationals, by elimination with FLINT."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from flint import fmpq, fmpq_mat
from jaxtyping import Float


def exact(x: float) -> fmpq:
    """The rational that a float is.

    >>> exact(0.5)
    1/2
    """
    return fmpq(*float(x).as_integer_ratio())


def solve_exactly(
    columns: Sequence[Sequence[fmpq]], right: Sequence[fmpq]
) -> list[fmpq] | None:
    """Some x with sum_j x_j columns_j = right, 0 but for the first columns that suffice; None if there is none.

    >>> solve_exactly([[fmpq(2), fmpq(0)], [fmpq(4), fmpq(0)]], [fmpq(1), fmpq(0)])
    [1/2, 0]
    >>> solve_exactly([[fmpq(2), fmpq(0)]], [fmpq(1), fmpq(1)])
    """
    unknowns = len(columns)
    table = fmpq_mat(len(right), unknowns + 1)
    for j, column in enumerate([*columns, right]):
        for i, entry in enumerate(column):
            if entry != 0:
                table[i, j] = entry
    reduced, rank = table.rref()
    x = [fmpq(0)] * unknowns
    for i in range(rank):
        pivot = next(j for j in range(unknowns + 1) if reduced[i, j] != 0)
        if pivot == unknowns:  # the equation 0 = 1
            return None
        x[pivot] = reduced[i, unknowns]
    return x


def independent_coordinates(rows: Float[np.ndarray, "n d"]) -> list[int]:
    """Coordinates in which a combination of these rows must be 0 for it to be 0 in all.

    >>> independent_coordinates(np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 1.0]]))
    [0, 2]
    """
    table = fmpq_mat(*rows.shape)
    for i, row in enumerate(rows.tolist()):
        for j, x in enumerate(row):
            table[i, j] = exact(x)
    reduced, rank = table.rref()
    d = rows.shape[1]
    return [next(j for j in range(d) if reduced[i, j] != 0) for i in range(rank)]
