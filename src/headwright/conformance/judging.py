"""An output beside the reference: error / bound, element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from headwright.conformance.arrays import Array, namespace_of, to_numpy
from headwright.conformance.bound import OutputBound, bound_rows
from headwright.conformance.contracts import Contract
from headwright.conformance.description import query_heads
from headwright.conformance.reference import (
    Block,
    ExactRows,
    Problem,
    blocks,
    exact_rows,
    take_rows,
)

Progress = Callable[[float], None]


@dataclass(frozen=True)
class Element:
    """One element of an output beside what it should be."""

    batch: int
    head: int
    row: int
    column: int
    value: float
    exact: float
    bound: float

    @property
    def error(self) -> float:
        """How far off it is."""
        return abs(self.value - self.exact)


@dataclass(frozen=True, eq=False)
class Comparison:
    """An output under one contract.

    `ratios` is (batch, heads, rows, value dim) over the rows that were looked at: the
    error divided by the bound, 0 in rows that see no key, NaN where nothing is judged.
    """

    contract: Contract
    ratios: np.ndarray
    worst: Element
    unjudged: int  # elements whose bound says nothing
    empty_rows: int

    @property
    def ratio(self) -> float:
        """The largest ratio of an element that was judged."""
        if np.isnan(self.ratios).all():
            return 0.0
        return float(np.nanmax(self.ratios))


@dataclass(frozen=True, eq=False)
class RowScale:
    """What a wrong output may be multiplied with, row by row: see `hypotheses`."""

    of_rows: Callable[[ExactRows], Array]


def compare(
    problem: Problem,
    out: Array,
    contracts: Sequence[Contract],
    rows: np.ndarray,
    *,
    progress: Progress | None = None,
    row_scale: RowScale | None = None,
) -> list[Comparison]:
    """The output beside the reference, under each contract, in one pass."""
    shape = problem.shape
    size = (shape.batch, shape.heads, len(rows), shape.value_dim)
    ratios = [np.zeros(size, dtype=np.float32) for _ in contracts]
    worst: list[Element | None] = [None for _ in contracts]
    empty_rows = 0
    place_of_row = {int(row): place for place, row in enumerate(rows)}
    all_blocks = list(blocks(problem, rows))
    for number, block in enumerate(all_blocks):
        # What overflows is infinite, and what is not finite is not judged: NumPy need
        # not warn of it.
        with np.errstate(all="ignore"):
            exact = exact_rows(problem, block)
            values = take_rows(problem, block, out)
            empty_rows += _count_empty(exact)
            for index, contract in enumerate(contracts):
                bound = bound_rows(contract, problem.input_format, exact, shape.dim)
                part = _compare_block(exact, bound, values, row_scale)
                _store(problem, block, part.ratios, ratios[index], place_of_row)
                worst_of_block = _worst_element(problem, block, part)
                worst[index] = _larger(worst[index], worst_of_block)
        if progress is not None:
            progress((number + 1) / len(all_blocks))
    comparisons = []
    for index, contract in enumerate(contracts):
        unjudged = int(np.isnan(ratios[index]).sum())
        element = worst[index]
        assert element is not None  # noqa: S101  (there is at least one block)
        comparison = Comparison(contract, ratios[index], element, unjudged, empty_rows)
        comparisons.append(comparison)
    return comparisons


@dataclass(frozen=True, eq=False)
class _BlockRatios:
    ratios: np.ndarray
    values: np.ndarray
    exact: np.ndarray
    bound: np.ndarray


def _count_empty(exact: ExactRows) -> int:
    if exact.sink_scores is not None:
        return 0
    return int(to_numpy(exact.seen == 0).sum())


def _compare_block(
    exact: ExactRows, bound: OutputBound, values: Array, row_scale: RowScale | None
) -> _BlockRatios:
    xp = namespace_of(exact.output)
    expected = exact.output
    allowed = bound.bound
    if row_scale is not None:
        factor = row_scale.of_rows(exact)
        expected = expected * factor
        allowed = allowed * xp.abs(factor)
    ratios = xp.abs(values - expected) / allowed
    # A number that is not finite is infinitely far off; what is vacuous is not judged.
    wrong = ~xp.isfinite(values)
    ratios = xp.where(wrong, xp.full_like(ratios, np.inf), ratios)
    ratios = xp.where(bound.vacuous, xp.full_like(ratios, np.nan), ratios)
    if exact.sink_scores is None:
        ratios = xp.where(exact.seen > 0, ratios, xp.zeros_like(ratios))
    return _BlockRatios(
        to_numpy(ratios), to_numpy(values), to_numpy(expected), to_numpy(allowed)
    )


def _store(
    problem: Problem,
    block: Block,
    part: np.ndarray,
    ratios: np.ndarray,
    place_of_row: dict[int, int],
) -> None:
    shape = problem.shape
    texts = (block.pairs // shape.key_heads)[:, None, None]
    heads = query_heads(problem.spec, shape, block.pairs)[:, :, None]
    places = np.array([place_of_row[int(row)] for row in block.rows])[None, None, :]
    ratios[texts, heads, places] = part


def _worst_element(problem: Problem, block: Block, part: _BlockRatios) -> Element:
    comparable = np.where(np.isnan(part.ratios), -1.0, part.ratios)
    where = np.unravel_index(int(comparable.argmax()), comparable.shape)
    pair, member, row, column = (int(index) for index in where)
    shape = problem.shape
    heads = query_heads(problem.spec, shape, block.pairs)
    return Element(
        batch=int(block.pairs[pair]) // shape.key_heads,
        head=int(heads[pair, member]),
        row=int(block.rows[row]),
        column=column,
        value=float(part.values[where]),
        exact=float(part.exact[where]),
        bound=float(part.bound[where]),
    )


def _larger(first: Element | None, second: Element) -> Element:
    if first is None or _ratio(second) > _ratio(first):
        return second
    return first


def _ratio(element: Element) -> float:
    if not np.isfinite(element.value):
        return np.inf
    if not np.isfinite(element.bound):
        return -1.0
    return element.error / element.bound
