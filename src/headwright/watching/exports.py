"""Files that other programs read, of what was seen of a model: DuoAttention's scores of heads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from headwright.errors import InputError, typed_errors
from headwright.files import write_whole
from headwright.watching.module_hook import unwrapped
from headwright.watching.recorded import Recording

__all__ = ["save_duo_attention"]

HEADS_FILE = "full_attention_heads.tsv"
CONFIG_FILE = "config.json"


@typed_errors
def save_duo_attention(seen: Recording, model: Any, folder: str | Path) -> np.ndarray:
    """Write the folder that DuoAttention's `load_attn_pattern` reads; returns the scores, (layers, key heads).

    The score of a key head is the mean weight that lies between the first `ends[0]` and the last `ends[1]` keys of a
    row, of the head among those that share these keys where it is largest: what a cache of only both ends would lose.
    It is measured on what the model was run on. DuoAttention learns its numbers, so compare by rank: choose heads there
    by `sparsity`, and not by a threshold.

    Args:
        seen: a recording with the statistic `middle`, as of `watch(model, ["middle"], ends=(64, 256), keep="means")`.
        model: the model that was watched.
        folder: is made if it is not there.
    """
    summary = seen.summary()
    if "middle" not in summary:
        raise InputError(
            "the statistic middle was not recorded: expected watch(model, ['middle'], ends=(64, 256)), and a run"
        )
    if len(set(summary["part"].tolist())) > 1:
        raise InputError(
            "the model has an encoder and a decoder, which DuoAttention does not know"
        )
    layers = sorted(set(summary["layer"].tolist()))
    heads = int(summary["head"].max()) + 1
    if layers != list(range(len(layers))) or len(summary["middle"]) != heads * len(
        layers
    ):
        raise InputError(
            f"layers {layers} with {len(summary['middle'])} heads: expected all layers, with as many heads each"
        )
    config = getattr(unwrapped(model), "config", None)
    key_heads = getattr(config, "num_key_value_heads", None) or heads
    if heads % key_heads:
        raise InputError(
            f"{heads} heads do not share {key_heads} key heads: is it another model?"
        )
    middle = summary["middle"].astype(float)
    if not np.isfinite(middle).all():
        raise InputError(
            "the weight between both ends is NaN for some heads: expected a run with rows of text"
        )
    scores: np.ndarray = middle.reshape(len(layers), key_heads, -1).max(2)
    lines = ["\t".join(f"{score:.6f}" for score in of_layer) for of_layer in scores]
    sink_size, recent_size = seen.wanted.ends
    sizes = {"sink_size": sink_size, "recent_size": recent_size}
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    write_whole(place / HEADS_FILE, ("\n".join(lines) + "\n").encode())
    write_whole(place / CONFIG_FILE, (json.dumps(sizes) + "\n").encode())
    return scores
