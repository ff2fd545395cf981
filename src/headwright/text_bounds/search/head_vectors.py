"""The heads of a first layer for the search: the vectors of tokens, in float64, with a bound on what rounding does.

- a sum of three addends errs by gamma_2 (|e| + |p| + |t|);
- x -> sqrt(D) x / sqrt(|x|^2 + D eps) is Lipschitz with sqrt(D) / sqrt(|x|^2 + D eps), and D + 8 roundings change the
  result relatively by gamma_(D + 8); taking the mean away first is a projection, and errs by 2 gamma_(D + 2) |x|;
- x W + b errs by |error of x| |W|_F + gamma_(D + 2) (|x| |W|_F + |b|).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from jaxtyping import Float

from headwright.errors import InputError
from headwright.numerics.balls import UP, U, gamma
from headwright.text_bounds.first_layer import FirstLayer, Projection, VectorNorm
from headwright.text_bounds.search.heads import (
    FirstLayerHead,
    PlacedHead,
    RotaryHead,
    TokenVectors,
)

ROWS_AT_ONCE = 512  # a block stays near the processor
KEY_BYTES = 2**29  # that a head with learned places holds, rather than make them again

Matrix = Float[np.ndarray, "rows columns"]
Row = Float[np.ndarray, " columns"]


def head_of(layer: FirstLayer, number: int, held: int = KEY_BYTES) -> FirstLayerHead:
    """One head, ready to be swept; with learned places it keeps so many bytes of keys, one place's at least."""
    if not 0 <= number < len(layer.queries):
        raise InputError(f"head {number}: expected 0 to {len(layer.queries) - 1}")
    query = layer.queries[number]
    key = layer.key_projection(number)
    if layer.places is not None:
        return _placed_head(layer, number, query, key, held)
    x = stream(layer, None)
    queries = _times(_projected(x, query), layer.scale)
    keys = _projected(x, key)
    if layer.angles is None:
        return PlacedHead(
            layer.tokens, lambda _: queries, lambda _: keys, layer.only_held, number
        )
    angles = np.asarray(layer.angles, dtype=np.float64)
    return RotaryHead(layer.tokens, queries, keys, angles, layer.only_held, number)


def _placed_head(
    layer: FirstLayer, number: int, query: Projection, key: Projection, held: int
) -> PlacedHead:
    places_kept = max(1, held // (len(layer.tokens) * key.weight.shape[1] * 8))
    at_query: Callable[[int], TokenVectors] = lru_cache(maxsize=2)(
        lambda place: _times(_projected(stream(layer, place), query), layer.scale)
    )
    at_key: Callable[[int], TokenVectors] = lru_cache(maxsize=places_kept)(
        lambda place: _projected(stream(layer, place), key)
    )
    return PlacedHead(layer.tokens, at_query, at_key, layer.only_held, number)


@lru_cache(maxsize=1)
def stream(layer: FirstLayer, place: int | None) -> TokenVectors:
    """What enters the projections of all heads, for every token: made once for heads that are asked one by one."""
    rows = layer.embedding
    size = float(_lengths(rows).max())
    learned = None if place is None or layer.places is None else layer.places[place]
    addends = [row for row in (layer.always, learned) if row is not None]
    if addends:
        rows = rows + sum(addends)
        size += sum(float(_lengths(addend[None])[0]) for addend in addends)
    error = gamma(2) * size * UP if addends else 0.0
    x = TokenVectors(rows, error)
    return x if layer.norm is None else _normed(x, layer.norm)


def _normed(x: TokenVectors, norm: VectorNorm) -> TokenVectors:
    width = x.rows.shape[1]
    widest = float(np.abs(norm.gain).max())
    error = x.error
    if norm.kind == "layer":
        error = (x.error + 2 * gamma(width + 2) * x.longest) * UP
    result = np.empty_like(x.rows)
    least = np.inf
    for start in range(0, len(x.rows), ROWS_AT_ONCE):
        block = slice(start, start + ROWS_AT_ONCE)
        rows = x.rows[block]
        if norm.kind == "layer":
            rows = rows - rows.mean(axis=1, keepdims=True)
        size = np.sqrt(np.einsum("ij,ij->i", rows, rows)[:, None] / width + norm.eps)
        # Where the exact row lies: its size is at least that of the computed one, less what it may be off.
        least = min(least, float(size.min()) * (1 - 2 * gamma(width + 8)) - error)
        if not least > 0:  # nor if it is no number
            raise InputError(
                "a token's vector is all but 0, and a norm divides by its length: leave that token out"
            )
        np.divide(rows, size, out=result[block])
        result[block] *= norm.gain
    moved = error / least * widest
    rounding = gamma(width + 8) * TokenVectors(result, 0.0).longest
    error = (moved + rounding) * UP
    if norm.bias is not None:
        result += norm.bias
        error = (error + U * TokenVectors(result, 0.0).longest) * UP
    return TokenVectors(result, error)


def _projected(x: TokenVectors, projection: Projection) -> TokenVectors:
    weight = projection.weight
    width = x.rows.shape[1]
    frobenius = float(np.sqrt((weight**2).sum())) * (1 + 2 * gamma(weight.size + 2))
    result = x.rows @ weight
    shift = 0.0
    if projection.bias is not None:
        result = result + projection.bias
        shift = float(_lengths(projection.bias[None])[0])
    rounding = gamma(width + 2) * (x.longest * frobenius + shift)
    projected = TokenVectors(result, (x.error * frobenius + rounding) * UP)
    return projected if projection.norm is None else _normed(projected, projection.norm)


def _times(x: TokenVectors, scale: float) -> TokenVectors:
    error = (x.error * abs(scale) + U * x.longest * abs(scale)) * UP
    return TokenVectors(x.rows * scale, error)


def _lengths(rows: Matrix) -> Row:
    """Not below the lengths of rows."""
    rounding = 1 + 2 * gamma(rows.shape[1] + 4)
    lengths: Row = np.sqrt(np.einsum("ij,ij->i", rows, rows)) * rounding
    return lengths
