"""Row statistics on a GPU beside fused attention: python bench/rows_gpu.py, where there are CUDA, torch and Triton."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import torch
import triton
from torch.nn.attention import SDPBackend, sdpa_kernel

# The kernel alone: torch is all that is there.
sys.path.insert(0, str(Path(__file__).parents[1] / "src/headwright/audit/rows"))
import kernel  # type: ignore[import-not-found]

HEADS, LENGTH = 32, 16384


def milliseconds(work: Callable[[], object]) -> float:
    return float(triton.testing.do_bench(work, warmup=50, rep=150, return_mode="median"))


def compared(d: int) -> None:
    q, k, v = (torch.randn(HEADS, LENGTH, d, device="cuda", dtype=torch.bfloat16) for _ in range(3))

    def ours(track: bool) -> Callable[[], object]:
        return lambda: kernel.statistics(q, k, scale=d**-0.5, causal=True, track=track)

    def fused() -> object:
        return torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)

    print(f"d = {d}: all statistics {milliseconds(ours(True)):.3f} ms")
    print(f"d = {d}: lse, largest, entropy, first {milliseconds(ours(False)):.3f} ms")
    for backend in (SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION):
        with sdpa_kernel(backend):
            print(f"d = {d}: {backend.name} {milliseconds(fused):.3f} ms")


def main() -> None:
    print(torch.cuda.get_device_name(), "torch", torch.__version__, "triton", triton.__version__)
    for d in (128, 64):
        compared(d)


if __name__ == "__main__":
    main()
