"""The base install: what it does without SciPy, z3, charts and torch, and the sentence in which it refuses the rest.

The optional packages are hidden from one process, which runs all commands; `test_install` does the same, slowly, in an
environment that has none of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from headwright.extras import install_line
from tests.packaging.slim import CALLS, OPTIONAL, REFUSED, WORKING, write_inputs

ROOT = Path(__file__).parents[2]
# A module that is None in sys.modules is one that cannot be found or imported.
HIDE = f"import sys\nfor name in {OPTIONAL}: sys.modules[name] = None\n"
COMMANDS = """
import json
from tests.cli.running import run_here
print(json.dumps([run_here(command) for command in json.loads(sys.argv[1])]))
"""
EXPRESSIONS = """
import json
import numpy as np
import headwright as hw
refusals = []
for expression in json.loads(sys.argv[1]):
    try:
        eval(expression)
    except hw.InputError as error:
        refusals.append(str(error))
print(json.dumps(refusals))
"""
IMPORTS = """
import importlib, json, pkgutil
import headwright
failures = {}
for module in pkgutil.walk_packages(headwright.__path__, "headwright."):
    try:
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    except ImportError as error:
        failures[module.name] = error.name
print(json.dumps(failures))
"""
# Modules that import an optional package as they are loaded: they are loaded only after `require`.
NEED_AN_EXTRA = (
    "headwright.conformance.models",
    "headwright.lab.",
    "headwright.models.",
    "headwright.pictures.",
    "headwright.tour",
    "headwright.watching.",
)
KERNELS = ("gpu_kernel", "torch_arrays", "gpu_sweep", "transformers_layers")


def _run(code: str, given: object, folder: Path) -> Any:
    ran = subprocess.run(
        [sys.executable, "-c", HIDE + code, json.dumps(given)],
        cwd=folder,
        env={"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "HOME": str(folder)},
        text=True,
        capture_output=True,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_inputs(tmp_path)
    return tmp_path


def test_a_command_without_its_extra_says_what_to_install(folder: Path) -> None:
    ran = _run(COMMANDS, [command for _, command in REFUSED], folder)
    for (extra, command), (code, printed) in zip(REFUSED, ran, strict=True):
        assert code == 2, (command, printed)
        (sentence,) = printed.splitlines()
        assert sentence.startswith("error: "), command
        assert sentence.endswith(install_line(extra)), command


def test_the_rest_works_without_any_extra(folder: Path) -> None:
    for command, (code, printed) in zip(
        WORKING, _run(COMMANDS, WORKING, folder), strict=True
    ):
        assert code == 0, (command, printed)


def test_a_function_without_its_extra_says_what_to_install(folder: Path) -> None:
    refusals = _run(EXPRESSIONS, [expression for _, expression in CALLS], folder)
    for (extra, expression), refusal in zip(CALLS, refusals, strict=True):
        assert refusal.endswith(install_line(extra)), expression


def test_nothing_of_the_base_imports_an_optional_package(folder: Path) -> None:
    failures = _run(IMPORTS, None, folder)
    unexpected = [
        module
        for module in failures
        if not module.startswith(NEED_AN_EXTRA) and not module.endswith(KERNELS)
    ]
    assert unexpected == []


def test_a_design_in_a_notebook_without_charts_says_how_to_get_them(
    folder: Path,
) -> None:
    code = """
import json
import headwright as hw
print(json.dumps(hw.design([[1, 0], [0, 1]], hw.copy(0))._repr_html_()))
"""
    without_charts = "import sys\nsys.modules['altair'] = None\n"
    ran = subprocess.run(
        [sys.executable, "-c", without_charts + code],
        env={"PYTHONPATH": str(ROOT / "src")},
        text=True,
        capture_output=True,
        check=True,
    )
    card = json.loads(ran.stdout)
    assert "designed" in card
    assert "[plots]" in card
    assert "<img" not in card
