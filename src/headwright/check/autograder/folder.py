"""Writing the autograder's folder, or its zip, with this very Headwright as a wheel.

A grader must run the code that its teacher tried. So the wheel goes into the zip, packed from where Headwright is
installed, and the name is never looked up in an index, where somebody else may have taken it.
"""

from __future__ import annotations

import base64
import hashlib
import shutil
import tempfile
import zipfile
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.resources import files
from pathlib import Path

import headwright
from headwright.check.autograder.assignment import Worth, read_points
from headwright.check.exercise import load_exercises
from headwright.errors import InputError
from headwright.files import write_whole

SCRIPTS = ("setup.sh", "run_autograder")


def make_autograder(place: Path, exercises: Path | None = None, points: str | None = None) -> list[str]:
    """Write the files of an autograder into a new folder, or a zip (by its suffix); returns their names.

    Without `points`, every exercise is worth 1.

    >>> import tempfile
    >>> make_autograder(Path(tempfile.mkdtemp()) / "autograder", points="copying=2")
    ['setup.sh', 'run_autograder', 'README.md', 'assignment.toml', 'requirements.txt', 'wheels/']
    """
    if place.suffix != ".zip":
        return _write(place, exercises, points)
    if place.exists() or not place.parent.is_dir():
        why = "is there already" if place.exists() else f"there is no folder {place.parent}"
        raise InputError(f"--make-autograder {place}: {why}; give a new name")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "autograder"
        written = _write(folder, exercises, points)
        with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(folder.rglob("*")):
                archive.write(path, path.relative_to(folder))  # the scripts stay executable
    return written


def _write(folder: Path, exercises: Path | None, points: str | None) -> list[str]:
    from headwright import __version__

    known = load_exercises(exercises)
    own = sorted(exercises.glob("*.toml")) if exercises is not None else []
    worth: dict[str, Worth] = dict.fromkeys(known, 1.0) if points is None else read_points(points, list(known))
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"--make-autograder {folder}: is there already and not empty; give a new folder")
    try:
        (folder / "wheels").mkdir(parents=True, exist_ok=True)
        pack_wheel(folder / "wheels")
        if own:
            (folder / "exercises").mkdir()
            for path in own:
                shutil.copyfile(path, folder / "exercises" / path.name)
    except OSError as error:
        raise InputError(f"--make-autograder {folder}: cannot be written ({error.strerror})") from error
    templates = files("headwright.check.autograder") / "templates"
    for name in (*SCRIPTS, "README.md"):
        text = (templates / name).read_text(encoding="utf-8").replace("@VERSION@", __version__)
        write_whole(folder / name, text.encode())
    lines = [f"{name} = {value:g}" for name, value in worth.items()]
    head = (templates / "assignment.toml").read_text(encoding="utf-8")
    write_whole(folder / "assignment.toml", (head + "\n".join(lines) + "\n").encode())
    write_whole(folder / "requirements.txt", ("\n".join(requirements()) + "\n").encode())
    for name in SCRIPTS:
        (folder / name).chmod(0o755)
    more = ["assignment.toml", "requirements.txt", "wheels/", *(["exercises/"] if own else [])]
    return [*SCRIPTS, "README.md", *more]


NAME = "headwright"
WHEEL = "Wheel-Version: 1.0\nGenerator: headwright\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the same files make the same wheel


def pack_wheel(folder: Path) -> str:
    """Write the wheel into a folder; returns its name.

    >>> import tempfile
    >>> pack_wheel(Path(tempfile.mkdtemp())) == f"headwright-{headwright.__version__}-py3-none-any.whl"
    True
    """
    installed = _installed()
    home = Path(headwright.__file__).parent
    files = {
        f"{NAME}/{path.relative_to(home).as_posix()}": path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    }
    about = f"{NAME}-{installed.version}.dist-info"
    for name in ("METADATA", "entry_points.txt", "licenses/LICENSE"):
        text = installed.read_text(name)
        if text is not None:
            files[f"{about}/{name}"] = text.encode()
    files[f"{about}/WHEEL"] = WHEEL.encode()
    record = [f"{name},sha256={_digest(content)},{len(content)}\n" for name, content in files.items()]
    files[f"{about}/RECORD"] = "".join([*record, f"{about}/RECORD,,\n"]).encode()
    wheel = f"{NAME}-{installed.version}-py3-none-any.whl"
    with zipfile.ZipFile(folder / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, LONG_AGO), content, zipfile.ZIP_DEFLATED)
    return wheel


def requirements() -> list[str]:
    """What Headwright needs, as pip reads it; without extras, and without Headwright itself."""
    return [line for line in _installed().requires or () if "extra ==" not in line]


def _installed() -> Distribution:
    try:
        return distribution(NAME)
    except PackageNotFoundError as error:
        raise InputError("Headwright is not installed here, so it cannot be packed: pip install it first") from error


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
