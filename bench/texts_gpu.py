"""Extremes over a vocabulary on a GPU beside matmul and amax: python bench/texts_gpu.py, with CUDA and Triton."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
import triton

# The kernel alone: torch is all that is there.
sys.path.insert(0, str(Path(__file__).parents[1] / "src/headwright/text_bounds/search"))
import gpu_kernel as kernel  # type: ignore[import-not-found]

VOCABULARY = 49152  # tokens
PLACES = 16  # of one launch
PEAK = 989  # Tflop/s of dense float16, as the maker says

# rows, keys, warps, stages
TILES = [
    (128, 64, 4, 4),
    (128, 64, 4, 3),
    (128, 64, 4, 5),
    (128, 64, 8, 4),
    (256, 64, 8, 4),
    (128, 32, 4, 5),
    (128, 32, 4, 4),
    (256, 32, 8, 4),
    (256, 32, 4, 4),
    (64, 32, 4, 5),
    (64, 128, 4, 3),
    (64, 128, 4, 4),
    (128, 128, 8, 4),
    (64, 64, 4, 4),
]


def milliseconds(work: Callable[[], object]) -> float:
    """The median; infinity for tiles that the device has no room for, or that Triton does not take."""
    try:
        return float(
            triton.testing.do_bench(work, warmup=50, rep=200, return_mode="median")
        )
    except (
        triton.runtime.errors.OutOfResources,
        triton.compiler.errors.CompilationError,
        ValueError,
    ):
        return math.inf


def matmul(q: torch.Tensor, k: torch.Tensor) -> object:
    scores = q @ k.T
    return scores.amax(1), scores.amin(1)


def turns(places: int, d: int) -> kernel.Rotations:
    rates = 1e5 ** (-torch.arange(0, d, 2, dtype=torch.float64, device="cuda") / d)
    angles = (
        torch.arange(1, places + 1, dtype=torch.float64, device="cuda")[:, None] * rates
    )
    return kernel.turns_of(angles.cos(), angles.sin(), d)


def exactly(
    q: torch.Tensor, k: torch.Tensor, by: kernel.Rotations, place: int
) -> torch.Tensor:
    return (q * by.cos[place] + q[:, by.partner] * by.sin[place]) @ k.T


def compared(d: int) -> None:
    q, k = (
        torch.randn(VOCABULARY, d, device="cuda", dtype=torch.float64) for _ in range(2)
    )
    by, flops = turns(PLACES, d), 2 * d * VOCABULARY**2
    for products in ("float16", "tf32x3"):
        moved = kernel.GpuVectors.of(q, k, products)
        high, low, wrong = kernel.GpuVectors.of(q[:2048], k, products).extremes(by)
        gaps = []
        for place in (0, PLACES - 1):
            truth = exactly(q[:2048], k, by, place)
            gaps += [
                (high[place] - truth.amax(1)).abs(),
                (low[place] - truth.amin(1)).abs(),
            ]
        inside = all(
            bool((gap <= wrong[place]).all())
            for gap, place in zip(gaps, (0, 0, -1, -1), strict=True)
        )
        off = max(float(gap.max()) for gap in gaps)
        timed = sorted(
            (milliseconds(partial(moved.extremes, by, tiles)) / PLACES, tiles)
            for tiles in TILES
        )
        best = timed[0][0]
        share = (
            f", {flops / best / 1e9 / PEAK:.0%} of the peak"
            if products == "float16"
            else ""
        )
        print(
            f"d = {d} {products}: {best:.3f} ms a place, {flops / best / 1e9:.0f} Tflop/s{share}; off by {off:.1e}, "
            f"proved {float(wrong.max()):.1e}, inside {inside}"
        )
        print("   ", "; ".join(f"{tiles} {ms:.3f}" for ms, tiles in timed[:5]))
    for name, (a, b) in (
        ("float16", (q.half(), k.half())),
        ("float32", (q.float(), k.float())),
    ):
        print(
            f"d = {d} torch matmul, amax, amin, {name}: {milliseconds(partial(matmul, a, b)):.3f} ms a place"
        )


def whole_layer(products: str, heads: int = 9, length: int = 2048, d: int = 64) -> None:
    """All texts of 2,048 tokens, each head of a first layer of SmolLM2-135M's size; random weights cost the same."""
    torch.manual_seed(0)
    vectors = [torch.randn(VOCABULARY, d, dtype=torch.float64) for _ in range(2)]
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(heads):
        moved = kernel.GpuVectors.of(*(part.cuda() for part in vectors), products)
        found = moved.folded(turns(length - 1, d))
    torch.cuda.synchronize()
    took = time.perf_counter() - start
    print(
        f"{heads} heads, T = {length}, {products}: {took:.1f} s, slack at most {float(found.slack.max()):.1e} nats "
        f"where scores have a standard deviation of {d**0.5:.0f}"
    )


def main() -> None:
    if not torch.cuda.is_available():
        raise SystemExit("bench/texts_gpu.py needs a CUDA device")
    print(
        torch.cuda.get_device_name(),
        "torch",
        torch.__version__,
        "triton",
        triton.__version__,
    )
    for d in (64, 128):
        compared(d)
    for products in ("float16", "tf32x3"):
        whole_layer(products)


if __name__ == "__main__":
    main()
