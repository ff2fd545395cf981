"""Row statistics on one core beside those who store patterns, beside fused attention, and beside the product alone.

One thread, float32, causal, d = 64; the processor's time. `stored` is what tools do that keep patterns: eager attention
with its pattern, as transformers returns it under output_attentions, then the statistics. SDPA with V = K yields
softmax(s) K, from which the entropy follows, but neither winner nor margin. A product of blocks that a causal row sees
is the least that anything exact can do, so all are told as ratios to it. Compiling (1.5 s, once) is not counted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from bench.measure import Contender

TITLE = "Statistics of every row of a pattern (one thread, float32, causal, d = 64)"
D, LIMIT = 64, 6000
HEADS = {2048: 4, 8192: 2, 32768: 1}


def _inputs(T: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    q, k = (rng.normal(size=(HEADS[T], T, D)).astype(np.float32) for _ in range(2))
    return q, k


def ours(T: int, fast: bool) -> Callable[[], str]:
    from headwright.models.rows.blocked import statistics
    from headwright.models.rows.scoring import Scoring

    q, k = _inputs(T)
    few = q[:, :2]
    statistics(few, few, Scoring.of(few.shape, few.shape), (0, 1), 0, fast=fast)  # where compiling happens

    def work() -> str:
        with threadpool_limits(1):
            found = statistics(q, k, Scoring.of(q.shape, k.shape), (0, 1), 0, fast=fast)
        return f"mean entropy {found.entropy.mean():.4f}"

    return work


def product(T: int) -> Callable[[], str]:
    from headwright.models.rows.blocked import KEYS, ROWS

    q, k = _inputs(T)
    buffer = np.empty((ROWS, KEYS), dtype=np.float32)

    def work() -> str:
        with threadpool_limits(1):
            for mine, keys in zip(q, k, strict=True):
                for row in range(0, T, ROWS):
                    for key in range(0, row + ROWS, KEYS):
                        part = keys[key : min(key + KEYS, row + ROWS)]
                        np.matmul(mine[row : row + ROWS], part.T, out=buffer[:, : len(part)])
        return "nothing"

    return work


def _tensors(T: int) -> tuple[Any, Any, Any]:
    import torch

    torch.set_num_threads(1)
    q, k = (torch.from_numpy(array)[None] for array in _inputs(T))
    return torch, q, k


def fused(T: int) -> Callable[[], str]:
    torch, q, k = _tensors(T)

    def work() -> str:
        with torch.inference_mode():
            mixed = torch.nn.functional.scaled_dot_product_attention(q, k, k, is_causal=True)
        return f"mean <q, softmax K> {(q * mixed).sum(-1).mean() * D**-0.5:.4f}"

    return work


def stored(T: int) -> Callable[[], str]:
    torch, q, k = _tensors(T)

    def work() -> str:
        with torch.inference_mode():
            mask = torch.full((T, T), torch.finfo(torch.float32).min).triu_(1)
            pattern = torch.softmax(q @ k.mT * D**-0.5 + mask, dim=-1, dtype=torch.float32)
            entropy = torch.special.entr(pattern).sum(-1)
            largest = pattern.amax(dim=-1)  # the runner-up is left out: torch.topk would take most of the time
        return f"mean entropy {entropy.mean():.4f}, mean largest {largest.mean():.3f}"

    return work


def _contenders() -> list[Contender]:
    found = []
    for T, heads in HEADS.items():
        name, repeats = f"Q K^T alone, T = {T}, heads: {heads}", 2 if T > 20000 else 5
        found.append(Contender(name, "product", {"T": T}, repeats, cpu=True, kind="limit"))
        for who, prepare, how in (
            ("headwright, compiled", "ours", {"fast": True}),
            ("headwright, NumPy", "ours", {"fast": False}),
            ("SDPA, V = K", "fused", {}),
            ("pattern stored", "stored", {}),
        ):
            limit = LIMIT if prepare == "stored" else None
            found.append(
                Contender(
                    f"{who}, T = {T}",
                    prepare,
                    {"T": T, **how},
                    repeats,
                    name,
                    cpu=True,
                    limit_mb=limit,
                    kind="ours" if prepare == "ours" else "peer",
                )
            )
    return found


CONTENDERS = _contenders()
