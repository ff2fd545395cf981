"""Two processes run one model: each sees the texts, or the heads, that it has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from torch import distributed

from tests.watching.two_processes import PROCESSES

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not distributed.is_available(), reason="torch without distributed")
def test_data_parallel_fully_sharded_and_tensor_parallel(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.watching.two_processes"]
    processes = [
        subprocess.Popen(
            [*command, str(rank), str(tmp_path / "store")],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(PROCESSES)
    ]
    try:
        for process in processes:
            printed, _ = process.communicate(timeout=240)
            assert process.returncode == 0, printed
    finally:
        for process in processes:
            process.kill()
