"""Time and memory of one contender, each in a process of its own so that none warms the other up.

A topic is a module with a TITLE and CONTENDERS. A contender names a function of its module that prepares the
input (not measured) and returns the work as a function without arguments (measured; work that has a clock of its own,
such as a page's, returns its seconds and what it says). The first contender of a
comparison is what the others are told as ratios to: ours, or what nothing can be faster than.

Some contenders ask for so much memory that the machine would suffer: they run under a limit, and may run out of it.
"""

from __future__ import annotations

import json
import math
import re
import resource
import subprocess
import sys
import time
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

Kind = Literal[
    "ours", "peer", "limit"
]  # ours; somebody else's; what nothing exact can be faster than
PATIENCE, QUICK = 1800.0, 60.0  # seconds for one contender, and with --quick


class Skipped(Exception):  # noqa: N818 - nothing went wrong
    """A contender that cannot run here; the message says why."""


@dataclass(frozen=True)
class Contender:
    name: str
    prepare: str  # a function of the topic's module: prepare(**arguments) -> work()
    arguments: dict[str, Any] = field(default_factory=dict)
    repeats: int = 3
    peer_of: str | None = None  # the name of the contender that it is compared with
    cpu: bool = False  # tell the processor's time, which other work on the machine disturbs less
    limit_mb: int | None = None  # of memory above what its input needs
    kind: Kind | None = None  # None: ours if it is compared with nobody, else a peer

    @property
    def is_(self) -> Kind:
        """What it is: ours, a peer or a limit."""
        return self.kind or ("peer" if self.peer_of else "ours")


@dataclass(frozen=True)
class Measurement:
    seconds: float  # the best of the repeats
    peak_mb: float  # the most memory the work held above what its input needs
    says: str  # what the work returned, in short: a benchmark that computes nothing would show here


def measure(topic: str, contender: Contender, quick: bool = False) -> Measurement:
    """Run one contender in a fresh process; quickly: twice at most, and not for long.

    A contender whose library is not installed, or that takes too long, is skipped, and the measurement says so.
    """
    repeats, patience = (
        (min(2, contender.repeats), QUICK) if quick else (contender.repeats, PATIENCE)
    )
    order = json.dumps(
        [
            topic,
            contender.prepare,
            contender.arguments,
            repeats,
            contender.cpu,
            contender.limit_mb,
        ]
    )
    command = [sys.executable, "-m", "bench.measure", order]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience)
    except subprocess.TimeoutExpired:
        return skipped(f"it took longer than {patience:g} s")
    if done.returncode != 0:
        if missing := re.search(
            r"^ModuleNotFoundError: No module named '([^'.]+)",
            done.stderr,
            re.MULTILINE,
        ):
            return skipped(f"{missing[1]} is not installed")
        raise RuntimeError(f"{topic}: {contender.name} failed:\n{done.stderr}")
    return Measurement(**json.loads(done.stdout.splitlines()[-1]))


def skipped(why: str) -> Measurement:
    """What stands for a contender that was not measured."""
    return Measurement(math.nan, math.nan, f"skipped, because {why}")


def _run(
    topic: str,
    prepare: str,
    arguments: dict[str, Any],
    repeats: int,
    cpu: bool,
    limit_mb: int | None,
) -> Measurement:
    try:
        work = getattr(import_module(topic), prepare)(**arguments)
    except Exception as error:
        if (
            type(error).__name__ != Skipped.__name__
        ):  # this module is __main__ here, and bench.measure to the topic
            raise
        return skipped(str(error))
    clock = time.process_time if cpu else time.perf_counter
    times = []
    before = _reset_peak()
    if limit_mb is not None:
        resource.setrlimit(
            resource.RLIMIT_DATA,
            (_status("VmData") * 1024 + limit_mb * 2**20, resource.RLIM_INFINITY),
        )
    for _ in range(repeats):
        start = clock()
        try:
            result = work()
        except (MemoryError, RuntimeError) as error:
            if isinstance(error, RuntimeError) and "memory" not in str(error):
                raise
            return Measurement(math.inf, math.inf, f"ran out of {limit_mb} MB")
        times.append(clock() - start)
        if isinstance(result, tuple):
            times[-1], result = result
    return Measurement(
        min(times), max(0.0, (_status("VmHWM") - before) / 1024), str(result)[:90]
    )


def _reset_peak() -> int:
    Path("/proc/self/clear_refs").write_text(
        "5"
    )  # Linux: the peak starts again from here
    return _status("VmRSS")


def _status(entry: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(entry)))


if __name__ == "__main__":
    print(json.dumps(vars(_run(*json.loads(sys.argv[1])))))
