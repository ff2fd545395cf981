"""Is a statement about every text true? Looked at again from the weights, by arithmetic of its own.

It shares nothing with what found the statement but the numbers of the first layer. Vectors are pairs of arrays: numbers
and, for each, a bound on how far it is from the exact one, carried through every step entry by entry (the search bounds
whole vectors by their lengths). Sines, cosines and the final sums are balls of 128 bits. Every token is tried at every
free place, for every query token that the statement is about: one pass over vocabulary x vocabulary x places.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, ctx
from jaxtyping import Float, Int

from headwright.audit.texts.certificate import Statement, tokens_digest, weights_digest
from headwright.audit.texts.first import FirstLayer, Norm, Projection
from headwright.errors import InputError

UNIT = 2.0**-53
BLOCK = 512  # query tokens at once
LONGEST = 2**20  # tokens of a text: a certificate may ask for any number

Array = Float[np.ndarray, "..."]
Indices = Int[np.ndarray, " tokens"]


class DoubtError(InputError):
    """Why the statement is not accepted."""


@dataclass(frozen=True, eq=False)
class Known:
    """Each exact number is within `off` of `mid`."""

    mid: Array
    off: Array

    @classmethod
    def exactly(cls, numbers: Array) -> Known:
        """Numbers that are what they are."""
        numbers = np.asarray(numbers, dtype=np.float64)
        return cls(numbers, np.zeros_like(numbers))

    def plus(self, other: Known) -> Known:
        """Entry by entry."""
        mid = self.mid + other.mid
        return Known(mid, (self.off + other.off + UNIT * np.abs(mid)) * (1 + 8 * UNIT))

    def times(self, other: Known) -> Known:
        """Entry by entry."""
        mid = self.mid * other.mid
        off = np.abs(self.mid) * other.off + np.abs(other.mid) * self.off + self.off * other.off
        return Known(mid, (off + UNIT * np.abs(mid)) * (1 + 16 * UNIT) + 1e-300)

    def mean(self) -> Known:
        """Over the last axis, kept: a sum of n numbers in any order errs by n units of the sum of their sizes."""
        n = self.mid.shape[-1]
        off = (self.off.sum(-1, keepdims=True) + (n + 1) * UNIT * np.abs(self.mid).sum(-1, keepdims=True)) / n
        return Known(self.mid.mean(-1, keepdims=True), off * (1 + 4 * n * UNIT) + 1e-300)

    def matmul(self, matrix: Array) -> Known:
        """With a matrix of exact numbers."""
        n = matrix.shape[0]
        size = np.abs(matrix)
        off = self.off @ size + (n + 1) * UNIT * ((np.abs(self.mid) + self.off) @ size)
        return Known(self.mid @ matrix, off * (1 + 4 * n * UNIT) + 1e-300)

    def one_over_root(self) -> Known:
        """1 / sqrt of numbers that are certainly above 0: its slope is largest at the lowest of them."""
        low = self.mid - self.off
        if not bool((low > 0).all()):
            raise DoubtError("a norm divides by next to nothing")
        mid = 1 / np.sqrt(self.mid)
        return Known(mid, (self.off / (2 * low * np.sqrt(low)) + 4 * UNIT * mid) * (1 + 16 * UNIT))

    def rows(self, which: slice | Indices) -> Known:
        """Some of them."""
        return Known(self.mid[which], self.off[which])


def check(statement: Statement, layer: FirstLayer) -> None:
    """Raises a DoubtError with the reason if the statement is not certainly true of these weights."""
    _same(statement, layer)
    if layer.scale <= 0:
        raise DoubtError("the scale of its scores is not above 0, which is not checked here")
    if not 0 <= statement.head < len(layer.queries):
        raise DoubtError(f"there is no head {statement.head}")
    free = len(layer.tokens) - layer.only_held
    seen, (asking, beside) = _seen(statement, layer), _rows(statement, layer, free)
    at = {int(token): index for index, token in enumerate(layer.tokens)}
    query = _vectors(layer, statement.place, asking, layer.queries[statement.head])
    shared = layer.keys[statement.head * len(layer.keys) // len(layer.queries)]
    everyone, key = np.arange(len(layer.tokens)), None
    low, high = np.empty((2, len(seen), len(asking)))
    for line, place in enumerate(seen):
        if key is None or layer.places is not None:  # without learned places, a key is the same everywhere
            key = _vectors(layer, place, everyone, shared)
        for start in range(0, len(asking), BLOCK):
            some = slice(start, start + BLOCK)
            turned = _turned(layer, query.rows(some), statement.place - place)
            if place == statement.place:
                ends = _fixed(turned, key.rows(asking[some]), layer.scale)
            elif place in statement.held:
                ends = _fixed(turned, key.rows(np.full(len(turned.mid), at[statement.held[place]])), layer.scale)
            elif beside is not None and place in statement.places:
                ends = _fixed(turned, key.rows(beside[some]), layer.scale)
            else:
                ends = _over_all(turned, key.rows(slice(0, free)), layer.scale)
            low[line, some], high[line, some] = ends
    inside, bound = [place in statement.places for place in seen], Fraction(statement.bound)
    for row in range(len(asking)):
        _look(statement, list(zip(low[:, row], high[:, row], strict=True)), inside, bound)


def _rows(statement: Statement, layer: FirstLayer, free: int) -> tuple[Indices, Indices | None]:
    """The query tokens that it is about, as they are counted; and, for pairs, the tokens at the place asked about."""
    at = {int(token): index for index, token in enumerate(layer.tokens[:free])}
    for token in [
        *([] if statement.query is None else [statement.query]),
        *(t for pair in statement.pairs for t in pair),
    ]:
        if token not in at:
            raise DoubtError(f"token {token} is not one that a text may hold")
    if not statement.pairs:
        return (np.arange(free) if statement.query is None else np.array([at[statement.query]])), None
    if statement.query is not None:
        raise DoubtError("it is about one query token and about pairs: expected one of these")
    where = statement.places
    if len(where) != 1 or where[0] == statement.place or where[0] in statement.held:
        raise DoubtError(f"places {list(where)}: expected one that may hold any token, for pairs")
    first, second = np.array([[at[a], at[b]] for a, b in statement.pairs]).T
    return first, second


def _vectors(layer: FirstLayer, place: int, which: Indices, by: Projection) -> Known:
    """Queries or keys of some tokens, some at a time."""
    parts = [
        _projected(_stream(layer, place, which[start : start + BLOCK]), by) for start in range(0, len(which), BLOCK)
    ]
    return Known(np.concatenate([part.mid for part in parts]), np.concatenate([part.off for part in parts]))


def _same(statement: Statement, layer: FirstLayer) -> None:
    if weights_digest(layer) != statement.weights:
        raise DoubtError("it is about other weights than those given")
    if tokens_digest(layer) != statement.tokens or len(layer.tokens) - layer.only_held != statement.choices:
        raise DoubtError("it is about other tokens than those that the model's texts may hold")
    ending = statement.length - len(layer.closing)
    held = dict(enumerate(layer.opening)) | {ending + place: token for place, token in enumerate(layer.closing)}
    if statement.held != held:
        raise DoubtError("it holds other tokens fixed than the model's texts do")


def _seen(statement: Statement, layer: FirstLayer) -> list[int]:
    has = layer.positions
    if has is not None and statement.length > has:
        raise DoubtError(f"it is about texts of {statement.length} tokens, and the model has {has} positions")
    if statement.length > LONGEST:
        raise DoubtError(f"it is about texts of {statement.length} tokens, and no more than {LONGEST} are looked at")
    if not 0 <= statement.place < statement.length:
        raise DoubtError(f"there is no place {statement.place} in texts of {statement.length} tokens")
    if statement.place in statement.held:
        raise DoubtError(f"place {statement.place} is held by a special token, and is no place to see from")
    places = range(statement.length)
    seen = [
        place for place in places
        if (not layer.causal or place <= statement.place)
        and (layer.window is None or abs(place - statement.place) < layer.window)
    ]  # fmt: skip
    if (
        not statement.places
        or not set(statement.places) <= set(seen)
        or len(set(statement.places)) < len(statement.places)
    ):
        raise DoubtError(f"places {list(statement.places)}: expected different ones that are seen")
    return seen


def _stream(layer: FirstLayer, place: int, which: Indices) -> Known:
    x = Known.exactly(layer.embedding[which])
    if layer.always is not None:
        x = x.plus(Known.exactly(layer.always[None]))
    if layer.places is not None:
        x = x.plus(Known.exactly(layer.places[place][None]))
    return x if layer.norm is None else _normed(x, layer.norm)


def _normed(x: Known, norm: Norm) -> Known:
    if norm.kind == "layer":
        mean = x.mean()
        x = x.plus(Known(-mean.mid, mean.off))
    size = x.times(x).mean().plus(Known.exactly(np.array(norm.eps)))
    x = x.times(size.one_over_root()).times(Known.exactly(norm.gain[None]))
    return x if norm.bias is None else x.plus(Known.exactly(norm.bias[None]))


def _projected(x: Known, by: Projection) -> Known:
    y = x.matmul(by.weight)
    if by.bias is not None:
        y = y.plus(Known.exactly(by.bias[None]))
    return y if by.norm is None else _normed(y, by.norm)


def _turned(layer: FirstLayer, query: Known, distance: int) -> Known:
    if layer.angles is None or distance == 0:
        return query
    half = len(layer.angles)
    with ctx.workprec(128):
        turns = [((arb(angle) * distance).cos(), (arb(angle) * distance).sin()) for angle in layer.angles.tolist()]
    cos, sin = (Known(np.array([float(t[i].mid()) for t in turns]), np.full(half, 2 * UNIT)) for i in (0, 1))
    minus = Known(-sin.mid, sin.off)
    a, b = (Known(query.mid[:, part], query.off[:, part]) for part in (slice(0, half), slice(half, 2 * half)))
    first, second = a.times(cos).plus(b.times(minus)), a.times(sin).plus(b.times(cos))
    rest = slice(2 * half, None)
    mids, offs = (first.mid, second.mid, query.mid[:, rest]), (first.off, second.off, query.off[:, rest])
    return Known(np.hstack(mids), np.hstack(offs))


def _over_all(query: Known, key: Known, scale: float) -> tuple[Array, Array]:
    """For each query: not above its lowest score with any of the keys, and not below its highest."""
    d = query.mid.shape[1]
    scores = query.mid @ key.mid.T
    size = (np.abs(query.mid) + query.off) @ (np.abs(key.mid) + key.off).T
    off = query.off @ np.abs(key.mid).T + (np.abs(query.mid) + query.off) @ key.off.T + (d + 2) * UNIT * size
    off = off * (1 + 8 * d * UNIT) + 1e-300
    low, high = (
        ((scores - off).min(1), (scores + off).max(1)) if scale >= 0 else ((scores + off).max(1), (scores - off).min(1))
    )
    return _scaled(low, scale, -np.inf), _scaled(high, scale, np.inf)


def _fixed(query: Known, key: Known, scale: float) -> tuple[Array, Array]:
    n = query.mid.shape[1]
    product = query.times(key)
    score = product.mid.sum(1)
    off = (product.off.sum(1) + (n + 1) * UNIT * np.abs(product.mid).sum(1)) * (1 + 8 * n * UNIT) + 1e-300
    return _scaled(score - off, scale, -np.inf), _scaled(score + off, scale, np.inf)


def _scaled(ends: Array, scale: float, side: float) -> Array:
    """Times the scale, rounded to one side twice: once for the sum before, once for the product."""
    found: Array = np.nextafter(np.nextafter(ends, side) * scale, side)
    return found


def _look(statement: Statement, scores: list[tuple[float, float]], inside: list[bool], bound: Fraction) -> None:
    """The weight is least with the places asked about at their lowest, the others at their highest; or the reverse."""
    least = statement.extreme == "least"
    with ctx.workprec(128):
        terms = [
            arb(float(low if mine == least else high)).exp() for (low, high), mine in zip(scores, inside, strict=True)
        ]
        whole = sum(terms, arb(0))
        asked = sum((term for term, mine in zip(terms, inside, strict=True) if mine), arb(0))
        limit = arb(bound.numerator) / bound.denominator
        holds = bool(asked >= limit * whole) if least else bool(asked <= limit * whole)
    if not holds:
        raise DoubtError(f"for one query token the weight may be {'less' if least else 'more'} than {statement.bound}")
