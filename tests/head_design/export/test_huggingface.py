"""A stock OPT, loaded by transformers in a process of its own, reproduces the layer."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open

from headwright.errors import InputError
from headwright.head_design import build, parse_rules
from headwright.head_design.export import write_huggingface
from headwright.head_design.export.huggingface import EPS, hidden_shape, to_hidden
from headwright.head_design.export.numbers import float_error
from headwright.head_design.head import DTYPES, HeadLayer, outputs, patterns
from tests.head_design.export.making import random_layer, random_tokens, richer_layer
from tests.head_design.export.running import Run, needs_transformers


@needs_transformers
def test_reproduces_pattern_and_outputs(tmp_path: Path, run: Run) -> None:
    orders: list[tuple[Path, str | None, str | None]] = []
    cases: list[tuple[HeadLayer, list[np.ndarray], str]] = []
    for number, dtype in enumerate(DTYPES):
        for causal in (False, True):
            layer = random_layer(number, dtype=dtype, causal=causal, ranks=(2, 3))
            X = [random_tokens(seed, T=T, dtype=dtype) for seed, T in ((0, 6), (1, 3))]
            folder = tmp_path / f"{dtype}{causal}"
            folder.mkdir()
            ran_in = "float32" if dtype == "bfloat16" else dtype
            orders.append((write_huggingface(layer, folder, X), None, None))
            cases.append((layer, X, ran_in))
    long_and_short = (
        random_tokens(9) * 2.0 ** np.arange(-9, 3, 2)[:, None]
    )  # LayerNorm sees them at one length
    layer = random_layer(9, ranks=(2,))
    (tmp_path / "long").mkdir()
    orders.append(
        (write_huggingface(layer, tmp_path / "long", [long_and_short]), None, None)
    )
    cases.append((layer, [long_and_short], "float32"))
    found = run(tmp_path, orders)
    for number, (layer, sequences, ran_in) in enumerate(cases):
        for s, tokens in enumerate(sequences):
            shape = hidden_shape(layer, np.concatenate(sequences))
            allowed = float_error(
                layer, tokens, ran_in, softmax="float32", hidden=shape
            )
            assert (
                np.abs(found[f"{number}.{s}.pattern"] - patterns(layer, tokens)).max()
                <= allowed.pattern
            )
            assert (
                np.abs(found[f"{number}.{s}.output"] - outputs(layer, tokens)).max()
                <= allowed.output
            )


@needs_transformers
def test_runs_in_bfloat16_and_with_the_fused_kernel(tmp_path: Path, run: Run) -> None:
    """Small weights, so that bfloat16's own arithmetic is good enough; sdpa must keep the mask."""
    orders: list[tuple[Path, str | None, str | None]] = []
    cases = []
    for causal in (False, True):
        layer, X = (
            random_layer(2, dtype="bfloat16", causal=causal),
            random_tokens(2, dtype="bfloat16") / 4,
        )
        folder = tmp_path / str(causal)
        folder.mkdir()
        written = write_huggingface(layer, folder, [X])
        for attention in (None, "sdpa"):
            orders.append((written, "bfloat16", attention))
            cases.append((layer, X))
    found = run(tmp_path, orders)
    for number, (layer, X) in enumerate(cases):
        assert np.abs(found[f"{number}.0.output"] - outputs(layer, X)).max() <= 0.05


@given(
    seed=st.integers(0, 2**32 - 1),
    D=st.integers(1, 12),
    size=st.floats(1e-3, 1e3),
    dtype=st.sampled_from(DTYPES),
)
def test_layer_norm_only_multiplies_by_a_power_of_two(
    seed: int, D: int, size: float, dtype: str
) -> None:
    layer = random_layer(seed, D=D, dtype=dtype)
    X = random_tokens(seed, D=D, dtype=dtype) * 2.0 ** round(np.log2(size))
    shape = hidden_shape(layer, X)
    h = to_hidden(X, shape, dtype)
    assert h.shape == (6, shape.hidden)
    assert np.abs(h.sum(axis=1)).max() <= 1e-12 * np.abs(h).max()
    scale = 1 / np.sqrt(h.var(axis=1) + EPS)
    assert np.abs(scale * 2.0**shape.power - 1).max() <= 1e-7


@pytest.mark.parametrize(
    ("tokens", "table"), [("bfloat16", "bfloat16"), ("float32", "float32")]
)
def test_bfloat16_weights_are_stored_so_and_run_in_float32(
    tmp_path: Path, tokens: str, table: str
) -> None:
    X = random_tokens(0, dtype=tokens)
    folder = write_huggingface(random_layer(0, dtype="bfloat16"), tmp_path, [X])
    assert json.loads((folder / "config.json").read_text())["dtype"] == "float32"
    with safe_open(folder / "model.safetensors", framework="numpy") as tensors:
        assert (
            tensors.get_tensor("decoder.layers.0.self_attn.q_proj.weight").dtype.name
            == "bfloat16"
        )
        held = tensors.get_tensor("decoder.embed_tokens.weight")
    assert held.dtype.name == table
    assert (held[:, :5].astype(np.float64) == np.unique(X, axis=0)).all()


def test_equal_tokens_share_an_id(tmp_path: Path) -> None:
    folder = write_huggingface(
        random_layer(0), tmp_path, [np.ones((3, 5)), np.zeros((1, 5))]
    )
    assert json.loads((folder / "headwright.json").read_text())["input_ids"] == [
        [1, 1, 1],
        [0],
    ]


@pytest.mark.parametrize("part", ["mask", "biases", "table"])
def test_refuses_what_opt_does_not_have(tmp_path: Path, part: str) -> None:
    layer = richer_layer(0, (part,))
    with pytest.raises(InputError, match="torch and onnx hold it"):
        write_huggingface(layer, tmp_path, [random_tokens(0)])


def test_refuses_tokens_of_another_width(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match="tokens have 4 numbers, and the layer takes 5"
    ):
        write_huggingface(random_layer(0), tmp_path, [np.ones((3, 4))])


def test_refuses_a_token_longer_than_the_model_was_made_for() -> None:
    layer = random_layer(0)
    shape = hidden_shape(layer, np.ones((1, 5)))
    with pytest.raises(InputError, match="longer than the longest"):
        to_hidden(100 * np.ones((1, 5)), shape, "float32")


@pytest.mark.parametrize(
    ("size", "dtype"),
    [
        (1e-10, "float32"),
        (1e-6, "float32"),
        (1e-30, "float64"),
        (1e30, "float32"),
        (1e30, "bfloat16"),
    ],
)
def test_refuses_tokens_that_layer_norm_would_lose_or_overflow(
    size: float, dtype: str, tmp_path: Path
) -> None:
    size = 2.0 ** round(np.log2(size))
    text = f"tokens = [[{size!r}, 0.0], [0.0, {size!r}]]\nrule = [{{ token = 0, copy = 1 }}]"
    layer = build(parse_rules(text), dtype=dtype).layer
    assert layer is not None
    with pytest.raises(InputError, match="may move the pattern"):
        write_huggingface(layer, tmp_path, [size * np.eye(2)])
    assert not list(tmp_path.iterdir())
