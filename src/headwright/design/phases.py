"""Progress that tells the truth: solving, certifying and checking each take their part of the whole."""

from __future__ import annotations

from collections.abc import Callable

SOLVED = 0.4  # solving is done here, checking goes from here to the end; measured at 1e5 keys


class Phases:
    """Tells progress as a number from 0 to 1 that never goes back.

    >>> told = []
    >>> phases = Phases(told.append)
    >>> phases.solving(0.5)
    >>> phases.checking(0.5)
    >>> phases.solving(0.1)                                  # once more, with more room: it does not go back
    >>> phases.done()
    >>> told
    [0.2, 0.6997, 1.0]
    """

    def __init__(self, progress: Callable[[float], None] | None = None) -> None:
        """None: tells nobody."""
        self.progress, self.reached = progress, 0.0

    def solving(self, part: float) -> None:
        """So much of the solving is done."""
        self._tell(SOLVED * part)

    def checking(self, part: float) -> None:
        """So much of the checking is done."""
        self._tell(SOLVED + (1 - SOLVED) * part * 0.999)

    def done(self) -> None:
        """All of it."""
        self._tell(1.0)

    def _tell(self, reached: float) -> None:
        if self.progress is not None and reached > self.reached:
            self.reached = reached
            self.progress(reached)
