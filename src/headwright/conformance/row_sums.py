"""Attention in float64 as sums over the keys of a row, in few passes over the scores.

Where all errors of the scores are small, the bound is linear in them (`row_bound`), and
so it needs no array over rows and keys: only the sums that are made here, which all
contracts share. Rows and contracts for which that is not enough go through `reference`
and `bound`, which know each key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headwright.conformance.arrays import (
    Array,
    Progress,
    device_of,
    like,
    namespace_of,
)
from headwright.conformance.description import (
    hides_by_position_only,
    keys_of_rows,
    visible_block,
)
from headwright.conformance.reference import (
    AttentionProblem,
    Block,
    ExactOutput,
    by_key_head,
    count_keys,
    query_norms,
    sink_scores,
    take_rows,
    whole_block,
)

# Exponentials are summed as they are, with no maximum subtracted: for scores up to this
# they and their sums are far from both ends of float64.
LARGEST_SCORE = 300.0


@dataclass(frozen=True, eq=False)
class RowSums(ExactOutput):
    """The output of rows, and what the bound needs of them.

    With A_j = |scale| sum |q_l k_jl|, arrays are (pairs, group, rows, 1) unless said.
    """

    score_magnitude: Array  # sum_j weight_j A_j
    value_magnitude: Array  # sum_j weight_j A_j |v_j|, (pairs, group, rows, value dim)
    # For a format of weights, sum_j min(weight_j, least) |v_j|: what may be lost of
    # weights that are near the smallest number `least` of that format.
    tiny_weights: dict[float, Array]
    largest_magnitude: Array  # above all A_j
    flushable: Array  # how often 2^-126 may be lost in a score, by any flush to zero
    # Above all q . k, and all scale * q . k.
    largest_product: Array
    value_sums: Array  # sum_j |v_j| over all keys, (pairs, 1, 1, value dim)
    largest_value: Array  # of |v_j| over all keys, (pairs, 1, 1, value dim)


def is_summable(problem: AttentionProblem) -> bool:
    """Whether scores are those products and nothing else."""
    spec = problem.spec
    return spec.softcap is None and spec.bias is None and spec.alibi is None


def sum_rows(
    problem: AttentionProblem,
    all_blocks: Sequence[Block],
    rows: np.ndarray,
    least_weights: set[float],
    progress: Progress | None,
) -> RowSums:
    """These rows, block by block: with a few passes over the scores of each."""
    xp = namespace_of(problem.q)
    shape, scale = problem.shape, problem.spec.scale
    magnitudes = problem.magnitudes
    every_pair = np.arange(shape.batch * shape.key_heads)
    q = take_rows(problem, whole_block(problem, rows), problem.q)
    absolute_q = xp.abs(q)
    scaled_q, scaled_magnitude = q * scale, absolute_q * abs(scale)
    sinks = sink_scores(problem, every_pair)

    sums = _new_sums(problem, rows, least_weights)
    for number, block in enumerate(all_blocks):
        _sum_block(problem, block, scaled_q, scaled_magnitude, sinks, sums)
        if progress is not None:
            progress((number + 1) / len(all_blocks))
    # A row that sees nothing has sums of 0, and any number will do.
    ones = xp.ones_like(sums.normaliser)
    normaliser = xp.where(sums.normaliser > 0, sums.normaliser, ones)

    width = shape.value_dim
    sizes = xp.sum(absolute_q, axis=-1, keepdims=True) + magnitudes.largest_key_sum
    product = query_norms(q) * magnitudes.longest_key
    return RowSums(
        output=sums.of_values[..., :width] / normaliser,
        mean_magnitude=sums.of_values[..., width:] / normaliser,
        log_sum_exp=xp.log(normaliser),
        sink_scores=sinks,
        seen=sums.seen,
        span=sums.span,
        score_magnitude=sums.of_scores / normaliser,
        value_magnitude=sums.of_scores_and_values / normaliser,
        tiny_weights={least: each / normaliser for least, each in sums.tiny.items()},
        largest_magnitude=product * abs(scale),
        flushable=(sizes + 3 * shape.dim + 1) * max(1.0, abs(scale)),
        largest_product=product * max(1.0, abs(scale)),
        value_sums=magnitudes.value_sums,
        largest_value=magnitudes.largest_value,
    )


@dataclass(frozen=True, eq=False)
class _Unnormalised:
    """Sums of e^score_j and its products, (pairs, group, rows, columns)."""

    normaliser: Array
    of_values: Array  # times v_j, then times |v_j|
    of_scores: Array  # times A_j
    of_scores_and_values: Array  # times A_j |v_j|
    tiny: dict[float, Array]  # of min(e^score_j, least * normaliser), times |v_j|
    seen: Array
    span: Array


def _new_sums(
    problem: AttentionProblem, rows: np.ndarray, least_weights: set[float]
) -> _Unnormalised:
    xp = namespace_of(problem.q)
    shape = problem.shape

    def numbers(columns: int) -> Array:
        size = (shape.batch * shape.key_heads, shape.group, len(rows), columns)
        return xp.zeros(size, dtype=xp.float64, device=device_of(problem.q))

    seen, span = numbers(1), numbers(1)
    if hides_by_position_only(problem.spec):
        first, stop = keys_of_rows(problem.spec, shape, rows)
        seen = like((stop - first).astype(np.float64)[None, None, :, None], problem.q)
        span = seen
    return _Unnormalised(
        normaliser=numbers(1),
        of_values=numbers(2 * shape.value_dim),
        of_scores=numbers(1),
        of_scores_and_values=numbers(shape.value_dim),
        tiny={least: numbers(shape.value_dim) for least in least_weights},
        seen=seen,
        span=span,
    )


def _sum_block(
    problem: AttentionProblem,
    block: Block,
    scaled_q: Array,
    absolute_q: Array,
    sinks: Array | None,
    sums: _Unnormalised,
) -> None:
    """Fill in one block. Arrays over rows and keys are made twice, and then changed."""
    xp = namespace_of(scaled_q)
    magnitudes = problem.magnitudes
    part = (block.pair_range, slice(None), block.places)
    keys = magnitudes.keys[block.pair_range, block.keys]
    absolute_v = magnitudes.values[block.pair_range, block.keys]
    both_v = magnitudes.values_twice[block.pair_range, block.keys]
    k = by_key_head(problem.k)[block.pair_range, block.keys]

    exponentials = _multiply(scaled_q[part], xp.matrix_transpose(k))
    xp.exp(exponentials, out=exponentials)
    _hide_keys(problem, block, exponentials, sums)
    normaliser = xp.sum(exponentials, axis=-1, keepdims=True)
    if sinks is not None:
        normaliser = normaliser + xp.exp(sinks[block.pair_range])
    sums.normaliser[part] = normaliser
    sums.of_values[part] = _multiply(exponentials, both_v)
    for least, sums_of_tiny in sums.tiny.items():
        small = xp.minimum(exponentials, least * normaliser)
        sums_of_tiny[part] = _multiply(small, absolute_v)
    exponentials *= _multiply(absolute_q[part], xp.matrix_transpose(keys))
    sums.of_scores[part] = xp.sum(exponentials, axis=-1, keepdims=True)
    sums.of_scores_and_values[part] = _multiply(exponentials, absolute_v)


def _multiply(rows: Array, columns: Array) -> Array:
    """(pairs, group, rows, n) times (pairs, n, m): one product for each pair."""
    xp = namespace_of(rows)
    pairs, group, count, width = rows.shape
    flat = xp.reshape(rows, (pairs, group * count, width))
    product = xp.matmul(flat, columns)
    return xp.reshape(product, (pairs, group, count, columns.shape[-1]))


def _hide_keys(
    problem: AttentionProblem, block: Block, exponentials: Array, sums: _Unnormalised
) -> None:
    """Make those of hidden keys 0; where positions hide, few keys are looked at."""
    spec, shape = problem.spec, problem.shape
    if not hides_by_position_only(spec):
        visible = visible_block(
            spec, shape, block.pairs, block.rows, block.keys, problem.q
        )
        exponentials *= visible
        part = (block.pair_range, slice(None), block.places)
        sums.seen[part], sums.span[part] = count_keys(visible)
        return
    first, stop = keys_of_rows(spec, shape, block.rows)
    # From `begin` to `end`, all rows of the block see all keys.
    begin = min(max(int(first.max()), block.keys.start), block.keys.stop)
    end = max(min(int(stop.min()), block.keys.stop), begin)
    for edge in (slice(block.keys.start, begin), slice(end, block.keys.stop)):
        if edge.stop > edge.start:
            visible = visible_block(
                spec, shape, block.pairs, block.rows, edge, problem.q
            )
            inside = slice(edge.start - block.keys.start, edge.stop - block.keys.start)
            at_edge = exponentials[..., inside]
            at_edge *= visible
