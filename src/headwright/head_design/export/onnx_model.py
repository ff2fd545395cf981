"""A layer as an ONNX model: tokens (batch, T, D) in; output (batch, T, m) and pattern (batch, heads, T, T) out.

Plain operators only, so that every runtime has them. float32 layers stay float32, float64 float64; bfloat16 weights are
stored as the float32 of the same value, since few runtimes have bfloat16 on a CPU. Heads of different head_dim are
padded with zeros. All of that is exact.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from headwright.files import write_whole
from headwright.head_design.export.numbers import load_extra, runs_in, stored
from headwright.head_design.head import HeadLayer

ONNX = "model.onnx"
# Widely supported; nothing later changed for these operators.
OPSET = 21
IR_VERSION = 10


def onnx_model(layer: HeadLayer) -> Any:
    """The model, checked by onnx.

    >>> from headwright.head_design.head import Head
    >>> model = onnx_model(HeadLayer((Head(np.eye(3), np.eye(3), np.eye(3)),), causal=False, dtype="float32"))
    >>> [output.name for output in model.graph.output]
    ['output', 'pattern']
    """
    onnx = load_extra("onnx", "export")
    helper = load_extra("onnx.helper", "export")
    from_array = load_extra("onnx.numpy_helper", "export").from_array
    dtype = runs_in(layer.dtype)
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    m, D = layer.heads[0].W_V.shape
    weights = {
        name: stored(_stacked(layer, name), dtype, name)
        for name in ("W_Q", "W_K", "W_V")
    }
    constants = [
        from_array(np.ascontiguousarray(matrix), name)
        for name, matrix in weights.items()
    ]
    constants += [from_array(np.array([1], dtype=np.int64), "head_axis")]
    nodes = [
        helper.make_node(
            "Unsqueeze", ["tokens", "head_axis"], ["rows"]
        ),  # (batch, 1, T, D)
        helper.make_node(
            "MatMul", ["rows", "W_Q"], ["asked" if layer.biases else "queries"]
        ),  # (batch, heads, T, r)
        helper.make_node("MatMul", ["rows", "W_K"], ["keys"]),
        helper.make_node(
            "MatMul", ["rows", "W_V"], ["held" if layer.biases else "values"]
        ),  # (batch, heads, T, m)
    ]
    if layer.biases:
        for name, before, after in (
            ("b_Q", "asked", "queries"),
            ("b_V", "held", "values"),
        ):
            constants.append(
                from_array(stored(_stacked_biases(layer, name), dtype, name), name)
            )
            nodes.append(helper.make_node("Add", [before, name], [after]))
    nodes += [
        helper.make_node("Transpose", ["keys"], ["keys_across"], perm=[0, 1, 3, 2]),
        helper.make_node(
            "MatMul", ["queries", "keys_across"], ["scores"]
        ),  # (batch, heads, T, T)
    ]
    table = _table(layer)
    if table is not None:
        constants += [
            from_array(stored(table, dtype, "a bias of places"), "table"),
            from_array(np.zeros(2, dtype=np.int64), "corner"),
            from_array(np.array([1, 2], dtype=np.int64), "places"),
        ]
        nodes += [
            helper.make_node("Shape", ["scores"], ["square"], start=2),  # T, T
            helper.make_node(
                "Slice", ["table", "corner", "square", "places"], ["added"]
            ),
            helper.make_node("Add", ["scores", "added"], ["seen"]),
        ]
    elif layer.causal:
        constants += [
            from_array(np.array(-np.inf, dtype=dtype), "never"),
            from_array(np.array(1, dtype=np.int64), "above"),
        ]
        nodes += [
            helper.make_node("Shape", ["scores"], ["square"], start=2),  # T, T
            helper.make_node("Expand", ["never", "square"], ["nowhere"]),
            helper.make_node(
                "Trilu", ["nowhere", "above"], ["hidden"], upper=1
            ),  # 0 on and below the diagonal
            helper.make_node("Add", ["scores", "hidden"], ["seen"]),
        ]
    nodes += [
        helper.make_node(
            "Softmax",
            ["scores" if table is None and not layer.causal else "seen"],
            ["pattern"],
            axis=-1,
        ),
        helper.make_node("MatMul", ["pattern", "values"], ["mixed"]),
        helper.make_node("ReduceSum", ["mixed", "head_axis"], ["output"], keepdims=0),
    ]
    heads = len(layer.heads)
    graph = helper.make_graph(
        nodes,
        "headwright_layer",
        [helper.make_tensor_value_info("tokens", element, ["batch", "T", D])],
        [
            helper.make_tensor_value_info("output", element, ["batch", "T", m]),
            helper.make_tensor_value_info(
                "pattern", element, ["batch", heads, "T", "T"]
            ),
        ],
        constants,
    )
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", OPSET)],
        producer_name="headwright",
    )
    model.ir_version = IR_VERSION
    onnx.checker.check_model(model, full_check=True)
    return model


def write_onnx(layer: HeadLayer, directory: str | Path) -> Path:
    """Write model.onnx.

    >>> import tempfile
    >>> from headwright.head_design.head import Head
    >>> layer = HeadLayer((Head(np.eye(3), np.eye(3), np.eye(3)),), causal=True, dtype="bfloat16")
    >>> write_onnx(layer, tempfile.mkdtemp()).name
    'model.onnx'
    """
    path = Path(directory) / ONNX
    write_whole(path, onnx_model(layer).SerializeToString())
    return path


def _table(layer: HeadLayer) -> np.ndarray | None:
    """What is added to scores where a mask is written out or places have biases: (heads, T, T), or (1, T, T)."""
    if not layer.mask and not layer.bias:
        return None
    T = len(layer.mask) or len(layer.bias[0])
    added = np.array(
        [np.broadcast_to(layer.added(h, T), (T, T)) for h in range(len(layer.heads))]
    )
    visible = layer.visible(T)
    return added if visible is None else np.where(visible, added, -np.inf)


def _stacked_biases(layer: HeadLayer, name: str) -> np.ndarray:
    """b_Q or b_V of every head, padded with zeros: (heads, 1, rows)."""
    vectors = [
        np.asarray(getattr(head, name)).astype(np.float64) for head in layer.heads
    ]
    stacked = np.zeros((len(vectors), 1, max(map(len, vectors))))
    for h, b in enumerate(vectors):
        stacked[h, 0, : len(b)] = b
    return stacked


def _stacked(layer: HeadLayer, name: str) -> np.ndarray:
    """One matrix of every head, across and padded with zeros: (heads, D, rows)."""
    matrices = [
        np.asarray(getattr(head, name)).astype(np.float64) for head in layer.heads
    ]
    stacked = np.zeros(
        (len(matrices), matrices[0].shape[1], max(len(matrix) for matrix in matrices))
    )
    for h, matrix in enumerate(matrices):
        stacked[h, :, : len(matrix)] = matrix.T
    return stacked
