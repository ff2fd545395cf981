"""Write the page as one static folder, for any web server.

Pyodide comes from npm and the wheels from PyPI, by the user's own npm and pip; both are pinned with checksums. Python's
modules are compiled once, by Pyodide itself, so that a browser need not. What students must not see (samples, comments,
examples, exercises that were not chosen) is never copied.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import headwright
from headwright import theme
from headwright.attention import attend
from headwright.errors import InputError
from headwright.files import write_whole
from headwright.grading.assignment import (
    Assignment,
    own_folder,
    read_assignment,
    set_exercises,
)
from headwright.grading.exercise import BUILT_IN, Exercise, load_exercises
from headwright.grading.report.typeset import typeset
from headwright.lab import STATIC as LAB
from headwright.lab.views.check import described
from headwright.models.load import load_model
from headwright.page.pages import page_html, site_pages

HERE = Path(__file__).parent
STATIC = HERE / "static"
PACKAGE = Path(headwright.__file__).parent
PYODIDE = (
    "pyodide@314.0.7",
    "66b7949e5a0cba2250b586d7e368bf12fb482800748d182c4618254b685ffaa0",
)
RUNTIME = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "pyodide-lock.json",
)  # .mjs becomes .js
STANDARD, MODULES = "python_stdlib.zip", "modules.zip"
WASM = (
    "--platform",
    "pyemscripten_2026_0_wasm32",
    "--python-version",
    "3.14",
    "--only-binary=:all:",
    "--no-deps",
)
OURS = (  # what of this package runs in the browser
    "__init__.py",
    "__init__.pyi",
    "argument_types.py",
    "notebook.py",
    "errors.py",
    "extras.py",
    "theme.py",
    "validation.py",
    "certificates/__init__.py",
    "certificates/checkers.py",
    "certificates/formats.py",
    "certificates/exact",
    "formulas",
    "grading",
    "numerics/__init__.py",
    "numerics/enclosure.py",
    "numerics/quantiles.py",
    "uncertainty/__init__.py",
    "uncertainty/__init__.pyi",
    "uncertainty/random_scale.py",
    "verification",
    "lab/__init__.py",
    "lab/view.py",
    "lab/views/__init__.py",
    "lab/views/check.py",
    "page/__init__.py",
    "page/answering.py",
    "page/noise.py",
    "page/proposal.py",
)
FRONT = (
    "common",
    "views/check",
    "views/design",
    "views/noise",
    "views/order",
    "views/check.js",
    "lab.css",
    "icon.svg",
)  # what the page shares with the lab
SOLVER = "z3_solver"
WITHOUT = re.compile(  # modules that a page never loads, of the wheels and of Python itself
    r"flint/(test/|functions/|types/(_gr|fq_default|nmod|fmpz_mod|\w+_series))"
    r"|pydantic/(v1|deprecated|experimental|mypy)\b|.*/(sboms|METADATA|RECORD)\b"
    r"|(_pyrepl|multiprocessing|unittest|wsgiref|xmlrpc)/|(_pydatetime|_pyio|doctest|imaplib|mailbox|pdb|pickletools)\.py"
    r"|encodings/(big|cp(?!437)|euc|gb|hp|hz|iso|johab|kz|koi|mac_|palm|ptcp|shift|tis)"
)
FLINT = """import sys

flags = sys.getdlopenflags()
sys.setdlopenflags(flags | 256)  # RTLD_GLOBAL: symbols of libflint.so are found at once, not again for each module
from .flint_base.flint_base import Ordering
from .pyflint import ctx
from .types.arb import arb
from .types.arb_mat import arb_mat
from .types.fmpq import fmpq
from .types.fmpq_mat import fmpq_mat
from .types.fmpq_mpoly import fmpq_mpoly, fmpq_mpoly_ctx
from .types.fmpz import fmpz
sys.setdlopenflags(flags)


def __getattr__(name):
    if name != "acb":
        raise AttributeError(name)
    from .types.acb import acb

    return acb
