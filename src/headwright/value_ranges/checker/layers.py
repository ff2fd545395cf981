"""Every head of a layer, and its scores, bounded again from the weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from headwright.numerics.balls import Balls
from headwright.value_ranges.checker.allowances import Allowances
from headwright.value_ranges.checker.enclosed import (
    above,
    constant,
    exactly,
    inner_products,
)
from headwright.value_ranges.checker.heads import UNKNOWN, HeadBounds, bound_head
from headwright.value_ranges.checker.projections import (
    MappedBall,
    largest_input,
    multiply,
    norm_again,
    project,
    project_again,
)
from headwright.value_ranges.layer import (
    HeadWeights,
    LatentVector,
    LatentWeights,
    LayerWeights,
    NormWeights,
    RotaryPairs,
)

# The scale of scores was computed in float64.
SCALE_ERROR = Fraction(1, 2**50)


@dataclass(frozen=True)
class LayerBounds:
    """Bounds on the numbers of each head, and on its scores; infinite where nothing is known."""

    queries: list[float]
    keys: list[float]
    values: list[float]
    scores: list[float]
    latents: list[float]


def bound_layer(layer: LayerWeights, allow: Allowances) -> LayerBounds:
    """All that is claimed of a layer."""
    reads = _inputs_of(layer, allow)
    if layer.latent is None:
        queries = _bound_part(layer.query, reads, layer.rotary, allow)
        keys = _bound_part(layer.key, reads, layer.rotary, allow)
        values = _bound_part(layer.value, reads, None, allow)
        latents: list[HeadBounds] = []
    else:
        queries, keys, values, latents = _bound_latent(
            layer, layer.latent, reads, allow
        )
    scores = []
    for head, query in enumerate(queries):
        key = keys[layer.key_head(head)]
        scores.append(_bound_score(query, key, layer, allow))
    return LayerBounds(
        [query.largest for query in queries],
        [key.largest for key in keys],
        [value.largest for value in values],
        scores,
        [latent.largest for latent in latents],
    )


@dataclass(frozen=True, eq=False)
class CheckedInputs:
    """What a projection reads: a norm's vector, or what a linear map has made of it."""

    norm: NormWeights | None  # None: the residual stream, of which nothing is known
    mapped: MappedBall | None = None
    is_finite: bool = True

    def project(
        self, part: HeadWeights, head: int, allow: Allowances
    ) -> MappedBall | None:
        """A projection of it; None where nothing is known of it."""
        if self.norm is None:
            return None
        weight, bias = part.of_head(head)
        if self.mapped is not None:
            return project_again(self.mapped, weight, bias, allow)
        ball = project(self.norm, weight, bias, allow)
        return ball if part.factor == 1 else multiply(ball, part.factor, allow)


def _inputs_of(layer: LayerWeights, allow: Allowances) -> CheckedInputs:
    """What the attention of a layer reads."""
    if layer.norm is None:
        return CheckedInputs(None)
    limit = largest_input(layer.norm, allow, layer.input_factor)
    is_finite = limit <= allow.largest
    if layer.mapping is None:
        return CheckedInputs(layer.norm, is_finite=is_finite)
    weight, bias = layer.mapping.of_head(0)
    mapped = project(layer.norm, weight, bias, allow)
    is_finite = is_finite and mapped.is_finite(allow)
    return CheckedInputs(layer.norm, mapped, is_finite)


def _bound_part(
    part: HeadWeights,
    reads: CheckedInputs,
    rotary: RotaryPairs | None,
    allow: Allowances,
) -> list[HeadBounds]:
    """Every head of the queries, keys or values."""
    bounds = []
    for head in range(len(part.weight)):
        bounds.append(_bound_head(part, head, reads, rotary, allow))
    return bounds


