"""What was written, read back and run: the same weights, and the same patterns as the layer's up to rounding."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from jaxtyping import Float

from headwright.enclosure import TOLERANCE, held_to
from headwright.errors import ContradictionError
from headwright.weights.export.arrays import load_layer
from headwright.weights.export.numbers import runs_in
from headwright.weights.export.onnx_model import ONNX
from headwright.weights.export.rounding import FloatError, float_error
from headwright.weights.export.torch_layer import TORCH, load_torch, run_torch
from headwright.weights.head import HeadLayer, outputs, patterns

Pattern = Float[np.ndarray, "heads T T"]
Output = Float[np.ndarray, "T m"]


def read_back(name: str, layer: HeadLayer, folder: Path, sequences: Sequence[Float[np.ndarray, "T D"]]) -> None:
    """Nothing, if a format in a folder holds the layer; else a ContradictionError.

    Arrays are compared bit for bit. What torch and ONNX make of the sequences is compared with what the layer does, up
    to the proven bound of what their arithmetic may lose; torch is asked only where it is installed. The Hugging Face
    folder is not run here: loading transformers takes seconds.

    >>> import tempfile
    >>> from headwright.weights.export.arrays import write_arrays
    >>> from headwright.weights.head import Head
    >>> eye, folder = np.eye(2), tempfile.mkdtemp()
    >>> _ = write_arrays(HeadLayer((Head(eye, eye, eye),), causal=True, dtype="float64"), folder)
    >>> read_back("arrays", HeadLayer((Head(eye, 2 * eye, eye),), causal=True, dtype="float64"), Path(folder), [])
    Traceback (most recent call last):
    headwright.errors.ContradictionError: arrays: what was written is not the layer, read back
    """
    if name == "arrays" and not _same(layer, load_layer(folder)):
        raise ContradictionError("arrays: what was written is not the layer, read back")
    if name == "torch" and find_spec("torch") is not None:
        module, shape = load_torch(folder / TORCH, "float64")  # the file's own numbers, and nothing lost
        for X in sequences:
            output, pattern = run_torch(module, shape, X)
            _agree(name, layer, X, pattern, output, float_error(layer, X, "float64"))
    if name == "onnx":
        from onnx.reference import ReferenceEvaluator

        dtype = runs_in(layer.dtype)
        model = ReferenceEvaluator(str(folder / ONNX))
        for X in (X.astype(dtype) for X in sequences):
            ran = [np.asarray(each)[0] for each in model.run(None, {"tokens": X[None]})]
            _agree(name, layer, X, ran[1], ran[0], float_error(layer, X, dtype))


def _agree(
    name: str, layer: HeadLayer, X: Float[np.ndarray, "T D"], pattern: Pattern, output: Output, lost: FloatError
) -> None:
    for what, mine, theirs, room in (
        ("pattern", patterns(layer, X), pattern, lost.pattern), ("output", outputs(layer, X), output, lost.output)
    ):  # fmt: skip
        if not room < np.inf:
            continue
        off = float(np.abs(mine - theirs).max())
        held_to(off, f"{name}: how far a {what} is from the layer's", most=room, tolerance=TOLERANCE)


def _same(one: HeadLayer, other: HeadLayer) -> bool:
    facts = [(each.causal, each.dtype, each.mask, each.bias, len(each.heads)) for each in (one, other)]
    return facts[0] == facts[1] and all(
        (mine is None and theirs is None) or (mine is not None and theirs is not None and np.array_equal(mine, theirs))
        for a, b in zip(one.heads, other.heads, strict=True)
        for mine, theirs in ((a.W_Q, b.W_Q), (a.W_K, b.W_K), (a.W_V, b.W_V), (a.b_Q, b.b_Q), (a.b_V, b.b_V))
    )
