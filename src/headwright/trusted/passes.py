"""One pass over the keys that are no targets: what competes at a query, and what mixtures of keys its scores make.

All sums are of whole numbers, so that it does not matter in which order, and in how many processes, they are added up.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import current_process, get_all_start_methods, get_context
from operator import mul

from headwright.trusted.numbers import POINT, exp_fixed
from headwright.trusted.world import Scene, Sight

BLOCK, SHARE = 128, 2048  # rows at once, and for one process at a time
ENOUGH = 2**20  # entries of keys that are worth a process
Sums = defaultdict[tuple[str, int, int], int]
_work: Callable[[int], list[Sums]]


@dataclass(frozen=True)
class Job:
    """What is added up for one query: exponentials of scores above `top`, times 2^bits, and mixtures by them."""

    sight: Sight
    top: int
    ends: Sequence[tuple[int, ...]]  # for each entry of the world, the whole scales of scores not above 0, and above
    scales: dict[int, int]  # of keys for which they are others
    lifts: tuple[int, ...] = ()  # for each entry, the factor of its shares times 2^bits; () if there are no shares
    push: tuple[int, ...] = ()  # times `below`; and for each entry the square of its stretch times that of `below`
    stretches: tuple[int, ...] = ()
    below: int = 1

    @property
    def view(self) -> tuple[object, ...]:
        """Jobs that have this in common add up the same rivals."""
        return self.sight.query, self.sight.unit, self.top, tuple(self.ends), tuple(self.scales.items())

    def exponential(self, score: int) -> tuple[int, int]:
        """Bounds of 2^bits exp(score - top), exact where that is 2^bits."""
        x, bits = score - self.top, self.sight.scene.bits
        return exp_fixed((x << POINT) // self.sight.unit, bits) if x else (1 << bits, 1 << bits)

    def add(self, first: int, flat: list[int], sums: Sums) -> None:
        """Add the keys of a block to the sums of exponentials from above, "rivals" by kind; and of shares from below,
        with their squares: "shares" and "squares" by entry; of shares times scaled keys, "centre"; and of squares times
        stretch^2 <k, push>, times that as "along" and times k as "pushed"."""
        scene, query, sign, d = self.sight.scene, self.sight.query, self.sight.factor, self.sight.scene.keys.d
        weights, pushes = [0] * (len(flat) // d), [0] * (len(flat) // d)
        for i in range(len(weights)):
            if (key := first + i) in scene.statement.wish:
                continue
            row, entry = flat[i * d : (i + 1) * d], scene.entry(key)
            dot = sum(map(mul, row, query))
            scale = self.scales.get(key, self.ends[entry][dot * sign > 0])
            low, high = self.exponential(dot * sign * scale)
            sums["rivals", entry, dot if scene.spreads[entry].stretch else 0] += high
            if not self.lifts:
                continue
            share = low * self.lifts[entry] >> scene.bits
            weights[i] = share * scale
            sums["shares", entry, 0] += share
            if scene.spreads[entry].random:
                sums["squares", entry, 0] += share * share
                if self.push and self.stretches[entry]:
                    along = sum(map(mul, row, self.push))
                    pushes[i] = share * share * along * self.stretches[entry]
                    sums["along", 0, 0] += pushes[i] * along
        for name, factors in (("centre", weights), ("pushed", pushes)):
            for j in range(d) if any(factors) else ():
                sums[name, j, 0] += sum(map(mul, flat[j::d], factors))


def add_up(scene: Scene, jobs: Sequence[Job], report: Callable[[float], None]) -> list[Sums]:
    """The sums of each job, over all keys that are no targets."""
    n, total, firsts = scene.keys.n, _nothing(jobs), range(0, scene.keys.n, SHARE)

    def work(start: int) -> list[Sums]:
        found = _nothing(jobs)
        for first in range(start, min(start + SHARE, n), BLOCK):
            flat = scene.keys.whole(first, min(first + BLOCK, start + SHARE, n))
            for job, sums in zip(jobs, found, strict=True):
                job.add(first, flat, sums)
        return found

    def gather(found: Iterable[list[Sums]]) -> None:
        for done, sums in enumerate(found, 1):
            for mine, more in zip(total, sums, strict=True):
                for name, number in more.items():
                    mine[name] += number
            report(done / len(firsts))

    processes = min(os.cpu_count() or 1, 1 + len(jobs) * n * scene.keys.d // ENOUGH)
    if processes > 1 and "fork" in get_all_start_methods() and not current_process().daemon:
        with ProcessPoolExecutor(processes, get_context("fork"), _remember, (work,)) as pool:  # copies share the keys
            gather(pool.map(_do, firsts))
    else:
        gather(map(work, firsts))
    return total


def _nothing(jobs: Sequence[Job]) -> list[Sums]:
    return [defaultdict(int) for _ in jobs]


def _remember(work: Callable[[int], list[Sums]]) -> None:
    global _work
    _work = work


def _do(start: int) -> list[Sums]:
    return _work(start)
