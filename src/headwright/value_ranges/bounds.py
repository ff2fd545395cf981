"""The theorem: what queries, keys, values and scores of a layer can be, whatever its input is.

Exact numbers first. A norm returns u with |u| <= R = sqrt(D): after RMSNorm |u|^2 = D m / (m + eps) with m the mean
square of the input; after LayerNorm the same with the variance, and the numbers of u add up to 0. The layer reads
x_j = g_j u_j + b_j, and a channel is y_i = sum_j w_ij x_j + c_i = <a_i, u> + c'_i, with a_ij = w_ij g_j and
c'_i = c_i + sum_j w_ij b_j. After LayerNorm a_i may be replaced by a_i less its mean, for u is orthogonal to the ones.
`affine` bounds <a_i, u> + c'_i, for channels, pairs and whole heads.

Then rounding (`arithmetic` has the factors). What the norm computes is u + e with |e| <= delta R: after RMSNorm because
the computed vector is in the ball of radius (1 + delta) R. With rho, the error of gain and bias, the layer reads x_j
with an error of at most rho (|g_j u_j| + |b_j|) + t_j, and by Cauchy and Schwarz

    sum_j |w_ij| |g_j u_j| <= |a_i| |u| <= |a_i| (1 + delta) R.

That is why rounding costs a factor near 1, and no power of D: the sum over j of the errors of the products, each
relative to its own product, is relative to |a_i| R. Put S_i = |a_i| (1 + delta) R + sum_j |w_ij b_j|. A channel is
computed with an error of at most

    E_i = delta R |a_i| + rho S_i + T_i + pi ((1 + rho) S_i + T_i + |c_i|) + t,

T_i = sum_j |w_ij| t_j, pi the error of an inner product. Whole heads and pairs err by the length of the E_i.

A rotation turns pairs: a channel is at most the length of its pair, the length of a pair stays. A score is a sum over
pairs (and single channels) of inner products, each at most the product of two lengths; and at most |q| |k|.

In latent attention (MLA) the projections read what further norms return, and a key is a part from there and a part
that all heads share: the square of its length is at most the sum of the squares of both.

If a number on the way may exceed the largest finite one of its type, the bound is infinity: nothing is claimed.
Where no norm comes before a projection, nothing is claimed of it; what is normed after it has the bounds of that norm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from headwright.value_ranges.affine import (
    ENTRY_ERROR,
    OUTWARD,
    Column,
    Rows,
    largest_length,
    largest_pairs,
    row_lengths,
)
from headwright.value_ranges.arithmetic import (
    FLOAT32_LARGEST,
    FLOAT32_ULP,
    Arithmetic,
)
from headwright.value_ranges.layer import (
    HeadWeights,
    LatentVector,
    LatentWeights,
    LayerWeights,
    NormWeights,
    RotaryPairs,
)
from headwright.value_ranges.result import (
    HeadRange,
    LayerRange,
    ScoreRange,
    VectorRange,
)


@dataclass(frozen=True, eq=False)
class AffineHead:
    """A u + c with |u| <= radius: what a head is of the vector u that a norm returns, with its rounding errors."""

    matrix: Rows  # less the mean of each row after LayerNorm
    centre: Column
    radius: float
    row_error: Column  # by how much each row may be off in float64
    centre_error: Column
    rounding: Column  # E_i
    terms: Column  # a bound on every partial sum of a channel

    def is_finite(self, arithmetic: Arithmetic) -> bool:
        """Whether no partial sum may exceed the largest finite number."""
        return bool(np.all(self.terms <= arithmetic.largest))


@dataclass(frozen=True, eq=False)
class AttentionInputs:
    """What a projection reads: what a norm returns, or what a linear map makes of that."""

    norm: NormWeights | None  # None: the residual stream, of which nothing is known
    mapped: AffineHead | None = None
    # Whether every number that it reads is finite.
    is_finite: bool = True

    def project(
        self, part: HeadWeights, head: int, arithmetic: Arithmetic
    ) -> AffineHead | None:
        """A projection of it; None where nothing is known."""
        if self.norm is None:
            return None
        weight, bias = part.of_head(head)
        if self.mapped is not None:
            return mapped_head(self.mapped, weight, bias, arithmetic)
        affine = affine_head(self.norm, weight, bias, arithmetic)
        if part.factor == 1:
            return affine
        return multiplied_head(affine, part.factor, arithmetic)


def bound_layer(layer: LayerWeights, arithmetic: Arithmetic) -> LayerRange:
    """All ranges of a layer, proved."""
    reads = _inputs_of(layer, arithmetic)
    latents: tuple[HeadRange, ...] = ()
    if layer.latent is None:
        queries = _bound_part(layer.query, reads, layer.rotary, arithmetic)
        keys = _bound_part(layer.key, reads, layer.rotary, arithmetic)
        values = _bound_part(layer.value, reads, None, arithmetic)
    else:
        of_queries = reads
        if layer.latent.query is not None:
            of_queries = _latent_inputs(layer.latent.query, reads, arithmetic)
        queries = _bound_part(layer.query, of_queries, layer.rotary, arithmetic)
        keys, values, latents = _bound_latent(layer, layer.latent, reads, arithmetic)
    scores = []
    for head, query in enumerate(queries):
        key = keys[layer.key_head(head)]
        scores.append(_bound_score(query, key, layer, arithmetic))
    return LayerRange(layer.index, queries, keys, values, tuple(scores), latents)


def _inputs_of(layer: LayerWeights, arithmetic: Arithmetic) -> AttentionInputs:
    """What the attention of a layer reads."""
    if layer.norm is None:
        return AttentionInputs(None)
    limit = _largest_input(layer.norm, arithmetic, layer.input_factor)
    is_finite = limit <= arithmetic.largest
    if layer.mapping is None:
        return AttentionInputs(layer.norm, is_finite=is_finite)
    weight, bias = layer.mapping.of_head(0)
    mapped = affine_head(layer.norm, weight, bias, arithmetic)
    return AttentionInputs(
        layer.norm, mapped, is_finite and mapped.is_finite(arithmetic)
    )


def _latent_inputs(
    latent: LatentVector, reads: AttentionInputs, arithmetic: Arithmetic
) -> AttentionInputs:
    """A latent vector as what a projection reads: its norm, and whether it is finite before that and after."""
    projected = reads.project(latent.projection, 0, arithmetic)
    is_finite = reads.is_finite and projected is not None
    if projected is not None:
        is_finite = is_finite and projected.is_finite(arithmetic)
    limit = _largest_input(latent.norm, arithmetic)
    return AttentionInputs(
        latent.norm, is_finite=is_finite and limit <= arithmetic.largest
    )


def _bound_latent(
    layer: LayerWeights,
    latent: LatentWeights,
    reads: AttentionInputs,
    arithmetic: Arithmetic,
) -> tuple[tuple[HeadRange, ...], tuple[HeadRange, ...], tuple[HeadRange, ...]]:
    """Keys, values, and what a cache of latent attention keeps: the latent vector, and the rotated part of keys."""
    of_keys = _latent_inputs(latent.key, reads, arithmetic)
    rotated = _bound_part(latent.rotated_key, reads, latent.rotary, arithmetic)
    keys = []
    for from_latent in _bound_part(layer.key, of_keys, None, arithmetic):
        keys.append(_join(from_latent, rotated[0]))
    values = _bound_part(layer.value, of_keys, None, arithmetic)
    kept = _bound_part(latent.key.normed, reads, None, arithmetic)
    return tuple(keys), values, (*kept, *rotated)


def _bound_part(
    part: HeadWeights,
    reads: AttentionInputs,
    rotary: RotaryPairs | None,
    arithmetic: Arithmetic,
) -> tuple[HeadRange, ...]:
    """Every head of the queries, keys or values."""
    heads = []
    for head in range(len(part.weight)):
        projected = reads.project(part, head, arithmetic)
        norm = part.norm_of(head)
        if norm is not None:
            bound = _bound_normed(projected, norm, rotary, reads.is_finite, arithmetic)
        elif projected is not None:
            bound = _bound_head(projected, rotary, reads.is_finite, arithmetic)
        else:
            bound = _unbounded(part.weight.shape[1], rotary)
        heads.append(bound)
    return tuple(heads)


def _largest_input(
    norm: NormWeights, arithmetic: Arithmetic, factor: float = 1.0
) -> float:
    """The largest number that the layer may read: finite, or nothing is known.

    The gain has a factor in it; before that is multiplied, a number may be larger.
    """
    error = 1 + arithmetic.norm_error(norm.kind, norm.width)
    reach = np.abs(norm.gain) * math.sqrt(norm.width) * error
    if norm.bias is not None:
        reach = reach + np.abs(norm.bias)
    largest = float(np.max(reach)) * (1 + arithmetic.gain_error)
    largest = largest * max(1.0, 1 / abs(factor))
    # The normed number itself, before the gain, is one of them.
    normed = math.sqrt(norm.width) * error * (1 + arithmetic.unit)
    return max(largest, normed) * OUTWARD


def _bound_normed(
    projected: AffineHead | None,
    norm: NormWeights,
    rotary: RotaryPairs | None,
    is_finite: bool,
    arithmetic: Arithmetic,
) -> HeadRange:
    """What the norm of a head returns, rotated: whatever was projected, if that is finite."""
    # Without a norm before it, what is projected is the input of a norm: finite, as the theorem asks.
    if projected is not None:
        # It may have been rotated, and scaled by at most 2, before: by less than 4 in all.
        all_finite = bool(np.all(4 * projected.terms <= arithmetic.largest))
        is_finite = is_finite and all_finite
    is_finite = is_finite and _largest_input(norm, arithmetic) <= arithmetic.largest
    return _bound_head(normed_head(norm, arithmetic), rotary, is_finite, arithmetic)


def _bound_head(
    affine: AffineHead,
    rotary: RotaryPairs | None,
    is_finite: bool,
    arithmetic: Arithmetic,
) -> HeadRange:
    # What follows a number that may be infinite is not known.
    is_finite = is_finite and affine.is_finite(arithmetic)
    pairs = [] if rotary is None else rotary.pairs(len(affine.centre))
    before = _vector_range(affine)
    turned = _pair_lengths(affine, pairs)
    after = before
    if rotary is not None:
        after = _rotate(before, turned, rotary, arithmetic)
        in_pair = arithmetic.rotation_of_pair(rotary.scaling)
        tiny = 2 * arithmetic.rotation_tiny
        turned = replace(turned, computed=(turned.computed * in_pair + tiny) * OUTWARD)
    if not is_finite:
        before = before.unknown()
        after = after.unknown()
    after = after.limited(arithmetic.largest)
    return HeadRange(
        before=before,
        after=after,
        pair_lengths=turned.computed,
        centre=float(np.linalg.norm(affine.centre)),
        spread=float(np.linalg.norm(affine.matrix)),
    )


def _unbounded(channels: int, rotary: RotaryPairs | None) -> HeadRange:
    """A head of which nothing is known."""
    pairs = 0 if rotary is None else len(rotary.pairs(channels))
    infinite = np.full(channels, math.inf)
    nothing = VectorRange(infinite, math.inf, infinite, math.inf)
    return HeadRange(nothing, nothing, np.full(pairs, math.inf), centre=0.0, spread=0.0)


def _join(first: HeadRange, second: HeadRange) -> HeadRange:
    """Two parts of a head, one after the other."""
    return HeadRange(
        before=_join_vectors(first.before, second.before),
        after=_join_vectors(first.after, second.after),
        pair_lengths=np.concatenate([first.pair_lengths, second.pair_lengths]),
        centre=math.hypot(first.centre, second.centre),
        spread=math.hypot(first.spread, second.spread),
    )


def _join_vectors(first: VectorRange, second: VectorRange) -> VectorRange:
    exact_channels = np.concatenate([first.exact_channels, second.exact_channels])
    exact_length = math.hypot(first.exact_length, second.exact_length) * OUTWARD
    return VectorRange(
        channels=np.concatenate([first.channels, second.channels]),
        length=math.hypot(first.length, second.length) * OUTWARD,
        exact_channels=exact_channels,
        exact_length=exact_length,
    )


def affine_head(
    norm: NormWeights, weight: Rows, bias: Column | None, arithmetic: Arithmetic
) -> AffineHead:
    """A projection of what a norm returns."""
    width = norm.width
    radius = math.sqrt(width) * OUTWARD
    product = weight * norm.gain
    lengths = row_lengths(product)
    size = np.abs(weight)

    centre = np.zeros(len(weight))
    centre_size = np.zeros(len(weight))
    if norm.bias is not None:
        centre = weight @ norm.bias
        centre_size = size @ np.abs(norm.bias)
    bias_size = np.zeros(len(weight))
    if bias is not None:
        centre = centre + bias
        bias_size = np.abs(bias)

    delta = arithmetic.norm_error(norm.kind, width)
    rho = arithmetic.gain_error
    pi = arithmetic.projection_error(width)
    tiny = 2 * (1 + np.abs(norm.gain)) * arithmetic.tiny
    underflow = size @ tiny
    inputs = lengths * (1 + delta) * radius + centre_size
    read = (1 + rho) * inputs + underflow
    rounding = delta * radius * lengths + rho * inputs + underflow
    rounding = rounding + pi * (read + bias_size)
    rounding = rounding + arithmetic.projection_tiny(width)
    return AffineHead(
        matrix=_less_mean(product) if norm.kind == "layer" else product,
        centre=centre,
        radius=radius,
        row_error=ENTRY_ERROR * lengths,
        # An inner product of D terms in float64 errs by D 2^-53 of its size.
        centre_error=(centre_size + bias_size) * 2.0**-31,
        rounding=rounding * OUTWARD,
        terms=(read + bias_size) * (1 + pi) * OUTWARD,
    )


def mapped_head(
    inner: AffineHead, weight: Rows, bias: Column | None, arithmetic: Arithmetic
) -> AffineHead:
    """A projection of what a linear map has made: y = W (A u + c) + b.

    The map's errors pass through |W|; its numbers are at most `inner.terms`, so that the projection adds pi times
    |W| times those.
    """
    width = weight.shape[1]
    size = np.abs(weight)
    bias_size = np.zeros(len(weight)) if bias is None else np.abs(bias)
    centre = weight @ inner.centre
    if bias is not None:
        centre = centre + bias
    lengths = row_lengths(inner.matrix)
    pi = arithmetic.projection_error(width)
    read = size @ inner.terms
    rounding = size @ inner.rounding + pi * (read + bias_size)
    rounding = rounding + arithmetic.projection_tiny(width)
    # Each entry of the product in float64 errs by 2^-31 of the sum of the sizes of its terms.
    row_error = size @ inner.row_error + 2.0**-31 * (size @ lengths)
    centre_size = size @ np.abs(inner.centre) + bias_size
    return AffineHead(
        matrix=weight @ inner.matrix,
        centre=centre,
        radius=inner.radius,
        row_error=row_error * OUTWARD,
        centre_error=size @ inner.centre_error + 2.0**-31 * centre_size,
        rounding=rounding * OUTWARD,
        terms=(read + bias_size) * (1 + pi) * OUTWARD,
    )


def multiplied_head(
    affine: AffineHead, factor: float, arithmetic: Arithmetic
) -> AffineHead:
    """A projection times a number that the configuration says; the product is rounded once more.

    The number itself may be rounded to float32 before.
    """
    size = abs(factor)
    once_more = (1 + arithmetic.unit) * (1 + 4 * FLOAT32_ULP) - 1
    rounding = size * affine.rounding + once_more * size * affine.terms
    terms = affine.terms * max(1.0, size) * (1 + once_more)
    return AffineHead(
        matrix=affine.matrix * factor,
        centre=affine.centre * factor,
        radius=affine.radius,
        row_error=affine.row_error * size * OUTWARD,
        centre_error=affine.centre_error * size * 2,
        rounding=(rounding + 2 * arithmetic.tiny) * OUTWARD,
        terms=(terms + 2 * arithmetic.tiny) * OUTWARD,
    )


def normed_head(norm: NormWeights, arithmetic: Arithmetic) -> AffineHead:
    """What a norm of queries or keys returns, whatever was projected: gain times u, plus bias.

    If all heads are normed together, then u is a part of a vector, and not longer than that.
    """
    width = norm.width
    channels = len(norm.gain)
    radius = math.sqrt(width) * OUTWARD
    matrix = np.diag(norm.gain)
    lengths = np.abs(norm.gain)
    bias = np.zeros(channels) if norm.bias is None else norm.bias
    delta = arithmetic.norm_error(norm.kind, width)
    inputs = lengths * (1 + delta) * radius + np.abs(bias)
    tiny = 2 * (1 + lengths) * arithmetic.tiny
    rounding = delta * radius * lengths + arithmetic.gain_error * inputs + tiny
    return AffineHead(
        matrix=_less_mean(matrix) if norm.kind == "layer" else matrix,
        centre=bias,
        radius=radius,
        row_error=ENTRY_ERROR * lengths,
        centre_error=np.zeros(channels),
        rounding=rounding * OUTWARD,
        terms=(inputs * (1 + arithmetic.gain_error) + tiny) * OUTWARD,
    )


def _less_mean(matrix: Rows) -> Rows:
    """Rows orthogonal to the ones, nearly: whatever number is taken away, <a, u> stays what it is."""
    centred: Rows = matrix - matrix.mean(axis=1, keepdims=True)
    return centred


def _vector_range(affine: AffineHead) -> VectorRange:
    """Channels and length, exactly and as they are computed."""
    lengths = row_lengths(affine.matrix) + affine.row_error
    exact = lengths * affine.radius + np.abs(affine.centre) + affine.centre_error
    exact = exact * OUTWARD
    spare = float(np.linalg.norm(affine.row_error))
    length = largest_length(affine.matrix, affine.centre, affine.radius, spare)
    length = (length + float(np.linalg.norm(affine.centre_error))) * OUTWARD
    error = float(np.linalg.norm(affine.rounding))
    return VectorRange(
        channels=(exact + affine.rounding) * OUTWARD,
        length=(length + error) * OUTWARD,
        exact_channels=exact,
        exact_length=length,
    )


@dataclass(frozen=True, eq=False)
class PairLengths:
    """Bounds on the lengths of pairs of channels, exactly and as they are computed."""

    exact: Column
    computed: Column


def _pair_lengths(affine: AffineHead, pairs: list[tuple[int, int]]) -> PairLengths:
    """Of each pair that a rotation mixes."""
    if not pairs:
        return PairLengths(np.zeros(0), np.zeros(0))
    first, second = np.array(pairs).T
    exact = largest_pairs(
        affine.matrix, affine.centre, affine.radius, affine.row_error, pairs
    )
    centre_error = affine.centre_error
    exact = exact + np.sqrt(centre_error[first] ** 2 + centre_error[second] ** 2)
    rounding = affine.rounding
    error = np.sqrt(rounding[first] ** 2 + rounding[second] ** 2)
    return PairLengths(exact * OUTWARD, (exact + error) * OUTWARD)


def _rotate(
    before: VectorRange,
    turned: PairLengths,
    rotary: RotaryPairs,
    arithmetic: Arithmetic,
) -> VectorRange:
    """A rotated channel is at most the length of its pair; single channels stay."""
    channels = before.channels.copy()
    exact_channels = before.exact_channels.copy()
    in_channel = arithmetic.rotation_of_channel(rotary.scaling)
    in_pair = arithmetic.rotation_of_pair(rotary.scaling)
    tiny = arithmetic.rotation_tiny
    for number, pair in enumerate(rotary.places(len(channels))):
        length = turned.computed[number]
        channels[list(pair)] = (length * in_channel + tiny) * OUTWARD
        exact_channels[list(pair)] = turned.exact[number] * rotary.scaling * OUTWARD
    underflow = tiny * math.sqrt(len(channels))
    exact_length = before.exact_length * max(1.0, rotary.scaling)
    return VectorRange(
        channels=channels,
        length=(before.length * max(1.0, in_pair) + underflow) * OUTWARD,
        exact_channels=exact_channels,
        exact_length=exact_length * OUTWARD,
    )


def _bound_score(
    query: HeadRange, key: HeadRange, layer: LayerWeights, arithmetic: Arithmetic
) -> ScoreRange:
    """The product of a query with a key, and that times the scale."""
    head_dim = len(query.after.channels)
    by_length = query.after.length * key.after.length
    by_pair = math.inf
    if layer.rotary is not None:
        rotated = np.zeros(head_dim, dtype=bool)
        for pair in layer.rotary.pairs(head_dim):
            rotated[list(pair)] = True
        single = query.after.channels[~rotated] @ key.after.channels[~rotated]
        by_pair = float(query.pair_lengths @ key.pair_lengths + single)
    if not math.isfinite(by_length):
        return ScoreRange(math.inf, math.inf)
    exact = min(by_length, by_pair)
    product = exact * arithmetic.product_error(head_dim)
    product = (product + arithmetic.projection_tiny(head_dim)) * OUTWARD
    if product > min(arithmetic.largest, FLOAT32_LARGEST):
        return ScoreRange(product, math.inf)
    score = product * abs(layer.scale) * arithmetic.scale_error + arithmetic.tiny
    return ScoreRange(product, score * OUTWARD)
