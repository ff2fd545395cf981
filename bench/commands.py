"""Whole commands, as they are typed: reading the keys, solving, certifying, checking, writing."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bench.measure import Contender

TITLE = "Whole commands (copy one of Gaussian keys, eps = 0.01; memory is that of the command's largest process)"
SIZES = [(100_000, 64), (1_000_000, 64), (100_000, 256)]
Folder = tempfile.TemporaryDirectory[str]
BALL = '[[noise]]\nkey = "*"\nball = 0.01\n'


def _rows() -> list[Contender]:
    rows = []
    for n, d in SIZES:
        at, size = f"{n:.0e} x {d}", {"n": n, "d": d}
        first = f"design --fast, {at}"
        rows.append(Contender(first, "design", {**size, "more": ["--fast"]}, repeats=1))
        rows.append(Contender(f"design, {at}", "design", size, repeats=1, peer_of=first))
        rows.append(Contender(f"verify --fast, {at}", "verify", {**size, "more": ["--fast"]}, repeats=1, peer_of=first))
        rows.append(Contender(f"verify, {at}", "verify", size, repeats=1, peer_of=first))
    certain = "design, 2e+04 x 64"
    rows.append(Contender(certain, "design", {"n": 20_000, "d": 64}, repeats=1))
    world = {"n": 20_000, "d": 64, "world": BALL}
    rows.append(Contender("the same, each key in a ball", "design", world, repeats=1, peer_of=certain))
    return rows


CONTENDERS = _rows()


def design(n: int, d: int, more: list[str] | None = None, world: str = "") -> Callable[[], str]:
    folder = _prepare(n, d, world)
    given = ["--world", "world.toml"] if world else []
    command = ["design", "--keys", "K.npy", "--copy", "3", "--out", "c.json", *given, *(more or [])]
    return lambda: _run(folder, command)


def verify(n: int, d: int, more: list[str] | None = None) -> Callable[[], str]:
    folder = _prepare(n, d, "")
    _run(folder, ["design", "--keys", "K.npy", "--copy", "3", "--out", "c.json", "--fast"])
    return lambda: _run(folder, ["verify", "c.json", "--keys", "K.npy", *(more or [])])


def _prepare(n: int, d: int, world: str) -> Folder:
    folder = tempfile.TemporaryDirectory()  # it goes when nobody holds it any more
    np.save(Path(folder.name) / "K.npy", np.random.default_rng(0).normal(size=(n, d)) / np.sqrt(d))
    (Path(folder.name) / "world.toml").write_text(world)
    return folder


def _run(folder: Folder, command: list[str]) -> str:
    told, ours = Path(folder.name) / "out.txt", [sys.executable, "-m", "headwright"]
    with told.open("w") as out:
        running = subprocess.Popen([*ours, *command], cwd=folder.name, stdout=out, stderr=out)
        _, status, used = os.wait4(running.pid, 0)
    said = told.read_text()
    return f"exit {os.waitstatus_to_exitcode(status)}, {used.ru_maxrss / 1024:.0f} MB, {said[:30]!r}"
