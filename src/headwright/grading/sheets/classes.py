"""What a class handed in: folders, and the archives that Canvas and Moodle write.

An archive is unpacked into a folder of its own within bounds; no path leads out of it,
links are not made, and nothing in it is run. Names of files tell whose they are.
"""

from __future__ import annotations

import re
import stat
import tempfile
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from headwright.errors import InputError
from headwright.grading.exercise import Exercise
from headwright.grading.sheets.document import parse_document
from headwright.grading.sheets.files import (
    LARGEST_NOTEBOOK,
    NOT_READ,
    OTHERS,
    SUFFIXES,
    clean,
    in_order,
    read_text,
    sheets,
    student_of,
)
from headwright.grading.sheets.sheet import AnswerText, Problem

MOST_SHEETS = 2000  # of a class
MOST_MEMBERS = 10_000  # of an archive
LARGEST_ARCHIVE, LARGEST_UNPACKED = 2**30, 2**28  # bytes
LONGEST_NAME, DEEPEST_PATH = 120, 8
_MOODLE = re.compile(
    r"(?P<name>.+?)_(?P<id>\d{1,12})_assignsubmission_\w*?(?:_(?P<file>[^_].*))?_?"
)
# A file has a number of its own behind the student's; what was typed in has none. Anonymous
# assignments have a code in place of the student.
_CANVAS = re.compile(
    r"(?:(?P<name>[^_]+)(?:_LATE)?_(?P<id>\d{1,12})|(?P<code>anon_[A-Za-z0-9]{3,12}))"
    r"(?:_\d{1,12}_(?P<file>.+)|_(?P<typed>(?:text|link)\.html))"
)


@dataclass(frozen=True)
class ClassSheets:
    """The answers of a class; `students` are their names, `numbers` those that an LMS gave them."""

    answers: tuple[AnswerText, ...]
    problems: tuple[Problem, ...]
    notes: tuple[Problem, ...]
    students: tuple[str, ...]
    numbers: Mapping[str, str]
    unread: frozenset[str]  # students of whom a file was not read
    empty: frozenset[str]  # students who handed in nothing, or only empty files


@dataclass(frozen=True)
class _Submitted:
    """A file of a student: where it is, and its name below that of the student."""

    path: Path
    student: str
    number: str
    file: str


def read_class(
    places: Sequence[Path],
    exercises: Mapping[str, Exercise],
    exercise: str | None = None,
    others: Mapping[str, Exercise] | None = None,
) -> ClassSheets:
    """The answers of all students in folders and archives; a student without a sheet is a problem."""
    for place in places:
        if not place.is_dir() and not _is_archive(place):
            raise InputError(
                f"--class {place}: expected a folder with a file or folder for each student, or a zip"
            )
    if not places:
        raise InputError(
            "--class expects folders, with a file or a folder for each student, or zips"
        )
    submitted: list[_Submitted] = []
    empty_folders: list[str] = []  # of students: with no file in it
    problems: list[Problem] = []
    answers: list[AnswerText] = []
    notes: list[Problem] = []
    unread: set[str] = set()
    handed_in: set[str] = set()  # students with a file that holds something
    with tempfile.TemporaryDirectory() as scratch:
        for number, place in enumerate(places):
            folder = place
            if not place.is_dir():
                folder = Path(scratch) / str(number)
                problems += unpack(place, folder)
                folder = _without_wrapper(folder)
            found, seen = _submitted(folder)
            submitted += found
            problems += seen
            empty_folders += _empty_folders(folder, found)
        names = _display_names(submitted)
        for one in submitted:
            student = names[one.student, one.number]
            name = f"{student}/{one.file}" if one.file else clean(one.path.name)
            if one.path.suffix.lower() not in SUFFIXES:
                handed_in.add(student)
                unread.add(student)
                notes.append(Problem(name, 0, NOT_READ))
                continue
            try:
                text = read_text(one.path)
            except InputError as error:  # the other sheets are read all the same
                handed_in.add(student)
                unread.add(student)
                problems.append(Problem(name, 0, str(error)))
                continue
            if not text.strip():
                continue
            handed_in.add(student)
            is_latex = one.path.suffix == ".tex"
            sheet = parse_document(
                text, name, exercises, exercise, latex=is_latex, others=others
            )
            answers += sheet.answers
            problems += sheet.problems
            notes += sheet.notes
    numbers = {names[one.student, one.number]: one.number for one in submitted}
    students = dict.fromkeys([*numbers, *map(clean, empty_folders)])
    empty = [student for student in students if student not in handed_in]
    problems += [Problem(student, 0, "no answer sheet") for student in empty]
    return ClassSheets(
        tuple(answers),
        tuple(problems),
        tuple(notes),
        tuple(sorted(students, key=in_order)),
        numbers,
        frozenset(unread),
        frozenset(empty),
    )


def _is_archive(place: Path) -> bool:
    return place.suffix.lower() == ".zip" and place.is_file()


def _submitted(folder: Path) -> tuple[list[_Submitted], list[Problem]]:
    paths, problems, others = sheets(folder, MOST_SHEETS)
    here = f"{clean(str(folder))}/"
    kept = [
        replace(problem, file=problem.file.removeprefix(here)) for problem in problems
    ]
    unread = [Path(other.file) for other in others]
    found = [_whose(path.relative_to(folder), path) for path in paths]
    for path in unread:
        name = str(path).removeprefix(here)
        found.append(_whose(Path(name), path))
    return found, kept


