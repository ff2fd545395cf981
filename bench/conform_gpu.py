"""Verdicts on a GPU: python -m bench.conform_gpu [FILE], where there is CUDA.

For each backend of scaled_dot_product_attention and each type: the ratio, the time of the verdict as a multiple of the
attention, its peak of memory. Every line is measured in the same run, and written into FILE too.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

import headwright as hw

BACKENDS = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "cuDNN": SDPBackend.CUDNN_ATTENTION,
    "memory-efficient": SDPBackend.EFFICIENT_ATTENTION,
    "math": SDPBackend.MATH,
}
CASES = [(1024, 64, 1), (4096, 128, 1), (4096, 128, 8), (16384, 128, 1)]  # tokens, dim, deviation of scores
HEADS = 2


def _seconds(work: Callable[[], object]) -> float:
    work()
    torch.cuda.synchronize()
    start = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return time.perf_counter() - start


def main() -> None:
    """Print a line for each backend, type and size."""
    if not torch.cuda.is_available():
        sys.exit("there is no GPU here: python -m bench.conform_gpu needs CUDA")
    lines = [f"{torch.cuda.get_device_name()}, torch {torch.__version__}"]
    for tokens, dim, deviation in CASES:
        for dtype in ("bfloat16", "float16", "float32"):
            q, k, v = hw.attention_inputs(
                rows=tokens, dim=dim, heads=HEADS, dtype=dtype, framework="torch", device="cuda"
            )  # fmt: skip
            q = q * deviation
            for name, backend in BACKENDS.items():
                lines.append(_line(name, backend, q, k, v, f"{tokens} {dim} {deviation} {dtype}"))
                print(lines[-1], flush=True)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text("\n".join(lines) + "\n")


def _line(name: str, backend: SDPBackend, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, case: str) -> str:
    def attention() -> torch.Tensor:
        with sdpa_kernel(backend):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)

    try:
        out = attention()
    except RuntimeError as error:
        return f"{case} {name}: not available ({str(error).splitlines()[0]})"
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    verdict = hw.conform(out, q, k, v, causal=True)
    peak = (torch.cuda.max_memory_allocated() - before) / 2**20
    once = _seconds(attention)
    judged = _seconds(lambda: hw.conform(out, q, k, v, causal=True, contract="fused", explain=False))
    return (
        f"{case} {name}: {verdict.word} {verdict.contract} {verdict.ratio:.3f}, {judged:.3f} s, "
        f"{judged / once:.0f} times the attention, {peak:.0f} MiB"
    )


if __name__ == "__main__":
    main()
