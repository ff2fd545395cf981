"""The queries and keys of tokens at places, from the weights, each number with a bound on its error.

The search bounds whole vectors by their lengths instead (`search.head_vectors`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb, ctx
from jaxtyping import Int

from headwright.numerics.balls import SMALLEST_SQUARE, Array, Balls, U, concatenate
from headwright.text_bounds.checker.doubt import DoubtError
from headwright.text_bounds.first_layer import FirstLayer, Projection, VectorNorm

Indices = Int[np.ndarray, " tokens"]
TOKENS_AT_ONCE = 512
# No product of two numbers below it, nor a sum of many products, is beyond float64.
LARGEST = 2.0**400


@dataclass(frozen=True, eq=False)
class QueryRotation:
    """Cosines and sines by which pairs (i, i + half) of a query turn; the rest stays."""

    cos: Balls
    sin: Balls

    def rotate(self, queries: Balls) -> Balls:
        """Each query (a row)."""
        half = self.cos.mid.shape[-1]
        first = queries[:, :half]
        second = queries[:, half : 2 * half]
        rest = queries[:, 2 * half :]
        new_first = first * self.cos - second * self.sin
        new_second = first * self.sin + second * self.cos
        return concatenate([new_first, new_second, rest], axis=1)


def query_rotation(angles: Array | None, distance: int) -> QueryRotation | None:
    """Of queries that meet keys so many places before them; None where nothing turns."""
    if angles is None or len(angles) == 0 or distance == 0:
        return None
    with ctx.workprec(128):
        # A float times a distance below 2^75 is exact.
        turns = [arb(angle) * distance for angle in angles.tolist()]
        cos = [turn.cos() for turn in turns]
        sin = [turn.sin() for turn in turns]
    return QueryRotation(_to_balls(cos), _to_balls(sin))


def _to_balls(numbers: Sequence[arb]) -> Balls:
    """Numbers of size 1 or less: 2 u is what a middle and a radius lose as floats."""
    mids = [float(number.mid()) for number in numbers]
    rads = [float(number.rad()) + 2 * U for number in numbers]
    return Balls(np.array(mids), np.array(rads))


def query_vectors(layer: FirstLayer, head: int, place: int, tokens: Indices) -> Balls:
    """The queries of some tokens at a place."""
    return _vectors(layer, place, tokens, layer.queries[head])


def key_vectors(layer: FirstLayer, head: int, place: int) -> Balls:
    """The keys of all tokens at a place."""
    tokens = np.arange(len(layer.tokens))
    return _vectors(layer, place, tokens, layer.key_projection(head))


def _vectors(
    layer: FirstLayer, place: int, tokens: Indices, projection: Projection
) -> Balls:
    parts = []
    for start in range(0, len(tokens), TOKENS_AT_ONCE):
        x = _layer_input(layer, place, tokens[start : start + TOKENS_AT_ONCE])
        parts.append(_projected(x, projection))
    vectors = concatenate(parts)
    # Also false where a number or its radius is not finite.
    if not bool((np.abs(vectors.mid) + vectors.rad < LARGEST).all()):
        raise DoubtError(
            "the numbers of queries or keys are too large to be looked at in float64"
        )
    return vectors


def _layer_input(layer: FirstLayer, place: int, tokens: Indices) -> Balls:
    """What enters the projections: embedding and place, normed."""
    x = Balls.of(layer.embedding[tokens])
    if layer.always is not None:
        x = x + Balls.of(layer.always[None])
    if layer.places is not None:
        x = x + Balls.of(layer.places[place][None])
    return x if layer.norm is None else _normed(x, layer.norm)


def _normed(x: Balls, norm: VectorNorm) -> Balls:
    """(x - mean) / sqrt(mean of squares + eps) * gain + bias, entry by entry; `rms` takes no mean away."""
    if norm.kind == "layer":
        x = x - x.mean()
    mean_square = (x * x).mean() + Balls.of(np.array(norm.eps))
    if bool((mean_square.lower() <= SMALLEST_SQUARE).any()):
        raise DoubtError("a norm divides by next to nothing")
    # Each step is one of balls, whose radius holds its rounding.
    x = x * mean_square.inverse_sqrt() * Balls.of(norm.gain[None])
    return x if norm.bias is None else x + Balls.of(norm.bias[None])


def _projected(x: Balls, projection: Projection) -> Balls:
    y = x.matmul(projection.weight)
    if projection.bias is not None:
        y = y + Balls.of(projection.bias[None])
    return y if projection.norm is None else _normed(y, projection.norm)
