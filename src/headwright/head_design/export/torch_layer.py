"""A layer as torch's own nn.MultiheadAttention, without a line of custom code.

That module divides scores by sqrt(head_dim) and has one width for everything, embed_dim = heads x head_dim. So
head_dim is padded to a power of four, whose root is a power of two, and W_Q is multiplied by that root: exact in every
number type. Tokens are padded with zeros to embed_dim. Values go through the padded head_dim, and out_proj adds the
heads up with ones: no factorisation, no rounding. The weights are the layer's, bit for bit; what the machine's own
arithmetic rounds at run time is all that is lost.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ml_dtypes  # noqa: F401  (teaches NumPy bfloat16, which safetensors then writes)
import numpy as np
from jaxtyping import Float
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from headwright.errors import InputError
from headwright.files import write_whole
from headwright.head_design.export.numbers import (
    load_extra,
    runs_in,
    stored,
    width_of_head,
)
from headwright.head_design.head import HeadLayer

if TYPE_CHECKING:
    from torch import nn

TORCH = "torch.safetensors"


@dataclass(frozen=True)
class TorchShape:
    """The sizes of the module that holds a layer.

    >>> from headwright.head_design.head import Head
    >>> layer = HeadLayer((Head(np.ones((2, 5)), np.ones((2, 5)), np.ones((3, 5))),), causal=False, dtype="float32")
    >>> torch_shape(layer)
    TorchShape(embed_dim=16, num_heads=1, head_dim=16, width=5, outputs=3, causal=False, dtype='float32', mask=[], ...
    """

    embed_dim: int  # tokens are padded with zeros to this width
    num_heads: int
    head_dim: int
    width: int  # D: of the tokens that the layer was designed for
    outputs: int  # m: that many of the first numbers that come out are the output; the others are 0
    causal: bool  # pass attn_mask: the module itself has none
    dtype: str
    mask: list[str]  # rows of 0 and 1, for attn_mask as well
    biases: bool  # the module has biases of its own: in_proj_bias, out_proj.bias
    bias: list[list[list[float]]]  # added to the scores of each head: a float attn_mask


def torch_shape(layer: HeadLayer) -> TorchShape:
    """What width tokens must be padded to, and the other sizes.

    >>> from headwright.head_design.head import Head
    >>> torch_shape(HeadLayer((Head(np.eye(3), np.eye(3), np.eye(3)),), causal=False, dtype="float32")).embed_dim
    4
    """
    m, D = layer.heads[0].W_V.shape
    heads = len(layer.heads)
    head_dim = width_of_head(max(m, *(head.head_dim for head in layer.heads)))
    while heads * head_dim < max(D, m):
        head_dim *= 4
    bias = []
    for table in layer.bias:
        numbers = np.array(table, dtype=np.float64)
        bias.append(stored(numbers, layer.dtype, "a bias of places").tolist())
    return TorchShape(
        heads * head_dim,
        heads,
        head_dim,
        D,
        m,
        layer.causal,
        layer.dtype,
        list(layer.mask),
        layer.biases,
        bias,
    )


def _torch_state(layer: HeadLayer) -> dict[str, np.ndarray]:
    """The module's state dict, in the layer's number type."""
    shape = torch_shape(layer)
    E = shape.embed_dim
    d = shape.head_dim
    root = 2.0 ** (shape.head_dim.bit_length() // 2)
    into = np.zeros((3, E, E))
    out = np.zeros((E, E))
    added = np.zeros((3, E))
    for h, head in enumerate(layer.heads):
        if head.b_Q is not None and head.b_V is not None:
            added[0, h * d : h * d + head.head_dim] = root * head.b_Q
            added[2, h * d : h * d + shape.outputs] = head.b_V
        for part, matrix in enumerate(
            (root * head.W_Q.astype(np.float64), head.W_K, head.W_V)
        ):
            into[part, h * d : h * d + matrix.shape[0], : matrix.shape[1]] = matrix
        out[: shape.outputs, h * d : h * d + shape.outputs] = np.eye(shape.outputs)
    state: dict[str, np.ndarray] = {
        "in_proj_weight": into.reshape(3 * E, E),
        "out_proj.weight": out,
    }
    if layer.biases:
        state |= {"in_proj_bias": added.ravel(), "out_proj.bias": np.zeros(E)}
    return {name: stored(matrix, layer.dtype, name) for name, matrix in state.items()}


def to_torch(layer: HeadLayer, dtype: str | None = None) -> nn.MultiheadAttention:
    """The module, loaded; it runs in the layer's number type, bfloat16 weights in float32, unless a dtype is given.

    Pad tokens with zeros to module.embed_dim; run_torch does all that.

    >>> from headwright.head_design.head import Head
    >>> to_torch(HeadLayer((Head(np.eye(3), np.eye(3), np.eye(3)),), causal=False, dtype="float32")).embed_dim
    4
    """
    shape = torch_shape(layer)
    torch = load_extra("torch", "torch")
    wide = {
        name: torch.from_numpy(matrix.astype(np.float64))
        for name, matrix in _torch_state(layer).items()
    }
    return _module(shape, wide, dtype)


def write_torch(layer: HeadLayer, directory: str | Path) -> Path:
    """Write torch.safetensors: the state dict, with the module's sizes in its metadata. Needs no torch.

    >>> import tempfile
    >>> from headwright.head_design.head import Head
    >>> layer = HeadLayer((Head(np.eye(3), np.eye(3), np.eye(3)),), causal=False, dtype="float32")
    >>> write_torch(layer, tempfile.mkdtemp()).name
    'torch.safetensors'
    """
    about = {"format": "pt", "headwright": json.dumps(vars(torch_shape(layer)))}
    path = Path(directory) / TORCH
    write_whole(path, save(_torch_state(layer), metadata=about))
    return path


def load_torch(
    path: str | Path, dtype: str | None = None
) -> tuple[nn.MultiheadAttention, TorchShape]:
    """The module in a file that write_torch wrote, and its sizes.

    >>> import tempfile
    >>> from headwright.head_design.head import Head
    >>> layer = HeadLayer((Head(np.eye(3), np.eye(3), np.eye(3)),), causal=False, dtype="bfloat16")
    >>> module, shape = load_torch(write_torch(layer, tempfile.mkdtemp()))
    >>> module.in_proj_weight.dtype, shape.width, shape.embed_dim
    (torch.float32, 3, 4)
    """
    load_extra("torch", "torch")
    try:
        with safe_open(path, framework="pt") as tensors:
            about = json.loads((tensors.metadata() or {})["headwright"])
            state = {name: tensors.get_tensor(name) for name in tensors.keys()}  # noqa: SIM118  (it is no dict)
            shape = TorchShape(**about)
    except FileNotFoundError as error:
        raise InputError(f"torch layer {path}: there is no such file") from error
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"torch layer {path}: expected a {TORCH} that headwright exported ({error})"
        ) from error
    return _module(shape, state, dtype), shape


def run_torch(
    module: nn.MultiheadAttention, shape: TorchShape, X: Float[np.ndarray, "T D"]
) -> tuple[Float[np.ndarray, "T m"], Float[np.ndarray, "heads T T"]]:
    """Outputs and patterns of tokens, run by torch in the module's number type.

    >>> from headwright.head_design.head import Head
    >>> layer = HeadLayer((Head(np.zeros((1, 2)), np.zeros((1, 2)), np.eye(2)),), causal=True, dtype="float64")
    >>> run_torch(to_torch(layer), torch_shape(layer), np.array([[1.0, 0.0], [0.0, 1.0]]))[0]
    array([[1. , 0. ],
           [0.5, 0.5]])
    """
    torch = load_extra("torch", "torch")
    T, D = X.shape
    if shape.width != D:
        raise InputError(f"tokens have {D} numbers, and this layer takes {shape.width}")
    padded = np.zeros((1, T, shape.embed_dim))
    padded[0, :, :D] = X
    tokens = torch.from_numpy(padded).to(module.in_proj_weight.dtype)
    mask = _attn_mask(shape, T, module.in_proj_weight.dtype)
    with torch.no_grad():
        out, pattern = module(
            tokens,
            tokens,
            tokens,
            attn_mask=mask,
            need_weights=True,
            average_attn_weights=False,
        )
    return out[0, :, : shape.outputs].double().numpy(), pattern[0].double().numpy()


def _attn_mask(shape: TorchShape, T: int, dtype: Any) -> Any:
    """torch's attn_mask: True where a token is hidden; with biases of places the numbers that are added instead."""
    torch = load_extra("torch", "torch")
    longest = min([len(shape.mask) or T, *map(len, shape.bias)])
    if longest < T:
        raise InputError(
            f"{T} tokens, and this layer's mask and biases are for {longest}: expected no more"
        )
    hidden = torch.ones(T, T, dtype=torch.bool).triu(1) if shape.causal else None
    if shape.mask:
        hidden = torch.tensor(
            [[digit == "0" for digit in row[:T]] for row in shape.mask[:T]]
        )
    if not shape.bias:
        return hidden
    # (heads, T, T), for one sequence.
    added = torch.tensor(shape.bias, dtype=dtype)[:, :T, :T]
    return added if hidden is None else added.masked_fill(hidden, -math.inf)


def _module(
    shape: TorchShape, state: dict[str, Any], dtype: str | None
) -> nn.MultiheadAttention:
    torch = load_extra("torch", "torch")
    module: nn.MultiheadAttention = torch.nn.MultiheadAttention(
        shape.embed_dim,
        shape.num_heads,
        bias=shape.biases,
        batch_first=True,
        dtype=getattr(torch, dtype or runs_in(shape.dtype)),
    )
    module.load_state_dict(state)
    return module.eval()
