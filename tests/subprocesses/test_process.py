"""Worker processes: they need no folder for temporary files, and what they wrote last explains how they ended."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import pytest

from headwright.subprocesses.process import StoppedError, Worker

ECHO = """
import json, sys
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    sys.stderr.write("noise\\n" * 100_000)
    print(json.dumps({"got": json.loads(line)["what"]}), flush=True)
"""


@pytest.fixture(autouse=True)
def no_temporary_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "missing"))


def test_a_worker_needs_no_temporary_folder_and_may_write_much_to_standard_error() -> (
    None
):
    worker = Worker([sys.executable, "-c", ECHO])
    try:
        worker.start(time.monotonic() + 30)
        assert [worker.ask({"what": one}, 30, "late")["got"] for one in (1, 2)] == [
            1,
            2,
        ]
    finally:
        worker.dismiss()


@pytest.mark.parametrize(
    ("program", "why", "bug"),
    [
        ("raise MemoryError", "it ran out of memory", False),
        (
            "import sys; sys.exit('no reason')",
            "the process ended with code 1: no reason",
            True,
        ),
        ("import os; os._exit(7)", "the process ended with code 7", True),
    ],
)
def test_a_worker_that_ends_says_why(program: str, why: str, bug: bool) -> None:
    worker = Worker([sys.executable, "-c", program])
    with pytest.raises(StoppedError, match=f"^{why}$") as caught:
        worker.start(time.monotonic() + 30)
    assert caught.value.bug is bug
    worker.dismiss()
