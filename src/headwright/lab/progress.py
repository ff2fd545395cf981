"""How much of each running request is done, for pages that wait."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

OnProgress = Callable[[float], None]  # called with the fraction done, from 0 to 1
NAME = re.compile(r"[\w-]{8,64}", re.ASCII)  # long enough that nobody guesses another page's
HEADER = "x-headwright-question"


@dataclass
class Progress:
    """One request: whether a worker has it, and the fraction done, where it is known.

    >>> Progress().state, Progress().done is None
    ('waiting', True)
    """

    state: Literal["waiting", "working"] = "waiting"
    done: float | None = None

    def begin(self) -> None:
        """A worker has started on it."""
        self.state = "working"

    def update(self, done: float) -> None:
        """Record the fraction done; it never decreases."""
        self.done = min(1.0, max(0.0, done, self.done or 0.0))


class ProgressBoard:
    """The running requests, by the names their pages gave them.

    >>> board = ProgressBoard()
    >>> with board.track("a-question") as progress:
    ...     progress.begin()
    ...     progress.update(0.25)
    ...     board.look_up("a-question")
    {'state': 'working', 'done': 0.25}
    >>> board.look_up("a-question")
    {'state': 'unknown', 'done': None}
    """

    def __init__(self) -> None:
        """No request is running yet."""
        self._running: dict[str, Progress] = {}

    @contextmanager
    def track(self, name: str | None) -> Iterator[Progress]:
        """A request, from now until it is answered; without a valid name it cannot be looked up."""
        progress = Progress()
        valid = name if name is not None and NAME.fullmatch(name) else None
        if valid is not None:
            self._running[valid] = progress
        try:
            yield progress
        finally:
            if valid is not None and self._running.get(valid) is progress:
                del self._running[valid]

    def look_up(self, name: str) -> dict[str, Any]:
        """The state of a request (waiting for a worker, or working) and the fraction done, or null."""
        progress = self._running.get(name)
        if progress is None:
            return {"state": "unknown", "done": None}
        return {"state": progress.state, "done": progress.done}
