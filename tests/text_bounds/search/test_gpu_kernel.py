"""The GPU's extremes, under Triton's interpreter."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from headwright.text_bounds.search.gpu_kernel import GpuVectors, turns_of
from headwright.text_bounds.search.gpu_sweep import Products, sweep_on_gpu
from headwright.text_bounds.search.heads import PlacedHead, RotaryHead, TokenVectors
from headwright.text_bounds.search.sweep import band, sweep
from headwright.text_bounds.search.texts import TextFamily


@pytest.mark.parametrize(
    ("rows", "keys", "d"), [(1, 1, 16), (70, 130, 16), (64, 300, 24)]
)
@pytest.mark.parametrize("products", ["float16", "tf32x3"])
@pytest.mark.parametrize("size", [1e-12, 1.0, 1e6])
def test_extremes_are_those_of_the_product_within_what_they_may_be_wrong(
    rows: int, keys: int, d: int, products: str, size: float
) -> None:
    torch.manual_seed(rows)
    q, k = torch.randn(rows, d).double() * size, torch.randn(keys, d).double() / size
    q[:, 3] *= 1e-7  # entries that float16 would hold in part, or lose
    angles = torch.rand(2, 5).double() * 6
    turns = turns_of(angles.cos(), angles.sin(), d)
    high, low, wrong = GpuVectors.of(q, k, products).extremes(turns)
    for place in (0, 1):
        cos, sin = angles[place].cos(), angles[place].sin()
        a, b = q[:, :5], q[:, 5:10]
        turned = torch.cat([a * cos - b * sin, a * sin + b * cos, q[:, 10:]], dim=1)
        scores = turned @ k.T
        assert bool(((high[place] - scores.amax(1)).abs() <= wrong[place]).all())
        assert bool(((low[place] - scores.amin(1)).abs() <= wrong[place]).all())
    assert float(wrong.max()) < 0.003 * float(q.norm(dim=1).max() * k.norm(dim=1).max())


@pytest.mark.parametrize("products", ["float16", "tf32x3"])
def test_the_sweep_holds_the_one_in_float64(products: Products) -> None:
    rng = np.random.default_rng(0)
    query, key = (TokenVectors(rng.normal(size=(40, 16)), 0.0) for _ in range(2))
    head = RotaryHead(
        np.arange(40),
        query,
        key,
        np.array([1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.001]),
    )
    texts, sets = (
        TextFamily(70, 69, {0: 3}),
        {"previous": [68], "self": [69], "far": [1, 2]},
    )
    rows = np.array([0, 7, 39])
    rough = sweep_on_gpu(head, texts, sets, rows, products=products, device="cpu")
    sharp = sweep(head, texts, sets, rows)
    for name in sets:
        mine_band, true_band = band(rough, name), band(sharp, name)
        for mine, truth in (
            (mine_band.least, true_band.least),
            (mine_band.most, true_band.most),
        ):
            assert np.all(mine.lower <= truth.lower)
            assert np.all(truth.upper <= mine.upper)
            assert np.all(mine.upper - mine.lower < 0.02)


def test_learned_positions_are_swept_place_by_place() -> None:
    rng = np.random.default_rng(1)
    vectors = [TokenVectors(rng.normal(size=(30, 16)), 0.0) for _ in range(10)]
    head = PlacedHead(np.arange(30), vectors[:5].__getitem__, vectors[5:].__getitem__)
    texts, sets = TextFamily(5, 3, {0: 2}, causal=False), {"previous": [2]}
    rough, sharp = (
        band(found, "previous")
        for found in (
            sweep_on_gpu(head, texts, sets, device="cpu"),
            sweep(head, texts, sets),
        )
    )
    assert np.all(rough.least.lower <= sharp.least.lower) and np.all(
        sharp.most.upper <= rough.most.upper
    )
    assert np.all(rough.least.upper - rough.least.lower < 0.02)
