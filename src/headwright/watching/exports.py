"""What other programs read, of what was seen of a model: DuoAttention's scores, kvpress' ratios, tables of heads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from headwright.argument_types import check_argument
from headwright.errors import InputError
from headwright.files import encode_table, write_whole
from headwright.watching.module_hook import unwrapped
from headwright.watching.recorded import Recording

__all__ = ["kvpress_ratios", "save_duo_attention", "save_heads"]

HEADS_FILE = "full_attention_heads.tsv"
CONFIG_FILE = "config.json"


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
    middle = _middle_by_layer(seen)
    heads = middle.shape[1]
    config = getattr(unwrapped(model), "config", None)
    key_heads = getattr(config, "num_key_value_heads", None) or heads
    if heads % key_heads:
        raise InputError(
            f"{heads} heads do not share {key_heads} key heads: is it another model?"
        )
    scores: np.ndarray = middle.reshape(len(middle), key_heads, -1).max(2)
    lines = ["\t".join(f"{score:.6f}" for score in of_layer) for of_layer in scores]
    sink_size, recent_size = seen.wanted.ends
    sizes = {"sink_size": sink_size, "recent_size": recent_size}
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    write_whole(place / HEADS_FILE, ("\n".join(lines) + "\n").encode())
    write_whole(place / CONFIG_FILE, (json.dumps(sizes) + "\n").encode())
    return scores


def kvpress_ratios(
    seen: Recording, compression_ratio: float, *, file: str | Path | None = None
) -> list[float]:
    """Compression ratios by layer, for kvpress' `PerLayerCompressionPress(press, compression_ratios)`.

    Their mean is `compression_ratio`. What a layer keeps is in proportion to the weight that its heads, on average,
    have between both ends of a row, which is what dropped keys would lose; no layer keeps more than all.

    Args:
        seen: a recording with the statistic `middle`, as of `watch(model, ["middle"], ends=(4, 64), keep="means")`.
        compression_ratio: the share of keys to drop, over all layers; from 0 to below 1.
        file: where the list is written as JSON, unless it is only wanted.
    """
    check_argument("compression_ratio", compression_ratio, float)
    if not 0 <= compression_ratio < 1:
        raise InputError(
            f"compression_ratio = {compression_ratio}: expected a number from 0 to below 1"
        )
    weight = _middle_by_layer(seen).mean(1)
    total = (1 - compression_ratio) * len(weight)
    kept = _shares_of(total, weight)
    ratios = [float(1 - share) for share in kept]
    if file is not None:
        write_whole(Path(file), (json.dumps(ratios) + "\n").encode())
    return ratios


def _shares_of(total: float, weight: np.ndarray) -> np.ndarray:
    """Numbers up to 1 with this sum, in proportion to weights as far as that allows."""
    shares = np.ones(len(weight))
    free = np.ones(len(weight), dtype=bool)  # not at 1 yet
    while free.any():
        left = total - (~free).sum()
        of_free = weight[free]
        if of_free.sum() > 0:
            shares[free] = left * of_free / of_free.sum()
        else:
            shares[free] = left / free.sum()
        over = free & (shares > 1)
        if not over.any():
            break
        shares[over] = 1.0
        free &= ~over
    clipped: np.ndarray = shares.clip(0.0, 1.0)
    return clipped


def save_heads(seen: Recording, path: str | Path) -> None:
    """Write a table with a line for each head, `.csv` or `.parquet`: its place, its rows, and the means that were kept.

    A number that is not finite is empty. A recording has no intervals: it does not know how texts differ. Those are in
    the table of an audit over several texts, `audit(model, ...).save('heads.csv')`.
    """
    check_argument("path", path, str | Path)
    suffix = Path(path).suffix
    if suffix not in (".csv", ".parquet"):
        raise InputError(
            f"{path}: has the suffix '{suffix}', expected .csv or .parquet"
        )
    summary = seen.summary()
    columns = {name: values.tolist() for name, values in summary.items()}
    lines = []
    for values in zip(*columns.values(), strict=True):
        line = dict(zip(columns, values, strict=True))
        for name, value in line.items():
            if isinstance(value, float) and not np.isfinite(value):
                line[name] = None
        lines.append(line)
    write_whole(Path(path), encode_table(lines, suffix))


def _middle_by_layer(seen: Recording) -> np.ndarray:
    """The mean weight between both ends, (layers, heads), of a model whose layers are alike."""
    summary = seen.summary()
    if "middle" not in summary:
        raise InputError(
            "the statistic middle was not recorded: expected watch(model, ['middle'], ends=(64, 256)), and a run"
        )
    if len(set(summary["part"].tolist())) > 1:
        raise InputError(
            "the model has an encoder and a decoder: expected one of them alone"
        )
    layers = sorted(set(summary["layer"].tolist()))
    heads = int(summary["head"].max()) + 1
    if layers != list(range(len(layers))) or len(summary["middle"]) != heads * len(
        layers
    ):
        raise InputError(
            f"layers {layers} with {len(summary['middle'])} heads: expected all layers, with as many heads each"
        )
    middle = summary["middle"].astype(float)
    if not np.isfinite(middle).all():
        raise InputError(
            "the weight between both ends is NaN for some heads: expected a run with rows of text"
        )
    return middle.reshape(len(layers), heads)
