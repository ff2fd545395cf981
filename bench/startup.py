"""How long until the first word: importing the package, and asking for help."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

from bench.measure import Contender

TITLE = "Start-up (whole processes; memory is theirs, not ours, and not shown)"
PYTHON, ATTEND = "python with nothing", "import headwright as h; h.attend"
CONTENDERS = [
    Contender(PYTHON, "process", {"code": "pass"}, repeats=7, kind="limit"),
    Contender(
        "import headwright",
        "process",
        {"code": "import headwright"},
        repeats=7,
        peer_of=PYTHON,
        kind="ours",
    ),
    Contender("headwright --help", "help_page", repeats=7, peer_of=PYTHON, kind="ours"),
    Contender(
        "headwright.attend",
        "process",
        {"code": ATTEND},
        repeats=7,
        peer_of=PYTHON,
        kind="ours",
    ),
    Contender("import torch", "process", {"code": "import torch"}, peer_of=PYTHON),
]


def process(code: str) -> Callable[[], str]:
    return lambda: _run("-c", code)


def help_page() -> Callable[[], str]:
    return lambda: _run("-m", "headwright", "--help")


def _run(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=True
    )
    return f"{len(done.stdout)} characters"
