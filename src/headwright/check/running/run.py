"""Many answers, in parallel, each within its time and memory; a check that runs wild is stopped and says so.

Each worker is a process of its own and is used again for the next answer: it is replaced only when it was stopped.
What passes between is JSON.
"""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headwright.check.running.process import Worker
from headwright.check.sheets.handed import Handed
from headwright.check.verdict import Verdict
from headwright.errors import InputError

TIMEOUT = 20.0  # seconds for one answer
MEMORY = 2 * 2**30  # bytes for one check
NO_FORMULA = "no formula found: write it between $ signs, such as $q = k_a$"
COMMAND = (
    sys.executable,
    "-P",
    "-m",
    "headwright.check.running.worker",
)  # -P: modules that lie about here are not for us


@dataclass(frozen=True)
class Checked:
    """An answer, the verdict on it, and the seconds it took."""

    answer: Handed
    verdict: Verdict
    seconds: float


def cores() -> int:
    """How many processors may be used."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def warm(folder: Path | None = None, *, memory: int = MEMORY, command: Sequence[str] = COMMAND) -> Iterator[Worker]:
    """A worker that starts while other things are done, for `run`."""
    worker = _worker(folder, memory, command)
    try:
        worker.launch()
        yield worker
    finally:
        worker.dismiss()


def _worker(folder: Path | None, memory: int, command: Sequence[str]) -> Worker:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"}
    return Worker([*command, str(memory), *([str(folder)] if folder else [])], environment)


def run(
    answers: Sequence[Handed],
    folder: Path | None = None,
    *,
    seed: int = 0,
    timeout: float = TIMEOUT,
    workers: int | None = None,
    memory: int = MEMORY,
    within: float | None = None,
    progress: Callable[[float], None] = lambda _: None,
    command: Sequence[str] = COMMAND,
    warmed: Worker | None = None,
) -> list[Checked]:
    """The verdicts on answers, in their order.

    `folder` holds further exercises; `within` bounds the seconds for all answers together. `command` starts a worker,
    unless one was `warmed` already.

    >>> run([Handed("sheet.md", 1, "copying", ())])[0].verdict.reason
    'no formula found: write it between $ signs, such as $q = k_a$'
    """
    if not timeout > 0:
        raise InputError(f"the timeout is {timeout} s, expected more than 0")
    results: list[Checked | None] = [
        None if a.formulas or a.written else _settled(a, "unreadable", NO_FORMULA) for a in answers
    ]
    jobs: queue.SimpleQueue[int] = queue.SimpleQueue()
    waiting = [number for number, result in enumerate(results) if result is None]
    for number in waiting:
        jobs.put(number)
    until = time.monotonic() + within if within is not None else float("inf")
    wanted = min(len(waiting), workers or cores())
    team = [warmed] if warmed is not None and wanted else []
    team += [_worker(folder, memory, command) for _ in range(wanted - len(team))]
    finished: queue.SimpleQueue[None] = queue.SimpleQueue()

    def serve(worker: Worker) -> None:
        try:
            for number in _taken(jobs):
                if time.monotonic() >= until:
                    results[number] = _settled(answers[number], "undecided", "no time was left for this answer")
                else:
                    results[number] = Checked(answers[number], *worker.check(answers[number], seed, timeout, until))
                progress(sum(result is not None for result in results) / len(results))
        finally:
            finished.put(None)

    threads = [threading.Thread(target=serve, args=(worker,), daemon=True) for worker in team]
    try:
        for thread in threads:
            thread.start()
        for _ in threads:
            finished.get()
    finally:  # Ctrl-C comes this way too
        for _ in _taken(jobs):
            pass
        for worker in team:
            worker.dismiss()
    left = "the check was not begun"  # every answer gets a verdict, even should a thread of ours have died
    return [result or _settled(answers[number], "undecided", left) for number, result in enumerate(results)]


def _taken(jobs: queue.SimpleQueue[int]) -> Iterator[int]:
    with contextlib.suppress(queue.Empty):
        while True:
            yield jobs.get_nowait()


def _settled(answer: Handed, word: Any, reason: str) -> Checked:
    return Checked(answer, Verdict(word, reason), 0.0)
