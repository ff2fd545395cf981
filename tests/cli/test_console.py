"""What commands print: next steps that work where they are printed, and lines that are whole for whoever reads them."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from headwright.cli import COMMANDS
from headwright.cli.console import next_step
from tests.cli.running import Headwright

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "COLUMNS"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    np.save("my keys.npy", np.random.default_rng(0).normal(size=(3000, 3)))


def test_the_next_step_after_a_design_of_many_keys_works_as_printed() -> None:
    command = [
        sys.executable,
        "-m",
        "headwright",
        "design",
        "--keys",
        "my keys.npy",
        "--copy",
        "3",
        "--out",
        "a b.json",
    ]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode in (0, 1), ran.stderr
    step = ran.stderr.partition("check it with:")[2].strip()
    again = subprocess.run(
        step, shell=True, capture_output=True, text=True, env={**os.environ, "PATH": ""}
    )
    assert "verified" in again.stdout
    assert again.returncode == 0, again.stderr


def test_a_command_that_is_not_on_the_path_is_named_by_its_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = tmp_path / "venv" / "bin" / "headwright"
    script.parent.mkdir(parents=True)
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(script)])
    monkeypatch.setenv("PATH", "")
    assert next_step("verify", "a b.json") == f"{script} verify 'a b.json'"
    monkeypatch.setenv("PATH", str(script.parent))
    assert next_step("verify", "a b.json") == "headwright verify 'a b.json'"


def test_python_that_is_not_on_the_path_is_named_by_its_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "argv", ["/where/headwright/__main__.py"])
    monkeypatch.setenv("PATH", "")
    assert next_step() == shlex.join([sys.executable, "-m", "headwright"])


@pytest.mark.slow
def test_commands_of_the_tour_work_in_the_shell_that_told_them() -> None:
    told = subprocess.run(
        [sys.executable, "-m", "headwright", "tour", "--out", "my out"],
        capture_output=True,
        text=True,
    )
    steps = [
        line.partition("again:")[2].strip()
        for line in told.stdout.splitlines()
        if line.startswith("  again:")
    ]
    assert len(steps) >= 12
    for step in steps:
        ran = subprocess.run(
            step,
            shell=True,
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": "/bin:/usr/bin"},
        )
        assert ran.returncode in (0, 1), f"{step}\n{ran.stderr}"  # 1: the answer is no


def test_what_is_piped_is_not_broken_into_lines() -> None:
    command = [
        sys.executable,
        "-m",
        "headwright",
        "positions",
        "--length",
        "50",
        "--dim",
        "8",
    ]
    ran = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    assert len(ran.stdout.splitlines()) == 2
    assert max(map(len, ran.stdout.splitlines())) > 80


def test_a_width_that_is_asked_for_is_kept() -> None:
    command = [
        sys.executable,
        "-m",
        "headwright",
        "positions",
        "--length",
        "50",
        "--dim",
        "8",
    ]
    ran = subprocess.run(
        command, capture_output=True, text=True, env={**ENVIRONMENT, "COLUMNS": "60"}
    )
    assert max(map(len, ran.stdout.splitlines())) <= 60


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_in_help_are_not_broken_by_a_terminal_of_80_columns(name: str) -> None:
    assert [
        line
        for line in import_module(f"headwright.cli.{name}").EXAMPLES
        if len(line) > 75
    ] == []


@pytest.mark.parametrize(
    "name", ["tour", "design", "check", "audit", "attend", "simulate", "verify"]
)
def test_help_names_no_types_of_python(headwright: Headwright, name: str) -> None:
    options = headwright(name, "--help").out.partition("Options:")[2]
    assert "<bool>" not in options
    assert "list[" not in options


def _on_a_terminal(columns: int, *arguments: str) -> list[str]:
    """What a terminal of so many columns shows in the end, line by line: a bar is wiped away before the results."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {**ENVIRONMENT, "NO_COLOR": "1", "TERM": "xterm"}
    command = [sys.executable, "-m", "headwright", *arguments]
    started = subprocess.Popen(
        command, stdout=theirs, stderr=theirs, stdin=theirs, env=environment
    )
    os.close(theirs)
    sent = b""
    try:
        while piece := os.read(ours, 4096):
            sent += piece
    except OSError:  # the other end is closed: Linux says so with EIO
        pass
    started.wait()
    os.close(ours)
    lines = sent.decode().replace("\r\n", "\n").rstrip("\n").split("\n")
    return [
        re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", line.rpartition("\x1b[2K")[2])
        for line in lines
    ]


def test_a_terminal_gets_lines_that_are_broken_between_words() -> None:
    lines = _on_a_terminal(
        60,
        "check",
        "--exercise",
        "averaging-two",
        "--formula",
        r"q = \frac{1}{\sqrt 2}(k_a + k_b)",
    )
    assert max(map(len, lines)) <= 60
    words = " ".join(" ".join(lines).split())
    assert "alpha_a is 0.4011, not at least 0.4762" in words


def test_a_terminal_gets_the_next_step_as_one_line_to_be_copied() -> None:
    lines = _on_a_terminal(
        60,
        "design",
        "--keys",
        "my keys.npy",
        "--copy",
        "3",
        "--checker",
        "float",
        "--out",
        "a b.json",
    )
    (step,) = [line for line in lines if " verify 'a b.json'" in line]
    assert step.endswith("--keys 'my keys.npy'")
