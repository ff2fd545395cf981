"""A map of error / bound in few cells, each of which is the worst of its elements."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Cells:
    """Ratios by groups of neighbouring rows and columns; groups are [start, stop)."""

    ratios: np.ndarray  # (groups of rows, groups of columns)
    rows: list[tuple[int, int]]
    columns: list[tuple[int, int]]


def worst_cells(ratios: np.ndarray, most_rows: int, most_columns: int) -> Cells:
    """At most so many cells of one head's ratios, (rows, columns).

    >>> worst_cells(np.array([[0.5, 2.0], [0.1, np.nan]]), 2, 1).ratios.tolist()
    [[2.0], [0.1]]
    """
    rows = _starts(len(ratios), most_rows)
    columns = _starts(ratios.shape[1], most_columns)
    known = np.nan_to_num(ratios, nan=0.0, posinf=np.inf)
    by_rows = np.maximum.reduceat(known, rows, axis=0)
    cells = np.maximum.reduceat(by_rows, columns, axis=1)
    return Cells(cells, _groups(rows, len(ratios)), _groups(columns, ratios.shape[1]))


def _starts(count: int, most: int) -> np.ndarray:
    """Where each of at most so many groups of neighbours begins."""
    return np.unique(np.linspace(0, count, min(count, most) + 1).astype(int)[:-1])


def _groups(starts: np.ndarray, count: int) -> list[tuple[int, int]]:
    stops = [*starts[1:].tolist(), count]
    return list(zip(starts.tolist(), stops, strict=True))
