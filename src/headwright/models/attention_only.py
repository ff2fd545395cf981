"""Models of layers of attention and nothing else, run in NumPy: what those that are built in have in common.

A layer adds what its heads write to what it reads: x += sum over the heads of pattern @ values @ output.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from jaxtyping import Float

from headwright.attention import causal, output, pattern, scores
from headwright.models.model import LayerActivations, LayerVisitor, Tokens
from headwright.statistics.attention_config import AttentionConfig

Residual = Float[np.ndarray, "places width"]
OfHeads = Float[np.ndarray, "heads places d"]


class AttentionOnlyModel(ABC):
    """Runs the layers; a model says what it begins with, and what each layer's queries, keys and values are."""

    unembed: Float[np.ndarray, "width tokens"]

    @property
    @abstractmethod
    def layers(self) -> int:
        """How many there are."""

    @abstractmethod
    def _start(self, tokens: Tokens) -> Residual:
        """What enters the first layer."""

    @abstractmethod
    def _projections(self, layer: int, x: Residual) -> tuple[OfHeads, OfHeads, OfHeads]:
        """Queries, keys and values of a layer."""

    @abstractmethod
    def _outputs(self, layer: int) -> Float[np.ndarray, "heads d width"]:
        """The output matrix of each head."""

    def visit_layers(
        self, tokens: Tokens, visit: LayerVisitor, last: int | None = None
    ) -> None:
        """Run the layers. Tokens are taken as they are: give them an opening where the model has one."""
        x = self._start(tokens)
        for index in range(self.layers):
            layer = self._layer(index, x)
            visit(layer)
            if index == last:
                return
            x = self._after(layer, x)

    def run(self, tokens: Tokens) -> list[LayerActivations]:
        """All layers."""
        layers: list[LayerActivations] = []
        self.visit_layers(tokens, layers.append)
        return layers

    def logits(self, tokens: Tokens) -> Float[np.ndarray, "places tokens"]:
        """The scores of the next token at each place."""
        x = self._start(tokens)
        for index in range(self.layers):
            x = self._after(self._layer(index, x), x)
        return np.asarray(x @ self.unembed)

    def _layer(self, index: int, x: Residual) -> LayerActivations:
        q, k, v = self._projections(index, x)
        config = AttentionConfig.of(q.shape, k.shape, causal=True)
        return LayerActivations(index, q, k, v, config)

    def _after(self, layer: LayerActivations, x: Residual) -> Residual:
        s = scores(layer.keys, layer.queries, scale=layer.scoring.scale)
        mixed = output(pattern(s, causal(s)), layer.values)  # heads, places, d
        written = mixed @ self._outputs(layer.index)  # heads, places, width
        after: Residual = x + written.sum(axis=0)
        return after


@dataclass(frozen=True, eq=False)
class PackagedWeights:
    """The arrays of a model that comes with the package, in float64, and the digest of their file."""

    digest: str
    arrays: dict[str, Any]


def read_packaged_weights(name: str) -> PackagedWeights:
    """From the file of this name beside this module."""
    from safetensors.numpy import load

    content = files("headwright.models").joinpath(name).read_bytes()
    arrays = {key: array.astype(np.float64) for key, array in load(content).items()}
    return PackagedWeights(hashlib.sha256(content).hexdigest(), arrays)
