"""assignment.toml: which exercises a submission should answer, for how many points, and what students are told.

Points are for the object (what was asked for) and for the formulas, separately:

object     all of them if every part of what was asked for is proved, else the share of the parts that are
formulas   the share of true ones among those that are true or false; a formula that does not count is left out

A right object earns its points whatever else is said. What is not decided earns nothing by machine: a person decides.

A grader must run the code that its teacher tried. So its folder, or its zip, holds this very Headwright as a wheel,
packed from where it is installed, and the name is never looked up in an index, where somebody else may have taken it.
"""

from __future__ import annotations

import base64
import hashlib
import shutil
import tempfile
import tomllib
import zipfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import headwright
from headwright.check.exercise import Exercise, load_exercises
from headwright.check.report.text import Hints
from headwright.check.sheets.sheet import find
from headwright.check.verdict import Verdict
from headwright.errors import InputError
from headwright.files import write_whole


class Worth(BaseModel):
    """The points of an exercise."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    object: Annotated[float, Field(gt=0)]  # a right object is never worth nothing
    formulas: Annotated[float, Field(ge=0)] = 0.0

    @property
    def most(self) -> float:
        """Both together."""
        return self.object + self.formulas


@dataclass(frozen=True)
class Award:
    """Points for the object or for the formulas; and why not all of them.

    >>> str(Award("object", 0.0, 2.0, "it is refuted"))
    'object: 0 of 2 points (it is refuted)'
    """

    part: Literal["object", "formulas"]
    points: float
    most: float
    why: str = ""

    def __str__(self) -> str:
        """For the student."""
        return f"{self.part}: {self.points:.4g} of {self.most:g} points" + (f" ({self.why})" if self.why else "")


def awards(verdicts: Sequence[Verdict], worth: Worth) -> list[Award]:
    """What the answers to one exercise earn: each part with the worst of them, so that guessing does not pay.

    >>> from headwright.check.verdict import Asked, Formula
    >>> part, claim = Asked("q", "proved", 1, "q = k_a", ""), Formula(2, "1 = 2", "false", "claim", True)
    >>> verdict = Verdict("proved", "", (part,), (claim,))
    >>> [str(award) for award in awards([verdict], Worth(object=2, formulas=1))]
    ['object: 2 of 2 points', 'formulas: 0 of 1 points (1 of 1 is false)']
    """
    found = [[_object(verdict, worth.object), _formulas(verdict, worth.formulas)] for verdict in verdicts]
    given = [min(same, key=lambda award: award.points) for same in zip(*found, strict=True)]
    return [award for award in given if award.most]


def _object(verdict: Verdict, points: float) -> Award:
    parts = [one.word for one in verdict.asked if not one.optional] or [verdict.word]
    proved = 1.0 if verdict.word == "proved" else parts.count("proved") / len(parts)
    why = (
        ""
        if proved == 1
        else f"{parts.count('proved')} of {len(parts)} parts proved"
        if proved
        else f"it is {verdict.word}"
    )
    return Award("object", proved * points, points, why)


def _formulas(verdict: Verdict, points: float) -> Award:
    false = len(verdict.false_formulas)
    right = verdict.word == "proved"
    true = sum(one.status == "true" and (right or one.role != "definition") for one in verdict.formulas)
    if not true + false:  # nothing but the object, or nothing
        return Award("formulas", points if right else 0.0, points, "" if right else "none was found true")
    why = f"{false} of {true + false} {'is' if false == 1 else 'are'} false" if false else ""
    return Award("formulas", points * true / (true + false), points, why)


MOST_POINTS = 10_000.0
Visibility = Literal["visible", "after_due_date", "after_published", "hidden"]


class Assignment(BaseModel):
    """What the file says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    timeout: Annotated[float, Field(gt=0, le=300)] = 20.0  # seconds for one answer
    seed: Annotated[int, Field(ge=0)] = 0
    hints: Hints = "direction"  # what students are told at once
    after_deadline: Hints = "full"  # what they are told besides, once the deadline has passed
    visibility: Visibility = "visible"  # when students see results at all
    formulas: Annotated[float, Field(ge=0, le=0.9)] = 0.25  # their share where an exercise has one number of points
    points: dict[str, float | Worth] = {}

    def worth(self, exercise: str) -> Worth:
        """The points of an exercise; 1 where none are given."""
        return split(self.points.get(exercise, 1.0), self.formulas)


def split(points: float | Worth, formulas: float) -> Worth:
    """Points for the object and the formulas.

    >>> split(4.0, 0.25)
    Worth(object=3.0, formulas=1.0)
    """
    if isinstance(points, Worth):
        return points
    return Worth(object=points * (1 - formulas), formulas=points * formulas)


def read_assignment(path: Path, known: Mapping[str, Exercise]) -> Assignment:
    """The assignment in a file, for these exercises."""
    try:
        found = Assignment.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path.name} cannot be read: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(f"{path.name}: {where}: {first['msg'].lower()}, given {first['input']!r}") from error
    return found.model_copy(update={"points": checked_points(found.points, known)})


def read_points(text: str, known: Collection[str]) -> dict[str, float | Worth]:
    """Points as given on the command line.

    >>> read_points("copying=2, energy", ["copying", "energy"])
    {'copying': 2.0, 'energy': 1.0}
    """
    points: dict[str, float | Worth] = {}
    for part in text.split(","):
        name, equals, worth = part.partition("=")
        try:
            points[name.strip()] = float(worth) if equals else 1.0
        except ValueError as error:
            raise InputError(f"--points {text!r}: expected exercises and points, such as copying=2,energy=5") from error
    return checked_points(points, known)


def checked_points(points: Mapping[str, float | Worth], known: Collection[str]) -> dict[str, float | Worth]:
    """The same points under the ids as the exercises spell them.

    >>> checked_points({"Copying": 2.0}, ["copying"])
    {'copying': 2.0}
    """
    for name, worth in points.items():
        value = worth.most if isinstance(worth, Worth) else worth
        if not 0 < value <= MOST_POINTS:  # refuses NaN as well
            raise InputError(f"{name} is worth {value} points, expected more than 0 and at most {MOST_POINTS:g}")
    ids = {name: name for name in known}
    return {find(name, ids): worth for name, worth in points.items()}


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
    worth = dict.fromkeys(known, 1.0) if points is None else read_points(points, list(known))
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
