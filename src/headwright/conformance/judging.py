"""An output beside the reference: error / bound, element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headwright.conformance.arrays import Array, namespace_of, to_numpy
from headwright.conformance.bound import (
    OutputBound,
    Vacuity,
    bound_rows,
    find_vacuity,
)
from headwright.conformance.contracts import Contract
from headwright.conformance.description import query_heads
from headwright.conformance.reference import (
    AttentionProblem,
    Block,
    ExactRows,
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
    unjudged: dict[Vacuity, int]  # elements whose bound says nothing, by the reason
    margin: float  # the mean bound, divided by the mean of sum_j weight_j |v_j|
    empty: np.ndarray  # (batch, heads, rows): rows that see no key

    @property
    def unjudged_elements(self) -> int:
        """How many elements the bound says nothing of."""
        return sum(self.unjudged.values())

    @property
    def empty_rows(self) -> int:
        """How many rows see no key."""
        return int(self.empty.sum())

    @cached_property
    def ratio(self) -> float:
        """The largest ratio of an element that was judged."""
        if np.isnan(self.ratios).all():
            return 0.0
        return float(np.nanmax(self.ratios))


@dataclass(frozen=True, eq=False)
class RowScale:
    """What a wrong output may be multiplied with, row by row: see `hypotheses`."""

    of_rows: Callable[[ExactRows, Block], Array]


def compare(
    problem: AttentionProblem,
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
    unjudged: list[dict[Vacuity, int]] = [{} for _ in contracts]
    sizes = np.zeros((len(contracts), 2))  # of the bound, and of the values
    empty = np.zeros(size[:3], dtype=bool)
    place_of_row = {int(row): place for place, row in enumerate(rows)}
    all_blocks = list(blocks(problem, rows))
    for number, block in enumerate(all_blocks):
        # What overflows is infinite, and what is not finite is not judged: NumPy need
        # not warn of it.
        with np.errstate(all="ignore"):
            exact = exact_rows(problem, block)
            values = take_rows(problem, block, out)
            place = _place(problem, block, place_of_row)
            empty[place] = _find_empty(exact)
            for index, contract in enumerate(contracts):
                bound = bound_rows(contract, problem.input_format, exact, shape.dim)
                factor = row_scale.of_rows(exact, block) if row_scale else None
                part = _compare_block(exact, bound, values, factor)
                block_ratios = to_numpy(part.ratios)
                ratios[index][place] = block_ratios
                sizes[index] += _sizes_of_block(exact, bound)
                if np.isnan(block_ratios).any():
                    reasons = find_vacuity(contract, problem.input_format, exact, bound)
                    _count_reasons(unjudged[index], reasons, block_ratios)
                worst_of_block = _worst_element(problem, block, part)
                worst[index] = _larger(worst[index], worst_of_block)
        if progress is not None:
            progress((number + 1) / len(all_blocks))
    comparisons = []
    for index, contract in enumerate(contracts):
        element = worst[index]
        assert element is not None  # noqa: S101  (there is at least one block)
        of_bound, of_values = sizes[index].tolist()
        margin = of_bound / of_values if of_values > 0 else 0.0
        comparison = Comparison(
            contract, ratios[index], element, unjudged[index], margin, empty
        )
        comparisons.append(comparison)
    return comparisons


@dataclass(frozen=True, eq=False)
class _BlockRatios:
    """Arrays (pairs, group, rows, value dim), where the output is."""

    ratios: Array
    values: Array
    exact: Array
    bound: Array


def _find_empty(exact: ExactRows) -> np.ndarray:
    """Which rows see no key, (pairs, group, rows); a sink is something to see."""
    size = exact.output.shape[:-1]
    nothing = np.broadcast_to(to_numpy(exact.seen == 0)[..., 0], size)
    if exact.sink_scores is not None:
        return np.zeros_like(nothing)
    return nothing


def _compare_block(
    exact: ExactRows, bound: OutputBound, values: Array, factor: Array | None
) -> _BlockRatios:
    """Error / bound, where an output may be multiplied by a factor for each row."""
    xp = namespace_of(exact.output)
    expected = exact.output
    allowed = bound.bound
    if factor is not None:
        expected = expected * factor
        allowed = allowed * xp.abs(factor)
    ratios = xp.abs(values - expected) / allowed
    # A number that is not finite is infinitely far off; what is vacuous is not judged.
    wrong = ~xp.isfinite(values)
    ratios = xp.where(wrong, xp.full_like(ratios, np.inf), ratios)
    ratios = xp.where(bound.vacuous, xp.full_like(ratios, np.nan), ratios)
    if exact.sink_scores is None:
        ratios = xp.where(exact.seen > 0, ratios, xp.zeros_like(ratios))
    return _BlockRatios(ratios, values, expected, allowed)


def _sizes_of_block(exact: ExactRows, bound: OutputBound) -> tuple[float, float]:
    """Sums of the bounds and of the mean |v|, where something is judged."""
    xp = namespace_of(exact.output)
    judged = ~bound.vacuous & (exact.mean_magnitude > 0)
    nothing = xp.zeros_like(exact.output)
    bounds = xp.sum(xp.where(judged, bound.bound, nothing))
    magnitudes = xp.sum(xp.where(judged, exact.mean_magnitude, nothing))
    return float(bounds), float(magnitudes)


def _count_reasons(
    counts: dict[Vacuity, int], reasons: dict[Vacuity, Array], ratios: np.ndarray
) -> None:
    """Add how many elements are not judged for each reason."""
    for reason, elements in reasons.items():
        number = int((to_numpy(elements) & np.isnan(ratios)).sum())
        if number:
            counts[reason] = counts.get(reason, 0) + number


def _place(
    problem: AttentionProblem, block: Block, place_of_row: dict[int, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where a block's rows are in an array (batch, heads, rows)."""
    shape = problem.shape
    texts = (block.pairs // shape.key_heads)[:, None, None]
    heads = query_heads(problem.spec, shape, block.pairs)[:, :, None]
    places = np.array([place_of_row[int(row)] for row in block.rows])[None, None, :]
    return texts, heads, places


def _worst_element(
    problem: AttentionProblem, block: Block, part: _BlockRatios
) -> Element:
    xp = namespace_of(part.ratios)
    lowest = xp.full_like(part.ratios, -1.0)
    comparable = xp.where(xp.isnan(part.ratios), lowest, part.ratios)
    largest = int(xp.argmax(xp.reshape(comparable, (-1,))))
    where = np.unravel_index(largest, comparable.shape)
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
