"""Extremes over a vocabulary on a GPU beside matmul and amax: python bench/texts_gpu.py, with CUDA and Triton."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
import triton

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
from headwright.audit.texts import kernel
from headwright.audit.texts.bands import band
from headwright.audit.texts.gpu import Products, sweep_on_gpu
from headwright.audit.texts.head import Rotary, Texts, Vectors
from headwright.audit.texts.sweep import sweep

VOCABULARY = 49152
PRODUCTS: tuple[Products, ...] = ("bf16", "tf32x3")


def milliseconds(work: Callable[[], object]) -> float:
    """The median; infinity for tiles that the device has no room for."""
    try:
        return float(triton.testing.do_bench(work, warmup=50, rep=200, return_mode="median"))
    except triton.runtime.errors.OutOfResources:
        return math.inf


def matmul(q: torch.Tensor, k: torch.Tensor) -> object:
    scores = q @ k.T
    return scores.amax(1), scores.amin(1)


def compared(d: int) -> None:
    q, k = (torch.randn(VOCABULARY, d, device="cuda") for _ in range(2))
    flops = 2 * d * VOCABULARY**2
    for name, (a, b), precision in (
        ("bf16", (q.bfloat16(), k.bfloat16()), "ieee"), ("tf32", (q, k), "tf32"), ("tf32x3", (q, k), "tf32x3"),
    ):  # fmt: skip
        high, low = kernel.extremes(a[:4096], b, precision)
        truth = a[:4096].double() @ b.double().T
        off = max((high - truth.amax(1)).abs().max().item(), (low - truth.amin(1)).abs().max().item())
        best = min((milliseconds(partial(kernel.extremes, a, b, precision, tiles)), tiles) for tiles in TILES)
        print(
            f"d = {d} {name}: {best[0]:.3f} ms, {flops / best[0] / 1e9:.0f} Tflop/s, tiles {best[1]}, off by {off:.1e}"
        )
    for name, (a, b) in (("bf16", (q.bfloat16(), k.bfloat16())), ("float32", (q, k))):
        print(f"d = {d} torch matmul, amax, amin, {name}: {milliseconds(partial(matmul, a, b)):.3f} ms")


def whole_layer(products: Products, heads: int = 9, length: int = 2048, d: int = 64) -> None:
    """All texts of 2,048 tokens, each head of a first layer of SmolLM2-135M's size; random weights cost the same."""
    rng = np.random.default_rng(0)
    angles = 1e5 ** (-np.arange(0, d, 2) / d)
    texts, sets = Texts(length, length - 1), {"self": [length - 1], "previous": [length - 2], "first": [0]}
    start = time.perf_counter()
    for _ in range(heads):
        query, key = (Vectors(rng.normal(size=(VOCABULARY, d)), 0.0) for _ in range(2))
        head = Rotary(np.arange(VOCABULARY), query, key, angles)
        found = sweep_on_gpu(head, texts, sets, products=products)
    torch.cuda.synchronize()
    took = time.perf_counter() - start
    print(f"{heads} heads, T = {length}, {products}: {took:.1f} s, slack at most {found.slack.max():.1e} nats")
    few = Texts(16, 15)
    rows = np.arange(0, VOCABULARY, 997)
    rough = band(sweep_on_gpu(head, few, {"previous": [14]}, rows, products=products), "previous")
    sharp = band(sweep(head, few, {"previous": [14]}, rows), "previous")
    inside = (rough.least.lower <= sharp.least.lower).all() and (sharp.most.upper <= rough.most.upper).all()
    print(f"the band in float64 lies inside: {bool(inside)}")


# rows, keys, warps, stages
TILES = [
    (64, 128, 4, 3), (64, 128, 4, 4), (128, 128, 8, 3), (128, 128, 8, 4), (64, 256, 8, 3), (128, 64, 4, 4),
    (64, 64, 4, 2),
]  # fmt: skip


def main() -> None:
    print(torch.cuda.get_device_name(), "torch", torch.__version__, "triton", triton.__version__)
    for d in (64, 128):
        compared(d)
    for products in PRODUCTS:
        whole_layer(products)


if __name__ == "__main__":
    main()
