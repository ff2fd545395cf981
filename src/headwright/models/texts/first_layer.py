"""The first layer of a model as numbers, and its heads.

A token's vector is its embedding, plus that of its place where places are learned, normed; queries and keys are linear
in it (with a bias, perhaps normed again), keys of rotary models turn with their place. The weights are taken as exact
numbers, and everything is computed in float64 with a bound on what rounding does:

- a sum of three addends errs by gamma_2 (|e| + |p| + |t|);
- x -> sqrt(D) x / sqrt(|x|^2 + D eps) is Lipschitz with sqrt(D) / sqrt(|x|^2 + D eps), and D + 8 roundings change the
  result relatively by gamma_(D + 8); taking the mean away first is a projection, and errs by 2 gamma_(D + 2) |x|;
- x W + b errs by |error of x| |W|_F + gamma_(D + 2) (|x| |W|_F + |b|).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Int

from headwright.errors import InputError
from headwright.fast.balls import UP, U, gamma
from headwright.models.texts.head import Head, Placed, Rotary, Texts, Vectors

NEAR = 512  # rows at once
HELD = 2**29  # bytes of keys that a head with learned places holds, rather than make them again

Matrix = Float[np.ndarray, "rows columns"]
Row = Float[np.ndarray, " columns"]


@dataclass(frozen=True, eq=False)
class Norm:
    """What a vector goes through: `rms` divides by its root mean square, `layer` takes its mean away before that."""

    kind: Literal["rms", "layer"]
    gain: Row
    bias: Row | None = None
    eps: float = 0.0


@dataclass(frozen=True, eq=False)
class Projection:
    """Queries or keys of one head: x W + b, perhaps normed."""

    weight: Float[np.ndarray, "width d"]
    bias: Row | None = None
    norm: Norm | None = None


@dataclass(frozen=True, eq=False)
class FirstLayer:
    """All that decides the scores of the first layer. Numbers are exact: what the model holds, as float64."""

    tokens: Int[np.ndarray, " tokens"]  # ids: those that any place may hold, then `only_held` that stand where they are
    embedding: Float[np.ndarray, "tokens width"]  # of these
    queries: tuple[Projection, ...]
    keys: tuple[Projection, ...]  # fewer where heads share them
    scale: float
    norm: Norm | None = None
    places: Float[np.ndarray, "places width"] | None = None  # learned positions
    always: Row | None = None  # added to every embedding: BERT's token type
    angles: Row | None = None  # rotary: by how much a pair turns from one place to the next
    only_held: int = 0
    opening: tuple[int, ...] = ()  # ids that every text begins with
    closing: tuple[int, ...] = ()  # and ends with
    causal: bool = True
    window: int | None = None
    one_pass: bool = False  # angles are those of this length, and others in shorter texts: so in a cache, too
    longest: int | None = None  # positions that the model has, or was made for; a text has no more tokens

    def __post_init__(self) -> None:
        if len(self.tokens) != len(self.embedding) or not len(self.tokens):
            raise InputError(f"{len(self.tokens)} tokens and {len(self.embedding)} embeddings: expected one for each")
        if not self.keys or len(self.queries) % len(self.keys):
            raise InputError(f"{len(self.queries)} heads and {len(self.keys)} key heads: expected a divisor")
        for name, array in self.arrays():
            if not np.isfinite(array).all():
                raise InputError(f"{name} of the first layer has a number that is not finite: nothing is proved of "
                                 "such weights")  # fmt: skip

    @property
    def positions(self) -> int | None:
        """The most tokens that a text may have; None if any number."""
        known = [most for most in (self.longest, None if self.places is None else len(self.places)) if most is not None]
        return min(known, default=None)

    def arrays(self) -> Iterator[tuple[str, Any]]:
        """All numbers that decide the scores, by name, in a fixed order."""
        yield from (("tokens", self.tokens), ("embedding", self.embedding), *_norm_arrays("norm", self.norm))
        for kind, projections in (("query", self.queries), ("key", self.keys)):
            for number, each in enumerate(projections):
                yield f"{kind} {number}", each.weight
                if each.bias is not None:
                    yield f"{kind} {number} bias", each.bias
                yield from _norm_arrays(f"{kind} {number} norm", each.norm)
        for name in ("scale", "places", "always", "angles", "opening", "closing", "causal", "window", "only_held"):
            if getattr(self, name) is not None:
                yield name, getattr(self, name)


def _norm_arrays(name: str, norm: Norm | None) -> Iterator[tuple[str, Any]]:
    if norm is not None:
        yield f"{name} {norm.kind} gain", norm.gain
        yield f"{name} eps", norm.eps
        if norm.bias is not None:
            yield f"{name} bias", norm.bias


def head_of(layer: FirstLayer, number: int, held: int = HELD) -> Head:
    """One head, ready to be swept; with learned places it keeps so many bytes of keys, one place's at least."""
    if not 0 <= number < len(layer.queries):
        raise InputError(f"head {number}: expected 0 to {len(layer.queries) - 1}")
    query, key = layer.queries[number], layer.keys[number * len(layer.keys) // len(layer.queries)]
    if layer.places is None:
        x = stream(layer, None)
        queries, keys = _times(_projected(x, query), layer.scale), _projected(x, key)
        if layer.angles is not None:
            return Rotary(
                layer.tokens, queries, keys, np.asarray(layer.angles, dtype=np.float64), layer.only_held, number
            )
        return Placed(layer.tokens, lambda _: queries, lambda _: keys, layer.only_held, number)
    at_once = max(1, held // (len(layer.tokens) * key.weight.shape[1] * 8))

    at_query: Callable[[int], Vectors] = lru_cache(maxsize=2)(
        lambda place: _times(_projected(stream(layer, place), query), layer.scale)
    )
    at_key: Callable[[int], Vectors] = lru_cache(maxsize=at_once)(lambda place: _projected(stream(layer, place), key))
    return Placed(layer.tokens, at_query, at_key, layer.only_held, number)


def texts_of(layer: FirstLayer, length: int, place: int | None = None) -> Texts:
    """All texts of a length, with special tokens, seen from a place: the last that is not special unless given."""
    special, least = len(layer.opening) + len(layer.closing), _shortest(layer)
    most = layer.positions
    if length < least or (most is not None and length > most):
        reach = f"{least} to {most}" if most is not None else f"{least} or more"
        kept = f", of which {special} {'is' if special == 1 else 'are'} special" if special else ""
        raise InputError(f"texts of {length} tokens: expected {reach}{kept}")
    at = {int(token): index for index, token in enumerate(layer.tokens)}
    first = length - len(layer.closing)
    held = {place: at[token] for place, token in enumerate(layer.opening)}
    held |= {first + place: at[token] for place, token in enumerate(layer.closing)}
    return Texts(length, first - 1 if place is None else place, held, layer.causal, layer.window)


def _shortest(layer: FirstLayer) -> int:
    """The least number of tokens of a text that says anything: the query, and one place more."""
    return len(layer.opening) + len(layer.closing) + (1 if layer.opening else 2)


@lru_cache(maxsize=1)
def stream(layer: FirstLayer, place: int | None) -> Vectors:
    """What enters the projections of all heads, for every token: made once for heads that are asked one by one."""
    rows, size = layer.embedding, float(_lengths(layer.embedding).max())
    added = [layer.always, None if place is None or layer.places is None else layer.places[place]]
    more = [each for each in added if each is not None]
    if more:
        rows, size = rows + sum(more), size + sum(float(_lengths(each[None])[0]) for each in more)
    x = Vectors(rows, 0.0 if rows is layer.embedding else gamma(2) * size * UP)
    return x if layer.norm is None else _normed(x, layer.norm)


def _normed(x: Vectors, norm: Norm) -> Vectors:
    width, widest = x.rows.shape[1], float(np.abs(norm.gain).max())
    error = x.error if norm.kind == "rms" else (x.error + 2 * gamma(width + 2) * x.longest) * UP
    result, least = np.empty_like(x.rows), np.inf
    for start in range(0, len(x.rows), NEAR):  # a block at a time stays near the processor
        rows = x.rows[start : start + NEAR]
        if norm.kind == "layer":
            rows = rows - rows.mean(axis=1, keepdims=True)
        size = np.sqrt(np.einsum("ij,ij->i", rows, rows)[:, None] / width + norm.eps)
        # Where the exact row lies: its size is at least that of the computed one, less what it may be off.
        least = min(least, float(size.min()) * (1 - 2 * gamma(width + 8)) - error)
        if not least > 0:  # nor if it is no number
            raise InputError("a token's vector is all but 0, and a norm divides by its length: leave that token out")
        part = np.divide(rows, size, out=result[start : start + NEAR])
        part *= norm.gain
    error = (error / least * widest + gamma(width + 8) * Vectors(result, 0.0).longest) * UP
    if norm.bias is not None:
        result += norm.bias
        error = (error + U * Vectors(result, 0.0).longest) * UP
    return Vectors(result, error)


def _projected(x: Vectors, by: Projection) -> Vectors:
    width = x.rows.shape[1]
    size = float(np.sqrt((by.weight**2).sum())) * (1 + 2 * gamma(by.weight.size + 2))
    result, shift = x.rows @ by.weight, 0.0
    if by.bias is not None:
        result, shift = result + by.bias, float(_lengths(by.bias[None])[0])
    found = Vectors(result, (x.error * size + gamma(width + 2) * (x.longest * size + shift)) * UP)
    return found if by.norm is None else _normed(found, by.norm)


def _times(x: Vectors, scale: float) -> Vectors:
    return Vectors(x.rows * scale, (x.error * abs(scale) + U * x.longest * abs(scale)) * UP)


def _lengths(rows: Matrix) -> Row:
    """Not below the lengths of rows."""
    found: Row = np.sqrt(np.einsum("ij,ij->i", rows, rows)) * (1 + 2 * gamma(rows.shape[1] + 4))
    return found
