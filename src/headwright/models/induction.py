"""The model that is built in: two layers of attention and nothing else, trained on repeated random characters.

Its truth is known, since there is one way to do its task: a head of the first layer looks at the previous character,
and a head of the second at the places whose previous character is the present one. It runs in NumPy, in float64.

    x_i = embed[token_i]                                            no positions are added, nothing is normalised
    a head:  q = R(i) (x_i query),  k = R(j) (x_j key),  v = x_j value;  x += (softmax(<q, k> / sqrt(d)) v) output
    logits = x unembed                                                                     causal, no biases

R(i) turns the pairs (m, m + d/2) of a vector by the angle i FREQUENCIES[m]: the score of two tokens depends on their
distance alone. A quarter of the frequencies are 0, so that a quarter of a head sees content only. Written by
training/induction.py.
"""

from __future__ import annotations

import unicodedata
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

NAME = "builtin:induction"
OPENING = "<s>"
OTHER = "?"
VOCABULARY = (OPENING, *"abcdefghijklmnopqrstuvwxyz0123456789 .,;:!?'()-")
LAYERS = 2
HEADS = 2
WIDTH = 64
D = 32
LONGEST = 256
# Radians a place, of each of the D/2 pairs.
FREQUENCIES = (
    *(1.7 * 50 ** (-m / 12) for m in range(12)),
    0.0,
    0.0,
    0.0,
    0.0,
)
NUMBERS = {character: number for number, character in enumerate(VOCABULARY)} | {
    '"': VOCABULARY.index("'")
}


@dataclass(frozen=True, eq=False)
class InductionModel(AttentionOnlyModel):
    """The built-in model; `induction_model()` reads it from the package."""

    digest: str
    embed: Float[np.ndarray, "tokens width"]
    query: Float[np.ndarray, "layers heads width d"]
    key: Float[np.ndarray, "layers heads width d"]
    value: Float[np.ndarray, "layers heads width d"]
    output: Float[np.ndarray, "layers heads d width"]
    unembed: Float[np.ndarray, "width tokens"]
    name: str = NAME
    settings: str = "float64 cpu"
    layers: int = LAYERS
    heads: int = HEADS
    max_length: int | None = LONGEST
    angles: tuple[float, ...] = FREQUENCIES

    def __repr__(self) -> str:
        """The name and the sizes, not the weights."""
        return f"{self.name}: {self.layers} layers of {self.heads} heads"

    def encode(self, text: str) -> Tokens:
        """One token a character, after the opening one: in lower case, without accents; what it has not becomes '?'."""
        return np.array(
            [0, *(NUMBERS.get(character, NUMBERS[OTHER]) for character in _plain(text))]
        )

    def without_token(self, text: str) -> Sequence[str]:
        """The characters of a text that it has none for, and that become '?'."""
        return [character for character in _plain(text) if character not in NUMBERS]

    def token_strings(self, tokens: Tokens) -> Sequence[str]:
        """The characters; a space is shown as one that can be seen."""
        return [
            VOCABULARY[token].replace(" ", "␣")
            for token in checked_tokens(tokens, len(VOCABULARY), None)
        ]

    def regular_tokens(self) -> Tokens:
        """All but the opening token."""
        return np.arange(1, len(VOCABULARY))

    def unknown_tokens(self) -> Tokens:
        """None of its own: what it has no character for becomes '?', which is ordinary."""
        return np.array([], dtype=np.int64)

    def bos_tokens(self) -> Tokens:
        """The token 0, `<s>`, which every text began with in training."""
        return np.array([0])

    def circuits(self, layer: int) -> Circuits:
        """The parameters of a layer's heads, positions apart: QK of head h is query[h] @ R @ key[h].T."""
        if not 0 <= layer < LAYERS:
            raise InputError(f"layer {layer} of {NAME}: expected 0 to {LAYERS - 1}")
        return Circuits(
            self.query[layer], self.key[layer], self.value[layer], self.output[layer]
        )

    def _start(self, tokens: Tokens) -> Residual:
        return np.asarray(self.embed[checked_tokens(tokens, len(VOCABULARY), LONGEST)])

    def _projections(self, layer: int, x: Residual) -> tuple[OfHeads, OfHeads, OfHeads]:
        queries = turned(x @ self.query[layer])
        keys = turned(x @ self.key[layer])
        return queries, keys, x @ self.value[layer]

    def _outputs(self, layer: int) -> Float[np.ndarray, "heads d width"]:
        return np.asarray(self.output[layer])


def _plain(text: str) -> Sequence[str]:
    """In lower case, without accents, every space the same."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    without_accents = [
        character for character in plain if not unicodedata.combining(character)
    ]
    return [" " if character.isspace() else character for character in without_accents]


@cache
def induction_model() -> InductionModel:
    """The model in the package."""
    weights = read_packaged_weights("induction.safetensors")
    return InductionModel(weights.digest, **weights.arrays)


def turned(
    x: Float[np.ndarray, "heads places d"],
) -> Float[np.ndarray, "heads places d"]:
    """Row i of each head, turned by R(i)."""
    angles = np.arange(x.shape[1])[:, None] * np.array(FREQUENCIES)
    a, b = np.split(x, 2, axis=-1)
    return np.concatenate(
        [
            a * np.cos(angles) - b * np.sin(angles),
            a * np.sin(angles) + b * np.cos(angles),
        ],
        axis=-1,
    )
