"""Writing the autograder's folder, or its zip."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from importlib.resources import files
from pathlib import Path

from headwright.check.autograder.assignment import read_points
from headwright.check.autograder.points import Worth
from headwright.check.autograder.wheel import pack_wheel, requirements
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
