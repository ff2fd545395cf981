"""Ctrl-C from the first moment: no traceback, and an exit code that says what happened."""

from __future__ import annotations

import subprocess
import sys

import pytest

# Ctrl-C arrives as a module is looked for that the command line needs: while it is still being loaded.
STRIKE = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have told its children to ignore it
from headwright.__main__ import main
class Strike:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Strike())
sys.argv = ["headwright", "positions", "--length", "9", "--dim", "4"]
main()
"""


@pytest.mark.parametrize(
    "name", ["headwright.cli", "typer", "rich.console", "headwright.positions", "numpy"]
)
def test_an_interruption_while_loading_is_one_sentence(name: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", STRIKE.format(name=name)], capture_output=True, text=True
    )
    assert ran.returncode in (
        130,
        -2,
    )  # -2: the signal itself, which a shell reports as 130
    assert ran.stderr == "error: interrupted; nothing was written\n"
    assert ran.stdout == ""


def test_a_shell_that_says_not_to_listen_is_obeyed() -> None:
    deaf = STRIKE.replace("signal.default_int_handler", "signal.SIG_IGN").format(
        name="typer"
    )
    ran = subprocess.run([sys.executable, "-c", deaf], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
