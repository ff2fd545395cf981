"""assignment.toml: which exercises a submission should answer, for how many points, and what students are told.

Points are for the whole of an answer, or for its parts:

object     every goal is proved for what the answer defines, whatever else it says
claims     and nothing that it says is false, and what was to be said is said
argument   and enough steps lead there

A share of the points may be given for what `holds` without a proof. Nothing is given by machine for an answer that
could not be read or not decided.

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
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import headwright
from headwright.check.exercise import Exercise, load_exercises
from headwright.check.sheets.text import find
from headwright.check.telling.told import Hints
from headwright.check.verdict import Part, Verdict, Word, worst
from headwright.errors import InputError
from headwright.files import write_whole

PartOfAnswer = Literal["object", "claims", "argument"]
Counted = PartOfAnswer | Literal["whole"]
Worth = float | Mapping[PartOfAnswer, float]  # of an exercise: as a whole, or part by part
PARTS: tuple[PartOfAnswer, ...] = ("object", "claims", "argument")
WHOLE: Literal["whole"] = "whole"


@dataclass(frozen=True)
class Award:
    """Points for one part of an answer, or for the whole of it; and why not all of them.

    >>> str(Award("object", 1.0, 2.0, "it holds, without a proof"))
    'object: 1 of 2 points (it holds, without a proof)'
    """

    part: Counted
    points: float
    most: float
    why: str = ""

    def __str__(self) -> str:
        """For the student."""
        name = "" if self.part == WHOLE else f"{self.part}: "
        return f"{name}{self.points:g} of {self.most:g} points" + (f" ({self.why})" if self.why else "")


def parts_of(exercise: Exercise, least_steps: int = 0) -> tuple[PartOfAnswer, ...]:
    """The parts that an answer to this exercise has.

    >>> from headwright.check.exercise import load_exercises
    >>> known = load_exercises()
    >>> parts_of(known["averaging-two"]), parts_of(known["energy"])
    (('object', 'claims'), ('claims', 'argument'))
    """
    has = {"object": bool(exercise.goals), "claims": True, "argument": bool(exercise.derive) or least_steps > 0}
    return tuple(part for part in PARTS if has[part])


def most(worth: Worth) -> float:
    """The points that an exercise is worth in all."""
    return float(sum(worth.values())) if isinstance(worth, Mapping) else float(worth)


def awards(verdicts: Sequence[Verdict], worth: Worth, *, holds: float = 0.0, least_steps: int = 0) -> list[Award]:
    """What the answers to one exercise earn: each part with the worst of them, so that guessing does not pay.

    >>> goal, claim = Part("a", "goal", "proved", ""), Part("b", "statement", "refuted", "")
    >>> [str(award) for award in awards([Verdict("refuted", "", (goal, claim))], {"object": 2.0, "claims": 1.0})]
    ['object: 2 of 2 points', 'claims: 0 of 1 points (something that is said is false)']
    """
    wanted: Mapping[Counted, float]
    wanted = {name: worth[name] for name in PARTS if name in worth} if isinstance(worth, Mapping) else {WHOLE: worth}
    found = [list(_awards(verdict, wanted, holds, least_steps)) for verdict in verdicts]
    return [min(same, key=lambda award: award.points) for same in zip(*found, strict=True)]


def _awards(verdict: Verdict, wanted: Mapping[Counted, float], holds: float, least_steps: int) -> Iterator[Award]:
    for part, points in wanted.items():
        word, why = _object(verdict) if part == "object" else _all(verdict)
        steps = _steps(verdict.parts)
        if part in ("argument", WHOLE) and word in ("proved", "holds") and steps < least_steps:
            word, why = "no answer", f"{steps} steps were found, and at least {least_steps} are asked for"
        share = 1.0 if word == "proved" else holds if word == "holds" else 0.0
        yield Award(part, share * points, points, why if share < 1 else "")


def _object(verdict: Verdict) -> tuple[Word, str]:
    """The word on the goals alone; a false claim does not spoil the object."""
    goals = [part.word for part in verdict.parts if part.role == "goal"]
    if verdict.word in ("unreadable", "undecided") or not goals:
        return _all(verdict) if verdict.word != "proved" else ("no answer", "nothing was judged")
    word = worst(goals)
    return word, {"refuted": "a goal is not met", "holds": "it holds, without a proof"}.get(word, "")


def _all(verdict: Verdict) -> tuple[Word, str]:
    false = any(part.word == "refuted" and part.role != "goal" for part in verdict.parts)
    said = {
        "proved": "",
        "holds": "it holds, without a proof",
        "no answer": "what was asked for is missing",
        "refuted": "something that is said is false" if false else "a goal is not met",
        "unreadable": "it could not be read",
        "undecided": "it was not decided",
    }
    return verdict.word, said[verdict.word]


def _steps(parts: Sequence[Part]) -> int:
    """Different statements of the answer's own; one that is said twice counts once."""
    return len({part.statement for part in parts if part.role in ("step", "statement") and part.word == "proved"})


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
    holds: Annotated[float, Field(ge=0, le=1)] = 0.0  # the share of the points for what holds without a proof
    points: dict[str, float | dict[PartOfAnswer, float]] = {}
    least_steps: dict[str, int] = {}  # of an argument, by exercise


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
    points, steps = checked_points(found.points, known), _checked_steps(found.least_steps, known)
    for name, worth in points.items():
        there = parts_of(known[name], steps.get(name, 0))
        strange = sorted(set(worth) - set(there)) if isinstance(worth, Mapping) else []
        if strange:
            raise InputError(f"{name} has no part {strange[0]}, expected {' and '.join(there)}")
    return found.model_copy(update={"points": points, "least_steps": steps})


def read_points(text: str, known: Collection[str]) -> dict[str, Worth]:
    """Points as given on the command line.

    >>> read_points("copying=2, energy", ["copying", "energy"])
    {'copying': 2.0, 'energy': 1.0}
    """
    points: dict[str, Worth] = {}
    for part in text.split(","):
        name, equals, worth = part.partition("=")
        try:
            points[name.strip()] = float(worth) if equals else 1.0
        except ValueError as error:
            raise InputError(f"--points {text!r}: expected exercises and points, such as copying=2,energy=5") from error
    return checked_points(points, known)


def checked_points(points: Mapping[str, Worth], known: Collection[str]) -> dict[str, Worth]:
    """The same points under the ids as the exercises spell them.

    >>> checked_points({"Copying": 2.0}, ["copying"])
    {'copying': 2.0}
    """
    ids = {name: name for name in known}
    for name, worth in points.items():
        each = list(worth.values()) if isinstance(worth, Mapping) else [worth]
        for value in [*each, most(worth)]:
            if not 0 <= value <= MOST_POINTS:  # refuses NaN as well
                raise InputError(f"{name} is worth {value} points, expected 0 to {MOST_POINTS:g}")
    return {find(name, ids): worth for name, worth in points.items()}


def _checked_steps(steps: Mapping[str, int], known: Collection[str]) -> dict[str, int]:
    ids = {name: name for name in known}
    for name, least in steps.items():
        if least < 0:
            raise InputError(f"least_steps.{name} is {least}, expected 0 or more")
    return {find(name, ids): least for name, least in steps.items()}


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
