"""The process in which answers are checked, one after the other: `python -m ...running.worker MEMORY [FOLDER]`.

It reads a job a line as JSON and writes a verdict a line. It ends when its standard input does, at once and whatever
it is doing, so that nothing is left behind by a parent that was killed.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from headwright.check.reading.written import Formula, Written
from headwright.check.verdict import Verdict, to_json

GRACE = 5.0  # seconds beyond its time after which a check ends itself, should nobody else do so
Check = Callable[[str, list[Formula] | Written, int], Verdict]  # of an exercise's id, an answer and a seed
OUT_OF_MEMORY = "the check ran out of memory"


Tell = Callable[[float], None]  # the part that is done
Handle = Callable[[dict[str, Any], Tell], dict[str, Any]]  # of a job, whose reply it is; both are JSON


def serve(prepare: Callable[[], Check], memory: int) -> None:
    """Check what comes in until nothing more does; `prepare` makes the checking function, imports and all."""

    def prepared() -> Handle:
        check = prepare()

        def handle(job: dict[str, Any], _: Tell) -> dict[str, Any]:
            try:
                formulas = [Formula(text, line) for text, line in job["formulas"]]
                answer = formulas if job["written"] is None else Written(*job["written"])
                return to_json(check(job["exercise"], answer, job["seed"]))
            except MemoryError:
                return to_json(Verdict("undecided", OUT_OF_MEMORY))
            except Exception as error:  # noqa: BLE001  (a mistake of ours must not be held against an answer)
                words = f"the check failed ({type(error).__name__}: {str(error)[:300]}): please report this answer"
                return to_json(Verdict("undecided", words))

        return handle

    listen(prepared, memory)


def listen(prepare: Callable[[], Handle], memory: int) -> None:
    """Do one job after the other, each within its `timeout`, until nothing more comes in."""
    # The answers' channel is kept apart: whatever a library prints must not end up in it.
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    jobs: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin, jobs), daemon=True).start()
    lock = threading.Lock()

    def tell(done: float) -> None:
        with lock:  # whoever works in several threads tells from several
            _say(channel, {"done": done})

    handle = prepare()
    _limit(memory)
    _say(channel, {"ready": True})
    while True:
        job = json.loads(jobs.get())
        _alarm(job["timeout"] + GRACE)
        reply = handle(job, tell)
        _alarm(0)
        with lock:
            _say(channel, reply)


def checker(folder: Path | None) -> Check:
    """The checking function, for the exercises of Headwright and those in the folder."""
    from headwright.check.catalogue import load_exercises
    from headwright.check.checker import check_answer

    exercises = load_exercises(folder)

    def check(exercise: str, answer: list[Formula] | Written, seed: int) -> Verdict:
        return check_answer(exercises[exercise], answer, seed=seed)

    return check


def _listen(source: IO[str], jobs: queue.SimpleQueue[str]) -> None:
    for line in source:
        jobs.put(line)
    os._exit(0)


def _say(channel: IO[str], what: dict[str, Any]) -> None:
    channel.write(json.dumps(what, allow_nan=False) + "\n")
    channel.flush()


def _alarm(seconds: float) -> None:
    if hasattr(signal, "setitimer"):  # the default of this signal ends the process, even in the midst of C code
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _limit(memory: int) -> None:
    try:
        import resource

        # Linux counts all private memory as data; address space that libraries merely reserve does no harm.
        kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
        resource.setrlimit(kind, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):  # not on this platform, or a lower limit is already set
        return


if __name__ == "__main__":
    serve(lambda: checker(Path(sys.argv[2]) if len(sys.argv) > 2 else None), int(sys.argv[1]))
