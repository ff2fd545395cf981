"""One pass over the keys that are no targets: what competes at a query, and what distributions and mixtures it makes.

Rows are shared out to as many processes as there are cores; each adds up whole numbers, so that the order is nothing.
"""

from __future__ import annotations

import os
import pickle
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any

from headwright.trusted.numbers import POINT, exp_fixed
from headwright.trusted.world import Scene, Sight

BLOCK = 128  # rows at once
ENOUGH = 2**20  # entries of keys that are worth a process
Sums = defaultdict[Any, int]  # by the names below
Report = Callable[[float], None]


@dataclass(frozen=True)
class Job:
    """What is added up for one query: exponentials of scores, less `top`, times 2^bits; and mixtures by them."""

    sight: Sight
    top: int
    ends: Sequence[tuple[int, ...]]  # for each entry of the world, the whole scales of scores not above 0, and above
    scales: dict[int, int]  # of keys for which they are others
    lifts: tuple[int, ...] = ()  # for each entry, the factor of its shares times 2^bits; () if there are no shares
    push: tuple[int, ...] = ()  # a direction, and for each entry the square of its stretch, as whole numbers:
    stretches: tuple[int, ...] = ()
    below: int = 1  # what to divide them by, the squares twice

    @property
    def view(self) -> tuple[object, ...]:
        """Jobs that have this in common add up the same rivals."""
        return self.sight.query, self.sight.unit, self.top, tuple(self.ends), tuple(self.scales.items())

    def exponential(self, score: int) -> tuple[int, int]:
        """Bounds of exp(score - top), exact where that is 1."""
        bits = self.sight.scene.bits
        x = score - self.top
        return exp_fixed((x << POINT) // self.sight.unit, bits) if x else (1 << bits, 1 << bits)

    def add(self, first: int, flat: list[int], sums: Sums) -> None:
        """Add the keys of a block: ("rivals", kind) of exponentials from above; and from below by entry of the world
        ("shares", entry), ("squares", entry), and by column ("centre", j), of shares times scaled keys; and with a push
        ("along", 0), of squares times stretch^2 <k, push>^2, and ("pushed", j), of squares times stretch^2 <k, push> k.
        """
        scene, d, query = self.sight.scene, self.sight.scene.keys.d, self.sight.query
        sign, wish, bits = self.sight.factor, scene.statement.wish, scene.bits
        weights, pushes = [], []
        for i in range(0, len(flat), d):
            key, row = first + i // d, flat[i : i + d]
            weight = pushed = 0
            if key not in wish:
                dot, entry = sum(map(mul, row, query)), scene.entry(key)
                scale = self.scales.get(key, self.ends[entry][dot * sign > 0])
                low, high = self.exponential(dot * sign * scale)
                sums["rivals", entry, dot if scene.spreads[entry].stretch else 0] += high
                if self.lifts:
                    share = low * self.lifts[entry] >> bits
                    weight = share * scale
                    sums["shares", entry] += share
                    if scene.spreads[entry].random:
                        sums["squares", entry] += share * share
                    if self.push and self.stretches[entry]:
                        along = sum(map(mul, row, self.push))
                        pushed = share * share * along * self.stretches[entry]
                        sums["along", 0] += pushed * along
            weights.append(weight)
            pushes.append(pushed)
        for name, factors in (("centre", weights), ("pushed", pushes)):
            if any(factors):
                for j in range(d):
                    sums[name, j] += sum(map(mul, flat[j::d], factors))


def add_up(scene: Scene, jobs: Sequence[Job], report: Report) -> list[Sums]:
    """The sums of each job, over all keys that are no targets."""
    blocks = range(0, scene.keys.n, BLOCK)
    processes = min(os.cpu_count() or 1, 1 + len(jobs) * scene.keys.n * scene.keys.d // ENOUGH)

    def work(share: int, told: Report) -> list[Sums]:
        found: list[Sums] = [defaultdict(int) for _ in jobs]
        for number, first in enumerate(mine := blocks[share::processes]):
            flat = scene.keys.whole(first, min(first + BLOCK, scene.keys.n))
            for job, sums in zip(jobs, found, strict=True):
                job.add(first, flat, sums)
            told((number + 1) / len(mine))
        return found

    others = [_start(work, share) for share in range(1, processes)]
    total = work(0, report)
    for share, pipe in enumerate(others, 1):
        for sums, more in zip(total, _answer(pipe) or work(share, _quietly), strict=True):
            for name, number in more.items():
                sums[name] += number
    return total


def _start(work: Callable[[int, Report], list[Sums]], share: int) -> int | None:
    """Do this share of the work in a copy of this process: where to read its answer, or None if there is no copy."""
    if not hasattr(os, "fork"):
        return None
    out, into = os.pipe()
    with warnings.catch_warnings():  # of threads that a copy does not have: it adds, answers and ends, without a lock
        warnings.simplefilter("ignore")
        if os.fork():
            os.close(into)
            return out
    try:
        with os.fdopen(into, "wb") as pipe:
            pickle.dump([dict(sums) for sums in work(share, _quietly)], pipe)
    finally:
        os._exit(0)  # whatever happened: what is not answered, the first process does itself


def _answer(pipe: int | None) -> list[dict[Any, int]] | None:
    if pipe is None:
        return None
    with os.fdopen(pipe, "rb") as answer:
        content = answer.read()
    os.wait()
    return pickle.loads(content) if content else None  # noqa: S301  (from our own copy)


def _quietly(_: float) -> None:
    """Report nothing."""
