"""The second model that is built in: 16 tokens, two layers of one attention head each, learned positions, nothing else.

    x_i = embed[token_i] + place[i]
    each layer:  q = x_i query,  k = x_j key,  v = x_j value;  x += (softmax(<q, k> / sqrt(d)) v) output         causal
    logits = x unembed                                                                           no norms, no biases

It is small enough that statements about its next token can be proved for every text of up to 10 tokens. A text of it is
letters from a to p. Written by training/induction16.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from jaxtyping import Float

from headwright.attention import causal, output, pattern, scores
from headwright.errors import InputError
from headwright.models.model import (
    Circuits,
    LayerActivations,
    LayerVisitor,
    Tokens,
    all_layers,
    checked_tokens,
)
from headwright.statistics.attention_config import AttentionConfig

NAME16 = "builtin:induction16"
LETTERS = "abcdefghijklmnop"


@dataclass(frozen=True, eq=False)
class Induction16:
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

    def visit_layers(
        self, tokens: Tokens, visit: LayerVisitor, last: int | None = None
    ) -> None:
        """Run the two layers."""
        x = self._start(tokens)
        for index in range(self.layers):
            layer = self._layer(index, x)
            visit(layer)
            if index == last:
                return
            x = self._after(layer, x)

    def run(self, tokens: Tokens) -> list[LayerActivations]:
        """The two layers."""
        return all_layers(self, tokens)

    def logits(self, tokens: Tokens) -> Float[np.ndarray, "places tokens"]:
        """The scores of the next token at each place; only those at the last place were trained."""
        x = self._start(tokens)
        for index in range(self.layers):
            x = self._after(self._layer(index, x), x)
        return np.asarray(x @ self.unembed)

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

    def _start(self, tokens: Tokens) -> Float[np.ndarray, "places width"]:
        ids = checked_tokens(tokens, len(self.embed), self.max_length)
        return np.asarray(self.embed[ids] + self.place[: len(ids)])

    def _layer(
        self, index: int, x: Float[np.ndarray, "places width"]
    ) -> LayerActivations:
        q, k, v = (
            (x @ matrix[index])[None] for matrix in (self.query, self.key, self.value)
        )
        return LayerActivations(
            index, q, k, v, AttentionConfig.of(q.shape, k.shape, causal=True)
        )

    def _after(
        self, layer: LayerActivations, x: Float[np.ndarray, "places width"]
    ) -> Float[np.ndarray, "places width"]:
        s = scores(layer.keys, layer.queries, scale=layer.scoring.scale)
        after: Float[np.ndarray, "places width"] = (
            x
            + (output(pattern(s, causal(s)), layer.values) @ self.output[layer.index])[
                0
            ]
        )
        return after


@cache
def induction16_model() -> Induction16:
    """The model in the package."""
    from safetensors.numpy import load

    content = (
        files("headwright.models").joinpath("induction16.safetensors").read_bytes()
    )
    read = {name: array.astype(np.float64) for name, array in load(content).items()}
    return Induction16(
        hashlib.sha256(content).hexdigest(),
        read["embed"],
        read["place"],
        read["query"],
        read["key"],
        read["value"],
        read["output"],
        read["unembed"],
    )
