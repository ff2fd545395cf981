"""Attention in float64, a block of rows at a time, with what the bound is made of.

A block holds whole rows of scores for some heads, so memory grows with the number of
keys and never with its square.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headwright.conformance.arrays import (
    Array,
    device_of,
    like,
    namespace_of,
    on_accelerator,
)
from headwright.conformance.description import (
    AddedScores,
    AttentionShape,
    AttentionSpec,
    added_scores,
    key_range,
    query_heads,
    visible_block,
)
from headwright.numerics.float_formats import FloatFormat

# Scores that are held at once: a few of these arrays fit into a cache, or a GPU.
SCORES_ON_CPU = 2**18
SCORES_ON_ACCELERATOR = 2**25
ROWS_AT_LEAST = 64  # of a block, before heads are put together


@dataclass(frozen=True, eq=False)
class AttentionProblem:
    """Queries, keys and values in float64, (batch, heads, tokens, dim), and a spec."""

    q: Array
    k: Array
    v: Array
    spec: AttentionSpec
    input_format: FloatFormat

    @property
    def shape(self) -> AttentionShape:
        """The sizes of this call."""
        batch, heads, rows, dim = self.q.shape
        _, key_heads, keys, _ = self.k.shape
        return AttentionShape(batch, heads, key_heads, rows, keys, dim, self.v.shape[3])

    @cached_property
    def magnitudes(self) -> Magnitudes:
        """What all blocks need of keys and values, computed once."""
        xp = namespace_of(self.q)
        keys = by_key_head(self.k)
        values = by_key_head(self.v)
        absolute_keys = xp.abs(keys)
        absolute_values = xp.abs(values)
        key_norms = xp.sqrt(xp.sum(keys * keys, axis=-1))
        key_sums = xp.sum(absolute_keys, axis=-1)
        return Magnitudes(
            keys=absolute_keys,
            values=absolute_values,
            values_twice=xp.concat((values, absolute_values), axis=-1),
            key_sums=key_sums,
            longest_key=xp.max(key_norms, axis=-1)[:, None, None, None],
            largest_key_sum=xp.max(key_sums, axis=-1)[:, None, None, None],
            value_sums=xp.sum(absolute_values, axis=-2)[:, None, None, :],
            largest_value=xp.max(absolute_values, axis=-2)[:, None, None, :],
        )


@dataclass(frozen=True, eq=False)
class Magnitudes:
    """Of keys and values, by pairs of a text and a key head."""

    keys: Array  # |k|, (pairs, keys, dim)
    values: Array  # |v|, (pairs, keys, value dim)
    values_twice: Array  # v beside |v|, (pairs, keys, 2 * value dim)
    key_sums: Array  # sum_l |k_l|, (pairs, keys)
    longest_key: Array  # the largest norm of a key, (pairs, 1, 1, 1)
    largest_key_sum: Array  # (pairs, 1, 1, 1)
    value_sums: Array  # sums over all keys, (pairs, 1, 1, value dim)
    largest_value: Array  # over all keys, (pairs, 1, 1, value dim)


@dataclass(frozen=True, eq=False)
class Block:
    """Which part of a call is computed at once."""

    pairs: np.ndarray  # texts and key heads: text * key_heads + key head, consecutive
    rows: np.ndarray
    keys: slice
    places: slice  # of the rows, among all that are looked at

    @property
    def pair_range(self) -> slice:
        """The pairs as a slice of an array that has all of them."""
        return slice(int(self.pairs[0]), int(self.pairs[-1]) + 1)


@dataclass(frozen=True, eq=False)
class ExactOutput:
    """Some rows of the output of attention, in float64."""

    output: Array  # (pairs, group, rows, value dim)
    mean_magnitude: Array  # sum_j weight_j |v_j|, as the output
    log_sum_exp: Array  # (pairs, group, rows, 1)
    sink_scores: Array | None  # (pairs, group, 1, 1)
    # How many keys a row sees, and from the first to the last of them: both are
    # (pairs or 1, group or 1, rows, 1), since many masks are the same for all heads.
    seen: Array
    span: Array


@dataclass(frozen=True, eq=False)
class ExactRows(ExactOutput):
    """Some rows of attention; arrays are (pairs, group, rows, keys) unless said.

    `scores` and `weights` of hidden keys are 0; `visible` says which those are.
    """

    linear: Array  # t = scale * q . k
    magnitude: Array  # |scale| * sum |q_l k_l|
    flushable: Array  # how often 2^-126 may be lost in a score, by any flush to zero
    largest_product: Array  # (pairs, group, rows, 1): above all q . k and scale * q . k
    softcap: float | None
    capped: Array  # after the softcap
    added: AddedScores | None  # bias and ALiBi
    scores: Array
    visible: Array
    weights: Array
    largest_score: Array  # (pairs, group, rows, 1)
    values: Array  # (pairs, 1, keys, value dim)


def blocks(problem: AttentionProblem, rows: np.ndarray) -> Iterator[Block]:
    """The parts of a call, each small enough."""
    shape = problem.shape
    budget = SCORES_ON_CPU
    if on_accelerator(problem.q):
        budget = SCORES_ON_ACCELERATOR
    one_row = shape.group * shape.keys
    pairs = np.arange(shape.batch * shape.key_heads)
    pairs_at_once = max(1, budget // (one_row * min(ROWS_AT_LEAST, len(rows))))
    pairs_at_once = min(pairs_at_once, len(pairs))
    rows_at_once = max(1, budget // (one_row * pairs_at_once))
    for first_pair in range(0, len(pairs), pairs_at_once):
        some_pairs = pairs[first_pair : first_pair + pairs_at_once]
        for first_row in range(0, len(rows), rows_at_once):
            places = slice(first_row, min(first_row + rows_at_once, len(rows)))
            some_rows = rows[places]
            first, stop = key_range(problem.spec, shape, some_rows)
            yield Block(some_pairs, some_rows, slice(first, stop), places)


def whole_block(problem: AttentionProblem, rows: np.ndarray) -> Block:
    """All pairs, all keys and these rows at once."""
    shape = problem.shape
    pairs = np.arange(shape.batch * shape.key_heads)
    return Block(pairs, rows, slice(0, shape.keys), slice(0, len(rows)))


def exact_rows(problem: AttentionProblem, block: Block) -> ExactRows:
    """The rows of a block by the definition, in float64."""
    spec = problem.spec
    shape = problem.shape
    xp = namespace_of(problem.q)
    q, k, v = operands(problem, block)
    magnitudes = problem.magnitudes
    absolute_keys = magnitudes.keys[block.pair_range, block.keys][:, None]

    linear = xp.matmul(q, xp.matrix_transpose(k)) * spec.scale
    magnitude = xp.matmul(xp.abs(q), xp.matrix_transpose(absolute_keys))
    magnitude = magnitude * abs(spec.scale)
    # An operand that is flushed loses its product with the other one; besides, each
    # product, each partial sum and the scaled sum may be flushed.
    query_size = xp.sum(xp.abs(q), axis=-1)[..., :, None]
    key_size = magnitudes.key_sums[block.pair_range, block.keys][:, None, None, :]
    flushable = (query_size + key_size + 3 * shape.dim + 1) * max(1.0, abs(spec.scale))

    capped = linear
    if spec.softcap is not None:
        capped = spec.softcap * xp.tanh(linear / spec.softcap)
    part = (block.pairs, block.rows, block.keys)
    added = added_scores(spec, shape, *part, problem.q)
    scores = capped
    visible = visible_block(spec, shape, *part, problem.q)
    if added is not None:
        if added.visible is not None:
            visible = visible & added.visible
        scores = capped + added.total
    seen, span = count_keys(visible)
    visible = xp.broadcast_to(visible, scores.shape)

    hidden_score = xp.full_like(scores, -np.inf)
    shown_scores = xp.where(visible, scores, hidden_score)
    largest = xp.max(shown_scores, axis=-1, keepdims=True)
    sinks = sink_scores(problem, block.pairs)
    if sinks is not None:
        largest = xp.maximum(largest, sinks)
    # A row that sees nothing has no largest score; any finite number will do.
    largest = xp.where(largest > -np.inf, largest, xp.zeros_like(largest))
    exponentials = xp.exp(shown_scores - largest)
    normaliser = xp.sum(exponentials, axis=-1, keepdims=True)
    if sinks is not None:
        normaliser = normaliser + xp.exp(sinks - largest)
    normaliser = xp.where(normaliser > 0, normaliser, xp.ones_like(normaliser))
    weights = exponentials / normaliser

    return ExactRows(
        linear=linear,
        magnitude=magnitude,
        flushable=flushable,
        largest_product=largest_product(problem, block, q),
        softcap=spec.softcap,
        capped=capped,
        added=added,
        scores=xp.where(visible, scores, xp.zeros_like(scores)),
        visible=visible,
        weights=weights,
        log_sum_exp=largest + xp.log(normaliser),
        largest_score=largest,
        sink_scores=sinks,
        seen=seen,
        span=span,
        values=v,
        output=xp.matmul(weights, v),
        mean_magnitude=xp.matmul(weights, xp.abs(v)),
    )


def operands(problem: AttentionProblem, block: Block) -> tuple[Array, Array, Array]:
    """Queries (pairs, group, rows, dim); keys and values (pairs, 1, keys, dim)."""
    k = by_key_head(problem.k)[block.pair_range, block.keys][:, None]
    v = by_key_head(problem.v)[block.pair_range, block.keys][:, None]
    return take_rows(problem, block, problem.q), k, v


def by_key_head(array: Array) -> Array:
    """Keys or values (batch, key heads, keys, dim) as (pairs, keys, dim)."""
    xp = namespace_of(array)
    return xp.reshape(array, (-1, *array.shape[2:]))


def take_rows(problem: AttentionProblem, block: Block, array: Array) -> Array:
    """The rows of queries or of an output in a block: (pairs, group, rows, dim)."""
    pairs = by_pair(problem, array)[block.pair_range]
    first, last = int(block.rows[0]), int(block.rows[-1])
    if last - first + 1 == len(block.rows):
        return pairs[:, :, first : last + 1]
    return pairs[:, :, like(block.rows, array)]


def by_pair(problem: AttentionProblem, array: Array) -> Array:
    """(batch, heads, rows, dim) as (pairs, group, rows, dim)."""
    xp = namespace_of(array)
    shape = problem.shape
    rows, columns = array.shape[2:]
    if not problem.spec.interleaved_heads:
        return xp.reshape(array, (-1, shape.group, rows, columns))
    size = (shape.batch, shape.group, shape.key_heads, rows, columns)
    by_member = xp.permute_dims(xp.reshape(array, size), (0, 2, 1, 3, 4))
    return xp.reshape(by_member, (-1, shape.group, rows, columns))


def by_head(problem: AttentionProblem, array: Array) -> Array:
    """(pairs, group, rows, dim) as (batch, heads, rows, dim)."""
    xp = namespace_of(array)
    shape = problem.shape
    size = (shape.batch, shape.heads, *array.shape[2:])
    if not problem.spec.interleaved_heads:
        return xp.reshape(array, size)
    by_key_head = (shape.batch, shape.key_heads, shape.group, *array.shape[2:])
    by_member = xp.permute_dims(xp.reshape(array, by_key_head), (0, 2, 1, 3, 4))
    return xp.reshape(by_member, size)


def largest_product(problem: AttentionProblem, block: Block, q: Array) -> Array:
    """A bound on every product with a key, also a hidden one: by Cauchy and Schwarz.

    It bounds the sum of |q_l k_l| as well, and so every partial sum; and their
    multiples by the scale.
    """
    longest_key = problem.magnitudes.longest_key[block.pair_range]
    return query_norms(q) * longest_key * max(1.0, abs(problem.spec.scale))


def query_norms(q: Array) -> Array:
    """The norm of each query, (pairs, group, rows, 1)."""
    xp = namespace_of(q)
    return xp.sqrt(xp.sum(q * q, axis=-1, keepdims=True))


def sink_scores(problem: AttentionProblem, pairs: np.ndarray) -> Array | None:
    """The sink of each query head, (pairs, group, 1, 1)."""
    if problem.spec.sinks is None:
        return None
    heads = query_heads(problem.spec, problem.shape, pairs)
    sinks = np.asarray(problem.spec.sinks, dtype=np.float64)[heads]
    return like(sinks, problem.q)[:, :, None, None]


def count_keys(visible: Array) -> tuple[Array, Array]:
    """How many keys each row sees, and from the first to the last of them."""
    xp = namespace_of(visible)
    keys = visible.shape[-1]
    numbers = xp.arange(1, keys + 1, dtype=xp.float64, device=device_of(visible))
    seen = xp.sum(xp.astype(visible, xp.float64), axis=-1, keepdims=True)
    last = xp.max(visible * numbers, axis=-1, keepdims=True)
    backwards = xp.max(visible * (keys + 1 - numbers), axis=-1, keepdims=True)
    # A row that sees nothing has neither: its span is 0.
    span = xp.where(seen > 0, last + backwards - keys, xp.zeros_like(seen))
    return seen, span
