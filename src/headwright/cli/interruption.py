"""Ctrl-C ends a command with one sentence and exit code 130, also where the interruption itself gets lost.

Python raises KeyboardInterrupt wherever the program happens to be. Code that ignores every error (an extension module
that builds a class, say) drops it, and code that wraps errors makes another one of it. So it is remembered here too.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType

AGAIN = 0.01  # seconds after which an interruption that was dropped is raised again
_arrived = False


def remember_interruptions() -> None:
    """From now on Ctrl-C is remembered, besides being raised; unless it is ignored or somebody else's business."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
        sys.unraisablehook = _raise_again


def was_interrupted() -> bool:
    """Whether Ctrl-C was pressed since the command began."""
    return _arrived


def check_interruption() -> None:
    """Raise KeyboardInterrupt if Ctrl-C was pressed and somebody has dropped it."""
    if _arrived:
        raise KeyboardInterrupt


def _raise_again(dropped: sys.UnraisableHookArgs) -> None:
    """An interruption within a callback of the interpreter, where nothing can be raised, is raised a moment later."""
    if issubclass(dropped.exc_type, KeyboardInterrupt):
        threading.Timer(AGAIN, os.kill, (os.getpid(), signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(dropped)


def _interrupt(signum: int, frame: FrameType | None) -> None:
    del signum, frame
    global _arrived
    _arrived = True
    raise KeyboardInterrupt
