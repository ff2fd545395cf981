"""Which keys a row sees, found without a tolerance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

import headwright as hw
from tests.conformance.catalogue import banded, causal, documents

ROWS = 72
PREFIX = causal() | (torch.arange(ROWS) < 9)
PADDED = torch.arange(ROWS) < 50
STRIPES = (torch.arange(ROWS) % 3 == 0).expand(ROWS, ROWS) | torch.eye(
    ROWS, dtype=torch.bool
)
DESCRIPTIONS = {
    "all keys": torch.ones(ROWS, ROWS, dtype=torch.bool),
    "all keys up to its own (causal)": causal(),
    "keys before its own": causal(shift=-1),
    "all keys up to one after its own": causal(shift=1),
    "a window of 16 keys that ends with its own": banded(15),
    "a window from 4 keys before its own to 7 after it": banded(4, 7),
    "keys 0-49, the others are padding": PADDED.expand(ROWS, ROWS),
    "keys 0-49 up to its own (causal, padded)": causal() & PADDED,
    "the first 9 keys, and all up to its own (prefix)": PREFIX,
    "keys of its document up to its own (documents of 20, 25, 27 keys)": documents(
        [0, 20, 45, 72]
    ),
    "keys of its document (documents of 36, 36 keys)": torch.kron(
        torch.eye(2), torch.ones(36, 36)
    ).bool(),
    "all keys up to its own (causal) (last row at the last key)": causal(40, 72),
    "all keys up to its own (causal) (row 0 at key 0)": torch.ones(
        40, 72, dtype=torch.bool
    ).tril(),
    "no key": torch.zeros(4, 5, dtype=torch.bool),
}


def _masked(mask: torch.Tensor) -> Any:
    return lambda q, k, v: scaled_dot_product_attention(q, k, v, attn_mask=mask)


@pytest.mark.parametrize("description", DESCRIPTIONS)
def test_masks_are_found_and_described(description: str) -> None:
    mask = DESCRIPTIONS[description]
    rows, keys = mask.shape
    visibility = hw.visible_keys(
        _masked(mask), rows=rows, keys=keys, dim=32, expected=mask
    )
    assert visibility.description == description
    assert visibility.difference is None and visibility.leaks_from is None
    assert np.array_equal(visibility.mask[0, 0], mask.numpy())
    assert "as expected" in str(visibility)


def test_a_mask_without_a_pattern_is_told_by_ranges() -> None:
    visibility = hw.visible_keys(_masked(STRIPES), rows=ROWS, dim=64)
    assert visibility.description.startswith(
        "no known pattern (row 0: 0, 3, 6, 9, ...; row 1: 0-1, 3, 6"
    )


def test_the_first_difference_is_named() -> None:
    visibility = hw.visible_keys(_masked(banded(16)), rows=ROWS, expected=banded(15))
    assert visibility.difference == (0, 0, 16, 0)
    assert "row 16 sees key 0" in str(visibility)


@pytest.mark.parametrize(
    ("hidden", "leaks_from"), [(-1e4, 1e4), (-1e6, 1e6), (-torch.inf, None)]
)
@pytest.mark.parametrize(
    "mask",
    [causal(), banded(15), PADDED.expand(ROWS, ROWS)],
    ids=["causal", "window", "padding"],
)
def test_masks_that_are_large_negative_numbers_leak(
    mask: torch.Tensor, hidden: float, leaks_from: float
) -> None:
    added = torch.zeros(ROWS, ROWS).masked_fill(~mask, hidden)
    visibility = hw.visible_keys(_masked(added), rows=ROWS, expected=mask)
    assert visibility.difference is None
    assert visibility.leaks_from == leaks_from
    if visibility.leak is not None:
        _, _, row, key = visibility.leak
        assert not mask[row, key]
        assert f"row {row} gives weight to key {key}, which is hidden" in str(
            visibility
        )


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_heads_texts_types_and_layouts(dtype: Any) -> None:
    masks = torch.stack(
        [torch.stack([causal(), banded(3)]), torch.stack([causal(), banded(4)])]
    )

    def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        q, k, v = (tensor.transpose(1, 2) for tensor in (q, k, v))
        k, v = (tensor.repeat_interleave(2, dim=1) for tensor in (k, v))
        return scaled_dot_product_attention(q, k, v, attn_mask=masks).transpose(1, 2)

    visibility = hw.visible_keys(
        attention,
        rows=ROWS,
        batch=2,
        heads=2,
        key_heads=1,
        dim=16,
        dtype=dtype,
        layout="bthd",
    )
    assert np.array_equal(visibility.mask, masks.numpy())
    assert visibility.description.startswith(
        "head 0: all keys up to its own (causal); head 1: a window of 4"
    )
