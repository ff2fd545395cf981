"""A layer as a stock one-layer Hugging Face model (OPT): AutoModel.from_pretrained loads it, without custom code.

OPT normalises its residual stream before attention and, with _remove_final_layer_norm, nowhere after it; its positions
are learned (here: zero) and its mask is a setting (is_causal). So one thing stands between tokens and scores:
LayerNorm, h -> (h - mean) / sqrt(variance + eps). A token x is therefore held as

    h = (x, -x, c, -c, 0)        c: four numbers that give every token the same length

whose mean is 0 and whose variance + eps is a power of four: LayerNorm then only multiplies by a power of two, which
the weights undo. The output is written where h is 0, so the last hidden state holds it as it is. The feed-forward part
is 0.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from safetensors.numpy import save

from headwright.errors import InputError
from headwright.files import write_whole
from headwright.head_design.export.numbers import (
    float_error,
    holds,
    rounded_down,
    runs_in,
    stored,
    width_of_head,
)
from headwright.head_design.head import HeadLayer
from headwright.numerics.enclosure import shown_above

FOLDER = "huggingface"
EPS = 1e-5  # of torch's nn.LayerNorm, which OPT does not set
FILL = 4  # how many numbers make the lengths equal: each takes the rest of the one before, also in bfloat16
LEAST_POWER = -7  # 4^-7 is still well above EPS
LONGEST = 128  # positions, unless a sequence is longer
MOVED = 0.01  # of a pattern: where the library's own arithmetic may move more, the layer is not what would run


@dataclass(frozen=True)
class HiddenShape:
    """Where things are in a hidden state: x, -x, c, -c, the output, and zeros up to `hidden`."""

    hidden: int
    head_dim: int
    width: int  # D
    outputs: int  # m
    power: int  # LayerNorm multiplies a hidden state by 2^-power

    @property
    def first_output(self) -> int:
        """Numbers first_output to first_output + outputs of the last hidden state are the layer's output."""
        return 2 * self.width + 2 * FILL


def hidden_shape(layer: HeadLayer, tokens: Float[np.ndarray, "n D"]) -> HiddenShape:
    """The smallest sizes that hold the layer and these tokens, with no head but the layer's own."""
    m, D = layer.heads[0].W_V.shape
    heads = len(layer.heads)
    head_dim = width_of_head(max(m, *(head.head_dim for head in layer.heads)))
    while heads * head_dim < 2 * D + 2 * FILL + m:
        head_dim *= 4
    hidden = heads * head_dim
    power = LEAST_POWER
    longest = 2 * float((tokens.astype(np.float64) ** 2).sum(axis=1).max())
    while _length(hidden, power) < longest:
        power += 1
    return HiddenShape(hidden, head_dim, D, m, power)


def to_hidden(
    tokens: Float[np.ndarray, "n D"], shape: HiddenShape, dtype: str
) -> Float[np.ndarray, "n hidden"]:
    """Tokens as hidden states that LayerNorm multiplies by a power of two and otherwise leaves alone."""
    X = tokens.astype(np.float64)
    rest = (_length(shape.hidden, shape.power) - 2 * (X**2).sum(axis=1)) / 2
    if (rest < 0).any():
        raise InputError(
            "a token is longer than the longest that this model was made for: expected no longer one; "
            "export with it among the tokens"
        )
    fill = []
    for _ in range(FILL):
        fill.append(rounded_down(np.sqrt(rest), dtype))
        rest = np.maximum(rest - fill[-1] ** 2, 0.0)
    c = np.stack(fill, axis=1)
    filled = np.concatenate([X, -X, c, -c], axis=1)
    return np.pad(filled, ((0, 0), (0, shape.hidden - filled.shape[1])))


def write_huggingface(
    layer: HeadLayer,
    directory: str | Path,
    sequences: Sequence[Float[np.ndarray, "T D"]],
) -> Path:
    """Write config.json, model.safetensors and headwright.json into a folder of their own; needs no transformers.

    The embedding table holds each distinct token of the sequences; headwright.json has their input_ids.

    >>> import tempfile
    >>> from headwright.head_design.head import Head
    >>> layer = HeadLayer((Head(np.eye(2), np.eye(2), np.eye(2)),), causal=True, dtype="float32")
    >>> folder = write_huggingface(layer, tempfile.mkdtemp(), [np.eye(2)])
    >>> sorted(path.name for path in folder.iterdir())
    ['config.json', 'headwright.json', 'model.safetensors']
    """
    if layer.mask or layer.bias or layer.biases:
        raise InputError(
            "OPT has no masks but the causal one, and no biases that leave its hidden states as they are: "
            "expected a layer without these; torch and onnx hold it"
        )
    everything = np.concatenate([np.asarray(X, dtype=np.float64) for X in sequences])
    D = layer.heads[0].W_V.shape[1]
    if everything.shape[1] != D:
        raise InputError(
            f"tokens have {everything.shape[1]} numbers, and the layer takes {D}: expected as many"
        )
    table, ids = np.unique(everything, axis=0, return_inverse=True)
    # Of the table.
    dtype = layer.dtype if holds(layer.dtype, table) else runs_in(layer.dtype)
    table = table.astype(np.float32).astype(np.float64) if dtype == "float32" else table
    shape = hidden_shape(layer, table)
    positions = max(LONGEST, *(len(X) for X in sequences))
    ends = np.cumsum([len(X) for X in sequences])[:-1]
    parts = np.split(ids.reshape(-1), ends)
    _check_rounding(layer, [table[part] for part in parts], shape)
    about = {
        "input_ids": [part.tolist() for part in parts],
        "output": [shape.first_output, shape.first_output + shape.outputs],
        "layer_norm_multiplies_by": 2.0**-shape.power,
    }
    folder = Path(directory) / FOLDER
    folder.mkdir(exist_ok=True)
    config = _config(layer, shape, len(table), positions)
    tensors = {**_weights(layer, shape), **_embeddings(table, shape, dtype, positions)}
    write_whole(folder / "model.safetensors", save(tensors, metadata={"format": "pt"}))
    write_whole(folder / "config.json", (json.dumps(config, indent=2) + "\n").encode())
    write_whole(
        folder / "headwright.json", (json.dumps(about, indent=2) + "\n").encode()
    )
    return folder


