"""Attention in float64, a block of rows at a time, with what the bound is made of.

A block holds whole rows of scores for some heads, so memory grows with the number of
keys and never with its square.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from headwright.conformance.arrays import (
    Array,
    Namespace,
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
from headwright.conformance.formats import FloatFormat

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


@dataclass(frozen=True, eq=False)
class Block:
    """Which part of a call is computed at once."""

    pairs: np.ndarray  # texts and key heads: text * key_heads + key head
    rows: np.ndarray
    keys: slice


@dataclass(frozen=True, eq=False)
class ExactRows:
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
    log_sum_exp: Array  # (pairs, group, rows, 1)
    largest_score: Array  # (pairs, group, rows, 1)
    sink_scores: Array | None  # (pairs, group, 1, 1)
    # How many keys a row sees, and from the first to the last of them: both are
    # (pairs or 1, group or 1, rows, 1), since many masks are the same for all heads.
    seen: Array
    span: Array
    values: Array  # (pairs, 1, keys, value dim)
    output: Array  # (pairs, group, rows, value dim)
    mean_magnitude: Array  # sum_j weight_j |v_j|, as the output


def blocks(problem: AttentionProblem, rows: np.ndarray) -> Iterator[Block]:
    """The parts of a call, each small enough."""
    shape = problem.shape
    budget = SCORES_ON_CPU
    if on_accelerator(problem.q):
        budget = SCORES_ON_ACCELERATOR
    one_row = shape.group * shape.keys
    pairs_at_once = max(1, budget // (one_row * min(ROWS_AT_LEAST, len(rows))))
    rows_at_once = max(1, budget // (one_row * pairs_at_once))
    pairs = np.arange(shape.batch * shape.key_heads)
    for first_pair in range(0, len(pairs), pairs_at_once):
        some_pairs = pairs[first_pair : first_pair + pairs_at_once]
        for first_row in range(0, len(rows), rows_at_once):
            some_rows = rows[first_row : first_row + rows_at_once]
            first, stop = key_range(problem.spec, shape, some_rows)
            yield Block(some_pairs, some_rows, slice(first, stop))


def exact_rows(problem: AttentionProblem, block: Block) -> ExactRows:
    """The rows of a block by the definition, in float64."""
    spec = problem.spec
    shape = problem.shape
    xp = namespace_of(problem.q)
    q, k, v = _operands(problem, block)

    linear = xp.matmul(q, xp.matrix_transpose(k)) * spec.scale
    magnitude = xp.matmul(xp.abs(q), xp.matrix_transpose(xp.abs(k))) * abs(spec.scale)
    # An operand that is flushed loses its product with the other one; besides, each
    # product, each partial sum and the scaled sum may be flushed.
    query_size = xp.sum(xp.abs(q), axis=-1)[..., :, None]
    key_size = xp.sum(xp.abs(k), axis=-1)[..., None, :]
    flushable = (query_size + key_size + 3 * shape.dim + 1) * max(1.0, abs(spec.scale))

    capped = linear
    if spec.softcap is not None:
        capped = spec.softcap * xp.tanh(linear / spec.softcap)
    part = (block.pairs, block.rows, block.keys)
    added = added_scores(spec, shape, *part, problem.q)
    scores = capped
    visible = visible_block(spec, shape, *part, problem.q)
    if added is not None:
        # A bias of minus infinity is a mask.
        finite = added.total > -np.inf
        nothing = xp.zeros_like(added.total)
        visible = visible & finite
        added = replace(
            added,
            total=xp.where(finite, added.total, nothing),
            magnitude=xp.where(finite, added.magnitude, nothing),
        )
        scores = capped + added.total
    seen, span = _counts(visible, xp)
    visible = xp.broadcast_to(visible, scores.shape)

    hidden_score = xp.full_like(scores, -np.inf)
    shown_scores = xp.where(visible, scores, hidden_score)
    largest = xp.max(shown_scores, axis=-1, keepdims=True)
    sinks = _sink_scores(problem, block)
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
        largest_product=_largest_product(problem, block, q),
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


def _operands(problem: AttentionProblem, block: Block) -> tuple[Array, Array, Array]:
    """Queries (pairs, group, rows, dim); keys and values (pairs, 1, keys, dim)."""
    shape = problem.shape
    texts = (block.pairs // shape.key_heads).tolist()
    key_heads = (block.pairs % shape.key_heads).tolist()
    k = problem.k[texts, key_heads, block.keys][:, None]
    v = problem.v[texts, key_heads, block.keys][:, None]
    return take_rows(problem, block, problem.q), k, v


def take_rows(problem: AttentionProblem, block: Block, array: Array) -> Array:
    """The rows of queries or of an output in a block: (pairs, group, rows, dim)."""
    shape = problem.shape
    texts = like(block.pairs // shape.key_heads, array)[:, None, None]
    heads = like(query_heads(problem.spec, shape, block.pairs), array)[:, :, None]
    rows = like(block.rows, array)[None, None, :]
    return array[texts, heads, rows]


def _largest_product(problem: AttentionProblem, block: Block, q: Array) -> Array:
    """A bound on every product with a key, also a hidden one: by Cauchy and Schwarz.

    It bounds the sum of |q_l k_l| as well, and so every partial sum.
    """
    xp = namespace_of(q)
    shape = problem.shape
    texts = (block.pairs // shape.key_heads).tolist()
    key_heads = (block.pairs % shape.key_heads).tolist()
    k = problem.k[texts, key_heads]
    key_norms = xp.sqrt(xp.sum(k * k, axis=-1))
    longest_key = xp.max(key_norms, axis=-1)[:, None, None, None]
    query_norms = xp.sqrt(xp.sum(q * q, axis=-1, keepdims=True))
    return query_norms * longest_key * max(1.0, abs(problem.spec.scale))


def _sink_scores(problem: AttentionProblem, block: Block) -> Array | None:
    if problem.spec.sinks is None:
        return None
    heads = query_heads(problem.spec, problem.shape, block.pairs)
    sinks = np.asarray(problem.spec.sinks, dtype=np.float64)[heads]
    return like(sinks, problem.q)[:, :, None, None]


def _counts(visible: Array, xp: Namespace) -> tuple[Array, Array]:
    """How many keys each row sees, and from the first to the last of them."""
    ones = xp.astype(visible, xp.float64)
    seen = xp.sum(ones, axis=-1, keepdims=True)
    numbers = xp.cumulative_sum(xp.ones_like(ones), axis=-1)
    last = xp.max(ones * numbers, axis=-1, keepdims=True)
    backwards = ones * (ones.shape[-1] + 1 - numbers)
    first = xp.max(backwards, axis=-1, keepdims=True)
    span = last + first - ones.shape[-1]
    return seen, span
