"""The sweep on a GPU: every query token and every place. The kernel does the free places.

Places with one token (the query's own, and those held) and the places asked about are few, and come one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np
import torch
from jaxtyping import Int

from headwright.text_bounds.search.gpu_kernel import GpuVectors, Rotations, turns_of
from headwright.text_bounds.search.heads import FirstLayerHead, RotaryHead
from headwright.text_bounds.search.sweep import (
    Numbers,
    PlaceExtremes,
    ScaledNumbers,
    SweepResult,
    accumulate,
    checked_sets,
    nothing,
    place_extremes,
)
from headwright.text_bounds.search.texts import TextFamily

Products = Literal["float16", "tf32x3"]


def sweep_on_gpu(
    head: FirstLayerHead,
    texts: TextFamily,
    sets: Mapping[str, Sequence[int]],
    rows: Int[np.ndarray, " queries"] | None = None,
    progress: Callable[[float], None] | None = None,
    *,
    products: Products = "float16",
    device: str = "cuda",
) -> SweepResult:
    """What `sweep` finds, with the slack of the products that were asked for."""
    chosen = np.arange(head.free) if rows is None else np.asarray(rows)
    asked = {at for places in checked_sets(texts, sets).values() for at in places}
    rest = [at for at in texts.free if at not in asked]
    free = _FreePlaces(head, texts, chosen, products, device)

    def extremes_at(at: int) -> PlaceExtremes:
        if at in texts.free:
            return free.at(at)
        return place_extremes(head, texts, at, chosen)

    one_by_one = sorted(asked | set(texts.seen) - set(texts.free))
    outside = free.summed(rest, progress) if rest else None
    return accumulate(texts, sets, chosen, one_by_one, extremes_at, outside=outside)


class _FreePlaces:
    """Where keys turn with their place they stay on the device; where places are learned, each brings its own."""

    def __init__(
        self,
        head: FirstLayerHead,
        texts: TextFamily,
        rows: Int[np.ndarray, " queries"],
        products: Products,
        device: str,
    ) -> None:
        self._head = head
        self._texts = texts
        self._rows = rows
        self._products = products
        self._device = torch.device(device)
        self._turning: tuple[RotaryHead, GpuVectors] | None = None
        if isinstance(head, RotaryHead):
            self._turning = head, self._moved(head.query.rows[rows], head.key.rows)

    def summed(
        self, places: Sequence[int], progress: Callable[[float], None] | None
    ) -> tuple[ScaledNumbers, ScaledNumbers, Numbers]:
        """The sums over places of exp of the largest and the smallest scores, and the slack of these scores."""
        if self._turning is None:
            return self._one_by_one(places, progress)
        rotary, moved = self._turning
        folded = moved.folded(self._turns(rotary, places), progress)
        high = ScaledNumbers(*(part.cpu().numpy() for part in folded.high))
        low = ScaledNumbers(*(part.cpu().numpy() for part in folded.low))
        exact = max(self._exact(at) for at in (places[0], places[-1]))
        return high, low, folded.slack.cpu().numpy() + exact

    def at(self, place: int) -> tuple[Numbers, Numbers, Numbers]:
        """The extremes of one place, and how far they may be wrong."""
        if self._turning is not None:
            rotary, moved = self._turning
            turns = self._turns(rotary, [place])
        else:
            moved = self._moved(
                self._head.queries(self._texts.place, place, self._rows).rows,
                self._head.keys(place).rows,
            )
            turns = Rotations.none(1, moved.query.shape[1], self._device)
        high, low, wrong = (part[0].cpu().numpy() for part in moved.extremes(turns))
        return high, low, wrong + self._exact(place)

    def _one_by_one(
        self, places: Sequence[int], progress: Callable[[float], None] | None
    ) -> tuple[ScaledNumbers, ScaledNumbers, Numbers]:
        high = low = nothing(len(self._rows))
        slack = np.zeros(len(self._rows))
        for done, place in enumerate(places):
            place_high, place_low, place_slack = self.at(place)
            high = high.plus(place_high)
            low = low.plus(place_low)
            slack = np.maximum(slack, place_slack)
            if progress is not None:
                progress((done + 1) / len(places))
        return high, low, slack

    def _exact(self, place: int) -> float:
        """What the vectors in float64 are themselves wrong by; it hardly depends on the place where they turn."""
        queries = self._head.queries(self._texts.place, place, self._rows)
        slack: float = queries.slack(self._head.keys(place))
        return slack * (1 + 2.0**-20)

    def _moved(self, queries: np.ndarray, keys: np.ndarray) -> GpuVectors:
        query = torch.tensor(queries, device=self._device)
        key = torch.tensor(keys[: self._head.free], device=self._device)
        return GpuVectors.of(query, key, self._products)

    def _turns(self, head: RotaryHead, places: Sequence[int]) -> Rotations:
        pairs = [head.turns(self._texts.place - at) for at in places]
        cos = torch.tensor(np.array([cos for cos, _ in pairs]), device=self._device)
        sin = torch.tensor(np.array([sin for _, sin in pairs]), device=self._device)
        return turns_of(cos, sin, head.query.rows.shape[1])
