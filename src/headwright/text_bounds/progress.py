"""How far a long computation is, as a fraction of the whole."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[float], None]


def part_of(
    progress: Progress | None, before: float, part: float, whole: float
) -> Progress:
    """The progress of a part, which begins when `before` of the `whole` is done, as that of the whole."""

    def report(done: float) -> None:
        if progress is not None:
            progress((before + part * done) / whole)

    return report
