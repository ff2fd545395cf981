"""onnxruntime runs the ONNX model and reproduces the layer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from headwright.head_design.export import write_onnx
from headwright.head_design.export.numbers import float_error
from headwright.head_design.head import DTYPES, outputs, patterns
from tests.head_design.export.making import random_layer, random_tokens, richer_layer

onnxruntime = pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("T", [1, 6])
def test_reproduces_pattern_and_outputs(
    tmp_path: Path, dtype: str, causal: bool, T: int
) -> None:
    layer = random_layer(T, dtype=dtype, causal=causal)
    X = np.stack([random_tokens(seed, T=T, dtype=dtype) for seed in range(3)])
    ran_in = "float64" if dtype == "float64" else "float32"
    out, pattern = _run(write_onnx(layer, tmp_path), X.astype(ran_in))
    for b, tokens in enumerate(X):
        allowed = float_error(layer, tokens, ran_in)
        assert np.abs(pattern[b] - patterns(layer, tokens)).max() <= allowed.pattern
        assert np.abs(out[b] - outputs(layer, tokens)).max() <= allowed.output


@pytest.mark.parametrize(
    "parts", [("mask",), ("biases",), ("table",), ("mask", "biases", "table")]
)
@pytest.mark.parametrize("T", [3, 6])
def test_masks_and_biases_are_honoured(
    tmp_path: Path, parts: tuple[str, ...], T: int
) -> None:
    layer, X = richer_layer(T, parts), random_tokens(1, T=T)
    out, pattern = _run(write_onnx(layer, tmp_path), X[None].astype("float32"))
    allowed = float_error(layer, X, "float32")
    assert np.abs(pattern[0] - patterns(layer, X)).max() <= allowed.pattern
    assert np.abs(out[0] - outputs(layer, X)).max() <= allowed.output


def test_holds_the_weights_bit_for_bit(tmp_path: Path) -> None:
    layer = random_layer(0, ranks=(2,))
    model = onnx.load(write_onnx(layer, tmp_path))
    held = {
        tensor.name: onnx.numpy_helper.to_array(tensor)
        for tensor in model.graph.initializer
    }
    for name in ("W_Q", "W_K", "W_V"):
        assert (getattr(layer.heads[0], name) == held[name][0].T).all()


def _run(path: Path, X: np.ndarray) -> list[np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(
        path, options, providers=["CPUExecutionProvider"]
    ).run(None, {"tokens": X})
