"""A layer as arrays: weights.safetensors, and weights.json that says what they are. Nothing is pickled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import ml_dtypes  # noqa: F401  (teaches NumPy bfloat16, which safetensors then reads)
import numpy as np
from pydantic import Field, ValidationError
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from headwright.errors import InputError
from headwright.files import write_whole
from headwright.head_design.export.numbers import stored
from headwright.head_design.head import Head, HeadLayer
from headwright.query_design.targets import exact
from headwright.validation import StrictModel, sentence

ARRAYS = "weights.safetensors"
SHAPES = "weights.json"
MATRICES = ("W_Q", "W_K", "W_V")
VECTORS = ("b_Q", "b_V")
CONVENTIONS = {
    "tokens": "rows x of length D",
    "query": "W_Q x, plus b_Q if biases is true",
    "key": "W_K x",
    "value": "W_V x, plus b_V if biases is true",
    "scores": "scores[i, j] = <key_j, query_i> (+ bias[head][i][j]), scale 1: nothing is divided by a square root",
    "pattern": "softmax over j; a causal layer lets token i see tokens 0 to i, mask those with a 1 in row i",
    "output": "output_i = the sum over heads and j of pattern[i, j] value_j; no residual",
}


class _Shapes(StrictModel):
    format: Literal["headwright layer 1"]
    dtype: Literal["float64", "float32", "bfloat16"]
    causal: bool
    mask: list[str] = Field([])
    biases: bool = False
    bias: list[list[list[str]]] = Field([])
    heads: int = Field(ge=1, le=1024)
    shapes: dict[str, list[int]]
    conventions: dict[str, str]


def write_arrays(layer: HeadLayer, directory: str | Path) -> tuple[Path, Path]:
    """Write the two files into a directory that exists; what they are.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> layer = HeadLayer((Head(np.eye(2), np.eye(2), 3 * np.eye(2)),), causal=True, dtype="bfloat16")
    >>> [path.name for path in write_arrays(layer, folder)]
    ['weights.safetensors', 'weights.json']
    >>> again = load_layer(folder)
    >>> again.dtype, again.causal, again.heads[0].W_V.tolist()
    ('bfloat16', True, [[3.0, 0.0], [0.0, 3.0]])
    """
    matrices = {}
    for number, head in enumerate(layer.heads):
        for name in _names(layer.biases):
            matrix = getattr(head, name)
            content = stored(matrix, layer.dtype, f"{name} of head {number}")
            matrices[f"heads.{number}.{name}"] = np.ascontiguousarray(content)
    bias = []
    for table in layer.bias:
        bias.append([list(map(str, row)) for row in table])
    about = _Shapes(
        format="headwright layer 1",
        dtype=layer.dtype,  # type: ignore[arg-type]  # a layer has no other
        causal=layer.causal,
        mask=list(layer.mask),
        biases=layer.biases,
        bias=bias,
        heads=len(layer.heads),
        shapes={name: list(matrix.shape) for name, matrix in matrices.items()},
        conventions=CONVENTIONS,
    )
    arrays = Path(directory) / ARRAYS
    shapes = Path(directory) / SHAPES
    write_whole(arrays, save(matrices))
    write_whole(shapes, (json.dumps(about.model_dump(), indent=2) + "\n").encode())
    return arrays, shapes


def _names(biases: bool) -> tuple[str, ...]:
    """Of the weights of a head."""
    return MATRICES + VECTORS if biases else MATRICES


def load_layer(directory: str | Path) -> HeadLayer:
    """The layer that write_arrays wrote: the same numbers, bit for bit, as float64 arrays.

    >>> load_layer("/no/such/folder")
    Traceback (most recent call last):
    headwright.errors.InputError: layer /no/such/folder/weights.json: there is no such file
    """
    arrays = Path(directory) / ARRAYS
    shapes = Path(directory) / SHAPES
    try:
        about = _Shapes.model_validate_json(_content(shapes))
        matrices = _tensors(arrays)
    except ValidationError as error:
        raise InputError(f"layer {shapes}: {sentence(error, _Shapes)}") from error
    except SafetensorError as error:
        raise InputError(
            f"layer {arrays}: is not a safetensors file ({error})"
        ) from error
    _check_matrices(arrays, about, matrices)
    heads = []
    for number in range(about.heads):
        weights = []
        for name in _names(about.biases):
            weights.append(matrices[f"heads.{number}.{name}"].astype(np.float64))
        heads.append(Head(*weights))
    bias = []
    for table in about.bias:
        bias.append(tuple(tuple(exact(x, "a bias") for x in row) for row in table))
    return HeadLayer(
        tuple(heads), about.causal, about.dtype, tuple(about.mask), tuple(bias)
    )


def _check_matrices(
    path: Path, about: _Shapes, matrices: dict[str, np.ndarray]
) -> None:
    """The file holds what the other one says: these names, of this type, in these shapes."""
    expected = []
    for number in range(about.heads):
        expected += [f"heads.{number}.{name}" for name in _names(about.biases)]
    if sorted(matrices) != sorted(expected):
        raise InputError(
            f"layer {path}: holds {', '.join(sorted(matrices))}: expected {', '.join(expected)}"
        )
    for name, matrix in matrices.items():
        dtype = matrix.dtype.name
        shape = list(matrix.shape)
        if dtype != about.dtype or shape != about.shapes.get(name):
            raise InputError(
                f"layer {path}: {name} is {dtype} of shape {shape}, and "
                f"{SHAPES} says {about.dtype} of shape {about.shapes.get(name)}"
            )


def _tensors(path: Path) -> dict[str, np.ndarray]:
    try:
        with safe_open(path, framework="numpy") as tensors:
            return {
                name: np.asarray(tensors.get_tensor(name))
                for name in tensors.keys()  # noqa: SIM118
            }
    except FileNotFoundError as error:
        raise InputError(f"layer {path}: there is no such file") from error


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"layer {path}: there is no such file") from error
    except OSError as error:
        raise InputError(f"layer {path}: {error.strerror}") from error
