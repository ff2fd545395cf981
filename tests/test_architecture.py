"""The architecture: the import contracts hold, and they are able to fail."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
LINT = Path(sys.executable).with_name("lint-imports")


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [LINT, "--no-cache", "--config", folder / "pyproject.toml"],
        cwd=folder, env={"PYTHONPATH": str(folder / "src"), "PATH": "", "COLUMNS": "300"},
        text=True, capture_output=True,
    )  # fmt: skip


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "src", tmp_path / "src")
    return tmp_path


def test_contracts_hold(copied: Path) -> None:
    ran = _lint(copied)
    assert ran.returncode == 0, ran.stdout
    assert "0 broken" in ran.stdout


BREAKING = [
    ("attention", "headwright.noise", "Data flows one way"),
    ("errors", "headwright.files", "Data flows one way"),
    ("noise.world", "headwright.positions", "Data flows one way"),
    ("pictures.style", "headwright.cli", "Data flows one way"),
    ("attention", "scipy", "The definition knows no solver"),
    ("pictures.noise", "pathlib", "Pictures are pure"),
    ("layer", "torch", "Torch is an extra"),
    ("trusted.keys", "numpy", "The checker stands alone"),
    ("trusted.verify", "headwright.errors", "Data flows one way"),
    ("noise.scales", "headwright.noise.world", "Noise: kinds of scale and spread"),
    ("cli.attend", "headwright.cli.positions", "The command line: what is shared"),
]


def test_contracts_can_fail(copied: Path) -> None:
    for module, imported, _ in BREAKING:
        with (copied / "src" / "headwright" / f"{module.replace('.', '/')}.py").open("a") as file:
            file.write(f"\nimport {imported}\n")
    ran = _lint(copied)
    assert ran.returncode == 1
    broken = [line for line in ran.stdout.splitlines() if "BROKEN" in line]
    for module, imported, contract in BREAKING:
        assert any(contract in line for line in broken), contract
        assert f"headwright.{module} -> {imported}" in ran.stdout


def test_a_module_in_no_layer_breaks_a_contract(copied: Path) -> None:
    (copied / "src" / "headwright" / "newcomer.py").write_text("")
    assert "newcomer" in _lint(copied).stdout


def _contracts() -> dict[str, dict[str, Any]]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return {contract["id"]: contract for contract in settings["tool"]["importlinter"]["contracts"]}


def test_every_contract_has_an_id_of_its_own() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    ids = Counter(contract["id"] for contract in settings["tool"]["importlinter"]["contracts"])
    assert [name for name, count in ids.items() if count > 1] == []


def test_the_table_of_packages_has_the_order_of_the_layers() -> None:
    rows = re.findall(r"^\| (`[a-z`, ]+`) \|", (ROOT / "docs/contributing/architecture.md").read_text(), re.MULTILINE)
    floors = [set(floor.split(" | ")) for floor in _contracts()["layers"]["layers"]]
    told = [next(i for i, floor in enumerate(floors) if set(re.findall("[a-z]+", row)) <= floor) for row in rows]
    assert told == sorted(told)
    assert set(told) == set(range(len(floors)))


def test_every_package_of_several_modules_has_a_contract() -> None:
    kept = {container for contract in _contracts().values() for container in contract.get("containers", ())}
    source = ROOT / "src"
    packages = {
        str(path.parent.relative_to(source)).replace("/", ".") for path in source.glob("headwright/**/__init__.py")
    }
    several = {package for package in packages if len(list((source / package.replace(".", "/")).glob("[!_]*.py"))) > 1}
    assert several - kept == {"headwright.lab.views"}  # views are independent, but share request models


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = (
        "import headwright, sys; print([m for m in ('numpy', 'scipy', 'flint', 'altair', 'torch') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_the_checker_runs_on_the_standard_library_alone() -> None:
    code = (
        "import sys\n"
        f"sys.path = [p for p in sys.path if 'site-packages' not in p]\n"
        f"sys.path.insert(0, {str(ROOT / 'src')!r})\n"
        "import types\n"
        "package = types.ModuleType('headwright'); package.__path__ = [sys.path[0] + '/headwright']\n"
        "sys.modules['headwright'] = package\n"
        "from headwright.trusted.verify import verify\n"
        "print(verify('{}').word)\n"
        "ours = [m for m in sys.modules if m.startswith('headwright.') and not m.startswith('headwright.trusted')]\n"
        "top = {m.partition('.')[0] for m in sys.modules} - {'headwright', '__main__', '__mp_main__'}\n"
        "print(ours, sorted(m for m in top if m not in sys.stdlib_module_names))\n"
    )
    ran = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["unreadable", "[] []"], ran.stdout


def _lines_of_code(path: Path) -> int:
    """Lines that are not blank, no comment and no docstring."""
    text = path.read_text()
    told: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            told.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines = enumerate(map(str.strip, text.splitlines()), 1)
    return sum(bool(line) and not line.startswith("#") and number not in told for number, line in lines)


def test_the_checker_is_short_enough_to_read() -> None:
    for folder, most in (("trusted", 750), ("trusted/heads", 500)):
        files = (ROOT / "src/headwright" / folder).glob("*.py")
        assert 0 < sum(map(_lines_of_code, files)) <= most, folder


def test_a_package_names_all_of_its_modules_in_its_table_of_contents() -> None:
    ones = {"cli", "lab/views", "lab"}  # their modules are their commands and views, named for them
    copied = ROOT / "src" / "headwright"
    for path in sorted(copied.glob("*/**/__init__.py")):
        package = path.parent.relative_to(copied)
        if str(package) in ones:
            continue
        contents = ast.get_docstring(ast.parse(path.read_text())) or ""
        modules = {each.stem for each in path.parent.glob("*.py")} - {"__init__"}
        missing = {module for module in modules if not re.search(rf"\b{module}\b", contents)}
        assert len(modules) <= 2 or not missing, f"{package}: {sorted(missing)}"


def test_a_table_of_contents_lists_only_what_is_there() -> None:
    """The first column of a package's docstring: names, separated by commas, before two spaces or more."""
    source = ROOT / "src" / "headwright"
    for path in sorted(source.glob("*/**/__init__.py")):
        folder = path.parent
        there = {each.stem for each in folder.iterdir()}
        docstring = ast.get_docstring(ast.parse(path.read_text())) or ""
        for column in re.findall(r"^ *([a-z0-9_/]+(?:, [a-z0-9_/]+)*) {2,}\S", docstring, re.MULTILINE):
            listed = {name.rstrip("/") for name in column.split(", ")}
            assert listed <= there, f"{folder.relative_to(source)}: {sorted(listed - there)}"
