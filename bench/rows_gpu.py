"""Row statistics on a GPU beside fused attention: python bench/rows_gpu.py [FILE], where there are CUDA and Triton.

Every line is measured in the same run; the last column is the time divided by that of cuDNN's forward pass. The result
is also written into FILE, else into bench/results.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import torch
import triton
from torch.nn.attention import SDPBackend, sdpa_kernel

# The kernel alone: torch is all that is there.
sys.path.insert(0, str(Path(__file__).parents[1] / "src/headwright/statistics"))
import gpu_kernel as kernel  # type: ignore[import-not-found]

HEADS, LENGTHS, BINS = 32, {128: (4096, 16384, 65536, 131072), 64: (4096, 16384)}, 512
LONGEST_OF_MANY = 16384  # beyond it, only what has a target is measured


def measured(work: Callable[[], object]) -> tuple[float, float] | None:
    """Milliseconds, and the peak of memory in MiB beyond what was there before; None if there was not enough."""
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    try:
        work()
        peak = torch.cuda.max_memory_allocated() - before
        time = float(
            triton.testing.do_bench(work, warmup=50, rep=200, return_mode="median")
        )
    except torch.cuda.OutOfMemoryError:
        torch.cuda.empty_cache()
        return None
    return time, peak / 2**20


def stored(q: torch.Tensor, k: torch.Tensor) -> object:
    """What tools that store patterns do: all weights at once, then the few statistics of a map."""
    scores = (q @ k.mT).float() * q.shape[-1] ** -0.5
    scores.masked_fill_(
        torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu_(1),
        -torch.inf,
    )
    pattern = scores.softmax(-1)
    return (
        pattern.amax(-1),
        -(pattern * pattern.clamp_min(1e-30).log()).sum(-1),
        pattern[..., 0],
    )


def compared(length: int, d: int, key_heads: int) -> list[str]:
    q = torch.randn(HEADS, length, d, device="cuda", dtype=torch.bfloat16)
    k = torch.randn(key_heads, length, d, device="cuda", dtype=torch.bfloat16)
    how = {"scale": d**-0.5, "causal": True}
    few, cell = {"track": False}, length // BINS
    both = {"offsets": (0, 1)}

    def fused() -> object:
        attend, grouped = (
            torch.nn.functional.scaled_dot_product_attention,
            key_heads != HEADS,
        )
        return attend(q[None], k[None], k[None], is_causal=True, enable_gqa=grouped)

    def backend(which: SDPBackend) -> tuple[float, float] | None:
        with sdpa_kernel(which):
            return measured(fused)

    cudnn = backend(SDPBackend.CUDNN_ATTENTION)
    lines: dict[str, tuple[float, float] | None] = {
        "cuDNN forward": cudnn,
        "flash forward": backend(SDPBackend.FLASH_ATTENTION),
        "all statistics": measured(lambda: kernel.statistics(q, k, **both, **how)),
        "all, with column sums": measured(
            lambda: kernel.statistics(q, k, received=True, **both, **how)
        ),
        "map of 512 bins": measured(lambda: kernel.cells(q, k, cell, cell, **how)),
        "lse, largest, entropy, first": measured(
            lambda: kernel.statistics(q, k, **few, **how)
        ),
    }
    if length <= LONGEST_OF_MANY:
        lse = kernel.statistics(q, k, **few, **how)["lse"]
        lines["column sums alone, second pass"] = measured(
            lambda: kernel.received(q, k, lse, **how)
        )
        lines["column sums alone, atomics"] = measured(
            lambda: kernel.cells(q, k, length, 1, lse, **how)
        )
        if key_heads == HEADS:
            lines["pattern stored, then the few"] = measured(lambda: stored(q, k))
    case = f"T = {length:6} d = {d:3} heads {HEADS}/{key_heads:2}"
    said = []
    for name, found in lines.items():
        ratio = (
            ""
            if found is None or cudnn is None
            else f"{found[0] / cudnn[0]:6.2f} x cuDNN"
        )
        told = (
            "out of memory"
            if found is None
            else f"{found[0]:9.3f} ms {found[1]:9.0f} MiB {ratio}"
        )
        said.append(f"{case}: {name:32} {told}")
    print("\n".join(said), flush=True)
    return said


def main() -> None:
    if not torch.cuda.is_available():
        raise SystemExit("bench/rows_gpu.py needs a CUDA device")
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    where = Path(__file__).parent / f"results/{date}-gpu-rows.txt"
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else where
    device = f"{torch.cuda.get_device_name()} torch {torch.__version__} triton {triton.__version__}"
    lines = [
        f"python bench/rows_gpu.py, {date}",
        f"{device}, bfloat16, causal; median of CUDA events",
    ]
    for d, lengths in LENGTHS.items():
        for length in lengths:
            lines += compared(length, d, HEADS)
            target.write_text("\n".join(lines) + "\n")
    lines += compared(16384, 128, HEADS // 4)
    target.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
