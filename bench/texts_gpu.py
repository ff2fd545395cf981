"""Extremes over a vocabulary on a GPU beside matmul and amax: python bench/texts_gpu.py, with CUDA and Triton."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
import triton

# The kernel alone: torch is all that is there.
sys.path.insert(0, str(Path(__file__).parents[1] / "src/headwright/audit/texts"))
import kernel  # type: ignore[import-not-found]

VOCABULARY = 49152


def milliseconds(work: Callable[[], object]) -> float:
    return float(triton.testing.do_bench(work, warmup=50, rep=200, return_mode="median"))


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


TILES = [(64, 128, 4, 3), (64, 128, 4, 4), (128, 128, 8, 3), (128, 128, 8, 4), (64, 256, 8, 3), (128, 64, 4, 4)]


def main() -> None:
    print(torch.cuda.get_device_name(), "torch", torch.__version__, "triton", triton.__version__)
    for d in (64, 128):
        compared(d)


if __name__ == "__main__":
    main()
