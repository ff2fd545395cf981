"""Whole commands, from the shell to the exit code: what a user waits for, and the memory of the largest process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bench.measure import Contender

TITLE = "Whole commands: design and verify (Gaussian keys of length about 1, one copy target, eps = 0.01)"
SIZES = [(100_000, 64), (1_000_000, 64), (100_000, 256)]
UNCERTAINTIES = {
    "certain": "",
    "a ball": '[[noise]]\nkey = "*"\nball = 0.001\n',
    "scales": '[[noise]]\nkey = "*"\nscale = { between = [0.99, 1.01] }\n',
    "isotropic": '[[noise]]\nkey = "*"\nisotropic = 1e-6\n',
}


def _rows() -> list[Contender]:
    rows = []
    for n, d in SIZES:
        at, size = f"{n:.0e} x {d}", {"n": n, "d": d}
        ours = f"design, {at}"
        rows.append(Contender(ours, "design", size, repeats=1))
        rows.append(
            Contender(
                f"design --checker float, {at}",
                "design",
                {**size, "checker": "float"},
                repeats=1,
                peer_of=ours,
                kind="ours",
            )
        )
        rows.append(
            Contender(
                f"verify, {at}", "verify", size, repeats=1, peer_of=ours, kind="ours"
            )
        )
        rows.append(
            Contender(
                f"verify --checker float, {at}",
                "verify",
                {**size, "checker": "float"},
                repeats=1,
                peer_of=ours,
                kind="ours",
            )
        )
    certain = "design, 2e4 x 64, certain"
    for name, uncertainty in UNCERTAINTIES.items():
        at = f"design, 2e4 x 64, {name}"
        arguments = {"n": 20_000, "d": 64, "uncertainty": uncertainty}
        rows.append(
            Contender(
                at,
                "design",
                arguments,
                repeats=1,
                peer_of=None if at == certain else certain,
                kind="ours",
            )
        )
    return rows


CONTENDERS = _rows()


def design(
    n: int, d: int, *, checker: str = "exact", uncertainty: str = ""
) -> Callable[[], str]:
    folder, order = _order(n, d, uncertainty)
    return lambda: _run(folder, "design", *order, "--checker", checker)


def verify(n: int, d: int, *, checker: str = "exact") -> Callable[[], str]:
    folder, order = _order(n, d)
    _run(folder, "design", *order, "--checker", "float")
    return lambda: _run(
        folder, "verify", "c.json", "--keys", "K.npy", "--checker", checker
    )


def _order(n: int, d: int, uncertainty: str = "") -> tuple[Path, list[str]]:
    """Keys in a folder, and what design is asked about them."""
    folder = Path(tempfile.mkdtemp())
    np.save(folder / "K.npy", np.random.default_rng(0).normal(size=(n, d)) / np.sqrt(d))
    order = ["--keys", "K.npy", "--copy", "3", "--out", "c.json"]
    if uncertainty:
        (folder / "uncertainty.toml").write_text(uncertainty)
        order += ["--uncertainty", "uncertainty.toml"]
    return folder, order


def _run(folder: Path, *arguments: str) -> str:
    command = subprocess.Popen(
        [sys.executable, "-m", "headwright", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
    )
    assert command.stdout is not None
    said = command.stdout.read().decode()
    _, status, usage = os.wait4(command.pid, 0)
    command.returncode = os.waitstatus_to_exitcode(status)
    return f"{said.partition(':')[0]}, exit {command.returncode}, {usage.ru_maxrss / 1024:.0f} MB in one process"
