"""Row statistics on a GPU beside fused attention: python bench/rows_gpu.py, where there are CUDA, torch and Triton."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import torch
import triton
from torch.nn.attention import SDPBackend, sdpa_kernel

# The kernel alone: torch is all that is there.
sys.path.insert(0, str(Path(__file__).parents[1] / "src/headwright/models/rows"))
import kernel  # type: ignore[import-not-found]

HEADS, LENGTHS = 32, (4096, 16384, 65536, 131072)


def measured(work: Callable[[], object]) -> str:
    """Milliseconds, and the peak of memory beyond what was there before; or that there was not enough."""
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    try:
        work()
        peak = torch.cuda.max_memory_allocated() - before
        time = float(triton.testing.do_bench(work, warmup=50, rep=200, return_mode="median"))
    except torch.cuda.OutOfMemoryError:
        torch.cuda.empty_cache()
        return "out of memory"
    return f"{time:9.3f} ms {peak / 2**20:9.0f} MiB"


def stored(q: torch.Tensor, k: torch.Tensor) -> object:
    """What tools that store patterns do: all weights at once, then the few statistics of a map."""
    scores = (q @ k.mT).float() * q.shape[-1] ** -0.5
    scores.masked_fill_(torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu_(1), -torch.inf)
    pattern = scores.softmax(-1)
    return pattern.amax(-1), -(pattern * pattern.clamp_min(1e-30).log()).sum(-1), pattern[..., 0]


def compared(length: int, d: int) -> None:
    q, k = (torch.randn(HEADS, length, d, device="cuda", dtype=torch.bfloat16) for _ in range(2))

    def ours(track: bool) -> Callable[[], object]:
        return lambda: kernel.statistics(q, k, scale=d**-0.5, causal=True, track=track)

    def fused() -> object:
        return torch.nn.functional.scaled_dot_product_attention(q[None], k[None], k[None], is_causal=True)

    case = f"T = {length:6} d = {d:3}"
    print(f"{case}: all statistics                 {measured(ours(True))}")
    print(f"{case}: lse, largest, entropy, first   {measured(ours(False))}")
    for backend in (SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION):
        with sdpa_kernel(backend):
            print(f"{case}: {backend.name:30} {measured(fused)}")
    print(f"{case}: bare Q K^T, stored             {measured(lambda: q @ k.mT)}")
    print(f"{case}: pattern stored, then the few   {measured(lambda: stored(q, k))}", flush=True)


def main() -> None:
    print(torch.cuda.get_device_name(), "torch", torch.__version__, "triton", triton.__version__, f"{HEADS} heads")
    for d in (128, 64):
        for length in LENGTHS:
            compared(length, d)


if __name__ == "__main__":
    main()
