"""Progress that tells the truth: solving, certifying and checking each take their part of the whole."""

from __future__ import annotations

from collections.abc import Callable

# The part of the time that solving takes, measured at 2e4, 1e5 and 3e5 keys; checking takes the rest.
SOLVED, SOLVED_FAST = 0.1, 0.5


class Phases:
    """Tells progress as a number from 0 to 1 that never goes back.

    >>> told = []
    >>> phases = Phases(told.append, solved=0.5)
    >>> phases.solving(0.5)
    >>> phases.checking(0.5)
    >>> phases.solving(0.1)                                  # once more, with more room: it does not go back
    >>> phases.done()
    >>> told
    [0.25, 0.74975, 1.0]
    """

    def __init__(self, progress: Callable[[float], None] | None = None, solved: float = SOLVED) -> None:
        """None: tells nobody. Solving is done at `solved`."""
        self.progress, self.solved, self.reached = progress, solved, 0.0

    def solving(self, part: float) -> None:
        """So much of the solving is done."""
        self._tell(self.solved * part)

    def checking(self, part: float) -> None:
        """So much of the checking is done."""
        self._tell(self.solved + (1 - self.solved) * part * 0.999)

    def done(self) -> None:
        """All of it."""
        self._tell(1.0)

    def _tell(self, reached: float) -> None:
        if self.progress is not None and reached > self.reached:
            self.reached = reached
            self.progress(reached)
