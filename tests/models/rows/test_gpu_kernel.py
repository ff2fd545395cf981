"""The GPU's kernel, run by Triton's interpreter, agrees with the definition."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from headwright.models.rows.gpu_kernel import statistics
from headwright.models.rows.scoring import Scoring
from tests.models.rows.reference import reference

LOOSE = {"distance": 1e-4}  # a sum of up to hundreds of places


@pytest.mark.parametrize(
    ("rows", "keys", "d", "causal"),
    [
        (130, 300, 32, True), (130, 300, 64, False), (64, 64, 64, True), (64, 64, 32, False), (1, 1, 32, True),
        (1, 1, 64, False), (3, 129, 64, True), (3, 129, 32, False),
    ],
)  # fmt: skip
def test_kernel_agrees_with_the_definition(rows: int, keys: int, d: int, causal: bool) -> None:
    generator = torch.Generator().manual_seed(rows + keys)
    q, k = torch.randn(4, rows, d, generator=generator), torch.randn(2, keys, d, generator=generator)
    found = statistics(q, k, scale=d**-0.5, causal=causal)
    truth = reference(q.numpy(), k.numpy(), Scoring.of(tuple(q.shape), tuple(k.shape), causal=causal))
    assert set(found) == {"lse", "entropy", "first", "largest", "winner", "margin", "distance"}
    for name, values in found.items():
        np.testing.assert_allclose(values.numpy(), getattr(truth, name), atol=LOOSE.get(name, 1e-5), err_msg=name)


def test_the_few_that_a_map_needs_are_the_same_without_the_rest() -> None:
    q, k = torch.randn(1, 70, 32), torch.randn(1, 70, 32)
    few, all_ = (statistics(q, k, scale=0.3, causal=True, track=track) for track in (False, True))
    assert set(few) == {"lse", "entropy", "first", "largest"}
    for name, values in few.items():
        torch.testing.assert_close(values, all_[name], atol=1e-5, rtol=0)


def test_large_scores_keep_their_winner() -> None:
    q = torch.randn(1, 100, 32, generator=torch.Generator().manual_seed(0)) * 10
    found = statistics(q, q, scale=1.0, causal=True)
    assert (found["winner"][0] == torch.arange(100)).all()
    torch.testing.assert_close(found["largest"], torch.ones(1, 100), atol=5e-3, rtol=0)
