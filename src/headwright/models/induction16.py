"""The second model that is built in: 16 tokens, two layers of one attention head each, learned positions, nothing else.

    x_i = embed[token_i] + place[i]
    each layer:  q = x_i query,  k = x_j key,  v = x_j value;  x += (softmax(<q, k> / sqrt(d)) v) output         causal
    logits = x unembed                                                                           no norms, no biases

It is small enough that statements about its next token can be proved for every text of up to 10 tokens. A text of it is
letters from a to p. Written by training/induction16.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Float

from headwright.errors import InputError
from headwright.models.attention_only import (
    AttentionOnlyModel,
    OfHeads,
    Residual,
    read_packaged_weights,
)
from headwright.models.model import (
    Circuits,
    Tokens,
    checked_tokens,
)

NAME16 = "builtin:induction16"
LETTERS = "abcdefghijklmnop"


@dataclass(frozen=True, eq=False)
class Induction16(AttentionOnlyModel):
    """A model of that kind; `induction16_model()` reads the one in the package."""

    digest: str
    embed: Float[np.ndarray, "tokens width"]
    place: Float[np.ndarray, "places width"]
    query: Float[np.ndarray, "layers width d"]
    key: Float[np.ndarray, "layers width d"]
    value: Float[np.ndarray, "layers width d"]
    output: Float[np.ndarray, "layers d width"]
    unembed: Float[np.ndarray, "width tokens"]
    name: str = NAME16
    settings: str = "float64 cpu"
    heads: int = 1

    def __repr__(self) -> str:
        """The name and the sizes, not the weights."""
        return f"{self.name}: {self.layers} layers of one head"

    @property
    def layers(self) -> int:
        """How many there are."""
        return len(self.query)

    @property
    def max_length(self) -> int:
        """As many as there are positions."""
        return len(self.place)

    def encode(self, text: str) -> Tokens:
        """One token a letter; spaces are left out, and any other character is refused."""
        letters = "".join(text.split()).casefold()
        if wrong := [letter for letter in letters if letter not in LETTERS]:
            raise InputError(
                f"{self.name} has no token for {wrong[0]!r}: expected letters from a to p"
            )
        return np.array([LETTERS.index(letter) for letter in letters], dtype=np.int64)

    def token_strings(self, tokens: Tokens) -> Sequence[str]:
        """The letters."""
        return [
            LETTERS[token] for token in checked_tokens(tokens, len(self.embed), None)
        ]

    def regular_tokens(self) -> Tokens:
        """All of them."""
        return np.arange(len(self.embed))

    def unknown_tokens(self) -> Tokens:
        """None: what it has no letter for is refused."""
        return np.array([], dtype=np.int64)

    def bos_tokens(self) -> Tokens:
        """None: any token may be the first."""
        return np.array([], dtype=np.int64)

    def circuits(self, layer: int) -> Circuits:
        """The parameters of a layer's head."""
        if not 0 <= layer < self.layers:
            raise InputError(
                f"layer {layer} of {self.name}: expected 0 to {self.layers - 1}"
            )
        return Circuits(
            self.query[layer][None],
            self.key[layer][None],
            self.value[layer][None],
            self.output[layer][None],
        )

    def _start(self, tokens: Tokens) -> Residual:
        ids = checked_tokens(tokens, len(self.embed), self.max_length)
        return np.asarray(self.embed[ids] + self.place[: len(ids)])

    def _projections(self, layer: int, x: Residual) -> tuple[OfHeads, OfHeads, OfHeads]:
        # The one head as an axis of length 1.
        queries = (x @ self.query[layer])[None]
        keys = (x @ self.key[layer])[None]
        return queries, keys, (x @ self.value[layer])[None]

    def _outputs(self, layer: int) -> Float[np.ndarray, "heads d width"]:
        return np.asarray(self.output[layer][None])


@cache
def induction16_model() -> Induction16:
    """The model in the package."""
    weights = read_packaged_weights("induction16.safetensors")
    return Induction16(weights.digest, **weights.arrays)
