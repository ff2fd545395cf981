"""The interface of a model: its layers, its circuits, its tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from jaxtyping import Float, Int

from headwright.errors import InputError
from headwright.statistics.attention_config import AttentionConfig
from headwright.statistics.map import AttentionMap, attention_map
from headwright.statistics.results import RowStatistics
from headwright.statistics.rows import row_statistics

Tokens = Int[np.ndarray, " tokens"]


@dataclass(frozen=True, eq=False)
class LayerActivations:
    """What one attention layer computed on one text: positions are in queries and keys, the softmax is still to come.

    The arrays are NumPy's, or torch's on a GPU; row i of the queries stands at the position that `scoring` gives it.

    >>> from headwright import load_model
    >>> model = load_model("builtin:induction")
    >>> [layer.queries.shape for layer in model.run(range(5))]
    [(2, 5, 32), (2, 5, 32)]
    """

    index: int
    queries: Any  # heads, rows, d
    keys: Any  # key heads, keys, d
    values: Any  # key heads, keys, d of values
    scoring: AttentionConfig

    def statistics(self, **more: Any) -> RowStatistics:
        """`row_statistics` of this layer, with its own scale, mask, window, softcap and sinks; `more` is as there."""
        queries = self.queries
        keys = self.keys
        if not getattr(queries, "is_cuda", False):
            queries = numbers(queries)
            keys = numbers(keys)
        return row_statistics(queries, keys, **self.scoring.options, **more)

    def map(self, bins: int = 512) -> AttentionMap:
        """`attention_map` of this layer, with its own scoring."""
        return attention_map(self.queries, self.keys, bins, **self.scoring.options)


@dataclass(frozen=True, eq=False)
class Circuits:
    """The weights of one layer's heads, as matrices that act on rows x of the residual stream: x W.

    QK of head h is query[h] @ key[g].T, OV is value[g] @ output[h], with g the key head of h.

    >>> from headwright import load_model
    >>> load_model("builtin:induction").circuits(0).query.shape
    (2, 64, 32)
    """

    query: Float[np.ndarray, "heads width d"]
    key: Float[np.ndarray, "key_heads width d"]
    value: Float[np.ndarray, "key_heads width e"]
    output: Float[np.ndarray, "heads e width"]
    # What these matrices leave out: biases, norms, positions.
    notes: tuple[str, ...] = ()


LayerVisitor = Callable[[LayerActivations], None]


class Model(Protocol):
    """A trained model. What it cannot say it refuses with an InputError whose sentence says why.

    >>> from headwright import load_model
    >>> model = load_model("builtin:induction")
    >>> model.name, model.layers, model.heads
    ('builtin:induction', 2, 2)
    """

    @property
    def name(self) -> str:
        """What it was asked for by."""

    @property
    def digest(self) -> str:
        """sha256 of the parameters' file: two reports on one digest speak of one model."""

    @property
    def settings(self) -> str:
        """What its numbers depend on beside the parameters: the configuration, the number type, the device."""

    @property
    def layers(self) -> int:
        """How many layers have attention: all of them."""

    @property
    def heads(self) -> int:
        """Of each layer."""

    @property
    def max_length(self) -> int | None:
        """How many positions it has; None if any number."""

    def encode(self, text: str) -> Tokens:
        """The tokens of a text, with the special ones that the model expects."""

    def token_strings(self, tokens: Tokens) -> Sequence[str]:
        """Each token as it is shown to a reader."""

    def regular_tokens(self) -> Tokens:
        """The tokens that stand for a part of a text: neither special nor unused."""

    def unknown_tokens(self) -> Tokens:
        """The token that stands for what the tokenizer cannot spell, if texts can come to hold one: one or none."""

    def bos_tokens(self) -> Tokens:
        """The special tokens that every text begins with; often one or none."""

    def visit_layers(
        self, tokens: Tokens, visit: LayerVisitor, last: int | None = None
    ) -> None:
        """Run the model; `visit` gets its layers in order, one in memory at a time.

        Layers behind the layer `last` are not run.
        """

    def run(self, tokens: Tokens) -> Sequence[LayerActivations]:
        """All layers in order, all of them in memory."""

    def circuits(self, layer: int) -> Circuits:
        """The weights of a layer's heads, for ranks."""


def all_layers(model: Model, tokens: Tokens) -> list[LayerActivations]:
    """What `run` gives, for models that have visitors."""
    layers: list[LayerActivations] = []
    model.visit_layers(tokens, layers.append)
    return layers


def layer_at(model: Model, tokens: Tokens, index: int) -> LayerActivations:
    """The layer of that number on a text; those behind it are not run."""
    layers: list[LayerActivations] = []

    def keep(layer: LayerActivations) -> None:
        if layer.index == index:
            layers.append(layer)

    if 0 <= index < model.layers:
        model.visit_layers(tokens, keep, last=index)
    if not layers:
        raise InputError(
            f"layer {index}, and {model.name} has {model.layers}: expected 0 to {model.layers - 1}"
        )
    return layers[0]


def may_hold(model: Model) -> Tokens:
    """The tokens that a text may hold: the ordinary ones, and the one for unknown tokens if there is one."""
    return np.union1d(model.regular_tokens(), model.unknown_tokens())


def checked_tokens(tokens: Tokens, count: int, max_length: int | None) -> Tokens:
    """The same tokens as an array; refused in a sentence if there are none, too many, or one that the model has not."""
    array = np.asarray(tokens)
    if array.ndim != 1 or array.dtype.kind not in "iu" or not len(array):
        raise InputError(
            f"tokens of type {array.dtype.name} and shape {array.shape}: expected a row of whole numbers"
        )
    if max_length is not None and len(array) > max_length:
        raise InputError(
            f"{len(array)} tokens: the model has {max_length} positions; give it a shorter text"
        )
    wrong = np.flatnonzero((array < 0) | (array >= count))
    if len(wrong):
        raise InputError(
            f"token {wrong[0]} is {array[wrong[0]]}: expected a number from 0 to {count - 1}"
        )
    return array


def numbers(array: Any) -> Float[np.ndarray, ...]:
    """A NumPy array of float32 or wider, wherever the array was."""
    if hasattr(array, "detach"):
        array = array.detach()
        array = (array if array.element_size() == 8 else array.float()).cpu().numpy()
    values = np.asarray(array)
    wide_type = np.result_type(np.float32, values.dtype)
    wide: Float[np.ndarray, ...] = values.astype(wide_type, copy=False)
    return wide


def check_model(model: object) -> None:
    """Refuse what is no model: its name, say.

    >>> check_model("builtin:induction")
    Traceback (most recent call last):
    headwright.errors.InputError: the model is 'builtin:induction': expected load_model('builtin:induction')
    """
    if isinstance(model, str):
        raise InputError(
            f"the model is {model!r}: expected load_model({model!r})", field="model"
        )
    if not hasattr(model, "layers"):
        raise InputError(
            f"the model is {model!r}: expected one such as load_model(name) gives",
            field="model",
        )