def _check_rounding(
    layer: HeadLayer, sequences: Sequence[Float[np.ndarray, "T D"]], shape: HiddenShape
) -> None:
    """Refuse tokens that LayerNorm would lose, or overflow: the pattern would be another one."""
    dtype = runs_in(layer.dtype)
    moved = max(
        float_error(layer, X, dtype, softmax="float32", hidden=shape).pattern
        for X in sequences
    )
    if not moved <= MOVED:
        at_most = f"by up to {shown_above(moved, 2)}" if moved < 1 else "to anything"
        raise InputError(
            f"OPT's LayerNorm in {dtype} takes tokens beside numbers of size {2.0**shape.power:.2g}, and may move the "
            f"pattern {at_most}: expected tokens and scores nearer to 1, or float64; torch and onnx need no LayerNorm"
        )


def _length(hidden: int, power: int) -> float:
    """The squared length of a hidden state with variance + EPS = 4^power."""
    return hidden * (4.0**power - EPS)


def _config(
    layer: HeadLayer, shape: HiddenShape, tokens: int, positions: int
) -> dict[str, Any]:
    return {
        "architectures": ["OPTModel"],
        "model_type": "opt",
        "dtype": runs_in(layer.dtype),
        "attn_implementation": "eager",
        "is_causal": layer.causal,
        "do_layer_norm_before": True,
        "_remove_final_layer_norm": True,
        "layer_norm_elementwise_affine": False,
        "enable_bias": False,
        "dropout": 0.0,
        "attention_dropout": 0.0,
        "vocab_size": tokens,
        "max_position_embeddings": positions,
        "num_hidden_layers": 1,
        "ffn_dim": 1,
        "hidden_size": shape.hidden,
        "word_embed_proj_dim": shape.hidden,
        "num_attention_heads": len(layer.heads),
        "pad_token_id": None,
        "bos_token_id": None,
        "eos_token_id": None,
        "use_cache": False,
    }


def _weights(layer: HeadLayer, shape: HiddenShape) -> dict[str, np.ndarray]:
    H = shape.hidden
    d = shape.head_dim
    m = shape.outputs
    D = shape.width
    root = 2.0 ** (d.bit_length() // 2)  # sqrt(d), by which OPT divides
    undo = 2.0**shape.power  # what LayerNorm divides by
    q, k, v, out = (np.zeros((H, H)) for _ in range(4))
    for h, head in enumerate(layer.heads):
        rows = slice(h * d, h * d + head.head_dim)
        q[rows, :D] = head.W_Q.astype(np.float64) * (root * undo)
        k[rows, :D] = head.W_K.astype(np.float64) * undo
        v[h * d : h * d + m, :D] = head.W_V.astype(np.float64) * undo
        out[shape.first_output : shape.first_output + m, h * d : h * d + m] = np.eye(m)
    attention = {"q_proj": q, "k_proj": k, "v_proj": v, "out_proj": out}
    feed_forward = {"fc1": np.zeros((1, H)), "fc2": np.zeros((H, 1))}
    named = {
        f"self_attn.{name}": matrix for name, matrix in attention.items()
    } | feed_forward
    return {
        f"decoder.layers.0.{name}.weight": stored(matrix, layer.dtype, name)
        for name, matrix in named.items()
    }


def _embeddings(
    table: np.ndarray, shape: HiddenShape, dtype: str, positions: int
) -> dict[str, np.ndarray]:
    offset = 2  # OPT's own, of its positions
    return {
        "decoder.embed_tokens.weight": stored(
            to_hidden(table, shape, dtype), dtype, "the tokens"
        ),
        "decoder.embed_positions.weight": stored(
            np.zeros((positions + offset, shape.hidden)), dtype, "positions"
        ),
    }
