"""How long until the first word: importing the package, and asking for help."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

from bench.measure import Contender

TITLE = "Start-up (whole processes; memory is theirs, not ours, and not shown)"
PYTHON = "python with nothing"
CONTENDERS = [
    Contender(PYTHON, "process", {"code": "pass"}, repeats=7),
    Contender("import headwright", "process", {"code": "import headwright"}, repeats=7, peer_of=PYTHON),
    Contender("headwright --help", "help_page", repeats=7, peer_of=PYTHON),
    Contender("headwright.attend", "process", {"code": "import headwright as h; h.attend"}, repeats=7, peer_of=PYTHON),
    Contender("import torch", "process", {"code": "import torch"}, peer_of=PYTHON),
]  # fmt: skip


def process(code: str) -> Callable[[], str]:
    return lambda: _run("-c", code)


def help_page() -> Callable[[], str]:
    return lambda: _run("-m", "headwright", "--help")


def _run(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)
    return f"{len(done.stdout)} characters"
