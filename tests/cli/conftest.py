"""The command line as a function."""

from __future__ import annotations

import sys

import pytest

from headwright.cli import main
from tests.cli.running import Headwright, Ran


@pytest.fixture
def headwright(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Headwright:
    """Run a command in this process; what it prints, and its exit code."""

    for name in (
        "COLUMNS",
        "FORCE_COLOR",
        "TTY_COMPATIBLE",
    ):  # what another test's library may have left behind
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["headwright", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
        printed = capsys.readouterr()
        return Ran(int(stopped.value.code or 0), printed.out, printed.err)

    return run
