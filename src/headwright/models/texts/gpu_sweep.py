"""The sweep on a GPU: every query token and every place. The kernel does the free places.

Places with one token (the query's own, and those held) and the places asked about are few, and come one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np
import torch
from jaxtyping import Int

from headwright.models.texts.gpu_kernel import Device, Turns, turns_of
from headwright.models.texts.head import Head, Rotary, Texts
from headwright.models.texts.sweep import (
    Numbers,
    PlaceExtremes,
    Scaled,
    Sweep,
    accumulate,
    checked_sets,
    nothing,
    place_extremes,
)

Products = Literal["float16", "tf32x3"]


def sweep_on_gpu(
    head: Head,
    texts: Texts,
    sets: Mapping[str, Sequence[int]],
    rows: Int[np.ndarray, " queries"] | None = None,
    progress: Callable[[float], None] | None = None,
    *,
    products: Products = "float16",
    device: str = "cuda",
) -> Sweep:
    """What `sweep` finds, with the slack of the products that were asked for."""
    chosen = np.arange(head.free) if rows is None else np.asarray(rows)
    asked = {at for places in checked_sets(texts, sets).values() for at in places}
    rest = [at for at in texts.free if at not in asked]
    free = _FreePlaces(head, texts, chosen, products, device)

    def extremes_at(at: int) -> PlaceExtremes:
        return free.at(at) if at in texts.free else place_extremes(head, texts, at, chosen)

    left = sorted(asked | set(texts.seen) - set(texts.free))
    return accumulate(texts, sets, chosen, left, extremes_at, outside=free.summed(rest, progress) if rest else None)


class _FreePlaces:
    """Where keys turn with their place they stay on the device; where places are learned, each brings its own."""

    def __init__(
        self, head: Head, texts: Texts, rows: Int[np.ndarray, " queries"], products: Products, device: str
    ) -> None:
        self._head, self._texts, self._rows, self._products = head, texts, rows, products
        self._device = torch.device(device)
        self._turning = (head, self._moved(head.query.rows[rows], head.key.rows)) if isinstance(head, Rotary) else None

    def summed(self, places: Sequence[int], progress: Callable[[float], None] | None) -> tuple[Scaled, Scaled, Numbers]:
        """The sums over places of exp of the largest and the smallest scores, and the slack of these scores."""
        if self._turning is None:
            return self._one_by_one(places, progress)
        rotary, moved = self._turning
        found = moved.folded(self._turns(rotary, places), progress)
        high, low = (Scaled(*(part.cpu().numpy() for part in sums)) for sums in (found.high, found.low))
        exact = max(self._exact(at) for at in (places[0], places[-1]))
        return high, low, found.slack.cpu().numpy() + exact

    def at(self, place: int) -> tuple[Numbers, Numbers, Numbers]:
        """The extremes of one place, and how far they may be wrong."""
        if self._turning is not None:
            rotary, moved = self._turning
            turns = self._turns(rotary, [place])
        else:
            moved = self._moved(
                self._head.queries(self._texts.place, place, self._rows).rows, self._head.keys(place).rows
            )
            turns = Turns.none(1, moved.query.shape[1], self._device)
        high, low, wrong = (part[0].cpu().numpy() for part in moved.extremes(turns))
        return high, low, wrong + self._exact(place)

    def _one_by_one(
        self, places: Sequence[int], progress: Callable[[float], None] | None
    ) -> tuple[Scaled, Scaled, Numbers]:
        high, low, slack = nothing(len(self._rows)), nothing(len(self._rows)), np.zeros(len(self._rows))
        for done, place in enumerate(places):
            here = self.at(place)
            high, low, slack = high.plus(here[0]), low.plus(here[1]), np.maximum(slack, here[2])
            if progress is not None:
                progress((done + 1) / len(places))
        return high, low, slack

    def _exact(self, place: int) -> float:
        """What the vectors in float64 are themselves wrong by; it hardly depends on the place where they turn."""
        return self._head.queries(self._texts.place, place, self._rows).slack(self._head.keys(place)) * (1 + 2.0**-20)

    def _moved(self, queries: np.ndarray, keys: np.ndarray) -> Device:
        query, key = (torch.tensor(part, device=self._device) for part in (queries, keys[: self._head.free]))
        return Device.of(query, key, self._products)

    def _turns(self, head: Rotary, places: Sequence[int]) -> Turns:
        found = [head.turns(self._texts.place - at) for at in places]
        cos, sin = (torch.tensor(np.array([pair[which] for pair in found]), device=self._device) for which in (0, 1))
        return turns_of(cos, sin, head.query.rows.shape[1])
