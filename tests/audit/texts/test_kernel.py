"""The GPU's extremes, under Triton's interpreter."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from headwright.audit.texts.bands import band
from headwright.audit.texts.gpu import sweep_on_gpu
from headwright.audit.texts.head import Rotary, Texts, Vectors
from headwright.audit.texts.kernel import extremes
from headwright.audit.texts.sweep import sweep


@pytest.mark.parametrize(("rows", "keys", "d"), [(1, 1, 16), (70, 130, 16), (64, 300, 32)])
@pytest.mark.parametrize("kind", [torch.float32, torch.float16])
def test_extremes_are_those_of_the_product(rows: int, keys: int, d: int, kind: torch.dtype) -> None:
    torch.manual_seed(rows)
    q, k = torch.randn(rows, d).to(kind), torch.randn(keys, d).to(kind)
    high, low = extremes(q, k)
    scores = q.double() @ k.double().T
    assert torch.allclose(high.double(), scores.amax(1), atol=1e-4)
    assert torch.allclose(low.double(), scores.amin(1), atol=1e-4)


def test_the_sweep_holds_the_one_in_float64() -> None:
    rng = np.random.default_rng(0)
    query, key = (Vectors(rng.normal(size=(40, 16)), 0.0) for _ in range(2))
    head = Rotary(np.arange(40), query, key, np.array([1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.001]))
    texts, sets = Texts(70, 69, {0: 3}), {"previous": [68], "self": [69], "far": [1, 2]}
    rows = np.array([0, 7, 39])
    rough = sweep_on_gpu(head, texts, sets, rows, products="tf32x3", device="cpu")
    sharp = sweep(head, texts, sets, rows)
    for name in sets:
        mine_band, true_band = band(rough, name), band(sharp, name)
        for mine, truth in ((mine_band.least, true_band.least), (mine_band.most, true_band.most)):
            assert np.all(mine.lower <= truth.lower)
            assert np.all(truth.upper <= mine.upper)
            assert np.all(mine.upper - mine.lower < 0.01)
