"""Many answers, in parallel, each within its time and memory; a check that runs wild is stopped and says so.

`python -m headwright.grading.running MEMORY [FOLDER]` is the process in which they are checked.
"""

from __future__ import annotations

import contextlib
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from headwright.errors import InputError
from headwright.grading.markdown import Written
from headwright.grading.sheets.sheet import AnswerText, Checked
from headwright.grading.verdict import Verdict, from_json, to_json
from headwright.subprocesses.process import StoppedError, Worker, cores
from headwright.subprocesses.worker import Handle, listen

TIMEOUT = 20.0  # seconds for one answer
MEMORY = 2 * 2**30  # bytes for one check
# Seconds: Ctrl-C that arrives just before a wait begins is noticed when the wait ends.
BETWEEN_SIGNALS = 0.5
# -P: modules that lie about here are not for us
COMMAND = (sys.executable, "-P", "-m", "headwright.grading.running")
Check = Callable[
    [str, Written, int], Verdict
]  # of an exercise's id, an answer and a seed


@contextlib.contextmanager
def warm(folder: Path | None = None) -> Iterator[Worker]:
    """A worker that starts while other things are done, for `run`."""
    worker = _worker(folder, MEMORY, COMMAND)
    try:
        worker.launch()
        yield worker
    finally:
        worker.dismiss()


def run(
    answers: Sequence[AnswerText],
    folder: Path | None = None,
    *,
    seed: int = 0,
    timeout: float = TIMEOUT,
    workers: int | None = None,
    memory: int = MEMORY,
    within: float = float("inf"),
    progress: Callable[[float], None] = lambda _: None,
    command: Sequence[str] = COMMAND,
    warmed: Worker | None = None,
) -> list[Checked]:
    """The verdicts on answers, in their order.

    `folder` holds further exercises; `within` bounds the seconds for all answers together. `command` starts a worker,
    unless one was `warmed` already.
    """
    if not timeout > 0:
        raise InputError(f"the timeout is {timeout} s, expected more than 0")
    until = time.monotonic() + within
    not_begun = Verdict(
        "undecided", "no time was left for this answer"
    )  # every answer gets a verdict
    results = [Checked(answer, not_begun) for answer in answers]
    jobs = queue.SimpleQueue[int]()
    for number in range(len(answers)):
        jobs.put(number)
    wanted = min(len(answers), workers or cores())
    team = [warmed] if warmed is not None and wanted else []
    team += [_worker(folder, memory, command) for _ in range(wanted - len(team))]
    done: list[int] = []

    def serve(worker: Worker) -> None:
        try:
            while time.monotonic() < until:
                number = jobs.get_nowait()
                results[number] = _checked(
                    worker, answers[number], seed, timeout, until
                )
                done.append(number)
                progress(len(done) / len(answers))
        except queue.Empty:
            return

    threads = [
        threading.Thread(target=serve, args=(worker,), daemon=True) for worker in team
    ]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(BETWEEN_SIGNALS)
    finally:  # Ctrl-C comes this way too
        until = 0.0
        for worker in team:
            worker.dismiss()
    return results


def _worker(folder: Path | None, memory: int, command: Sequence[str]) -> Worker:
    return Worker([*command, str(memory), *([str(folder)] if folder else [])])


def _checked(
    worker: Worker, answer: AnswerText, seed: int, timeout: float, until: float
) -> Checked:
    started, begun, failed = time.monotonic(), False, False
    try:
        worker.start(until)
        started, begun = time.monotonic(), True
        allowed = max(0.001, min(timeout, until - started))
        written = [
            answer.written.text,
            answer.written.line,
            answer.written.form,
            answer.written.macros,
        ]
        job = {
            "exercise": answer.exercise_id,
            "written": written,
            "seed": seed,
            "timeout": allowed,
        }
        reply = worker.ask(job, allowed, f"no verdict within {allowed:.3g} s")
        verdict, failed = from_json(reply["verdict"]), bool(reply["failed"])
        if reply["memory"]:
            worker.stop()  # what is left of it would fail the next answer too
    except StoppedError as stopped:
        worker.stop()
        what = (
            f"the check was stopped: {stopped}"
            if begun
            else f"the checker did not start ({stopped})"
        )
        verdict, failed = Verdict("undecided", what), stopped.bug
    except (ValueError, KeyError, TypeError) as error:
        worker.stop()
        verdict = Verdict(
            "undecided",
            f"the checker's reply cannot be read ({error!r}): please report it",
        )
        failed = True
    return Checked(
        answer, verdict, time.monotonic() - started if begun else 0.0, failed
    )


def serve(prepare: Callable[[], Check], memory: int) -> None:
    """Check what comes in until nothing more does; `prepare` makes the checking function, imports and all."""

    def prepared() -> Handle:
        check = prepare()

        def handle(job: dict[str, Any]) -> dict[str, Any]:
            memory_ended, failed = False, False
            try:
                verdict = check(job["exercise"], Written(*job["written"]), job["seed"])
            except MemoryError:
                verdict, memory_ended = (
                    Verdict("undecided", "the check was stopped: it ran out of memory"),
                    True,
                )
            except Exception as error:  # noqa: BLE001  (a mistake of ours must not be held against an answer)
                words = f"the check failed ({type(error).__name__}: {str(error)[:300]}): please report this answer"
                verdict, failed = Verdict("undecided", words), True
            return {
                "verdict": to_json(verdict),
                "failed": failed,
                "memory": memory_ended,
            }

        return handle

    listen(prepared, memory)


def checker(folder: Path | None) -> Check:
    """The checking function, for the exercises of Headwright and those in the folder."""
    from headwright.grading.exercise import load_exercises
    from headwright.grading.grade import grade

    exercises = load_exercises(folder)
    return lambda exercise, written, seed: grade(
        exercises[exercise], written, seed=seed
    )


if __name__ == "__main__":
    serve(
        lambda: checker(Path(sys.argv[2]) if len(sys.argv) > 2 else None),
        int(sys.argv[1]),
    )
