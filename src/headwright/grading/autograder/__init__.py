"""An autograder for Gradescope: a folder or zip of plain files, filled in for one assignment.

A grader must run the code that its teacher tried. So it holds this very Headwright as a wheel, packed from where it is
installed, and what Headwright needs in the versions that are installed here. The name Headwright is never looked up in
an index, where somebody else may have taken it. Its README.md tells what each file is for.

points       what answers earn
gradescope   one submission graded, as Gradescope reads it
"""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import tempfile
import zipfile
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from importlib.resources import files
from pathlib import Path

import headwright
from headwright.errors import InputError
from headwright.grading.assignment import Assignment, with_known_ids
from headwright.grading.autograder.points import read_points
from headwright.grading.exercise import load_exercises

__all__ = ["make_autograder"]
SCRIPTS = ("setup.sh", "run_autograder")
NAME = "headwright"
WHEEL = "Wheel-Version: 1.0\nGenerator: headwright\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the same files make the same wheel


def make_autograder(
    place: Path,
    exercises: Path | None = None,
    points: str | None = None,
    assignment: Assignment | None = None,
) -> list[str]:
    """Write the files of an autograder into a new folder, or a zip (by its suffix); returns their names.

    Without `points`, every exercise of the assignment is worth what that says, else 1.
    """
    known = load_exercises(exercises)
    settings = with_known_ids(assignment or Assignment(), known)
    if points is None:
        worth = {name: settings.worth(name) for name in settings.ids(known)}
    else:
        worth = read_points(points, list(known))
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise InputError(
            f"--make-autograder {place}: is there already and not empty; give a new name"
        )
    if place.suffix == ".zip" and not place.parent.is_dir():
        raise InputError(
            f"--make-autograder {place}: there is no folder {place.parent}"
        )
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch) / NAME
        (made / "wheels").mkdir(parents=True)
        pack_wheel(made / "wheels")
        if exercises is not None:
            (made / "exercises").mkdir()
            for path in sorted(exercises.glob("*.toml")):
                shutil.copyfile(path, made / "exercises" / path.name)
        templates = files("headwright.grading.autograder") / "templates"
        for name in (*SCRIPTS, "README.md", "assignment.toml"):
            text = (
                (templates / name)
                .read_text(encoding="utf-8")
                .replace("@VERSION@", headwright.__version__)
                .replace("@TIMEOUT@", f"{settings.timeout:g}")
                .replace("@SEED@", str(settings.seed))
                .replace("@HINTS@", settings.hints)
                .replace("@FORMULAS@", f"{settings.formulas:g}")
            )
            (made / name).write_text(text, encoding="utf-8")
        with (made / "assignment.toml").open("a", encoding="utf-8") as file:
            file.writelines(f"{name} = {value:g}\n" for name, value in worth.items())
        (made / "requirements.txt").write_text(
            "".join(f"{line}\n" for line in requirements()), encoding="utf-8"
        )
        for name in SCRIPTS:
            (made / name).chmod(0o755)
        try:
            if place.suffix == ".zip":
                shutil.make_archive(
                    str(place.with_suffix("")), "zip", made
                )  # the scripts stay executable
            else:
                shutil.copytree(made, place, dirs_exist_ok=True)
        except OSError as error:
            raise InputError(
                f"--make-autograder {place}: cannot be written ({error.strerror})"
            ) from error
        return sorted(path.name + "/" * path.is_dir() for path in made.iterdir())


def pack_wheel(folder: Path) -> str:
    """Write Headwright as a wheel into a folder; returns its name."""
    try:
        installed = distribution(NAME)
    except PackageNotFoundError as error:
        raise InputError(
            "Headwright is not installed here, so it cannot be packed: pip install it first"
        ) from error
    home = Path(headwright.__file__).parent
    packed = {
        f"{NAME}/{path.relative_to(home).as_posix()}": path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    about = f"{NAME}-{installed.version}.dist-info"
    for name in ("METADATA", "entry_points.txt", "licenses/LICENSE"):
        packed[f"{about}/{name}"] = (installed.read_text(name) or "").encode()
    packed[f"{about}/WHEEL"] = WHEEL.encode()
    record = ""
    for name, content in packed.items():
        digest = (
            base64.urlsafe_b64encode(hashlib.sha256(content).digest())
            .rstrip(b"=")
            .decode()
        )
        record += f"{name},sha256={digest},{len(content)}\n"
    packed[f"{about}/RECORD"] = f"{record}{about}/RECORD,,\n".encode()
    wheel = f"{NAME}-{installed.version}-py3-none-any.whl"
    with zipfile.ZipFile(folder / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in packed.items():
            archive.writestr(
                zipfile.ZipInfo(name, LONG_AGO), content, zipfile.ZIP_DEFLATED
            )
    return wheel


def requirements() -> list[str]:
    """What Headwright with the extra `check` needs, and what that needs, in the versions that are installed here."""
    pinned: dict[str, str] = {}
    waiting = [NAME]
    while waiting:
        package = waiting.pop()
        for line in distribution(package).requires or ():
            name = re.split(r"[^\w.-]", line)[0].lower().replace("_", "-")
            if name in pinned or not is_needed(line, package):
                continue
            # A package may be for another platform or another Python.
            with suppress(PackageNotFoundError):
                pinned[name] = distribution(name).version
                waiting.append(name)
    return [f"{name}=={version}" for name, version in sorted(pinned.items())]


def is_needed(requirement: str, package: str) -> bool:
    """Whether a requirement of a package is needed to grade: without extras, but for Headwright's own `check`.

    >>> is_needed("numpy>=2.1", "headwright"), is_needed("torch; extra == 'audit'", "headwright")
    (True, False)
    >>> is_needed("z3-solver; extra == 'check'", "headwright"), is_needed("a; extra == 'check'", "b")
    (True, False)
    """
    extra = re.search(r"extra == ['\"]([\w-]+)['\"]", requirement)
    return extra is None or (package == NAME and extra[1] == "check")
