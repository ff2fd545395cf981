"""headwright conform: tensors from a file, a verdict, an exit code, a picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch.nn.functional import scaled_dot_product_attention

import headwright as hw
from tests.cli.running import Headwright

Q, K, V = hw.attention_inputs(rows=48, dim=16, framework="torch", seed=1)


def _output(window: int) -> torch.Tensor:
    mask = torch.ones(48, 48, dtype=torch.bool).tril().triu(1 - window)
    return scaled_dot_product_attention(Q, K, V, attn_mask=mask)


def _saved(folder: Path, window: int = 8, **tensors: Any) -> Path:
    path = folder / "dump.safetensors"
    save_file({"q": Q, "k": K, "v": V, "out": _output(window), **tensors}, path)
    return path


def test_within_is_0(headwright: Headwright, tmp_path: Path) -> None:
    ran = headwright("conform", str(_saved(tmp_path)), "--causal", "--window", "8")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("within: 0.")


def test_outside_is_1_and_says_why_and_draws(
    headwright: Headwright, tmp_path: Path
) -> None:
    picture = tmp_path / "errors.svg"
    ran = headwright(
        "conform",
        str(_saved(tmp_path, 9)),
        "--causal",
        "--window",
        "7,0",
        "--plot",
        str(picture),
    )
    assert ran.code == 1, ran.err
    assert "consistent with a window of 9 keys, not 8" in ran.out
    assert "error divided by bound" in picture.read_text()


def test_json(headwright: Headwright, tmp_path: Path) -> None:
    ran = headwright(
        "conform",
        str(_saved(tmp_path, 9)),
        "--causal",
        "--window",
        "8",
        "--contract",
        "fused",
        "--json",
    )
    assert ran.code == 1
    result = json.loads(ran.out)
    assert (
        result["verdict"] == "outside"
        and result["hypotheses"][0]["name"] == "window +1"
    )
    assert result["worst"]["error"] > result["worst"]["bound"]


def test_undecided_is_3(headwright: Headwright, tmp_path: Path) -> None:
    path = tmp_path / "dump.npz"
    q, k, v = hw.attention_inputs(rows=8, dim=8, dtype="float32")
    np.savez(path, q=q * 1e5, k=k, v=v, out=v * 0)
    assert headwright("conform", str(path)).code == 3


def test_tensors_that_describe_and_a_wider_type(
    headwright: Headwright, tmp_path: Path
) -> None:
    path = tmp_path / "dump.npz"
    mask = torch.ones(48, 48, dtype=torch.bool).tril().triu(-7)
    wide: dict[str, Any] = {
        name: tensor.float().numpy()
        for name, tensor in (("q", Q), ("k", K), ("v", V), ("out", _output(8)))
    }
    np.savez(path, mask=mask.numpy(), **wide)
    ran = headwright("conform", str(path), "--dtype", "bfloat16", "--rows", "10")
    assert ran.code == 0, ran.out
    assert "10 of 48 rows" in ran.out
    assert (
        headwright("conform", str(path), "--contract", "fused").code == 1
    )  # as float32, its output is coarse


REFUSED = {
    "missing.safetensors": ("there is no such file", b""),
    "dump.pt": ("expected .safetensors or .npz", b"x"),
    "broken.safetensors": ("is not a safetensors file", b"x"),
    "broken.npz": ("is no .npz file of plain numbers", b"x"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_unusable_files_are_2(
    headwright: Headwright, tmp_path: Path, name: str
) -> None:
    sentence, content = REFUSED[name]
    if content:
        (tmp_path / name).write_bytes(content)
    ran = headwright("conform", str(tmp_path / name))
    assert ran.code == 2
    assert sentence in ran.err


def test_missing_tensors_and_bad_options_are_2(
    headwright: Headwright, tmp_path: Path
) -> None:
    path = tmp_path / "dump.npz"
    np.savez(path, q=np.ones((2, 2)), query=np.ones(1))
    ran = headwright("conform", str(path))
    assert ran.code == 2 and "has no tensor k, v, out; it holds q, query" in ran.err
    good = _saved(tmp_path)
    assert (
        "expected a number of keys"
        in headwright("conform", str(good), "--window", "wide").err
    )
    np.savez(
        path,
        q=np.full((2, 2), 0.1),
        k=np.ones((2, 2)),
        v=np.ones((2, 2)),
        out=np.ones((2, 2)),
    )
    narrow = headwright("conform", str(path), "--dtype", "float16")
    assert (
        narrow.code == 2 and "q holds numbers that float16 does not have" in narrow.err
    )


def test_gradients_of_a_dump_are_judged(headwright: Headwright, tmp_path: Path) -> None:
    leaves = [tensor.clone().requires_grad_() for tensor in (Q, K, V)]
    mask = torch.ones(48, 48, dtype=torch.bool).tril()
    q, k, v = leaves
    out = scaled_dot_product_attention(q, k, v, attn_mask=mask)
    dout = torch.ones_like(out)
    gradients = torch.autograd.grad(out, leaves, dout)
    named = {}
    for name, gradient in zip(("dq", "dk", "dv"), gradients, strict=True):
        named[name] = gradient.contiguous()
    tensors = {"q": Q, "k": K, "v": V, "out": out.detach(), "dout": dout, **named}
    path = tmp_path / "dump.safetensors"
    save_file(tensors, path)
    ran = headwright("conform", str(path), "--causal")
    assert ran.code == 0, ran.out
    assert "dq: within" in ran.out and "dv: within" in ran.out
    save_file({**tensors, "dk": named["dk"] * 1.1}, path)
    ran = headwright("conform", str(path), "--causal", "--json")
    assert ran.code == 1
    words = {entry["gradient"]: entry["verdict"] for entry in ran.json["gradients"]}
    assert words == {"dq": "within", "dk": "outside", "dv": "within"}
    del tensors["dout"]
    save_file(tensors, path)
    ran = headwright("conform", str(path), "--causal")
    assert ran.code == 2 and "has dq, dk, dv and no dout" in ran.err
