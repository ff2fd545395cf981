"""How much the output of a head depends on the order of the tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headwright.auditing.measures.first_token import capped
from headwright.auditing.measures.rounding import softmax
from headwright.auditing.measures.summary import Summary
from headwright.models.model import LayerActivations, Model, Tokens, numbers

SHUFFLES = 4
LONGEST = 128  # tokens; order needs no long text
ORDER = "order"  # the name of the measure, and of its entry in a summary


@dataclass(frozen=True)
class ShuffleEffect:
    """How far the output of a head moved, relatively: the largest of several shuffles, floating-point."""

    value: float


@dataclass(frozen=True, eq=False)
class OrderRuns:
    """How far the outputs of all heads moved, and on what."""

    moved: Float[np.ndarray, "layers heads"]
    tokens: int
    shuffles: int

    @property
    def summary(self) -> Summary:
        """The same as an entry of the summary of all measures."""
        return Summary(peaks={ORDER: self.moved})


def measure_order(
    model: Model, tokens: Tokens, opening: int, layers: tuple[int, ...], seed: int
) -> OrderRuns:
    """How far outputs of these layers move when these tokens are shuffled; of many tokens the first 128 are taken.

    The special tokens at the front, or the first token, and the last one stay where they are.
    """
    tokens = np.asarray(tokens)[:LONGEST]
    # The text, and shuffles of what lies between the fixed tokens and the last one.
    fixed = np.arange(max(1, opening))
    last = len(tokens) - 1
    rng = np.random.default_rng(seed)
    texts = [tokens]
    for _ in range(SHUFFLES):
        middle = rng.permutation(np.arange(len(fixed), last))
        order = np.concatenate([fixed, middle, [last]]).astype(int)
        texts.append(tokens[order])

    outputs = [_last_outputs(model, text, max(layers)) for text in texts]
    moved = _largest_change(outputs[0], np.stack(outputs[1:]))
    return OrderRuns(moved[list(layers)], len(tokens), SHUFFLES)


def _last_outputs(
    model: Model, tokens: Tokens, last_layer: int
) -> Float[np.ndarray, "layers heads e"]:
    """What each head writes at the last position, before W_O, layer after layer."""
    outputs: list[Float[np.ndarray, "heads e"]] = []

    def visit(layer: LayerActivations) -> None:
        scoring = layer.scoring
        q, k, v = (
            numbers(array).astype(np.float64)
            for array in (layer.queries, layer.keys, layer.values)
        )
        # The pattern of the last row alone.
        key_head = np.arange(scoring.heads) * scoring.key_heads // scoring.heads
        products = np.einsum("hd,hjd->hj", q[:, -1], k[key_head])
        s = capped(scoring.scale * products, scoring)
        seen = scoring.sees(scoring.keys - 1, np.arange(scoring.keys))
        seen = np.broadcast_to(seen, s.shape)
        patterns = []
        for head in range(scoring.heads):
            only = slice(head, head + 1)
            sink = None if scoring.sinks is None else float(scoring.sinks[head])
            pattern, _ = softmax(s[only], seen[only], sink)
            patterns.append(pattern[0])
        outputs.append(np.einsum("hj,hje->he", np.stack(patterns), v[key_head]))

    model.visit_layers(tokens, visit, last=last_layer)
    return np.stack(outputs)


def _largest_change(
    plain: Float[np.ndarray, "layers heads e"],
    shuffled: Float[np.ndarray, "shuffles layers heads e"],
) -> Float[np.ndarray, "layers heads"]:
    """The largest distance from the plain outputs, by their length; 0 where these are 0."""
    # For each head the largest over the shuffles.
    distance = np.linalg.norm(shuffled - plain, axis=3).max(axis=0)
    length = np.linalg.norm(plain, axis=2)
    relative: Float[np.ndarray, "layers heads"] = np.divide(
        distance, length, out=np.zeros_like(distance), where=length > 0
    )
    return relative
