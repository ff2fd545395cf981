"""Start and control a worker process: it is started when first needed and reused for the next job.

One that takes too long is stopped, and started anew for the next job. What passes between is JSON.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import IO, Any

START = 120.0  # seconds that a worker may take to start
LONGEST_REPLY = 2**24
ENDING = 5.0  # seconds that a worker may take to end


class Worker:
    """The command that starts the process gets jobs on its standard input (see `worker`); what passes is JSON."""

    def __init__(self, command: Sequence[str]) -> None:
        """Nothing is started yet."""
        self._command = command
        self._environment = {
            **os.environ,
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "PYTHONUTF8": "1",
        }
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: deque[str] = (
            deque()
        )  # the last lines that the process wrote to its standard error
        self._reader: threading.Thread | None = None
        self._ready = False
        self._dismissed = False
        self._lock = threading.Lock()

    def start(self, until: float) -> None:
        """Have the process running and ready; `StoppedError` says why it is not."""
        if (
            self._ready
            and self._process is not None
            and self._process.poll() is not None
        ):
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
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(
                    OSError
                ):  # what was not yet written goes nowhere
                    if pipe is not None:
                        pipe.close()

    def launch(self) -> None:
        """Start the process, and do not wait for it."""
        with self._lock:
            if self._dismissed:
                raise StoppedError("interrupted")
            self._process = subprocess.Popen(  # noqa: S603  (our own interpreter and module)
                self._command,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is for us alone; and what it starts can be stopped with it
            )
            self._errors = deque(maxlen=20)
            self._reader = threading.Thread(
                target=_keep_lines,
                args=(self._process.stderr, self._errors),
                daemon=True,
            )
            self._reader.start()

    def ask(
        self, job: dict[str, Any] | None, allowed: float, late: str
    ) -> dict[str, Any]:
        """The reply to a job, or `StoppedError` with the reason: `late` where it took more than the seconds allowed."""
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
            reply = process.stdout.readline(LONGEST_REPLY)
        except (OSError, ValueError):  # the process has gone; why is found out below
            reply = b""
        finally:
            timer.cancel()
        if len(reply) == LONGEST_REPLY:
            raise StoppedError("the reply is too long: please report this", bug=True)
        if not reply.endswith(b"\n"):
            try:
                process.wait(ENDING)
            except subprocess.TimeoutExpired:  # its output is closed, yet it lives on
                _kill(process)
                process.wait()
            raise (
                StoppedError(late)
                if stopped.is_set()
                else self._why(process.returncode)
            )
        if (
            stopped.is_set()
        ):  # the verdict came at the last moment; the process has gone
            self.stop()
        found: dict[str, Any] = json.loads(reply)
        return found

    def _why(self, code: int) -> StoppedError:
        if -code == getattr(signal, "SIGALRM", None):
            return StoppedError("no answer in time")
        if self._reader is not None:
            self._reader.join(ENDING)
        said = list(self._errors)
        signs = ("MemoryError", "bad_alloc", "out of memory", "Memory allocation")
        if any(sign in line for line in said for sign in signs):
            return StoppedError("it ran out of memory")
        how = f"by signal {-code}" if code < 0 else f"with code {code}"
        return StoppedError(
            f"the process ended {how}" + (f": {said[-1][:200]}" if said else ""),
            bug=True,
        )


class StoppedError(Exception):
    """The worker was stopped or has ended, and why; `bug` tells that it should not have."""

    def __init__(self, why: str, *, bug: bool = False) -> None:
        """Why, as a sentence."""
        super().__init__(why)
        self.bug = bug


def cores() -> int:
    """How many processors may be used."""
    return (
        len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1
    )


def _keep_lines(source: IO[bytes], lines: deque[str]) -> None:
    with source:
        while line := source.readline(2**16):
            if text := line.decode(errors="replace").strip():
                lines.append(text)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg") and process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
