"""Row statistics on a GPU beside fused attention: python bench/rows_gpu.py, on a machine with CUDA, torch and Triton."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import torch
import triton
from torch.nn.attention import SDPBackend, sdpa_kernel

sys.path.insert(0, str(Path(__file__).parents[1] / "src" / "headwright" / "audit"))  # alone: torch is all that is there
import kernel  # type: ignore[import-not-found]

HEADS, LENGTH = 32, 16384


def milliseconds(work: Callable[[], object]) -> float:
    return float(triton.testing.do_bench(work, warmup=50, rep=150, return_mode="median"))


def main() -> None:
    print(torch.cuda.get_device_name(), "torch", torch.__version__, "triton", triton.__version__)
    for d in (128, 64):
        q, k, v = (torch.randn(HEADS, LENGTH, d, device="cuda", dtype=torch.bfloat16) for _ in range(3))
        for track, name in ((True, "all statistics"), (False, "lse, largest, entropy, first")):
            took = milliseconds(lambda t=track: kernel.statistics(q, k, scale=d**-0.5, causal=True, track=t))
            print(f"d = {d}: {name} {took:.3f} ms")
        for backend in (SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION):
            with sdpa_kernel(backend):
                took = milliseconds(
                    lambda: torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)
                )
            print(f"d = {d}: {backend.name} {took:.3f} ms")


if __name__ == "__main__":
    main()
