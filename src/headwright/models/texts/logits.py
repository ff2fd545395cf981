"""A head's direct effect on a logit over every text: what it writes, along the direction that a token is read from.

What head h writes at the query's place is sum_j w_j x_j W_V W_O, with x_j what enters the layer there. Along u, the
column of the unembedding for a token, that is its direct effect on the token's logit, before the final norm scales it.
Values depend on their token (and place) alone, as keys do, so the range over every text is that of a ratio of sums
(`outputs`). Models with biases in their values or outputs, norms after the attention, or an unembedding that is not at
hand are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from headwright.errors import InputError
from headwright.fast.balls import UP, gamma
from headwright.models.findings.device import numbers
from headwright.models.loading.induction import InductionModel
from headwright.models.loading.model import Circuits, Model, Tokens
from headwright.models.texts.agreement import Attained, not_beyond, run_in_float64
from headwright.models.texts.every_text import FEW, Progress, counted
from headwright.models.texts.first import FirstLayer, head_of, stream, texts_of
from headwright.models.texts.head import Texts
from headwright.models.texts.outputs import largest_output
from headwright.models.texts.reading import first_layer
from headwright.models.texts.witness import Extreme

NORMED_AFTER = ("gemma3_text",)  # families that norm what attention writes
Direction = Float[np.ndarray, " width"]


@dataclass(frozen=True, eq=False)
class OnLogit:
    """The direct effect of one head on the logit of a token: least and most, whatever the text and the query token."""

    head: int
    token: int
    queries: int
    least: Attained
    most: Attained


def on_logit(
    model: Model,
    length: int,
    token: int,
    *,
    heads: Sequence[int] | None = None,
    queries: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> list[OnLogit]:
    """For each head of the first layer, over every text of a length, seen from its last place.

    >>> from headwright.models.loading import load_model
    >>> found, _ = on_logit(load_model("builtin:induction"), 8, 5, queries=[3])
    >>> bool(found.least.bound <= found.least.run <= found.most.run <= found.most.bound)
    True
    """
    layer, direction, circuits = first_layer(model, length), unembedding(model, token), model.circuits(0)
    if any("biases" in note for note in circuits.notes):
        raise InputError(f"{model.name}: its attention has biases, which effects on logits do not cover")
    texts = texts_of(layer, length)
    free = len(layer.tokens) - layer.only_held
    if queries is None and free > FEW:
        raise InputError(f"effects on a logit over all {free} query tokens take hours: expected a few, --query TOKEN")
    rows = np.arange(free) if queries is None else counted(layer, queries)
    found, chosen = [], range(len(layer.queries)) if heads is None else heads
    for turn, number in enumerate(chosen):
        head, (along, wrong) = head_of(layer, number), _along(layer, texts, circuits, number, direction)
        ends = {}
        sides: tuple[tuple[Extreme, float], ...] = (("least", -1.0), ("most", 1.0))
        for side, sign in sides:
            each = [largest_output(head, texts, int(row), sign * along, wrong) for row in rows]
            best = max(each, key=lambda one: one.bound)
            ids = layer.tokens[best.text]
            run = _run(model, number, ids, texts, circuits, direction)
            not_beyond(run, sign * best.bound, side, f"head {number}, effect on the logit of token {token}")
            ends[side] = Attained(int(ids[texts.place]), sign * best.bound, ids, run)
        found.append(OnLogit(number, token, len(rows), ends["least"], ends["most"]))
        if progress is not None:
            progress((turn + 1) / len(chosen))
    return found


def unembedding(model: Model, token: int) -> Direction:
    """The direction that the logit of a token is read from, before the final norm; refused where it is not at hand."""
    if isinstance(model, InductionModel):
        table = model.unembed.T
    else:
        network = getattr(model, "network", None)
        config: Any = getattr(network, "config", None)
        if network is None or not getattr(config, "tie_word_embeddings", False):
            raise InputError(f"{model.name}: its logits are not read from its embeddings, and what reads them is not "
                             "loaded: effects on logits are not covered")  # fmt: skip
        if config.model_type in NORMED_AFTER:
            raise InputError(f"{model.name}: its family ({config.model_type}) norms what attention writes, which "
                             "effects on logits do not cover")  # fmt: skip
        table = network.get_input_embeddings().weight
    if not 0 <= token < len(table):
        raise InputError(f"token {token}: expected 0 to {len(table) - 1}")
    return np.asarray(numbers(table[token]), dtype=np.float64)


def _along(
    layer: FirstLayer, texts: Texts, circuits: Circuits, head: int, direction: Direction
) -> tuple[Float[np.ndarray, "seen tokens"], float]:
    """What each token is worth at each place, and how far that may be off."""
    value = circuits.value[head * len(circuits.value) // len(circuits.output)].astype(np.float64)
    output = circuits.output[head].astype(np.float64)
    reads = value @ (output @ direction)
    size = float(np.linalg.norm(value) * np.linalg.norm(output) * np.linalg.norm(direction)) * (1 + 1e-9)
    rows, wrong = [], 0.0
    for at in texts.seen:
        x = stream(layer, None if layer.places is None else at)
        rows.append(x.rows @ reads)
        wrong = max(wrong, (x.error * size + gamma(3 * sum(value.shape) + 16) * x.longest * size) * UP)
    return np.array(rows), wrong


def _run(model: Model, head: int, ids: Tokens, texts: Texts, circuits: Circuits, direction: Direction) -> float:
    """The effect that the model itself has on a text, from its own queries, keys and values."""
    layer = run_in_float64(model, ids)
    queries, keys, values = (numbers(each).astype(np.float64) for each in (layer.queries, layer.keys, layer.values))
    group, seen = head * len(keys) // len(queries), list(texts.seen)
    scores = keys[group, seen] @ queries[head, texts.place] * layer.scoring.scale
    pattern = np.exp(scores - scores.max())
    return float(pattern / pattern.sum() @ values[group, seen] @ (circuits.output[head].astype(np.float64) @ direction))