"""  # in place of flint/__init__.py: each of the modules that it loads beyond these delays the first verdict
STORY_TEXT = "one key one query"
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Built:
    """The sizes of a page in bytes, without the solver: as files, and as a server with gzip sends them."""

    raw: int
    compressed: int
    exercises: int


def build(
    out: Path,
    assignment: Path | None = None,
    *,
    downloads: Path | None = None,
    tell: Tell = lambda _: None,
) -> Built:
    """Write the page into a folder that is new, empty or holds such a page; what was fetched is kept in `downloads`."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file: expected a folder")
    if out.exists() and any(out.iterdir()) and not (out / "manifest.json").exists():
        raise InputError(
            f"{out} is not empty: expected a new folder, or one that holds such a page"
        )
    chosen = (
        Assignment(hints="full", solutions=True)
        if assignment is None
        else read_assignment(assignment)
    )
    known = load_exercises(own_folder(chosen, assignment))
    asked = set_exercises(chosen, known)
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        fetched = downloads or work / "fetched"
        fetched.mkdir(parents=True, exist_ok=True)
        tell("Fetching Pyodide")
        runtime = _pyodide(fetched, work)
        tell("Fetching wheels")
        wheels = _wheels(fetched, work)
        made = work / "page"
        (made / "python").mkdir(parents=True)
        for name in RUNTIME:
            shutil.copyfile(
                runtime / name, made / "python" / name.replace(".mjs", ".js")
            )  # which all servers know
        (solver,) = (wheel for wheel in wheels if wheel.name.startswith(SOLVER))
        shutil.copyfile(solver, made / "python" / f"{SOLVER}.whl")
        tell("Compiling Python modules")
        tree = _tree(
            work / "tree", [wheel for wheel in wheels if wheel != solver], chosen, asked
        )
        _compiled(tree, runtime, work, made / "python")
        _front(made, chosen, asked)
        sizes = write_manifest(made)
        if out.exists():
            shutil.rmtree(out)
        shutil.copytree(made, out)
    return Built(*sizes, len(asked))


def _run(what: str, *command: str, cwd: Path) -> None:
    try:
        ran = subprocess.run(command, cwd=cwd, text=True, capture_output=True)  # noqa: S603  our own commands
    except FileNotFoundError:
        raise InputError(
            f"{what} needs {command[0]}, which is not installed here"
        ) from None
    if ran.returncode:
        raise InputError(f"{what} failed: {(ran.stderr or ran.stdout).strip()[-500:]}")


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def _pyodide(fetched: Path, work: Path) -> Path:
    name, digest = PYODIDE
    archive = fetched / f"{name.replace('@', '-')}.tgz"
    if not archive.exists():
        _run("fetching Pyodide", "npm", "pack", "--silent", name, cwd=work)
        _keep(work / archive.name, fetched)
    if _digest(archive) != digest:
        raise InputError(
            f"{archive.name} is not the file that was tested: its checksum differs"
        )
    with tarfile.open(archive) as packed:
        packed.extractall(work, filter="data")
    return work / "package"


def _keep(path: Path, folder: Path) -> None:
    """A copy in a folder, whole or not at all."""
    write_whole(folder / path.name, path.read_bytes())


def _wheels(fetched: Path, work: Path) -> list[Path]:
    """The wheels of wheels.txt, and no others that may lie in the folder."""
    wanted = set(
        re.findall(
            r"sha256:(\w{64})", (HERE / "wheels.txt").read_text(encoding="utf-8")
        )
    )

    def there() -> list[Path]:
        return [
            path for path in sorted(fetched.glob("*.whl")) if _digest(path) in wanted
        ]

    if len(there()) < len(wanted):
        pip = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--require-hashes",
        ]
        _run(
            "fetching wheels",
            *pip,
            *WASM,
            "-d",
            "wheels",
            "-r",
            str(HERE / "wheels.txt"),
            cwd=work,
        )
        for path in (work / "wheels").glob("*.whl"):
            _keep(path, fetched)
    return there()


