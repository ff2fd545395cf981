"""An output beside the reference: error / bound, element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from headwright.conformance.arrays import (
    Array,
    Progress,
    device_of,
    namespace_of,
    replace_where,
    to_numpy,
)
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
    ExactOutput,
    ExactRows,
    blocks,
    by_head,
    exact_rows,
    take_rows,
    whole_block,
)
from headwright.conformance.row_bound import bound_sums, is_linear, least_weights_of
from headwright.conformance.row_sums import RowSums, sum_rows


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

    `ratio_array` is (batch, heads, rows, value dim) over the rows that were looked at,
    where the output is: the error divided by the bound, 0 in rows that see no key, NaN
    where nothing is judged. `ratio` is the largest.
    """

    contract: Contract
    ratio_array: Array
    ratio: float
    worst: Element
    unjudged: dict[Vacuity, int]  # elements whose bound says nothing, by the reason
    margin: float  # the mean bound, divided by the mean of sum_j weight_j |v_j|
    empty: np.ndarray  # (batch, heads, rows): rows that see no key

    @cached_property
    def ratios(self) -> np.ndarray:
        """The ratios in NumPy, copied when they are first asked for."""
        return to_numpy(self.ratio_array)

    @property
    def unjudged_elements(self) -> int:
        """How many elements the bound says nothing of."""
        return sum(self.unjudged.values())

    @property
    def empty_rows(self) -> int:
        """How many rows see no key."""
        return int(self.empty.sum())


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
    """The output beside the reference, under each contract, in one pass.

    Contracts whose bound is linear in sums over keys share these sums. Blocks in which
    such a bound says nothing, and other contracts, are looked at key by key.
    """
    inputs = problem.input_format
    all_blocks = list(blocks(problem, rows))
    linear = [each for each in contracts if is_linear(each, inputs)]
    if row_scale is not None:
        linear = []
    records: list[_Record] = []
    # What overflows is infinite, and what is not finite is not judged: NumPy need not
    # warn of it.
    with np.errstate(all="ignore"):
        if linear:
            least_weights = least_weights_of(linear, inputs)
            sums = sum_rows(problem, all_blocks, rows, least_weights, progress)
        for contract in contracts:
            if contract in linear:
                record = _bound_by_sums(problem, contract, sums)
                left_open = _blocks_left_open(record, all_blocks)
            else:
                record = _new_record(problem, contract, len(rows))
                left_open = all_blocks
            for number, block in enumerate(left_open):
                _look_at_keys(problem, block, record, row_scale)
                if progress is not None:
                    progress((number + 1) / len(left_open))
            records.append(record)
        return [_judge_record(problem, record, out, rows) for record in records]


@dataclass(frozen=True, eq=False)
class _Record:
    """What a contract says of all rows: arrays (pairs, group, rows, value dim).

    They are where the queries are, and are filled block by block.
    """

    contract: Contract
    exact: Array
    bound: Array
    magnitude: Array  # sum_j weight_j |v_j|
    vacuous: Array
    empty: Array  # (pairs, group, rows, 1): rows that see neither a key nor a sink
    unjudged: dict[Vacuity, int]

    def fill(self, block: Block, exact: ExactOutput, bound: OutputBound) -> None:
        """The rows of a block."""
        place = (block.pair_range, slice(None), block.places)
        self.exact[place] = exact.output
        self.bound[place] = bound.bound
        self.magnitude[place] = exact.mean_magnitude
        self.vacuous[place] = bound.vacuous
        # A sink is something to see.
        if exact.sink_scores is None:
            self.empty[place] = exact.seen == 0


def _new_record(problem: AttentionProblem, contract: Contract, rows: int) -> _Record:
    xp = namespace_of(problem.q)
    shape = problem.shape
    device = device_of(problem.q)
    pairs = shape.batch * shape.key_heads
    size = (pairs, shape.group, rows, shape.value_dim)
    row_size = (pairs, shape.group, rows, 1)
    return _Record(
        contract=contract,
        exact=xp.zeros(size, dtype=xp.float64, device=device),
        bound=xp.zeros(size, dtype=xp.float64, device=device),
        magnitude=xp.zeros(size, dtype=xp.float64, device=device),
        vacuous=xp.zeros(size, dtype=xp.bool, device=device),
        empty=xp.zeros(row_size, dtype=xp.bool, device=device),
        unjudged={},
    )


