"""What a stranger installs: sdist and wheel hold the same, and run in an empty environment, far from the sources."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tests.packaging.slim import OPTIONAL, REFUSED, WORKING, write_inputs

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "headwright"
BARE = {
    name: value
    for name, value in os.environ.items()
    if name not in ("PYTHONPATH", "PYTHONHOME")
}

pytestmark = pytest.mark.slow

SAMPLE = """
from typing import assert_type

import numpy as np

import headwright as hw
from headwright.grading.verdict import Verdict
from headwright.simulation import Simulation

found = hw.design(np.eye(4), hw.copy(0))
assert_type(found, hw.Design)
assert_type(found.norm, float)
assert_type(found.certificate, str | None)
assert_type(hw.check("averaging-two", r"q = k_a"), Verdict)
assert_type(hw.simulate(np.eye(4), np.eye(4)[:1], hw.Uncertainty(), [0]), Simulation)
"""


def _run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=BARE,
        text=True,
        capture_output=True,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that the sdist builds, so that what is installed below has gone through both."""
    out = tmp_path_factory.mktemp("built")
    build = "import sys; from hatchling.build import build_sdist; print(build_sdist(sys.argv[1]))"
    tools = out / "tools"
    venv.create(tools, with_pip=True)
    made = _run(tools / "bin" / "pip", "install", "--quiet", "hatchling", cwd=out)
    assert made.returncode == 0, made.stderr
    made = _run(tools / "bin" / "python", "-c", build, out, cwd=ROOT)
    assert made.returncode == 0, made.stderr
    (sdist,) = out.glob("*.tar.gz")
    made = _run(
        tools / "bin" / "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        out,
        sdist,
        cwd=out,
    )
    assert made.returncode == 0, made.stderr
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment that has the wheel and what it asks for, and nothing else."""
    home = tmp_path_factory.mktemp("empty")
    venv.create(home / "venv", with_pip=True)
    programs = home / "venv" / "bin"
    made = _run(
        programs / "pip",
        "install",
        "--quiet",
        "-c",
        ROOT / "constraints.txt",
        wheel,
        cwd=home,
    )
    assert made.returncode == 0, made.stderr
    return programs


def test_the_sdist_builds_a_wheel_that_holds_the_package(wheel: Path) -> None:
    held = {
        name
        for name in zipfile.ZipFile(wheel).namelist()
        if name.startswith("headwright/")
    }
    ignored = ("__pycache__", ".pyc")
    there = {
        path.relative_to(PACKAGE.parent).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and not any(part in path.as_posix() for part in ignored)
    }
    assert held == there
    assert "headwright/py.typed" in held


def test_the_sdist_holds_what_the_makefile_needs(wheel: Path) -> None:
    with tarfile.open(next(wheel.parent.glob("*.tar.gz"))) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "Makefile",
        "constraints.txt",
        "mkdocs.yml",
        "README.md",
        "LICENSE",
        "docs/site/hooks.py",
    } <= held


@pytest.fixture(scope="module")
def with_tour(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with the extra `tour`, which `make demo` installs."""
    home = tmp_path_factory.mktemp("tour")
    venv.create(home / "venv", with_pip=True)
    programs = home / "venv" / "bin"
    constraints = ROOT / "constraints.txt"
    made = _run(
        programs / "pip", "install", "-q", "-c", constraints, f"{wheel}[tour]", cwd=home
    )
    assert made.returncode == 0, made.stderr
    return programs


def test_the_tour_runs_from_elsewhere(with_tour: Path, tmp_path: Path) -> None:
    ran = _run(with_tour / "headwright", "tour", "--out", "out", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "out" / "index.html").stat().st_size > 2_000


def test_no_extra_is_installed_unasked(installed: Path, tmp_path: Path) -> None:
    ran = _run(installed / "pip", "list", "--format=freeze", cwd=tmp_path)
    names = {line.partition("==")[0].lower() for line in ran.stdout.splitlines()}
    assert "numpy" in names
    optional = {module.replace("_", "-") for module in OPTIONAL}
    assert not names & {*optional, "z3-solver", "vl-convert-python", "mkdocs", "pytest"}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    return folder


@pytest.mark.parametrize(("extra", "command"), REFUSED)
def test_what_needs_an_extra_says_which(
    installed: Path, inputs: Path, extra: str, command: list[str]
) -> None:
    ran = _run(installed / "headwright", *command, cwd=inputs)
    assert ran.returncode == 2, ran.stderr
    (sentence,) = ran.stderr.splitlines()
    assert sentence.endswith(f"pip install '.[{extra}]' in a clone of Headwright")


@pytest.mark.parametrize("command", WORKING)
def test_what_needs_no_extra_works(
    installed: Path, inputs: Path, command: list[str]
) -> None:
    ran = _run(installed / "headwright", *command, cwd=inputs)
    assert ran.returncode == 0, ran.stderr


def test_doctor_says_how_to_get_what_is_missing(
    installed: Path, tmp_path: Path
) -> None:
    ran = _run(installed / "headwright", "doctor", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "missing: pip install '.[lab]' in a clone of Headwright" in ran.stdout


def test_installed_types_are_known_to_a_type_checker(
    installed: Path, tmp_path: Path
) -> None:
    sample = tmp_path / "sample.py"
    sample.write_text(SAMPLE)
    python = installed / "python"
    ran = _run(
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--python-executable",
        python,
        sample,
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stdout
    sample.write_text(
        SAMPLE.replace("assert_type(found.norm, float)", "assert_type(found.norm, str)")
    )
    ran = _run(
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--python-executable",
        python,
        sample,
        cwd=tmp_path,
    )
    assert ran.returncode == 1
