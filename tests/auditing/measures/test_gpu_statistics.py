"""The kernel, on a GPU or in Triton's interpreter, gives an audit the same numbers as NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from headwright.auditing.measures.first_token import statistics
from headwright.models.model import numbers
from headwright.statistics import row_statistics
from headwright.statistics.attention_config import AttentionConfig
from tests.statistics.on_gpu import on_gpu


@pytest.mark.parametrize(
    "kind",
    [
        {},
        {"causal": False},
        {
            "window": 9,
            "softcap": 3.0,
            "sinks": np.ones(4),
            "key_mask": np.arange(90) > 4,
        },
    ],
)
def test_the_kernel_agrees_with_numpy(kind: dict[str, Any]) -> None:
    generator = torch.Generator().manual_seed(0)
    q, k = (
        torch.randn(4, 90, 32, generator=generator),
        torch.randn(2, 90, 32, generator=generator),
    )
    scoring = AttentionConfig.of(tuple(q.shape), tuple(k.shape), **kind)
    found = row_statistics(on_gpu(q), on_gpu(k), offsets=(0, 1, 7), **kind)
    truth = statistics(q, k, scoring, (0, 1, 7))
    names = (
        "lse",
        "largest",
        "winner",
        "margin",
        "entropy",
        "first",
        "distance",
        "sensitivity",
        "largest_score",
    )
    for name in names:
        np.testing.assert_allclose(
            getattr(found, name), getattr(truth, name), atol=2e-4, err_msg=name
        )
    for offset, weight in truth.offsets.items():
        np.testing.assert_allclose(found.offsets[offset], weight, atol=1e-5)


def test_numbers_of_a_tensor_of_few_bits() -> None:
    np.testing.assert_array_equal(
        numbers(torch.tensor([1.5], dtype=torch.bfloat16)),
        np.array([1.5], dtype=np.float32),
    )
