"""The map is the mean of the full pattern over each cell."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
import pytest
import torch

from headwright import attention_map
from headwright.errors import InputError
from headwright.statistics.attention_config import AttentionConfig
from headwright.statistics.map import edges
from tests.statistics.test_gpu_kernel import _pattern

KINDS: dict[str, dict[str, Any]] = {
    "causal": {},
    "full": {"causal": False},
    "window": {"window": 300},
    "softcap and sinks": {"softcap": 2.0, "sinks": np.array([0.5, -3.0, 9.0, 0.0])},
    "mask": {"key_mask": np.arange(700) % 3 != 0},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bins", [1, 7, 64, 600])
def test_a_cell_is_the_mean_of_its_weights(kind: str, bins: int) -> None:
    generator = torch.Generator().manual_seed(0)
    q, k = (
        torch.randn(4, 600, 8, generator=generator),
        torch.randn(2, 700, 8, generator=generator),
    )
    pattern = _pattern(
        q, k, AttentionConfig.of(tuple(q.shape), tuple(k.shape), **KINDS[kind])
    )
    found = attention_map(q, k, bins, **KINDS[kind])
    sums = np.add.reduceat(
        np.add.reduceat(pattern, found.rows[:-1], axis=1), found.keys[:-1], axis=2
    )
    truth = sums / np.diff(found.rows)[:, None] / np.diff(found.keys)
    np.testing.assert_allclose(found.values, truth, atol=1e-6)
    np.testing.assert_array_equal(np.asarray(found), found.values)


def test_bins_are_as_even_as_whole_numbers_allow() -> None:
    np.testing.assert_array_equal(edges(10, 4), [0, 2, 5, 7, 10])
    np.testing.assert_array_equal(edges(3, 512), [0, 1, 2, 3])


def test_a_head_is_a_picture_with_a_pixel_for_each_cell() -> None:
    rng = np.random.default_rng(0)
    found = attention_map(rng.normal(size=(2, 90, 4)), rng.normal(size=(1, 90, 4)), 30)
    image = found.png(1)
    assert image.startswith(b"\x89PNG")
    assert struct.unpack(">II", image[16:24]) == (30, 30)
    length = struct.unpack(">I", image[33:37])[0]
    lines = np.frombuffer(zlib.decompress(image[41 : 41 + length]), np.uint8).reshape(
        30, 91
    )
    assert (lines[0, 1 + 3 * 5 :] == 255).all()  # a causal row sees nothing there
    assert (lines[29, 1:4] < 255).all()
    with pytest.raises(InputError, match="head 2, and the map has 2"):
        found.png(2)


@pytest.mark.parametrize("bins", [0, -1, 5000, 2.5])
def test_numbers_of_bins_that_make_no_sense_are_refused(bins: Any) -> None:
    q = np.zeros((1, 4, 2))
    with pytest.raises(InputError, match="bins = "):
        attention_map(q, q, bins)
