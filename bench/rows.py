"""Row statistics on one core beside those who store patterns, beside fused attention, and beside the product alone.

One thread, float32, causal, d = 64; the processor's time. `stored` is what tools do that keep patterns: eager attention
with its pattern, as transformers returns it under output_attentions, then the statistics. SDPA with V = K yields
softmax(s) K, from which the entropy follows, but neither winner nor margin. A product of blocks that a causal row sees
is the least that anything exact can do, so all are told as ratios to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from bench.measure import Contender

TITLE = "Statistics of every row of a pattern (one thread, float32, causal, d = 64)"
D, LIMIT = 64, 6000
HEADS = {512: 16, 2048: 4, 8192: 2, 32768: 1}
SHORT = 4096  # up to this length the statistics that cost more are measured too
ROWS, KEYS = 256, 512  # of a block of the product alone


def _inputs(T: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    q, k = (rng.normal(size=(HEADS[T], T, D)).astype(np.float32) for _ in range(2))
    return q, k


def ours(T: int, asked: dict[str, Any]) -> Callable[[], str]:
    from headwright.statistics import row_statistics

    q, k = _inputs(T)

    def work() -> str:
        with threadpool_limits(1):
            found = row_statistics(q, k, **asked)
        return f"mean entropy {found.entropy.mean():.4f}"

    return work


def ours_beside_torch(T: int) -> Callable[[], str]:
    """Of torch's tensors, whose product is torch's."""
    from headwright.statistics import row_statistics

    _, q, k = _tensors(T)

    def work() -> str:
        found = row_statistics(q, k)
        return f"mean entropy {found.entropy.mean():.4f}"

    return work


def product(T: int) -> Callable[[], str]:
    q, k = _inputs(T)
    buffer = np.empty((ROWS, KEYS), dtype=np.float32)

    def work() -> str:
        with threadpool_limits(1):
            for of_head, keys in zip(q, k, strict=True):
                for row in range(0, T, ROWS):
                    for key in range(0, row + ROWS, KEYS):
                        part = keys[key : min(key + KEYS, row + ROWS)]
                        np.matmul(
                            of_head[row : row + ROWS],
                            part.T,
                            out=buffer[:, : len(part)],
                        )
        return "nothing"

    return work


def _tensors(T: int) -> tuple[Any, Any, Any]:
    import torch

    torch.set_num_threads(1)
    q, k = (torch.from_numpy(array) for array in _inputs(T))
    return torch, q, k


def fused(T: int) -> Callable[[], str]:
    torch, q, k = _tensors(T)

    def work() -> str:
        with torch.inference_mode():
            mixed = torch.nn.functional.scaled_dot_product_attention(
                q[None], k[None], k[None], is_causal=True
            )[0]
        return f"mean <q, softmax K> {(q * mixed).sum(-1).mean() * D**-0.5:.4f}"

    return work


def stored(T: int) -> Callable[[], str]:
    torch, q, k = _tensors(T)

    def work() -> str:
        with torch.inference_mode():
            mask = torch.full((T, T), torch.finfo(torch.float32).min).triu_(1)
            pattern = torch.softmax(
                q @ k.mT * D**-0.5 + mask, dim=-1, dtype=torch.float32
            )
            entropy = torch.special.entr(pattern).sum(-1)
            largest = pattern.amax(
                dim=-1
            )  # the runner-up is left out: torch.topk would take most of the time
        return f"mean entropy {entropy.mean():.4f}, mean largest {largest.mean():.3f}"

    return work


def _contenders() -> list[Contender]:
    found = []
    for T, heads in HEADS.items():
        limit = f"Q K^T alone, T = {T}, heads: {heads}"
        repeats = 2 if T > 20000 else 5
        found.append(
            Contender(limit, "product", {"T": T}, repeats, cpu=True, kind="limit")
        )
        asked: dict[str, dict[str, Any]] = {"headwright": {}}
        if T <= SHORT:
            asked["with what keys receive"] = {"received": True}
            asked["with the top 8 keys"] = {"top": 8}
        for name, options in asked.items():
            found.append(
                Contender(
                    f"{name}, T = {T}",
                    "ours",
                    {"T": T, "asked": options},
                    repeats,
                    limit,
                    cpu=True,
                    kind="ours",
                )
            )
        found.append(
            Contender(
                f"of torch's tensors, T = {T}",
                "ours_beside_torch",
                {"T": T},
                repeats,
                limit,
                cpu=True,
                kind="ours",
            )
        )
        for name, prepare, memory in (
            ("SDPA, V = K", "fused", None),
            ("pattern stored", "stored", LIMIT),
        ):
            found.append(
                Contender(
                    f"{name}, T = {T}",
                    prepare,
                    {"T": T},
                    repeats,
                    limit,
                    cpu=True,
                    limit_mb=memory,
                    kind="peer",
                )
            )
    return found


CONTENDERS = _contenders()
