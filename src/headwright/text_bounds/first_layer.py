"""The first layer of a model as numbers: all that decides the scores of its heads.

A token's vector is its embedding, plus that of its place where places are learned, normed; queries and keys are linear
in it (with a bias, perhaps normed again), keys of rotary models turn with their place. The weights are taken as exact
numbers. The search computes vectors from them in `search.head_vectors`, the checker in `checker.vectors`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Int

from headwright.errors import InputError

Row = Float[np.ndarray, " columns"]
OTHER_NUMBERS = (  # of a layer, in the order in which they are digested
    "scale",
    "places",
    "always",
    "angles",
    "opening",
    "closing",
    "causal",
    "window",
    "only_held",
)


@dataclass(frozen=True, eq=False)
class VectorNorm:
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
    norm: VectorNorm | None = None


@dataclass(frozen=True, eq=False)
class FirstLayer:
    """All that decides the scores of the first layer. Numbers are exact: what the model holds, as float64.

    Tokens are counted by their index in `tokens`: first the `free` ones, which any place may hold, then `only_held`
    special ones, which stand where the model's texts have them.
    """

    tokens: Int[np.ndarray, " tokens"]  # ids
    embedding: Float[np.ndarray, "tokens width"]  # of these
    queries: tuple[Projection, ...]
    keys: tuple[Projection, ...]  # fewer where heads share them
    scale: float
    norm: VectorNorm | None = None
    places: Float[np.ndarray, "places width"] | None = None  # learned positions
    always: Row | None = None  # added to every embedding: BERT's token type
    angles: Row | None = None  # rotary: how far a pair turns from place to place
    only_held: int = 0
    opening: tuple[int, ...] = ()  # ids that every text begins with
    closing: tuple[int, ...] = ()  # and ends with
    causal: bool = True
    window: int | None = None
    # The angles are those of this length, and others in shorter texts: so in a cache, too.
    one_pass: bool = False
    # Positions that the model has, or was made for; a text has no more tokens.
    longest: int | None = None

    def __post_init__(self) -> None:
        if len(self.tokens) != len(self.embedding) or not len(self.tokens):
            raise InputError(
                f"{len(self.tokens)} tokens and {len(self.embedding)} embeddings: expected one for each"
            )
        if not self.keys or len(self.queries) % len(self.keys):
            raise InputError(
                f"{len(self.queries)} heads and {len(self.keys)} key heads: expected a divisor"
            )
        for name, array in self.arrays():
            if not np.isfinite(array).all():
                raise InputError(
                    f"{name} of the first layer has a number that is not finite: nothing is proved of "
                    "such weights"
                )

    @property
    def free(self) -> int:
        """How many tokens any place may hold."""
        return len(self.tokens) - self.only_held

    @property
    def positions(self) -> int | None:
        """The most tokens that a text may have; None if any number."""
        learned = None if self.places is None else len(self.places)
        limits = [limit for limit in (self.longest, learned) if limit is not None]
        return min(limits, default=None)

    def key_projection(self, head: int) -> Projection:
        """The keys that a head meets: neighbouring heads may share them."""
        return self.keys[head * len(self.keys) // len(self.queries)]

    def arrays(self) -> Iterator[tuple[str, Any]]:
        """All numbers that decide the scores, by name, in a fixed order."""
        yield "tokens", self.tokens
        yield "embedding", self.embedding
        yield from _norm_arrays("norm", self.norm)
        for kind, projections in (("query", self.queries), ("key", self.keys)):
            for number, projection in enumerate(projections):
                yield f"{kind} {number}", projection.weight
                if projection.bias is not None:
                    yield f"{kind} {number} bias", projection.bias
                yield from _norm_arrays(f"{kind} {number} norm", projection.norm)
        for name in OTHER_NUMBERS:
            if getattr(self, name) is not None:
                yield name, getattr(self, name)


def _norm_arrays(name: str, norm: VectorNorm | None) -> Iterator[tuple[str, Any]]:
    if norm is None:
        return
    yield f"{name} {norm.kind} gain", norm.gain
    yield f"{name} eps", norm.eps
    if norm.bias is not None:
        yield f"{name} bias", norm.bias


def token_indices(
    layer: FirstLayer, token_ids: Sequence[int]
) -> Int[np.ndarray, " tokens"]:
    """Token ids as a layer counts them; refused if a text may not hold one."""
    index = {int(token): at for at, token in enumerate(layer.tokens[: layer.free])}
    missing = [token for token in token_ids if token not in index]
    if missing:
        raise InputError(f"token {missing[0]} is not one that a text may hold")
    if not len(token_ids):
        raise InputError("no query token that a text may hold: expected at least one")
    return np.array([index[token] for token in token_ids])
