"""Ctrl-C from the first moment: no traceback, and an exit code that says what happened."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import INTERRUPTED

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
    assert ran.returncode in INTERRUPTED
    assert ran.stderr == "error: interrupted; nothing was written\n"
    assert ran.stdout == ""


def test_a_shell_that_says_not_to_listen_is_obeyed() -> None:
    deaf = STRIKE.replace("signal.default_int_handler", "signal.SIG_IGN").format(
        name="typer"
    )
    ran = subprocess.run([sys.executable, "-c", deaf], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


# What happens to an interruption in code that ignores every error, and in code that makes another one of it.
LOST = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from headwright.__main__ import main
class Strike:
    def find_spec(self, name, path=None, target=None):
        if name == "headwright.grading.sheets.document":
            try:
                os.kill(os.getpid(), signal.SIGINT)
                for _ in range(1000): pass
            except KeyboardInterrupt:
                {then}
sys.meta_path.insert(0, Strike())
sys.argv = ["headwright", "check", "answers.md"]
main()
"""


@pytest.mark.parametrize("then", ["pass", "raise RuntimeError('wrapped')"])
def test_an_interruption_that_is_dropped_or_wrapped_still_ends_the_command(
    then: str, tmp_path: Path
) -> None:
    answer = "## averaging-two\n\n$$q = \\lambda (k_a + k_b)$$\n"
    (tmp_path / "answers.md").write_text(answer)
    ran = subprocess.run(
        [sys.executable, "-c", LOST.format(then=then)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert ran.returncode in INTERRUPTED
    assert ran.stderr == "error: interrupted; nothing was written\n"
    assert ran.stdout == ""


# Where Python runs a callback of its own, an exception is dropped; and options are read before typer listens.
CALLBACK = """
import os, signal, sys, time, weakref
signal.signal(signal.SIGINT, signal.default_int_handler)
import headwright.cli
class Thing: pass
def strike(_): os.kill(os.getpid(), signal.SIGINT)
def work(*_, **__):
    thing = Thing()
    told = weakref.ref(thing, strike)
    del thing
    time.sleep(60)
headwright.cli.app = work
headwright.cli.main()
"""
EARLY = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import headwright.cli
def work(*_, **__):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)
headwright.cli.app = work
headwright.cli.main()
"""


@pytest.mark.parametrize("program", [CALLBACK, EARLY], ids=["callback", "early"])
def test_an_interruption_within_a_callback_or_before_typer_is_one_sentence(
    program: str,
) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=50
    )
    assert ran.returncode in INTERRUPTED
    assert ran.stderr == "error: interrupted; nothing was written\n"
