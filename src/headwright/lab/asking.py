"""How far the questions are that are being answered, for pages that wait."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

Tell = Callable[[float], None]  # the part that is done, from 0 to 1
NAME = re.compile(r"[\w-]{8,64}", re.ASCII)  # long enough that nobody guesses another's
HEADER = "x-headwright-question"


@dataclass
class Asking:
    """One question: whether a worker has it, and the part that is done, where the work knows.

    >>> Asking().state, Asking().done is None
    ('waiting', True)
    """

    state: Literal["waiting", "working"] = "waiting"
    done: float | None = None

    def begin(self) -> None:
        """A worker has it now."""
        self.state = "working"

    def tell(self, done: float) -> None:
        """So much is done."""
        self.done = min(1.0, max(0.0, done, self.done or 0.0))


class Board:
    """The questions that are being answered, by the names their pages gave them.

    >>> board = Board()
    >>> with board.asking("a-question") as asking:
    ...     asking.begin()
    ...     asking.tell(0.25)
    ...     board.told("a-question")
    {'state': 'working', 'done': 0.25}
    >>> board.told("a-question")
    {'state': 'unknown', 'done': None}
    """

    def __init__(self) -> None:
        """Nothing is asked yet."""
        self._asked: dict[str, Asking] = {}

    @contextmanager
    def asking(self, name: str | None) -> Iterator[Asking]:
        """A question from now until it is answered; without a name nobody can look it up."""
        asking = Asking()
        named = name if name is not None and NAME.fullmatch(name) else None
        if named is not None:
            self._asked[named] = asking
        try:
            yield asking
        finally:
            if named is not None and self._asked.get(named) is asking:
                del self._asked[named]

    def told(self, name: str) -> dict[str, Any]:
        """How far it is: waiting for a worker or being worked on, and the part that is done, or null."""
        asking = self._asked.get(name)
        if asking is None:
            return {"state": "unknown", "done": None}
        return {"state": asking.state, "done": asking.done}
