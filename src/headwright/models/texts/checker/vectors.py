"""The queries and keys of tokens at places, from the weights, each number with a bound on its error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import arb, ctx

from headwright.models.texts.checker.error_bounds import UNIT, Array, DoubtError, Indices, Known
from headwright.models.texts.first_layer import FirstLayer, Norm, Projection

AT_ONCE = 512  # tokens
LARGEST = 2.0**400  # no product of two such numbers, nor a sum of many products, is beyond float64


@dataclass(frozen=True, eq=False)
class Turns:
    """Cosines and sines by which pairs (i, i + half) of a query turn; the rest stays."""

    cos: Known
    sin: Known

    def turned(self, query: Known) -> Known:
        """Each query."""
        half = len(self.cos.mid)
        a, b = (Known(query.mid[:, part], query.off[:, part]) for part in (slice(0, half), slice(half, 2 * half)))
        first = a.times(self.cos).plus(b.times(self.sin.negated()))
        second = a.times(self.sin).plus(b.times(self.cos))
        rest = slice(2 * half, None)
        mids, offs = (first.mid, second.mid, query.mid[:, rest]), (first.off, second.off, query.off[:, rest])
        return Known(np.hstack(mids), np.hstack(offs))


def turns(angles: Array | None, distance: int) -> Turns | None:
    """Of queries that meet keys so many places before them; None where nothing turns."""
    if angles is None or len(angles) == 0 or distance == 0:
        return None
    with ctx.workprec(128):
        found = [((arb(angle) * distance).cos(), (arb(angle) * distance).sin()) for angle in angles.tolist()]
    cos, sin = (
        # A ball's radius, and what the middle, at most 1, loses as a float.
        Known(np.array([float(t[i].mid()) for t in found]), np.array([float(t[i].rad()) + 2 * UNIT for t in found]))
        for i in (0, 1)
    )
    return Turns(cos, sin)


def queries(layer: FirstLayer, head: int, place: int, which: Indices) -> Known:
    """Of some tokens at a place."""
    return _vectors(layer, place, which, layer.queries[head])


def keys(layer: FirstLayer, head: int, place: int) -> Known:
    """Of all tokens at a place."""
    shared = layer.keys[head * len(layer.keys) // len(layer.queries)]
    return _vectors(layer, place, np.arange(len(layer.tokens)), shared)


def _vectors(layer: FirstLayer, place: int, which: Indices, by: Projection) -> Known:
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is found below
        parts = [
            _projected(_stream(layer, place, which[start : start + AT_ONCE]), by)
            for start in range(0, len(which), AT_ONCE)
        ]
    found = Known(np.concatenate([part.mid for part in parts]), np.concatenate([part.off for part in parts]))
    if not bool((np.abs(found.mid) + found.off < LARGEST).all()):
        raise DoubtError("the numbers of queries or keys are too large to be looked at in float64")
    return found


def _stream(layer: FirstLayer, place: int, which: Indices) -> Known:
    x = Known.exactly(layer.embedding[which])
    if layer.always is not None:
        x = x.plus(Known.exactly(layer.always[None]))
    if layer.places is not None:
        x = x.plus(Known.exactly(layer.places[place][None]))
    return x if layer.norm is None else _normed(x, layer.norm)


def _normed(x: Known, norm: Norm) -> Known:
    if norm.kind == "layer":
        x = x.plus(x.mean().negated())
    size = x.times(x).mean().plus(Known.exactly(np.array(norm.eps)))
    x = x.times(size.one_over_root()).times(Known.exactly(norm.gain[None]))
    return x if norm.bias is None else x.plus(Known.exactly(norm.bias[None]))


def _projected(x: Known, by: Projection) -> Known:
    y = x.matmul(by.weight)
    if by.bias is not None:
        y = y.plus(Known.exactly(by.bias[None]))
    return y if by.norm is None else _normed(y, by.norm)


def scaled(ends: Array, scale: float) -> Array:
    """Times a scale above 0, rounded up twice: once for the sum before, once for the product."""
    with np.errstate(over="ignore"):  # infinity is above everything, and proves nothing
        found: Array = np.nextafter(np.nextafter(ends, np.inf) * scale, np.inf)
    return found
