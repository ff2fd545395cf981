"""Designed heads, exported: every library keeps the rules that the certificate is about."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from headwright.head_design import build, read_rules
from headwright.head_design.export import export, load_layer, load_torch, run_torch
from headwright.head_design.export.huggingface import hidden_shape
from headwright.head_design.export.numbers import float_error
from headwright.head_design.head import outputs
from tests.head_design.export.running import Run, needs_transformers

EXAMPLES = Path(__file__).parents[3] / "examples" / "heads"


@needs_transformers
def test_every_export_keeps_the_rules(tmp_path: Path, run: Run) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    names = [("route", "float32"), ("induction", "bfloat16"), ("majority", "float32")]
    folders = [tmp_path / f"{name}-{dtype}" for name, dtype in names]
    found = [
        build(read_rules(EXAMPLES / f"{name}.toml"), dtype=dtype)
        for name, dtype in names
    ]
    for built, folder in zip(found, folders, strict=True):
        assert len(export(built, folder)) == 6
    hugging = run(
        tmp_path, [(folder / "huggingface", None, None) for folder in folders]
    )
    for number, (built, folder) in enumerate(zip(found, folders, strict=True)):
        module, shape = load_torch(folder / "torch.safetensors")
        session = onnxruntime.InferenceSession(
            folder / "model.onnx", providers=["CPUExecutionProvider"]
        )
        for rule in built.rules.rules:
            X = built.rules.sequences[rule.sequence]
            layer = load_layer(folder)
            shape_there = hidden_shape(layer, np.concatenate(built.rules.sequences))
            allowed = float_error(
                layer, X, "float32", hidden=shape_there
            ).output * np.sqrt(built.rules.width)
            assert rule.output is not None
            wanted = np.array([float(x) for x in rule.output])
            everyone = {
                "arrays": outputs(layer, X),
                "torch": run_torch(module, shape, X)[0],
                "onnx": session.run(None, {"tokens": X[None].astype(np.float32)})[0][0],
                "huggingface": hugging[f"{number}.{rule.sequence}.output"],
            }
            for name, out in everyone.items():
                assert (
                    np.linalg.norm(out[rule.token] - wanted)
                    <= float(rule.tolerance) + allowed
                ), name
