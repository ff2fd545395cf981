"""weights.safetensors and weights.json: the same numbers come back, and damage is told."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwright.errors import InputError
from headwright.head_design.export import load_layer, write_arrays
from headwright.head_design.head import DTYPES, Head, HeadLayer
from tests.head_design.export.making import random_layer, richer_layer


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 2**32 - 1), dtype=st.sampled_from(DTYPES), causal=st.booleans()
)
def test_comes_back_bit_for_bit(
    tmp_path: Path, seed: int, dtype: str, causal: bool
) -> None:
    layer = random_layer(seed, dtype=dtype, causal=causal)
    write_arrays(layer, tmp_path)
    again = load_layer(tmp_path)
    assert (again.dtype, again.causal, len(again.heads)) == (
        dtype,
        causal,
        len(layer.heads),
    )
    for one, other in zip(layer.heads, again.heads, strict=True):
        for name in ("W_Q", "W_K", "W_V"):
            assert getattr(one, name).tobytes() == getattr(other, name).tobytes()


@pytest.mark.parametrize(
    "parts", [("mask",), ("biases",), ("table",), ("mask", "biases", "table")]
)
def test_masks_and_biases_come_back(tmp_path: Path, parts: tuple[str, ...]) -> None:
    layer = richer_layer(0, parts)
    write_arrays(layer, tmp_path)
    again = load_layer(tmp_path)
    assert (again.mask, again.bias, again.biases) == (
        layer.mask,
        layer.bias,
        layer.biases,
    )
    for one, other in zip(layer.heads, again.heads, strict=True):
        assert np.array_equal(one.b_Q, other.b_Q) if layer.biases else other.b_Q is None  # type: ignore[arg-type]
        assert np.array_equal(one.b_V, other.b_V) if layer.biases else other.b_V is None  # type: ignore[arg-type]


def test_stores_in_the_type_of_the_layer(tmp_path: Path) -> None:
    arrays, _ = write_arrays(random_layer(0, dtype="bfloat16"), tmp_path)
    assert b'"dtype":"BF16"' in arrays.read_bytes()


def test_refuses_numbers_that_the_type_cannot_hold(tmp_path: Path) -> None:
    layer = HeadLayer(
        (Head(np.full((1, 1), 0.1), np.eye(1), np.eye(1)),),
        causal=False,
        dtype="bfloat16",
    )
    with pytest.raises(
        InputError, match=r"W_Q of head 0 holds 0\.1, which is no bfloat16"
    ):
        write_arrays(layer, tmp_path)


def test_json_says_the_conventions(tmp_path: Path) -> None:
    write_arrays(random_layer(0, causal=True), tmp_path)
    about = json.loads((tmp_path / "weights.json").read_text())
    assert about["causal"] is True
    assert about["shapes"]["heads.1.W_Q"] == [3, 5]
    assert "scale 1" in about["conventions"]["scores"]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            {"dtype": "float16"},
            "dtype is 'float16': expected 'float64', 'float32' or 'bfloat16'",
        ),
        ({"heads": 3}, "expected heads.0.W_Q"),
        ({"dtype": "float64"}, "weights.json says float64"),
        ({"extra": 1}, "extra"),
        ({"format": "pickle"}, "format"),
    ],
)
def test_refuses_a_description_that_does_not_fit(
    tmp_path: Path, damage: dict[str, object], message: str
) -> None:
    _, shapes = write_arrays(random_layer(0), tmp_path)
    shapes.write_text(json.dumps({**json.loads(shapes.read_text()), **damage}))
    with pytest.raises(InputError, match=message):
        load_layer(tmp_path)


def test_refuses_a_file_that_is_no_safetensors(tmp_path: Path) -> None:
    arrays, _ = write_arrays(random_layer(0), tmp_path)
    arrays.write_bytes(b"\x80\x04pickle")
    with pytest.raises(InputError, match="is not a safetensors file"):
        load_layer(tmp_path)
