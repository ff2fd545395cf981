"""The sweep of a rotary head on a GPU: every query token, every place, in seconds.

Products are of bfloat16 (exact, added up in float32), or of float32 in three passes. What rounding the factors loses is
not estimated from above by 2^-8 but measured: |q - q'| of each query and the largest |k - k'|, both in float64. With
those, no score is wrong by more than |q - q'| |k| + |q'| |k - k'| + 2^-20 d |q'| |k'|; the last term allows for a sum
whose every step is cut off after 21 bits, which is coarser than any accumulator of a tensor core.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np
import torch
from jaxtyping import Int

from headwright.audit.texts.head import Rotary, Texts
from headwright.audit.texts.kernel import extremes
from headwright.audit.texts.sweep import Scaled, Sums, Sweep
from headwright.errors import InputError

CHUNK = 64  # places whose extremes are summed at once
COARSE = 2.0**-20

Products = Literal["bf16", "tf32x3"]


def sweep_on_gpu(
    head: Rotary,
    texts: Texts,
    sets: Mapping[str, Sequence[int]],
    rows: Int[np.ndarray, " queries"] | None = None,
    progress: Callable[[float], None] | None = None,
    *,
    products: Products = "bf16",
    device: str = "cuda",
) -> Sweep:
    """What `sweep` finds, with the slack of the products that were asked for."""
    if head.query.rows.shape[1] & (head.query.rows.shape[1] - 1):
        raise InputError(f"vectors of {head.query.rows.shape[1]} numbers: expected a power of two on a GPU")
    chosen = np.arange(head.free) if rows is None else np.asarray(rows)
    gpu = _Turning(head, chosen, products, device)
    seen = texts.seen
    sums = {name: [_nothing(len(chosen), device) for _ in range(4)] for name in sets}
    slack = torch.zeros(len(chosen), dtype=torch.float64, device=device)
    for start in range(0, len(seen), CHUNK):
        places = seen[start : start + CHUNK]
        high, low = torch.empty((2, len(places), len(chosen)), dtype=torch.float64, device=device)
        for index, at in enumerate(places):
            if at == texts.place or at in texts.held:
                high[index] = low[index] = gpu.exactly(texts, at)
            else:
                high[index], low[index], wrong = gpu.extremes(texts.place - at)
                slack = torch.maximum(slack, wrong)
        for name, wanted in sets.items():
            inside = torch.tensor([at in wanted for at in places], device=device)
            for which, mine in enumerate((inside, inside, ~inside, ~inside)):
                if bool(mine.any()):
                    sums[name][which] = _plus(sums[name][which], (high, low)[which % 2][mine])
        if progress is not None:
            progress(min(1.0, (start + CHUNK) / len(seen)))
    exact = max(head.queries(texts.place, at).slack(head.keys(at)) for at in (seen[0], texts.place))
    return Sweep(
        texts, chosen, {name: tuple(places) for name, places in sets.items()},
        {name: Sums(*(Scaled(m.cpu().numpy(), s.cpu().numpy()) for m, s in four)) for name, four in sums.items()},
        slack.cpu().numpy() + exact,
    )  # fmt: skip


class _Turning:
    """A head's queries and keys on the device; the queries are turned there, place by place."""

    def __init__(self, head: Rotary, rows: Int[np.ndarray, " queries"], products: Products, device: str) -> None:
        self._head, self._rows, self._products, self._device = head, rows, products, device
        self._query = torch.tensor(head.query.rows[rows], device=device)
        self._key = torch.tensor(head.key.rows, device=device)
        self._own = torch.tensor(head.key.rows[rows], device=device)
        self._short_key = self._shortened(self._key[: head.free])
        self._long = float(self._key.norm(dim=1).max()) * 1.000001
        self._lost = float((self._key[: head.free] - self._short_key.double()).norm(dim=1).max()) * 1.000001

    def _shortened(self, vectors: torch.Tensor) -> torch.Tensor:
        return vectors.to(torch.bfloat16 if self._products == "bf16" else torch.float32)

    def _turned(self, distance: int) -> torch.Tensor:
        cos, sin = (torch.tensor(part, device=self._device) for part in self._head.turns(distance))
        half = len(cos)
        first, second, rest = self._query[:, :half], self._query[:, half : 2 * half], self._query[:, 2 * half :]
        return torch.cat([first * cos - second * sin, first * sin + second * cos, rest], dim=1)

    def extremes(self, distance: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Largest and smallest scores at a distance, and how far each may be from the float64 one."""
        turned = self._turned(distance)
        short = self._shortened(turned)
        high, low = extremes(short, self._short_key, "ieee" if self._products == "bf16" else "tf32x3")
        lost = (turned - short.double()).norm(dim=1)
        size = short.double().norm(dim=1)
        coarse = COARSE * short.shape[1] * size * self._long
        return high.double(), low.double(), (lost * self._long + size * self._lost + coarse) * 1.000001

    def exactly(self, texts: Texts, at: int) -> torch.Tensor:
        """Scores with the query's own token, or with one that is held."""
        turned = self._turned(texts.place - at)
        return (turned * (self._own if at == texts.place else self._key[texts.held[at]])).sum(dim=1)


def _nothing(count: int, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    reference = torch.full((count,), -torch.inf, dtype=torch.float64, device=device)
    return reference, torch.zeros_like(reference)


def _plus(sums: tuple[torch.Tensor, torch.Tensor], scores: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    reference, factor = sums
    new = torch.maximum(reference, scores.amax(dim=0))
    return new, factor * (reference - new).exp() + (scores - new).exp().sum(dim=0)
