"""A model made by hand, whose heads do what their names say: real attention, known truth.

Tokens and positions are one-hot in the residual stream: x = [token, position, the previous token]. The head 'previous'
of layer 0 writes into the last part, and the head 'induction' of layer 1 looks there for its own token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headwright.models.model import (
    Circuits,
    LayerActivations,
    LayerVisitor,
    Tokens,
    all_layers,
)
from headwright.statistics.attention_config import AttentionConfig

LAYERS = (
    ("previous", "first", "self", "even"),
    ("induction", "duplicate", "first", "nothing"),
)
SHARP = 30.0


@dataclass(frozen=True, eq=False)
class Handmade:
    vocabulary: int = 40
    max_length: int | None = 64
    words_are: str = "w"
    name: str = "handmade"
    digest: str = "0" * 64
    settings: str = "float64 cpu"
    layers: int = 2
    heads: int = 4

    @property
    def room(self) -> int:
        return self.max_length or 0

    @property
    def width(self) -> int:
        return 2 * self.vocabulary + self.room

    @property
    def d(self) -> int:
        return max(self.vocabulary, self.room)

    def encode(self, text: str) -> Tokens:
        return np.array(
            [
                0,
                *(
                    1 + sum(map(ord, word)) % (self.vocabulary - 1)
                    for word in text.split()
                ),
            ]
        )

    def token_strings(self, tokens: Tokens) -> Sequence[str]:
        return [f"{self.words_are}{token}" for token in tokens]

    def regular_tokens(self) -> Tokens:
        return np.arange(1, self.vocabulary)

    def unknown_tokens(self) -> Tokens:
        return np.array([], dtype=np.int64)

    def bos_tokens(self) -> Tokens:
        return np.array([0])

    def run(self, tokens: Tokens) -> list[LayerActivations]:
        return all_layers(self, tokens)

    def visit_layers(
        self, tokens: Tokens, visit: LayerVisitor, last: int | None = None
    ) -> None:
        positions = np.arange(len(tokens))
        x = np.zeros((len(tokens), self.width))
        x[np.arange(len(tokens)), tokens] = 1.0
        x[np.arange(len(tokens)), self.vocabulary + positions] = 1.0
        for index in range(self.layers):
            weights = self.circuits(index)
            q, k, v = (x @ W for W in (weights.query, weights.key, weights.value))
            layer = LayerActivations(
                index, q, k, v, AttentionConfig.of(q.shape, k.shape, scale=1.0)
            )
            visit(layer)
            if index == last:
                return
            s = np.where(np.tri(len(tokens), dtype=bool), q @ k.swapaxes(1, 2), -np.inf)
            alpha = np.exp(s - s.max(axis=2, keepdims=True))
            alpha /= alpha.sum(axis=2, keepdims=True)
            x = x + (alpha @ v @ weights.output).sum(axis=0)

    def circuits(self, layer: int) -> Circuits:
        made = [self._head(name) for name in LAYERS[layer]]
        query, key, value, output = (
            np.stack(parts) for parts in zip(*made, strict=True)
        )
        return Circuits(query, key, value, output)

    def _head(self, name: str) -> tuple[Float[np.ndarray, "w d"], ...]:
        V, T, width, d = self.vocabulary, self.room, self.width, self.d
        query, key, value = np.zeros((3, width, d))
        output = np.zeros((d, width))
        token, place, before = slice(0, V), slice(V, V + T), slice(V + T, width)
        ones = np.eye(d)
        if name == "previous":
            query[place, :T], key[place, :T] = SHARP * np.eye(T, T, -1), np.eye(T)
            value[token, :V], output[:V, before] = np.eye(V), np.eye(V)
        elif name == "first":
            query[place, 0], key[place, 0] = SHARP, ones[0, :T]
            value[token, :V], output[:V, token] = np.eye(V), 1e-3 * np.eye(V)
        elif name == "self":
            query[place, :T], key[place, :T] = SHARP * np.eye(T), np.eye(T)
            value[token, :V], output[:V, token] = np.eye(V), 0.1 * np.eye(V)
        elif name == "even":
            value[token, :V], output[:V, token] = np.eye(V), 0.1 * np.eye(V)
        elif name == "induction":
            query[token, :V], key[before, :V] = SHARP * np.eye(V), np.eye(V)
            value[token, :V], output[:V, token] = np.eye(V), np.eye(V)
        elif name == "duplicate":
            query[token, :V], key[token, :V] = SHARP * np.eye(V), np.eye(V)
            value[token, :V], output[:V, token] = np.eye(V), np.eye(V)
        return query, key, value, output