def _whose(name: Path, path: Path) -> _Submitted:
    """Whose a file is, by the patterns of Canvas and Moodle, or by its folder or name."""
    first, *rest = name.parts
    inside = "/".join(rest)
    matched = _MOODLE.fullmatch(first) or (None if rest else _CANVAS.fullmatch(first))
    if matched is None:
        student, number, file = student_of(str(name)), "", inside
    else:
        parts = matched.groupdict()
        student = (parts["name"] or parts["code"]).strip()
        number = parts["id"] or ""
        file = inside or parts["file"] or parts.get("typed") or first
    return _Submitted(path, clean(student), number, clean(file))


def _display_names(submitted: Sequence[_Submitted]) -> dict[tuple[str, str], str]:
    """A name for each student; with the number of the LMS where two have the same name."""
    numbers: dict[str, set[str]] = defaultdict(set)
    for one in submitted:
        numbers[one.student].add(one.number)
    return {
        (student, number): f"{student} ({number})" if len(several) > 1 else student
        for student, several in numbers.items()
        for number in several
    }


def _empty_folders(folder: Path, found: Sequence[_Submitted]) -> Iterator[str]:
    """The folders directly below that hold no sheet and no file that could not be read."""
    used = {one.path.relative_to(folder).parts[0] for one in found}
    inside = sorted(folder.iterdir(), key=lambda path: in_order(path.name))
    for path in inside[:MOST_SHEETS]:
        if path.name.startswith((".", "__")) or path.name in used:
            continue
        if path.is_dir():
            matched = _MOODLE.fullmatch(path.name)
            yield matched["name"] if matched else path.name
        elif path.suffix.lower() in OTHERS + SUFFIXES:  # a link, or a pipe
            yield path.stem


def _without_wrapper(folder: Path) -> Path:
    """The folder inside, where an archive holds one folder and nothing else."""
    inside = [path for path in folder.iterdir() if not path.name.startswith(".")]
    if len(inside) != 1 or not inside[0].is_dir():
        return folder
    is_student = _MOODLE.fullmatch(inside[0].name)
    several = len(list(inside[0].iterdir())) > 1
    return inside[0] if several and not is_student else folder


def unpack(archive: Path, folder: Path) -> list[Problem]:
    """Write the plain files of an archive into a new folder; returns what was left out, and why."""
    folder.mkdir(parents=True)
    name = clean(archive.name)
    if archive.stat().st_size > LARGEST_ARCHIVE:
        raise InputError(f"{name} has more than {LARGEST_ARCHIVE:,} bytes: split it")
    try:
        with zipfile.ZipFile(archive) as packed:
            return _unpacked(packed, folder, name)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise InputError(f"{name} is not a zip that can be read: {error}") from None


def _unpacked(packed: zipfile.ZipFile, folder: Path, name: str) -> list[Problem]:
    members = [member for member in packed.infolist() if not member.is_dir()]
    if len(members) > MOST_MEMBERS:
        raise InputError(
            f"{name} has {len(members):,} files: expected at most {MOST_MEMBERS:,}"
        )
    problems: list[Problem] = []
    left = LARGEST_UNPACKED
    for member in members:
        parts = _safe_parts(member)
        shown = shortened_path(member.filename)
        if parts is None:
            problems.append(
                Problem(shown, 0, "left out: it is no plain file below the folder")
            )
            continue
        if parts[0] == "__MACOSX" or parts[-1].startswith("."):
            continue
        target = folder.joinpath(*parts)
        content = b""
        if target.suffix.lower() in SUFFIXES:  # of others the name alone is of use
            most = min(LARGEST_NOTEBOOK, left)
            try:
                content = _content(packed, member, most)
            except InputError as error:
                problems.append(Problem(shown, 0, str(error)))
                continue
            left -= len(content)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as file:
                file.write(content)
        except OSError as error:
            problems.append(Problem(shown, 0, f"left out: {error.strerror}"))
    return problems


def _safe_parts(member: zipfile.ZipInfo) -> tuple[str, ...] | None:
    """The path of a file in an archive, or None if it leads elsewhere or is a link."""
    mode = member.external_attr >> 16
    if mode and not stat.S_ISREG(mode) and stat.S_IFMT(mode):
        return None
    name = member.filename.replace("\\", "/")
    if name.startswith("/") or "\0" in name or re.match(r"[A-Za-z]:", name):
        return None
    parts = PurePosixPath(name).parts
    if not parts or len(parts) > DEEPEST_PATH or ".." in parts:
        return None
    return tuple(_bounded(clean(part)) for part in parts)


def _bounded(part: str) -> str:
    """A name of a length that file systems take, with its suffix."""
    if len(part.encode()) <= LONGEST_NAME:
        return part
    suffix = Path(part).suffix[:12]
    return part.encode()[: LONGEST_NAME - len(suffix)].decode(errors="ignore") + suffix


def shortened_path(name: str) -> str:
    """A path of an archive as it is shown."""
    shown = clean(name).replace("\n", " ")
    return shown if len(shown) <= LONGEST_NAME else f"...{shown[-LONGEST_NAME:]}"


def _content(packed: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> bytes:
    """The bytes of a file, read within a bound, whatever the archive says of its size."""
    if member.flag_bits & 1:
        raise InputError("left out: it is encrypted")
    try:
        with packed.open(member) as file:
            content = file.read(most + 1)
    except (
        zipfile.BadZipFile,
        zlib.error,
        OSError,
        EOFError,
        RuntimeError,
        NotImplementedError,
    ) as error:
        raise InputError(f"left out: it cannot be unpacked ({error})") from None
    if len(content) > most:
        raise InputError(f"left out: it has more than {most:,} bytes")
    return content
