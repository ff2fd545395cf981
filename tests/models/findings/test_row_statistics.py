"""The kernel, run by Triton's interpreter, gives an audit the same numbers as NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from headwright.models.findings.row_statistics import by_kernel, kernel_fits, numbers, statistics
from headwright.models.rows.scoring import Scoring


@pytest.mark.parametrize("causal", [True, False])
def test_the_kernel_agrees_with_numpy(causal: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    q, k = torch.randn(4, 90, 32, generator=generator), torch.randn(2, 90, 32, generator=generator)
    scoring = Scoring.of(tuple(q.shape), tuple(k.shape), causal=causal)
    found, truth = by_kernel(q, k, scoring, (0, 1, 7)), statistics(q, k, scoring, (0, 1, 7))
    for name in ("lse", "largest", "winner", "margin", "entropy", "first", "distance", "sensitivity"):
        np.testing.assert_allclose(getattr(found, name), getattr(truth, name), atol=2e-4, err_msg=name)
    for offset, weight in truth.offsets.items():
        np.testing.assert_allclose(found.offsets[offset], weight, atol=1e-5)


def test_what_the_kernel_does_not_know_is_left_to_numpy() -> None:
    shape = (2, 8, 64)
    assert kernel_fits(Scoring.of(shape, shape), 64, 2)
    assert not kernel_fits(Scoring.of(shape, shape), 64, 4)
    for kind in (
        {"window": 3},
        {"softcap": 1.0},
        {"sinks": np.zeros(2)},
        {"key_mask": np.ones(8, bool)},
        {"scale": -1.0},
    ):
        assert not kernel_fits(Scoring.of(shape, shape, **kind), 64, 2)


def test_numbers_of_a_tensor_of_few_bits() -> None:
    np.testing.assert_array_equal(numbers(torch.tensor([1.5], dtype=torch.bfloat16)), np.array([1.5], dtype=np.float32))
