"""Long loops over positions: block by block, on every core, telling how far they are."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Progress = Callable[[float], None]  # is told the fraction done, from 0 to 1

Result = TypeVar("Result")


def over_blocks(
    count: int, size: int, work: Callable[[int, int], Result], progress: Progress | None = None
) -> list[Result]:
    """work(start, stop) for each block of 0..count-1, in order; NumPy lets go of the interpreter inside.

    >>> over_blocks(5, 2, lambda start, stop: stop - start)
    [2, 2, 1]
    """
    starts = range(0, count, size)
    results: list[Result] = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(lambda start: work(start, min(count, start + size)), starts):
            results.append(result)
            if progress:
                progress(len(results) / len(starts))
    return results


def between(progress: Progress | None, start: float, stop: float) -> Progress | None:
    """Progress for a part of the work, the part from `start` to `stop`.

    >>> between(print, 0.5, 1.0)(0.5)
    0.75
    """
    if progress is None:
        return None
    return lambda fraction: progress(start + (stop - start) * fraction)