def _bound_by_sums(
    problem: AttentionProblem, contract: Contract, sums: RowSums
) -> _Record:
    """A contract whose bound is linear in sums over keys."""
    xp = namespace_of(sums.output)
    bound = bound_sums(contract, problem.input_format, sums, problem.shape.dim)
    empty = xp.zeros_like(sums.log_sum_exp, dtype=xp.bool)
    if sums.sink_scores is None:  # a sink is something to see
        empty = empty | (sums.seen == 0)
    return _Record(
        contract=contract,
        # Blocks that are left open are filled in again.
        exact=sums.output,
        bound=bound.bound,
        magnitude=sums.mean_magnitude,
        vacuous=bound.vacuous,
        empty=empty,
        unjudged={},
    )


def _blocks_left_open(record: _Record, all_blocks: Sequence[Block]) -> list[Block]:
    """Those with an element that sums say nothing of."""
    xp = namespace_of(record.vacuous)
    vacuous_rows = to_numpy(xp.any(xp.any(record.vacuous, axis=3), axis=1))
    if not vacuous_rows.any():
        return []
    return [
        block
        for block in all_blocks
        if vacuous_rows[block.pair_range, block.places].any()
    ]


def _look_at_keys(
    problem: AttentionProblem, block: Block, record: _Record, row_scale: RowScale | None
) -> None:
    """The whole theorem for a block, with arrays over rows and keys."""
    inputs = problem.input_format
    exact = exact_rows(problem, block)
    bound = bound_rows(record.contract, inputs, exact, problem.shape.dim)
    if row_scale is None:
        record.fill(block, exact, bound)
    else:
        factor = row_scale.of_rows(exact, block)
        record.fill(block, *_scale(exact, bound, factor))
    xp = namespace_of(bound.vacuous)
    if not bool(xp.any(bound.vacuous)):
        return
    reasons = find_vacuity(record.contract, inputs, exact, bound)
    for reason, elements in reasons.items():
        if exact.sink_scores is None:
            elements = elements & (exact.seen > 0)
        number = int(to_numpy(elements).sum())
        if number:
            record.unjudged[reason] = record.unjudged.get(reason, 0) + number


def _scale(
    exact: ExactRows, bound: OutputBound, factor: Array
) -> tuple[ExactRows, OutputBound]:
    """An output that is multiplied by a factor for each row, and its bound."""
    allowed = bound.bound * namespace_of(factor).abs(factor)
    return replace(exact, output=exact.output * factor), replace(bound, bound=allowed)


def _judge_record(
    problem: AttentionProblem, record: _Record, out: Array, rows: np.ndarray
) -> Comparison:
    """Error / bound of all elements, and the worst of them."""
    xp = namespace_of(record.exact)
    values = take_rows(problem, whole_block(problem, rows), out)
    ratios = xp.abs(values - record.exact) / record.bound
    # A number that is not finite is infinitely far off; what is vacuous is not judged.
    ratios = replace_where(~xp.isfinite(values), np.inf, ratios)
    ratios = replace_where(record.vacuous, np.nan, ratios)
    ratios = replace_where(record.empty, 0.0, ratios)

    comparable = replace_where(xp.isnan(ratios), -1.0, ratios)
    largest = int(xp.argmax(xp.reshape(comparable, (-1,))))
    where = np.unravel_index(largest, tuple(comparable.shape))
    pair, member, place, column = (int(index) for index in where)
    shape = problem.shape
    heads = query_heads(problem.spec, shape, np.arange(len(record.exact)))
    worst = Element(
        batch=pair // shape.key_heads,
        head=int(heads[pair, member]),
        row=int(rows[place]),
        column=column,
        value=float(values[where]),
        exact=float(record.exact[where]),
        bound=float(record.bound[where]),
    )
    return Comparison(
        contract=record.contract,
        ratio_array=by_head(problem, xp.astype(ratios, xp.float32)),
        ratio=max(0.0, float(comparable[where])),
        worst=worst,
        unjudged=record.unjudged,
        margin=_margin(record),
        empty=to_numpy(by_head(problem, record.empty))[..., 0],
    )


def _margin(record: _Record) -> float:
    """The mean bound, divided by the mean of |v|, where something is judged."""
    xp = namespace_of(record.bound)
    of_bound = float(xp.sum(replace_where(record.vacuous, 0.0, record.bound)))
    of_values = float(xp.sum(replace_where(record.vacuous, 0.0, record.magnitude)))
    return of_bound / of_values if of_values > 0 else 0.0
