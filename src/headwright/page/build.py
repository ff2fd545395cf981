"""Write the page as one static folder, for any web server.

Pyodide comes from npm and the wheels from PyPI, by the user's own npm and pip; both are pinned with checksums. Python's
modules are compiled once, by Pyodide itself, so that a browser need not.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from string import Template

import headwright
from headwright import theme
from headwright.check.catalogue import load_exercises
from headwright.errors import InputError
from headwright.lab import STATIC as LAB
from headwright.page.assignment import Assignment, read_assignment

HERE = Path(__file__).parent
STATIC = HERE / "static"
PACKAGE = Path(headwright.__file__).parent
PYODIDE = ("pyodide@314.0.7", "66b7949e5a0cba2250b586d7e368bf12fb482800748d182c4618254b685ffaa0")
RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
WASM = ("--platform", "pyemscripten_2026_0_wasm32", "--python-version", "3.14", "--only-binary=:all:", "--no-deps")
NEEDED = ("check", "formula", "trusted", "lab", "page", "running")  # packages of ours that run in the browser
MODULES = ("__init__.py", "__init__.pyi", "errors.py", "enclosure.py", "theme.py", "cards.py", "files.py")
SOLVER = "z3_solver"
Tell = Callable[[str], None]


def build(out: Path, assignment: Path | None = None, *, tell: Tell = lambda _: None) -> int:
    """Write the page into a folder that is empty or new; the bytes that a browser loads before the first verdict."""
    if out.exists() and any(out.iterdir()) and not (out / "manifest.json").exists():
        raise InputError(f"{out} is not empty: expected a new folder, or one that holds such a page")
    chosen = read_assignment(assignment) if assignment else Assignment()
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        tell("Fetching Pyodide")
        runtime = _pyodide(work)
        tell("Fetching wheels")
        wheels = _wheels(work)
        made = work / "page"
        (made / "python").mkdir(parents=True)
        for name in RUNTIME:
            shutil.copy(runtime / name, made / "python" / name)
        for wheel in wheels:
            if wheel.name.startswith(SOLVER):
                shutil.copy(wheel, made / "python" / f"{SOLVER}.whl")
        tell("Compiling Python modules")
        _modules(work, wheels, runtime, chosen, assignment, made / "python" / "modules.zip")
        size = _front(made, chosen)
        if out.exists():
            shutil.rmtree(out)
        shutil.copytree(made, out)
    return size


def _run(what: str, *command: str, cwd: Path) -> None:
    try:
        ran = subprocess.run(command, cwd=cwd, text=True, capture_output=True)
    except FileNotFoundError:
        raise InputError(f"{what} needs {command[0]}, which is not installed here") from None
    if ran.returncode:
        raise InputError(f"{what} failed: {(ran.stderr or ran.stdout).strip()[-500:]}")


def _pyodide(work: Path) -> Path:
    name, digest = PYODIDE
    _run("fetching Pyodide", "npm", "pack", "--silent", name, cwd=work)
    (archive,) = work.glob("pyodide-*.tgz")
    if hashlib.sha256(archive.read_bytes()).hexdigest() != digest:
        raise InputError(f"{name} is not the file that was tested: its checksum differs")
    with tarfile.open(archive) as packed:
        packed.extractall(work, filter="data")
    return work / "package"


def _wheels(work: Path) -> list[Path]:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--require-hashes"]
    _run("fetching wheels", *pip, *WASM, "-d", "wheels", "-r", str(HERE / "wheels.txt"), cwd=work)
    return sorted((work / "wheels").glob("*.whl"))


def _modules(
    work: Path, wheels: list[Path], runtime: Path, chosen: Assignment, assignment: Path | None, archive: Path
) -> None:
    """All modules but the solver's in one archive, compiled."""
    tree = work / "tree"
    for wheel in wheels:
        if not wheel.name.startswith(SOLVER):
            with zipfile.ZipFile(wheel) as packed:
                packed.extractall(tree)
    for path in _ours():
        target = tree / "headwright" / path.relative_to(PACKAGE)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    _exercises(tree / "headwright" / "check" / "exercises", chosen, assignment)
    with zipfile.ZipFile(work / "tree.zip", "w", zipfile.ZIP_STORED) as packed:
        for path in sorted(tree.rglob("*")):
            if path.is_file():
                packed.write(path, path.relative_to(tree))
    script = [str(STATIC / "compile.mjs"), str(runtime), str(work / "tree.zip"), str(work / "compiled.zip")]
    _run("compiling", "node", *script, cwd=work)
    with (
        zipfile.ZipFile(work / "compiled.zip") as given,
        zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed,
    ):
        for name in sorted(given.namelist()):
            packed.writestr(zipfile.ZipInfo(name), given.read(name), zipfile.ZIP_DEFLATED, 9)


def _ours() -> Iterator[Path]:
    for name in MODULES:
        yield PACKAGE / name
    for folder in NEEDED:
        for path in sorted((PACKAGE / folder).rglob("*")):
            shown = path.relative_to(PACKAGE)
            if path.is_file() and "static" not in shown.parts and "__pycache__" not in shown.parts:
                yield path


def _exercises(folder: Path, chosen: Assignment, assignment: Path | None) -> None:
    """The exercises of the assignment alone, without their samples: what students must not see is not there."""
    own = assignment.parent / chosen.folder if assignment and chosen.folder else None
    wanted = chosen.exercises or tuple(load_exercises(own))
    files = {
        path.stem: path for place in (PACKAGE / "check" / "exercises", own) if place for path in place.glob("*.toml")
    }
    shutil.rmtree(folder)
    folder.mkdir()
    for name in wanted:
        text = files[name].read_text(encoding="utf-8")
        (folder / f"{name}.toml").write_text(text.partition("\n[samples]")[0] + "\n", encoding="utf-8")


def _front(made: Path, chosen: Assignment) -> int:
    """The page itself, with the lab's modules; and the manifest: every file with its size and checksum."""
    for name in ("common", "views", "lab.css", "icon.svg"):
        source = LAB / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, made / "static" / name)
    (made / "static" / "theme.css").write_text(theme.css(), encoding="utf-8")
    shutil.copy(STATIC / "transport.js", made / "static" / "common" / "transport.js")
    for name in ("loading.js", "verify.js"):
        shutil.copy(STATIC / name, made / "static" / name)
    for name in ("worker.js", "offline.js"):
        shutil.copy(STATIC / name, made / name)
    for name in ("index", "verify"):
        page = Template((STATIC / f"{name}.html").read_text(encoding="utf-8"))
        text = page.substitute(title=_escaped(chosen.title), version=headwright.__version__, hints=chosen.hints)
        (made / f"{name}.html").write_text(text, encoding="utf-8")
    files = {str(path.relative_to(made)): path.stat().st_size for path in sorted(made.rglob("*")) if path.is_file()}
    first = sum(size for name, size in files.items() if name.startswith("python/") and SOLVER not in name)
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(made.rglob("*")) if path.is_file()))
    manifest = {"version": digest.hexdigest()[:16], "bytes": first, "files": files}
    (made / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return first


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
