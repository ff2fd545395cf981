"""The lab from the command line: Ctrl-C is how it is closed, so it is no failure."""

from __future__ import annotations

import signal
import subprocess
import sys
import urllib.request

import pytest


def test_closing_the_lab_is_no_error() -> None:
    pytest.importorskip("uvicorn", reason="the extra 'lab' is not installed")
    # A shell may have told its children to ignore Ctrl-C, and they their own: here it is listened to.
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code += "; from headwright.cli import main; main()"
    command = [sys.executable, "-c", code, "lab", "--no-open", "--port", "0"]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stdout is not None
    assert running.stderr is not None
    address = running.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:")
    assert running.stderr.readline() == "The lab is open; Ctrl-C closes it.\n"
    with urllib.request.urlopen(
        address, timeout=60
    ) as page:  # it is open when it answers
        assert page.status == 200
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert (running.returncode, said) == (0, "The lab is closed.\n")
