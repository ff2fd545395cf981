"""Running the command line in the tests."""

from __future__ import annotations

import io
import json
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

from headwright.cli import main

# After Ctrl-C; or the signal itself, which a shell reports as 130.
INTERRUPTED = (130, -signal.SIGINT)


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        result: dict[str, Any] = json.loads(self.out)
        return result


Headwright = Callable[..., Ran]


def run_here(arguments: Sequence[str]) -> tuple[int, str]:
    """Run a command in this process, without the second that importing takes: its exit code, and all that it prints."""
    printed, before = io.StringIO(), sys.argv
    sys.argv = ["headwright", *arguments]
    try:
        with redirect_stdout(printed), redirect_stderr(printed):
            main()
    except SystemExit as stopped:
        return int(stopped.code or 0), printed.getvalue()
    finally:
        sys.argv = before
    raise AssertionError("main() always exits")
