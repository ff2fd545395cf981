"""torch's own MultiheadAttention reproduces the layer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.errors import InputError
from headwright.head_design.export import (
    load_torch,
    run_torch,
    to_torch,
    torch_shape,
    write_torch,
)
from headwright.head_design.export.numbers import float_error
from headwright.head_design.head import DTYPES, HeadLayer, outputs, patterns
from tests.effort import tried
from tests.head_design.export.making import random_layer, random_tokens, richer_layer


def check(layer: HeadLayer, X: np.ndarray, dtype: str) -> None:
    out, pattern = run_torch(to_torch(layer, dtype), torch_shape(layer), X)
    allowed = float_error(layer, X, dtype)
    assert np.abs(pattern - patterns(layer, X)).max() <= allowed.pattern
    assert np.abs(out - outputs(layer, X)).max() <= allowed.output


@settings(max_examples=tried(40))
@given(
    seed=st.integers(0, 2**32 - 1),
    D=st.integers(1, 20),
    m=st.integers(1, 20),
    ranks=st.lists(st.integers(1, 6), min_size=1, max_size=3),
    causal=st.booleans(),
    dtype=st.sampled_from(["float64", "float32"]),
)
def test_reproduces_pattern_and_outputs(
    seed: int, D: int, m: int, ranks: list[int], causal: bool, dtype: str
) -> None:
    layer = random_layer(seed, D=D, m=m, ranks=tuple(ranks), causal=causal, dtype=dtype)
    check(layer, random_tokens(seed, D=D, dtype=dtype), dtype)


@pytest.mark.parametrize(
    "parts", [("mask",), ("biases",), ("table",), ("mask", "biases", "table")]
)
@pytest.mark.parametrize("T", [3, 6])
def test_masks_and_biases_are_honoured(
    tmp_path: Path, parts: tuple[str, ...], T: int
) -> None:
    layer, X = richer_layer(T, parts), random_tokens(1, T=T)
    check(layer, X, "float32")
    module, shape = load_torch(write_torch(layer, tmp_path))
    again = run_torch(module, shape, X)
    np.testing.assert_array_equal(
        again[0], run_torch(to_torch(layer), torch_shape(layer), X)[0]
    )


def test_more_tokens_than_a_mask_has_places_are_refused() -> None:
    layer = richer_layer(0)
    with pytest.raises(InputError, match="are for 6: expected no more"):
        run_torch(to_torch(layer), torch_shape(layer), random_tokens(0, T=7))


def test_bfloat16_weights_run_in_float32_within_the_error_of_float32() -> None:
    check(
        random_layer(1, dtype="bfloat16"), random_tokens(1, dtype="bfloat16"), "float32"
    )


def test_bfloat16_weights_run_in_bfloat16_within_its_error() -> None:
    check(
        random_layer(1, dtype="bfloat16"),
        random_tokens(1, dtype="bfloat16") / 4,
        "bfloat16",
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_folding_the_scale_is_exact(dtype: str) -> None:
    layer = random_layer(3, dtype=dtype)
    shape, module = torch_shape(layer), to_torch(layer)
    assert np.sqrt(shape.head_dim) == 2 ** round(np.log2(np.sqrt(shape.head_dim)))
    first = module.in_proj_weight[:2, :5].detach().double().numpy() / np.sqrt(
        shape.head_dim
    )
    assert (first == layer.heads[0].W_Q).all()


def test_what_is_padded_is_zero() -> None:
    layer = random_layer(4)
    module, shape = to_torch(layer), torch_shape(layer)
    with torch.no_grad():
        X = torch.zeros(1, 2, shape.embed_dim)
        X[:, :, :5] = torch.randn(1, 2, 5, generator=torch.Generator().manual_seed(0))
        out = module(X, X, X)[0]
    assert (out[:, :, shape.outputs :] == 0).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_file_loads_into_the_same_module(tmp_path: Path, dtype: str) -> None:
    layer = random_layer(5, dtype=dtype, causal=True)
    module, shape = load_torch(write_torch(layer, tmp_path))
    assert shape == torch_shape(layer)
    assert torch.equal(module.in_proj_weight, to_torch(layer).in_proj_weight)
    assert module.in_proj_weight.dtype == (
        torch.float64 if dtype == "float64" else torch.float32
    )


def test_file_loads_without_headwright(tmp_path: Path) -> None:
    from safetensors.torch import load_file

    shape = torch_shape(layer := random_layer(5))
    module = torch.nn.MultiheadAttention(
        shape.embed_dim, shape.num_heads, bias=False, batch_first=True
    )
    module.load_state_dict(load_file(write_torch(layer, tmp_path)))


def test_refuses_another_safetensors_file(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    save_file({"x": np.eye(2)}, tmp_path / "other.safetensors")
    with pytest.raises(InputError, match="that headwright exported"):
        load_torch(tmp_path / "other.safetensors")
    with pytest.raises(InputError, match="no such file"):
        load_torch(tmp_path / "none.safetensors")


def test_refuses_tokens_of_another_width() -> None:
    layer = random_layer(6)
    with pytest.raises(
        InputError, match="tokens have 4 numbers, and this layer takes 5"
    ):
        run_torch(to_torch(layer), torch_shape(layer), np.ones((2, 4)))
