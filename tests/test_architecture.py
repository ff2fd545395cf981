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
        cwd=folder,
        env={"PYTHONPATH": str(folder / "src"), "PATH": "", "COLUMNS": "300"},
        text=True,
        capture_output=True,
    )


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "src", tmp_path / "src")
    return tmp_path


def test_contracts_hold(copied: Path) -> None:
    ran = _lint(copied)
    assert ran.returncode == 0, ran.stdout
    assert "0 broken" in ran.stdout


BREAKING = [  # for each contract an import that breaks it
    ("attention", "headwright.simulation", "Data flows one way"),
    ("errors", "headwright.files", "Data flows one way"),
    ("uncertainty.uncertainty", "headwright.positions", "Data flows one way"),
    ("pictures.style", "headwright.cli", "Data flows one way"),
    ("certificates.exact.verify", "headwright.errors", "Data flows one way"),
    ("attention", "scipy", "The definition knows no solver"),
    ("layer", "torch", "Extras: optional packages"),
    ("simulation.sampling", "scipy", "Extras: optional packages"),
    ("cli.lowrank", "altair", "Extras: optional packages"),
    ("certificates.exact.keys", "numpy", "The exact checker stands alone"),
    (
        "certificates.floating.bound",
        "headwright.certificates.exact.bound",
        "The floating-point checker shares",
    ),
    (
        "grading.recheck.sequences",
        "headwright.grading.scalars.forms",
        "The second look shares no code",
    ),
    (
        "text_bounds.checker.vectors",
        "headwright.text_bounds.search.sweep",
        "Texts: the checkers share",
    ),
    (
        "value_ranges.checker.vectors",
        "headwright.value_ranges.affine",
        "Ranges: the checker shares",
    ),
    ("formulas.lexer", "subprocess", "What runs in a browser"),
]


def test_contracts_can_fail(copied: Path) -> None:
    for module, imported, _ in BREAKING:
        with (copied / "src" / "headwright" / f"{module.replace('.', '/')}.py").open(
            "a"
        ) as file:
            file.write(f"\nimport {imported}\n")
    ran = _lint(copied)
    assert ran.returncode == 1
    names = [name for *_, name in BREAKING]
    assert all(any(map(c["name"].startswith, names)) for c in _contracts().values())
    broken = [line for line in ran.stdout.splitlines() if "BROKEN" in line]
    for module, imported, contract in BREAKING:
        assert any(contract in line for line in broken), contract
        assert f"headwright.{module} -> {imported}" in ran.stdout


def test_an_import_for_a_type_alone_counts(copied: Path) -> None:
    with (copied / "src" / "headwright" / "attention.py").open("a") as file:
        file.write("\nif TYPE_CHECKING:\n    import headwright.simulation\n")
    ran = _lint(copied)
    assert ran.returncode == 1
    assert "headwright.attention -> headwright.simulation" in ran.stdout


def test_a_module_in_no_layer_breaks_a_contract(copied: Path) -> None:
    (copied / "src" / "headwright" / "newcomer.py").write_text("")
    assert "newcomer" in _lint(copied).stdout


def _contracts() -> dict[str, dict[str, Any]]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return {
        contract["id"]: contract
        for contract in settings["tool"]["importlinter"]["contracts"]
    }


def test_every_contract_has_an_id_of_its_own() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    ids = Counter(
        contract["id"] for contract in settings["tool"]["importlinter"]["contracts"]
    )
    assert [name for name, count in ids.items() if count > 1] == []


def test_the_table_of_packages_has_the_order_of_the_layers() -> None:
    rows = re.findall(
        r"^\| (`[a-z_`, ]+`) \|",
        (ROOT / "docs/contributing/architecture.md").read_text(),
        re.MULTILINE,
    )
    floors = [set(floor.split(" | ")) for floor in _contracts()["layers"]["layers"]]
    told = [
        next(
            i
            for i, floor in enumerate(floors)
            if set(re.findall("[a-z_]+", row)) <= floor
        )
        for row in rows
    ]
    assert told == sorted(told)
    assert set(told) == set(range(len(floors)))


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import headwright, sys; print([m for m in ('numpy', 'scipy', 'flint', 'altair', 'torch') if m in sys.modules])"  # noqa: E501
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "[]"


