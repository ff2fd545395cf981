"""A layer as torch's own nn.MultiheadAttention, without a line of custom code.

That module divides scores by sqrt(head_dim) and has one width for everything, embed_dim = heads x head_dim. So
head_dim is padded to a power of four, whose root is a power of two, and W_Q is multiplied by that root: exact in every
number type. Tokens are padded with zeros to embed_dim. Values go through the padded head_dim, and out_proj adds the
heads up with ones: no factorisation, no rounding. The weights are the layer's, bit for bit; what the machine's own
arithmetic rounds at run time is all that is lost.
"""

from __future__ import annotations

import json
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
from headwright.weights.export.extras import load_extra
from headwright.weights.export.numbers import runs_in, stored, width_of_head
from headwright.weights.head import HeadLayer

if TYPE_CHECKING:
    from torch import nn

TORCH = "torch.safetensors"


@dataclass(frozen=True)
class TorchShape:
    """The sizes of the module that holds a layer.

    >>> from headwright.weights.head import Head
    >>> layer = HeadLayer((Head(np.ones((2, 5)), np.ones((2, 5)), np.ones((3, 5))),), causal=False, dtype="float32")
    >>> torch_shape(layer)
    TorchShape(embed_dim=16, num_heads=1, head_dim=16, width=5, outputs=3, causal=False, dtype='float32')
    """

    embed_dim: int  # tokens are padded with zeros to this width
    num_heads: int
    head_dim: int
    width: int  # D: of the tokens that the layer was designed for
    outputs: int  # m: that many of the first numbers that come out are the output; the others are 0
    causal: bool  # pass attn_mask: the module itself has none
    dtype: str


def torch_shape(layer: HeadLayer) -> TorchShape:
    """What width tokens must be padded to, and the other sizes.

    >>> from headwright.weights.head import Head
    >>> torch_shape(HeadLayer((Head(np.eye(3), np.eye(3), np.eye(3)),), causal=False, dtype="float32")).embed_dim
    4
    """
    (m, D), heads = layer.heads[0].W_V.shape, len(layer.heads)
    head_dim = width_of_head(max(m, *(head.head_dim for head in layer.heads)))
    while heads * head_dim < max(D, m):
        head_dim *= 4
    return TorchShape(heads * head_dim, heads, head_dim, D, m, layer.causal, layer.dtype)


def torch_state(layer: HeadLayer) -> dict[str, np.ndarray]:
    """The module's state dict, in the layer's number type.

    >>> from headwright.weights.head import Head
    >>> layer = HeadLayer((Head(np.ones((2, 2)), np.eye(2), np.eye(2)),), causal=False, dtype="float32")
    >>> torch_state(layer)["in_proj_weight"][0]  # sqrt(4) x 1, padded
    array([2., 2., 0., 0.], dtype=float32)
    """
    shape = torch_shape(layer)
    E, d, root = shape.embed_dim, shape.head_dim, 2.0 ** (shape.head_dim.bit_length() // 2)
    into, out = np.zeros((3, E, E)), np.zeros((E, E))
    for h, head in enumerate(layer.heads):
        for part, matrix in enumerate((root * head.W_Q.astype(np.float64), head.W_K, head.W_V)):
            into[part, h * d : h * d + matrix.shape[0], : matrix.shape[1]] = matrix
        out[: shape.outputs, h * d : h * d + shape.outputs] = np.eye(shape.outputs)
    return {
        "in_proj_weight": stored(into.reshape(3 * E, E), layer.dtype, "in_proj_weight"),
        "out_proj.weight": stored(out, layer.dtype, "out_proj.weight"),
    }


def to_torch(layer: HeadLayer, dtype: str | None = None) -> nn.MultiheadAttention:
    """The module, loaded; it runs in the layer's number type, bfloat16 weights in float32, unless a dtype is given.

    Pad tokens with zeros to module.embed_dim; run_torch does all that.

    >>> from headwright.weights.head import Head
    >>> to_torch(HeadLayer((Head(np.eye(3), np.eye(3), np.eye(3)),), causal=False, dtype="float32")).embed_dim
    4
    """
    shape, torch = torch_shape(layer), load_extra("torch", "torch")
    wide = {name: torch.from_numpy(matrix.astype(np.float64)) for name, matrix in torch_state(layer).items()}
    return _module(shape, wide, dtype)


def write_torch(layer: HeadLayer, directory: str | Path) -> Path:
    """Write torch.safetensors: the state dict, with the module's sizes in its metadata. Needs no torch.

    >>> import tempfile
    >>> from headwright.weights.head import Head
    >>> layer = HeadLayer((Head(np.eye(3), np.eye(3), np.eye(3)),), causal=False, dtype="float32")
    >>> write_torch(layer, tempfile.mkdtemp()).name
    'torch.safetensors'
    """
    about = {"format": "pt", "headwright": json.dumps(vars(torch_shape(layer)))}
    path = Path(directory) / TORCH
    write_whole(path, save(torch_state(layer), metadata=about))
    return path


def load_torch(path: str | Path, dtype: str | None = None) -> tuple[nn.MultiheadAttention, TorchShape]:
    """The module in a file that write_torch wrote, and its sizes.

    >>> import tempfile
    >>> from headwright.weights.head import Head
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
        raise InputError(f"torch layer {path}: expected a {TORCH} that headwright exported ({error})") from error
    return _module(shape, state, dtype), shape


def run_torch(
    module: nn.MultiheadAttention, shape: TorchShape, X: Float[np.ndarray, "T D"]
) -> tuple[Float[np.ndarray, "T m"], Float[np.ndarray, "heads T T"]]:
    """Outputs and patterns of tokens, run by torch in the module's number type.

    >>> from headwright.weights.head import Head
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
    mask = torch.ones(T, T, dtype=torch.bool).triu(1) if shape.causal else None  # True: hidden
    with torch.no_grad():
        out, pattern = module(tokens, tokens, tokens, attn_mask=mask, need_weights=True, average_attn_weights=False)
    return out[0, :, : shape.outputs].double().numpy(), pattern[0].double().numpy()


def _module(shape: TorchShape, state: dict[str, Any], dtype: str | None) -> nn.MultiheadAttention:
    torch = load_extra("torch", "torch")
    module: nn.MultiheadAttention = torch.nn.MultiheadAttention(
        shape.embed_dim,
        shape.num_heads,
        bias=False,
        batch_first=True,
        dtype=getattr(torch, dtype or runs_in(shape.dtype)),
    )
    module.load_state_dict(state)
    return module.eval()