def _bound_head(
    part: HeadWeights,
    head: int,
    reads: CheckedInputs,
    rotary: RotaryPairs | None,
    allow: Allowances,
) -> HeadBounds:
    if not reads.is_finite:
        return UNKNOWN
    ball = reads.project(part, head, allow)
    if ball is not None and not ball.is_finite(allow):
        return UNKNOWN
    head_norm = part.norm_of(head)
    if head_norm is not None:
        if ball is not None and not np.all(4 * ball.sums <= allow.largest):
            # A rotation before the norm makes numbers larger by less than 4.
            return UNKNOWN
        if not largest_input(head_norm, allow) <= allow.largest:
            return UNKNOWN
        # Whatever was projected, the norm decides.
        ball = norm_again(head_norm, allow)
    if ball is None:
        return UNKNOWN
    bounds = bound_head(ball, rotary, allow)
    return bounds if bounds.largest <= allow.largest else UNKNOWN


def _bound_latent(
    layer: LayerWeights, latent: LatentWeights, reads: CheckedInputs, allow: Allowances
) -> tuple[list[HeadBounds], list[HeadBounds], list[HeadBounds], list[HeadBounds]]:
    """Latent attention: queries, keys, values, and what its cache keeps."""
    of_keys = _latent_inputs(latent.key, reads, allow)
    of_queries = reads
    if latent.query is not None:
        of_queries = _latent_inputs(latent.query, reads, allow)
    queries = _bound_part(layer.query, of_queries, layer.rotary, allow)
    values = _bound_part(layer.value, of_keys, None, allow)

    # A key is a part from the latent vector, and a rotated part that all heads share.
    (rotated,) = _bound_part(latent.rotated_key, reads, latent.rotary, allow)
    keys = []
    for from_latent in _bound_part(layer.key, of_keys, None, allow):
        keys.append(from_latent.join(rotated))

    # The latent vector is what its norm returns.
    (kept,) = _bound_part(latent.key.normed, reads, None, allow)
    return queries, keys, values, [kept, rotated]


def _latent_inputs(
    latent: LatentVector, reads: CheckedInputs, allow: Allowances
) -> CheckedInputs:
    """A latent vector, as what a projection reads: its norm, and whether all before it is finite."""
    projected = reads.project(latent.projection, 0, allow)
    is_finite = reads.is_finite and projected is not None
    if projected is not None:
        is_finite = is_finite and projected.is_finite(allow)
    limit = largest_input(latent.norm, allow)
    return CheckedInputs(latent.norm, is_finite=is_finite and limit <= allow.largest)


def _bound_score(
    query: HeadBounds, key: HeadBounds, layer: LayerWeights, allow: Allowances
) -> float:
    """A product of a query with a key, times the scale: by lengths or by pairs, the smaller of the two."""
    if not math.isfinite(query.length) or not math.isfinite(key.length):
        return math.inf
    head_dim = len(query.channels)

    # |<q, k>| <= |q| |k|
    exact = above(exactly(query.length) * exactly(key.length))

    # |<q, k>| <= the sum over pairs of the products of their lengths, and over single channels of those of their sizes
    if layer.rotary is not None:
        single = np.ones(head_dim, dtype=bool)
        for pair in layer.rotary.pairs(head_dim):
            single[list(pair)] = False
        of_query = np.concatenate([query.pairs, query.channels[single]])
        of_key = np.concatenate([key.pairs, key.channels[single]])
        by_pairs = inner_products(Balls.of(of_query), Balls.of(of_key))
        exact = min(exact, above(by_pairs))

    # As it is computed: (1 + u_T)^2 (1 + gamma), and underflow.
    product = exactly(exact) * constant(allow.score_product(head_dim))
    product = product + constant(allow.product_underflow(head_dim))
    if not above(product) <= allow.largest:
        return math.inf

    # Times the scale.
    scale = exactly(abs(layer.scale)) * constant(allow.scaled_product)
    scale = scale * constant(1 + SCALE_ERROR)
    return above(product * scale + constant(allow.tiny))
