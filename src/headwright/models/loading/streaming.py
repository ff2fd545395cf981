"""A function that hands things out, as an iterator, with one thing alive at a time.

A model's forward pass calls its layers; an audit wants to ask for the next. So the pass runs in a thread of its own
that stands still until it is asked to go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from queue import SimpleQueue
from threading import Thread
from typing import TypeVar

Item = TypeVar("Item")


class _AbandonedError(BaseException):
    """Nobody asks any more. Not an Exception, so that no model catches it on its way out."""


def streamed(produce: Callable[[Callable[[Item], None]], None]) -> Iterator[Item]:
    """What `produce(give)` gives, one after the other; it waits inside `give` until the next is asked for.

    >>> list(streamed(lambda give: [give(number) for number in (1, 2)] and None))
    [1, 2]
    """
    asked: SimpleQueue[bool] = SimpleQueue()
    handed: SimpleQueue[list[Item]] = SimpleQueue()  # of one thing; an empty list is the end
    failed: list[BaseException] = []

    def give(item: Item) -> None:
        handed.put([item])
        del item
        if not asked.get():
            raise _AbandonedError

    def work() -> None:
        try:
            if asked.get():
                produce(give)
        except _AbandonedError:
            pass
        except BaseException as error:  # noqa: BLE001  (raised again, where it is asked for)
            failed.append(error)
        handed.put([])

    thread = Thread(target=work, daemon=True)
    thread.start()
    try:
        while True:
            asked.put(True)
            found = handed.get()
            if failed:
                raise failed.pop()
            if not found:
                return
            yield found.pop()
    finally:
        asked.put(False)
        thread.join()
