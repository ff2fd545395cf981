"""Many answers, in parallel, each within its time and memory; a check that runs wild is stopped and says so.

Each worker is a process of its own: started when first needed, used again for the next answer, stopped at a deadline,
started anew after that. What passes between is JSON.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headwright.check.sheets.text import Handed, shortened
from headwright.check.verdict import Verdict, from_json
from headwright.errors import InputError

START = 120.0  # seconds that a worker may take to start
LONGEST_REPLY = 2**24
TOLD = b'{"done": '  # a line that says how much is done, before the reply
ENDING = 5.0  # seconds that a worker may take to end


class Worker:
    """The command that starts the process gets jobs on its standard input (see `worker`); what passes is JSON."""

    def __init__(self, command: Sequence[str], environment: dict[str, str]) -> None:
        """Nothing is started yet."""
        self._command, self._environment = command, environment
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: Any = None
        self._ready = False
        self._dismissed = False
        self._lock = threading.Lock()

    def check(self, answer: Handed, seed: int, timeout: float, until: float) -> tuple[Verdict, float]:
        """The verdict on an answer, and the seconds it took; `until` is when all must be done."""
        try:
            self.start(until)
        except StoppedError as stopped:
            self.stop()
            return Verdict("undecided", f"the checker did not start ({stopped})"), 0.0
        started = time.monotonic()
        allowed = max(0.001, min(timeout, until - started))
        written = answer.written
        job = {
            "exercise": answer.exercise_id,
            "formulas": [[formula.text, formula.line] for formula in answer.formulas],
            "written": None if written is None else [written.text, written.line, written.form],
            "seed": seed,
            "timeout": allowed,
        }
        try:
            verdict = from_json(self.ask(job, allowed, f"no verdict within {allowed:.3g} s"))
        except StoppedError as stopped:
            self.stop()
            verdict = Verdict("undecided", str(stopped))
        except (ValueError, KeyError, TypeError) as error:
            self.stop()
            verdict = Verdict("undecided", f"the checker's reply cannot be read ({error!r}): please report this answer")
        if verdict.word == "undecided" and "memory" in verdict.reason:
            self.stop()  # what is left of it would fail the next answer too
        return verdict, time.monotonic() - started

    def start(self, until: float) -> None:
        """Have the process running and ready; `StoppedError` says why it is not."""
        if self._ready and self._process is not None and self._process.poll() is not None:
            self.stop()  # it ended while nobody asked it anything: what is asked now is not to blame
        if self._process is None:
            self.launch()
        if not self._ready:
            allowed = min(START, until - time.monotonic())
            self.ask(None, allowed, f"not ready after {allowed:.3g} s")
            self._ready = True

    def dismiss(self) -> None:
        """Stop for good: a worker that another thread is just starting is stopped as well."""
        with self._lock:
            self._dismissed = True
        self.stop()

    def stop(self) -> None:
        """Stop the process, if there is one; the next answer starts another."""
        with self._lock:
            process, self._process = self._process, None
            self._ready = False
        if process is not None:
            _kill(process)
            process.wait()
            for pipe in (process.stdin, process.stdout, self._errors):
                with contextlib.suppress(OSError):  # what was not yet written goes nowhere
                    if pipe is not None:
                        pipe.close()

    def launch(self) -> None:
        """Start the process, and do not wait for it."""
        with self._lock:
            if self._dismissed:
                raise StoppedError("interrupted")
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the worker)
            self._process = subprocess.Popen(  # noqa: S603  (our own interpreter and module)
                self._command,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,  # Ctrl-C is for us alone; and what it starts can be stopped with it
            )

    def ask(
        self, job: dict[str, Any] | None, allowed: float, late: str, heard: Callable[[float], None] = lambda _: None
    ) -> dict[str, Any]:
        """The reply to a job, or `StoppedError` with the reason; `late` is what is said when the seconds are over.

        `heard` is told the part that is done, if the job says so.
        """
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise StoppedError("interrupted")
        stopped = threading.Event()

        def strike() -> None:
            stopped.set()
            _kill(process)

        timer = threading.Timer(max(0.0, allowed), strike)
        timer.start()
        try:
            if job is not None:
                process.stdin.write(json.dumps(job).encode() + b"\n")
                process.stdin.flush()
            while (reply := process.stdout.readline(LONGEST_REPLY)).startswith(TOLD):
                heard(float(json.loads(reply)["done"]))
        except (OSError, ValueError):  # the process has gone; why is found out below
            reply = b""
        finally:
            timer.cancel()
        if len(reply) == LONGEST_REPLY:
            raise StoppedError("the checker's reply is too long: please report this answer")
        if not reply.endswith(b"\n"):
            try:
                process.wait(ENDING)
            except subprocess.TimeoutExpired:  # its output is closed, yet it lives on
                _kill(process)
                process.wait()
            raise StoppedError(late if stopped.is_set() else self._why(process.returncode))
        if stopped.is_set():  # the verdict came at the last moment; the process has gone
            self.stop()
        found: dict[str, Any] = json.loads(reply)
        return found

    def _why(self, code: int) -> str:
        if -code == getattr(signal, "SIGALRM", None):
            return "no verdict in time"
        try:
            self._errors.seek(0)
            said = self._errors.read(2**20).decode(errors="replace").strip().splitlines()
        except (OSError, ValueError):
            said = []
        signs = ("MemoryError", "bad_alloc", "out of memory", "Memory allocation")
        if any(sign in line for line in said[-20:] for sign in signs):
            return "the check ran out of memory"
        how = f"by signal {-code}" if code < 0 else f"with code {code}"
        return f"the check ended {how}" + (f": {shortened(said[-1], 200)}" if said else "")


class StoppedError(Exception):
    """The worker was stopped or has ended, and why."""


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg") and process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


TIMEOUT = 20.0  # seconds for one answer
MEMORY = 2 * 2**30  # bytes for one check
NO_FORMULA = "no formula found: write it between $ signs, such as $q = k_a$"
# -P: modules that lie about here are not for us
COMMAND = (sys.executable, "-P", "-m", "headwright.check.running.worker")


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
