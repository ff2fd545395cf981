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

If a number on the way may exceed the largest finite one of its type, the bound is infinity: nothing is claimed.
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
from headwright.value_ranges.arithmetic import FLOAT32_LARGEST, Arithmetic
from headwright.value_ranges.layer import (
    HeadWeights,
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


def bound_layer(layer: LayerWeights, arithmetic: Arithmetic) -> LayerRange:
    """All ranges of a layer, proved."""
    limit = _largest_input(layer.norm, arithmetic)
    is_finite = limit <= arithmetic.largest
    mapped = None
    if layer.mapping is not None and layer.mapping.bias is not None:
        weight = layer.mapping.weight[0]
        mapped = affine_head(layer.norm, weight, layer.mapping.bias[0], arithmetic)
        is_finite = is_finite and bool(np.all(mapped.terms <= arithmetic.largest))
    parts = {}
    for name in ("query", "key", "value"):
        part: HeadWeights = getattr(layer, name)
        rotary = None if name == "value" else layer.rotary
        heads = []
        for head in range(len(part.weight)):
            weight = part.weight[head]
            bias = None if part.bias is None else part.bias[head]
            if mapped is None:
                affine = affine_head(layer.norm, weight, bias, arithmetic)
            else:
                affine = mapped_head(mapped, weight, bias, arithmetic)
            heads.append(_bound_head(affine, part.norm, rotary, arithmetic, is_finite))
        parts[name] = tuple(heads)
    scores = []
    for head, query in enumerate(parts["query"]):
        key = parts["key"][layer.key_head(head)]
        scores.append(_bound_score(query, key, layer, arithmetic))
    return LayerRange(
        layer.index, parts["query"], parts["key"], parts["value"], tuple(scores)
    )


def _largest_input(norm: NormWeights, arithmetic: Arithmetic) -> float:
    """The largest number that the layer may read: finite, or nothing is known."""
    error = 1 + arithmetic.norm_error(norm.kind, norm.width)
    reach = np.abs(norm.gain) * math.sqrt(norm.width) * error
    if norm.bias is not None:
        reach = reach + np.abs(norm.bias)
    largest = float(np.max(reach)) * (1 + arithmetic.gain_error)
    # The normed number itself, before the gain, is one of them.
    normed = math.sqrt(norm.width) * error * (1 + arithmetic.unit)
    return max(largest, normed) * OUTWARD


def _bound_head(
    affine: AffineHead,
    head_norm: NormWeights | None,
    rotary: RotaryPairs | None,
    arithmetic: Arithmetic,
    is_finite: bool,
) -> HeadRange:
    # What follows a number that may be infinite is not known.
    is_finite = is_finite and bool(np.all(affine.terms <= arithmetic.largest))
    if head_norm is not None:
        # It may have been rotated, and scaled by at most 2, before: by less than 4 in all.
        is_finite = is_finite and bool(np.all(4 * affine.terms <= arithmetic.largest))
        limit = _largest_input(head_norm, arithmetic)
        is_finite = is_finite and limit <= arithmetic.largest
        affine = normed_head(head_norm, arithmetic)
    pairs = [] if rotary is None else rotary.pairs(len(affine.centre))
    before = _vector_range(affine)
    turned = _pair_lengths(affine, pairs)
    after = before
    if rotary is not None:
        after = _rotate(before, turned, pairs, rotary, arithmetic)
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


def normed_head(norm: NormWeights, arithmetic: Arithmetic) -> AffineHead:
    """What a norm of queries or keys returns, whatever was projected: gain times u, plus bias."""
    width = norm.width
    radius = math.sqrt(width) * OUTWARD
    matrix = np.diag(norm.gain)
    lengths = np.abs(norm.gain)
    bias = np.zeros(width) if norm.bias is None else norm.bias
    delta = arithmetic.norm_error(norm.kind, width)
    inputs = lengths * (1 + delta) * radius + np.abs(bias)
    tiny = 2 * (1 + lengths) * arithmetic.tiny
    rounding = delta * radius * lengths + arithmetic.gain_error * inputs + tiny
    return AffineHead(
        matrix=_less_mean(matrix) if norm.kind == "layer" else matrix,
        centre=bias,
        radius=radius,
        row_error=ENTRY_ERROR * lengths,
        centre_error=np.zeros(width),
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
    pairs: list[tuple[int, int]],
    rotary: RotaryPairs,
    arithmetic: Arithmetic,
) -> VectorRange:
    """A rotated channel is at most the length of its pair; single channels stay."""
    channels = before.channels.copy()
    exact_channels = before.exact_channels.copy()
    in_channel = arithmetic.rotation_of_channel(rotary.scaling)
    in_pair = arithmetic.rotation_of_pair(rotary.scaling)
    tiny = arithmetic.rotation_tiny
    for number, pair in enumerate(pairs):
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