def test_the_checker_runs_on_the_standard_library_alone() -> None:
    code = (
        "import sys\n"
        f"sys.path = [p for p in sys.path if 'site-packages' not in p]\n"
        f"sys.path.insert(0, {str(ROOT / 'src')!r})\n"
        "import types\n"
        "package = types.ModuleType('headwright'); package.__path__ = [sys.path[0] + '/headwright']\n"
        "sys.modules['headwright'] = package\n"
        "from headwright.certificates.exact.verify import verify\n"
        "print(verify('{}').word)\n"
        "parent = 'headwright.certificates'\n"
        "ours = [m for m in sys.modules if m.startswith('headwright.') and not m.startswith(parent + '.exact')]\n"
        "ours.remove(parent)\n"
        "top = {m.partition('.')[0] for m in sys.modules} - {'headwright', '__main__', '__mp_main__'}\n"
        "print(ours, sorted(m for m in top if m not in sys.stdlib_module_names))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines() == ["unreadable", "[] []"], ran.stdout
    package = ROOT / "src" / "headwright" / "certificates" / "__init__.py"
    assert len(ast.parse(package.read_text()).body) == 1


def test_a_package_names_all_of_its_modules_in_its_table_of_contents() -> None:
    ones = {
        "cli",
        "lab/views",
        "lab",
    }  # their modules are their commands and views, named for them
    copied = ROOT / "src" / "headwright"
    for path in sorted(copied.glob("*/**/__init__.py")):
        package = path.parent.relative_to(copied)
        if str(package) in ones:
            continue
        contents = ast.get_docstring(ast.parse(path.read_text())) or ""
        modules = {each.stem for each in path.parent.glob("*.py")} - {"__init__"}
        missing = {
            module for module in modules if not re.search(rf"\b{module}\b", contents)
        }
        assert len(modules) <= 2 or not missing, f"{package}: {sorted(missing)}"


def test_a_table_of_contents_lists_only_what_is_there() -> None:
    """The first column of a package's docstring: names, separated by commas, before two spaces or more."""
    source = ROOT / "src" / "headwright"
    for path in sorted(source.glob("*/**/__init__.py")):
        folder = path.parent
        there = {each.stem for each in folder.iterdir()}
        docstring = ast.get_docstring(ast.parse(path.read_text())) or ""
        for column in re.findall(
            r"^ *([a-z0-9_/]+(?:, [a-z0-9_/]+)*) {2,}\S", docstring, re.MULTILINE
        ):
            listed = {name.rstrip("/") for name in column.split(", ")}
            assert listed <= there, (
                f"{folder.relative_to(source)}: {sorted(listed - there)}"
            )


def test_the_package_of_the_checkers_runs_nothing() -> None:
    """What a checker's parent package runs when it is imported: a docstring."""
    parent = ROOT / "src" / "headwright" / "certificates" / "__init__.py"
    (only,) = ast.parse(parent.read_text()).body
    assert isinstance(only, ast.Expr)


def test_the_readme_names_every_package() -> None:
    readme = (ROOT / "README.md").read_text()
    paragraph = readme.partition("**Where things are.**")[2].partition("\n\n")[0]
    named = set(re.findall(r"`([a-z_]+)`", paragraph))
    source = ROOT / "src" / "headwright"
    there = {path.stem for path in source.iterdir() if path.suffix in ("", ".py")}
    assert named == {name for name in there if not name.startswith("__")}


# Class names that stand for several things, in packages that are being rewritten. It only shrinks.
NOT_YET_UNIQUE = {
    "Bound",
    "Case",
    "Encoder",
    "Interval",
    "Normal",
    "Parameter",
    "Reader",
    "Sizes",
    "Written",
}
BEING_REWRITTEN = ("grading", "formulas")


def test_a_class_name_stands_for_one_thing() -> None:
    """A leading underscore makes no other name."""
    modules_by_name = _modules_by_class_name()
    repeated = {name for name, modules in modules_by_name.items() if len(modules) > 1}
    assert repeated <= NOT_YET_UNIQUE, {
        name: modules_by_name[name] for name in repeated - NOT_YET_UNIQUE
    }
    for name in repeated:
        packages = {module.partition("/")[0] for module in modules_by_name[name]}
        assert packages & set(BEING_REWRITTEN), name


def _modules_by_class_name() -> dict[str, list[str]]:
    source = ROOT / "src" / "headwright"
    modules_by_name: dict[str, list[str]] = {}
    for path in sorted(source.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                name = node.name.lstrip("_")
                module = str(path.relative_to(source))
                modules_by_name.setdefault(name, []).append(module)
    return modules_by_name
