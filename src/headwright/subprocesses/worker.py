"""The worker process: it reads one job a line as JSON and writes one reply a line.

It ends when its standard input does, at once and whatever it is doing: a parent that was killed leaves nothing behind.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from typing import IO, Any

GRACE = 5.0  # seconds beyond its time after which a job ends itself, should nobody else do so
Handle = Callable[
    [dict[str, Any]], dict[str, Any]
]  # from a job to its reply; both are JSON


def listen(prepare: Callable[[], Handle], memory: int) -> None:
    """Do one job after the other, each within its `timeout`, until nothing more comes in."""
    # The answers' channel is kept apart: whatever a library prints must not end up in it.
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    jobs: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin, jobs), daemon=True).start()
    handle = prepare()
    _limit(memory)
    _say(channel, {"ready": True})
    while True:
        job = json.loads(jobs.get())
        _alarm(job["timeout"] + GRACE)
        reply = handle(job)
        _alarm(0)
        _say(channel, reply)


def _listen(source: IO[str], jobs: queue.SimpleQueue[str]) -> None:
    for line in source:
        jobs.put(line)
    os._exit(0)


def _say(channel: IO[str], what: dict[str, Any]) -> None:
    channel.write(json.dumps(what, allow_nan=False) + "\n")
    channel.flush()


def _alarm(seconds: float) -> None:
    if hasattr(
        signal, "setitimer"
    ):  # the default of this signal ends the process, even in the midst of C code
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _limit(memory: int) -> None:
    try:
        import resource

        # Linux counts all private memory as data; address space that libraries merely reserve does no harm.
        kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
        resource.setrlimit(kind, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (
        ImportError,
        ValueError,
        OSError,
    ):  # not on this platform, or a lower limit is already set
        return
