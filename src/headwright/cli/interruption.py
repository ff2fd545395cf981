"""Ctrl-C ends a command with one sentence and exit code 130, also where the interruption itself gets lost.

Python raises KeyboardInterrupt wherever the program happens to be. Code that ignores every error (an extension module
that builds a class, say) drops it, and code that wraps errors makes another one of it. So it is remembered here too.
"""

from __future__ import annotations

import signal
from types import FrameType

_arrived = False


def remember_interruptions() -> None:
    """From now on Ctrl-C is remembered, besides being raised; unless it is ignored or somebody else's business."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


def was_interrupted() -> bool:
    """Whether Ctrl-C was pressed since the command began."""
    return _arrived


def check_interruption() -> None:
    """Raise KeyboardInterrupt if Ctrl-C was pressed and somebody has dropped it."""
    if _arrived:
        raise KeyboardInterrupt


def _interrupt(signum: int, frame: FrameType | None) -> None:
    del signum, frame
    global _arrived
    _arrived = True
    raise KeyboardInterrupt