def _tree(
    tree: Path, wheels: Sequence[Path], chosen: Assignment, asked: Sequence[Exercise]
) -> Path:
    """All modules but the solver's, in one folder, with the exercises of the assignment alone."""
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as packed:
            packed.extractall(tree)  # noqa: S202  checksums are known
    (tree / "flint" / "__init__.py").write_text(FLINT, encoding="utf-8")
    (tree / "latex2mathml" / "__init__.py").write_text(
        "", encoding="utf-8"
    )  # it asks for its version, which is slow
    ours = tree / "headwright"
    for path in our_modules():
        target = ours / path.relative_to(PACKAGE)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    folder = ours / BUILT_IN.relative_to(PACKAGE)
    folder.mkdir()
    for one in asked:
        (folder / f"{one.id}.toml").write_text(
            as_toml(given_part(one)), encoding="utf-8"
        )
    (ours / "page" / "settings.json").write_text(
        json.dumps({"hints": chosen.hints}), encoding="utf-8"
    )
    return tree


def our_modules() -> Iterator[Path]:
    """The files of this package that run in the browser, without the exercises."""
    for name in OURS:
        place = PACKAGE / name
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if (
                path.is_file()
                and path.parent != BUILT_IN
                and "__pycache__" not in path.parts
            ):
                yield path


def given_part(exercise: Exercise) -> dict[str, Any]:
    """An exercise as data, without its samples, and without comments, which are no data."""
    return exercise.model_dump(mode="json", exclude={"samples"}, exclude_defaults=True)


def as_toml(given: object) -> str:
    r"""JSON's own types as TOML: a table's lines, or one value.

    >>> print(as_toml({"id": "copying", "keys": {"named": ["a"], "noise": True}}), end="")
    "id" = "copying"
    "keys" = {"named" = ["a"], "noise" = true}
    """
    if not isinstance(given, dict):
        return _value(given)
    return "".join(
        f"{json.dumps(key)} = {_value(value)}\n" for key, value in given.items()
    )


def _value(given: object) -> str:
    if isinstance(given, dict):
        inside = (
            f"{json.dumps(key)} = {_value(value)}"
            for key, value in given.items()
            if value is not None
        )
        return "{" + ", ".join(inside) + "}"
    if isinstance(given, list):
        return "[" + ", ".join(map(_value, given)) + "]"
    return json.dumps(given, ensure_ascii=False)


def _compiled(tree: Path, runtime: Path, work: Path, out: Path) -> None:
    """The modules of the tree and those of Python itself, as archives of compiled modules."""
    with zipfile.ZipFile(work / MODULES, "w", zipfile.ZIP_STORED) as packed:
        for path in sorted(tree.rglob("*")):
            if path.is_file():
                packed.write(path, path.relative_to(tree))
    sources = {
        work / MODULES: work / "compiled.zip",
        runtime / STANDARD: work / STANDARD,
    }
    script = [str(path) for pair in sources.items() for path in pair]
    _run(
        "compiling",
        "node",
        str(STATIC / "compile.mjs"),
        str(runtime),
        *script,
        cwd=work,
    )
    for source, compiled in sources.items():
        with (
            zipfile.ZipFile(compiled) as given,
            zipfile.ZipFile(out / source.name, "w") as packed,
        ):
            for name in sorted(
                name for name in given.namelist() if not WITHOUT.match(name)
            ):
                packed.writestr(
                    zipfile.ZipInfo(name), given.read(name), zipfile.ZIP_DEFLATED, 9
                )


