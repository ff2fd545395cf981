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
    AddedScores,
    AttentionSpec,
    added_scores,
    alibi_of_rows,
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
# Beside scores that are not below minus that, a key to which less is added has no
# weight in float64, and none where its score errs by a quarter of that.
NO_WEIGHT_BELOW = -(2.0**12)


@dataclass(frozen=True, eq=False)
class RowSums(ExactOutput):
    """The output of rows, and what the bound needs of them.

    With A_j = |scale| sum |q_l k_jl|, arrays are (pairs, group, rows, 1) unless said.
    Where a row sees keys, but all of them so far below 0 that the sum of exponentials
    is 0, `log_sum_exp` is minus infinity.
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
    softcap: float | None
    added: AddedSums | None  # of bias and ALiBi


@dataclass(frozen=True, eq=False)
class AddedSums:
    """The same of what is added to scores, with B_j = |bias| + |ALiBi| for A_j."""

    score_magnitude: Array
    value_magnitude: Array
    largest_magnitude: Array  # of the B_j of keys that can have a weight
    terms: int  # how many numbers are added to a score
    alibi_of_row: Array | None  # see `AddedScores`


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
    # The last blocks are large where attention is causal: while a GPU computes them, the
    # smaller ones are prepared.
    for number, block in enumerate(reversed(all_blocks)):
        _sum_block(problem, block, scaled_q, scaled_magnitude, sinks, sums)
        if progress is not None:
            progress((number + 1) / len(all_blocks))
    # A row that sees nothing has sums of 0, and any number will do.
    ones = xp.ones_like(sums.normaliser)
    has_weights = sums.normaliser > 0
    normaliser = xp.where(has_weights, sums.normaliser, ones)
    log_sum_exp = xp.where(
        has_weights | (sums.seen == 0), xp.log(normaliser), -np.inf * ones
    )

    width = shape.value_dim
    sizes = xp.sum(absolute_q, axis=-1, keepdims=True) + magnitudes.largest_key_sum
    product = query_norms(q) * magnitudes.longest_key
    return RowSums(
        output=sums.of_values[..., :width] / normaliser,
        mean_magnitude=sums.of_values[..., width:] / normaliser,
        log_sum_exp=log_sum_exp,
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
        softcap=problem.spec.softcap,
        added=_divide_added(problem, rows, sums.added, normaliser),
    )


def _divide_added(
    problem: AttentionProblem,
    rows: np.ndarray,
    sums: _UnnormalisedAdded | None,
    normaliser: Array,
) -> AddedSums | None:
    if sums is None:
        return None
    spec, shape = problem.spec, problem.shape
    every_pair = np.arange(shape.batch * shape.key_heads)
    return AddedSums(
        score_magnitude=sums.of_scores / normaliser,
        value_magnitude=sums.of_scores_and_values / normaliser,
        largest_magnitude=sums.largest,
        terms=(spec.bias is not None) + (spec.alibi is not None),
        alibi_of_row=alibi_of_rows(spec, shape, every_pair, rows, problem.q),
    )


@dataclass(frozen=True, eq=False)
class _Unnormalised:
    """Sums of e^score_j and its products, (pairs, group, rows, columns)."""

    normaliser: Array
    of_values: Array  # times v_j, then times |v_j|
    of_scores: Array  # times A_j
    of_scores_and_values: Array  # times A_j |v_j|
    tiny: dict[float, Array]  # of min(e^score_j, least * normaliser), times |v_j|
    added: _UnnormalisedAdded | None
    seen: Array
    span: Array


@dataclass(frozen=True, eq=False)
class _UnnormalisedAdded:
    """The same of bias and ALiBi."""

    of_scores: Array  # times B_j
    of_scores_and_values: Array  # times B_j |v_j|
    largest: Array  # of the B_j of keys that can have a weight


def _new_sums(
    problem: AttentionProblem, rows: np.ndarray, least_weights: set[float]
) -> _Unnormalised:
    xp = namespace_of(problem.q)
    shape = problem.shape

    def numbers(columns: int) -> Array:
        size = (shape.batch * shape.key_heads, shape.group, len(rows), columns)
        return xp.empty(size, dtype=xp.float64, device=device_of(problem.q))

    spec = problem.spec
    added = None
    if spec.bias is not None or spec.alibi is not None:
        added = _UnnormalisedAdded(numbers(1), numbers(shape.value_dim), numbers(1))
    seen, span = numbers(1), numbers(1)
    if _hides_by_position_only(spec):
        first, stop = keys_of_rows(spec, shape, rows)
        seen = like((stop - first).astype(np.float64)[None, None, :, None], problem.q)
        span = seen
    return _Unnormalised(
        normaliser=numbers(1),
        of_values=numbers(2 * shape.value_dim),
        of_scores=numbers(1),
        of_scores_and_values=numbers(shape.value_dim),
        tiny={least: numbers(shape.value_dim) for least in least_weights},
        added=added,
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

    scores = _multiply(scaled_q[part], xp.matrix_transpose(k))
    added = _complete_scores(problem, block, scores)
    exponentials = xp.exp(scores, out=scores)
    _hide_keys(problem, block, added, exponentials, sums)
    normaliser = xp.sum(exponentials, axis=-1, keepdims=True)
    if sinks is not None:
        normaliser = normaliser + xp.exp(sinks[block.pair_range])
    sums.normaliser[part] = normaliser
    sums.of_values[part] = _multiply(exponentials, both_v)
    for least, sums_of_tiny in sums.tiny.items():
        small = xp.minimum(exponentials, least * normaliser)
        sums_of_tiny[part] = _multiply(small, absolute_v)
    if added is not None and sums.added is not None:
        weighted = exponentials * added.magnitude
        sums.added.of_scores[part] = xp.sum(weighted, axis=-1, keepdims=True)
        sums.added.of_scores_and_values[part] = _multiply(weighted, absolute_v)
        counting = added.magnitude * ~_leaves_no_weight(added)
        sums.added.largest[part] = xp.max(counting, axis=-1, keepdims=True)
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


def _complete_scores(
    problem: AttentionProblem, block: Block, scores: Array
) -> AddedScores | None:
    """Make products scores, in place: with the softcap, and what is added to them."""
    xp, spec = namespace_of(scores), problem.spec
    if spec.softcap is not None:
        scores /= spec.softcap
        xp.tanh(scores, out=scores)
        scores *= spec.softcap
    part = (block.pairs, block.rows, block.keys)
    added = added_scores(spec, problem.shape, *part, problem.q)
    if added is not None:
        scores += added.total
    return added


def _leaves_no_weight(added: AddedScores) -> Array:
    """Keys whose B_j the bound need not count: it is at most twice what is added."""
    few_cancel = added.magnitude <= -2 * added.total
    return few_cancel & (added.total < NO_WEIGHT_BELOW)


def _hides_by_position_only(spec: AttentionSpec) -> bool:
    # A bias may be minus infinity.
    return hides_by_position_only(spec) and spec.bias is None


def _hide_keys(
    problem: AttentionProblem,
    block: Block,
    added: AddedScores | None,
    exponentials: Array,
    sums: _Unnormalised,
) -> None:
    """Make those of hidden keys 0; where positions hide, few keys are looked at."""
    spec, shape = problem.spec, problem.shape
    if not _hides_by_position_only(spec):
        visible = visible_block(
            spec, shape, block.pairs, block.rows, block.keys, problem.q
        )
        if added is not None and added.visible is not None:
            visible = visible & added.visible
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
