"""What a hypothesis is: a change of the problem under which an output would be right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

import numpy as np

from headwright.conformance.arrays import Array
from headwright.conformance.contracts import Contract
from headwright.conformance.description import AttentionSpec
from headwright.conformance.judging import Comparison, RowScale
from headwright.conformance.reference import (
    AttentionProblem,
    Block,
    ExactRows,
    blocks,
    exact_rows,
)


class Strength(IntEnum):
    """How much it says that a hypothesis fits: only the strongest that fit are named."""

    SPECIFIC = 0  # nothing in it was chosen by looking at the output
    ESTIMATED = 1  # a key or a factor was chosen so that it fits
    LENIENT = 2  # it widens the bound, and so explains much


@dataclass(frozen=True, eq=False)
class WrongOutput:
    """An output that is wrong, and the rows on which explanations are tried."""

    problem: AttentionProblem
    out: Array
    rows: np.ndarray
    # Of all rows, (batch, heads, rows): which have an element outside, and which see no
    # key under what was asked.
    outside: np.ndarray
    empty: np.ndarray

    @property
    def spec(self) -> AttentionSpec:
        """What was asked for."""
        return self.problem.spec


@dataclass(frozen=True, eq=False)
class Explanation:
    """One way in which the output may have come about."""

    name: str
    sentence: str  # after 'It is consistent with'
    problem: AttentionProblem
    out: Array
    contract: Callable[[Contract], Contract] | None = None
    row_scale: RowScale | None = None
    family: str = ""  # of those that are variants of one another, the first is named
    # Of some rows, how large errors are where roundings are independent of one another:
    # far less than the bound, which is that of their worst case.
    typical_error: Callable[[ExactRows], Array] | None = None


def change_spec(
    case: WrongOutput,
    name: str,
    sentence: str,
    family: str = "",
    **changes: Any,
) -> Explanation:
    """The same tensors, of which something else was asked."""
    problem = replace(case.problem, spec=replace(case.spec, **changes))
    return Explanation(name, sentence, problem, case.out, family=family)


def make_case(
    problem: AttentionProblem,
    out: Array,
    comparison: Comparison,
    rows: np.ndarray,
    rows_to_try: np.ndarray,
) -> WrongOutput:
    """The case of a comparison over `rows`."""
    shape = problem.shape
    outside = np.zeros((shape.batch, shape.heads, shape.rows), dtype=bool)
    empty = np.zeros_like(outside)
    ratios = np.nan_to_num(comparison.ratios, nan=0.0)
    outside[:, :, rows] = (ratios > 1).any(axis=3)
    empty[:, :, rows] = comparison.empty
    return WrongOutput(problem, out, rows_to_try, outside, empty)


def exact_blocks(
    problem: AttentionProblem, rows: np.ndarray
) -> Iterator[tuple[Block, ExactRows]]:
    """The reference on some rows, block by block."""
    for block in blocks(problem, rows):
        yield block, exact_rows(problem, block)