def _front(made: Path, chosen: Assignment, asked: Sequence[Exercise]) -> None:
    """The page itself, with the lab's modules, and the exercises for reading before Python is there."""
    static = made / "static"
    for name in FRONT:
        target = static / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (LAB / name).is_dir() else shutil.copyfile)(
            LAB / name, target
        )
    (static / "theme.css").write_text(theme.css(), encoding="utf-8")
    for name in (
        "common/transport.js",
        "loading.js",
        "verify.js",
        "design.js",
        "noise.js",
        "order.js",
        "layer.js",
        "theorem.js",
        "shortest.js",
    ):
        shutil.copyfile(STATIC / Path(name).name, static / name)
    if not chosen.solutions:  # the examples are answers
        start = json.dumps({"exercise": asked[0].id, "answer": "", "hints": "none"})
        examples = f"// Where this page begins.\nexport const [start, presets, steps] = [{start}, [], []];\n"
        (static / "views/check/examples.js").write_text(examples, encoding="utf-8")
        nothing = "export const DERIVATION = null;\n"
        (static / "theorem.js").write_text(nothing, encoding="utf-8")
    told = {
        "deadline": chosen.deadline,
        "help": chosen.help,
        "exercises": [
            {**described(one), **_solutions(one, chosen), **_worth(one, chosen)}
            for one in asked
        ],
    }
    (made / "exercises.json").write_text(
        json.dumps(told, ensure_ascii=False), encoding="utf-8"
    )
    pages = site_pages()
    if not chosen.solutions:  # the story links to answers
        del pages["story"]
    else:
        for name in ("story.js", "story.css"):
            shutil.copyfile(STATIC / name, static / name)
        (made / "story.json").write_text(json.dumps(trained_pattern()), "utf-8")
    title = html.escape(chosen.title)
    for name in pages:
        shown = page_html(name, pages, title=title, hints=chosen.hints)
        (made / f"{name}.html").write_text(shown, encoding="utf-8")
    shutil.copyfile(STATIC / "worker.js", made / "worker.js")


def trained_pattern() -> dict[str, Any]:
    """The pattern of a trained head on one text, to three digits, with the tokens of its rows.

    >>> trained_pattern()["tokens"][:4]
    ['<s>', 'o', 'n', 'e']
    """
    model = load_model("builtin:induction")
    tokens = model.encode(STORY_TEXT)
    layer = model.run(tokens)[0]
    visible = np.tril(np.ones((len(tokens), len(tokens)), bool))
    found = attend(
        layer.keys[0], layer.queries[0], scale=layer.scoring.scale, mask=visible
    )
    return {
        "tokens": list(model.token_strings(tokens)),
        "pattern": found.pattern.round(3).tolist(),
    }


def _worth(exercise: Exercise, chosen: Assignment) -> dict[str, float]:
    """The points of an exercise, where the assignment gives any."""
    return {"points": chosen.worth(exercise.id)} if chosen.points else {}


def _solutions(exercise: Exercise, chosen: Assignment) -> dict[str, Any]:
    right = exercise.samples.right if chosen.solutions else ()
    return {"solutions": [[typeset(formula) for formula in one] for one in right[:1]]}


def write_manifest(made: Path) -> tuple[int, int]:
    """The bytes of the progress bar and, for the service worker, all files; the sizes of all but the solver."""
    fetched = (
        made / "python" / name
        for name in (*RUNTIME, STANDARD, MODULES)
        if not name.endswith(".mjs")
    )
    told = {"bytes": sum(path.stat().st_size for path in fetched)}
    (made / "manifest.json").write_text(json.dumps(told) + "\n", encoding="utf-8")
    files = {
        path.relative_to(made).as_posix(): path.read_bytes()
        for path in sorted(made.rglob("*"))
        if path.is_file()
    }
    digests = {
        name: f"sha256-{base64.b64encode(sha256(data).digest()).decode()}"
        for name, data in files.items()
    }
    all_files = json.dumps(digests, indent=1)
    worker = (
        (STATIC / "offline.js")
        .read_text(encoding="utf-8")
        .replace("FILES_AND_DIGESTS", all_files)
    )
    worker = worker.replace("VERSION", sha256(all_files.encode()).hexdigest()[:16])
    (made / "offline.js").write_text(worker, encoding="utf-8")
    needed = [data for name, data in files.items() if SOLVER not in name]
    return sum(map(len, needed)), sum(len(gzip.compress(data)) for data in needed)
