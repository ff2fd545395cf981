"""headwright check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from headwright.cli.console import check_picture, complain, progress, save_picture, say, show_json
from headwright.cli.options import Json, Plot, Seed
from headwright.errors import InputError

if TYPE_CHECKING:
    from headwright.check.exercise import Exercise
    from headwright.check.running.run import Checked
    from headwright.check.sheets.text import Complaint, Handed, Note
    from headwright.check.telling.report import Classroom

NO, UNREADABLE, OPEN = 1, 2, 3
SHORT = "Answers: proved, or refuted with a counterexample."
EXAMPLES = (
    r"headwright check --exercise averaging-two --formula 'q = 2(k_a + k_b)'",
    "headwright check answers.md --html report.html",
    "headwright check --class submissions/ --hints direction",
)
MOST_SHEETS = 2000  # of a class
NO_TEXT = (
    ".pdf",
    ".docx",
    ".doc",
    ".odt",
    ".rtf",
    ".pages",
    ".ipynb",
    ".html",
    ".zip",
    ".png",
    ".jpg",
    ".jpeg",
    ".heic",
)


def check(
    answers: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="ANSWERS",
            help="Answer sheets or whole documents (.md, .tex, .txt), folders of them, or - for standard input.",
            show_default=False,
        ),
    ] = None,
    formula: Annotated[
        list[str] | None,
        typer.Option(metavar="<formula>", help="A formula instead of a sheet; give several for one answer."),
    ] = None,
    exercise: Annotated[str | None, typer.Option(help="The exercise that is answered: no headings are needed.")] = None,
    exercises: Annotated[Path | None, typer.Option(help="A folder with exercises of your own (.toml).")] = None,
    classroom: Annotated[
        bool, typer.Option("--class", help="Folders of a class, a file or a folder for each student: all at a glance.")
    ] = False,
    json: Json = False,
    gradescope: Annotated[Path | None, typer.Option(help="Write the results here for Gradescope (.json).")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a report here (.html).")] = None,
    hints: Annotated[
        Literal["none", "direction", "full"],
        typer.Option(help="How much is told: right or not; which statement fails, and where; everything."),
    ] = "full",
    how: Annotated[bool, typer.Option("--how", help="Show how each answer was read, statement by statement.")] = False,
    plot: Plot = None,
    seed: Seed = 0,
    timeout: Annotated[float, typer.Option(help="Seconds for each answer.")] = 20.0,
    make_autograder: Annotated[
        Path | None, typer.Option(help="Write an autograder for Gradescope into this folder or .zip; check nothing.")
    ] = None,
    points: Annotated[
        str | None, typer.Option(help="For --make-autograder: exercises and points, such as copying=2,energy=5.")
    ] = None,
) -> None:
    """Check answers: proved, or refuted with the smallest counterexample found."""
    if make_autograder is not None:
        _make(make_autograder, exercises, points)
        return
    if points is not None:
        raise InputError("--points goes with --make-autograder")
    from headwright.check.running.run import run, warm

    check_picture(plot)
    for option, path in (("--gradescope", gradescope), ("--html", html)):
        if path is not None and not path.parent.is_dir():
            raise InputError(f"{option} {path}: there is no folder {path.parent}")
    from headwright.check.catalogue import load_exercises

    with warm(exercises) as worker:  # it starts while the answers are read
        known = load_exercises(exercises)
        files: list[str] = []
        if classroom:
            found, complaints, notes, files = _class(answers or [], exercise, known)
        else:
            found, complaints, notes = _answers(answers or [], formula or [], exercise, known)
        with progress("checking") as report:
            checked = run(found, exercises, seed=seed, timeout=timeout, progress=report, warmed=worker)
    from headwright.check.telling.told import hinted

    checked = [hinted(each, hints) for each in checked]
    if classroom:
        from headwright.check.telling.report import classroom as seen

        _show_class(seen(checked, files), complaints, known, json, html)
    else:
        _show(checked, complaints, notes, seed, json, how)
    _write(checked, complaints, known, gradescope, None if classroom else html, plot)
    raise typer.Exit(_code(checked, complaints, notes))


def _answers(
    sheets: Sequence[Path], formulas: Sequence[str], exercise: str | None, known: Mapping[str, Exercise]
) -> tuple[list[Handed], list[Complaint], list[Note]]:
    from headwright.check.reading.written import MOST_FORMULAS, Formula
    from headwright.check.sheets.text import Complaint, Handed, clean, find

    wanted = None if exercise is None else find(exercise, {one: one for one in known})
    if bool(sheets) == bool(formulas):
        raise InputError("expected answer sheets, or --formula with --exercise: headwright check ANSWERS.md")
    if formulas:
        if wanted is None:
            raise InputError("--formula needs --exercise: which exercise does it answer? (headwright exercises)")
        if len(formulas) > MOST_FORMULAS:
            raise InputError(f"{len(formulas)} formulas were given, expected at most {MOST_FORMULAS}")
        given = tuple(Formula(clean(text), number + 1) for number, text in enumerate(formulas))
        return [Handed("--formula", 1, wanted, given)], [], []
    for path in sheets:
        if "=" in str(path) and not path.exists():
            raise InputError(f"there is no file {path}; a formula is given with --exercise NAME --formula '{path}'")
    from headwright.check.sheets.document import read_document

    answers: list[Handed] = []
    complaints: list[Complaint] = []
    notes: list[Note] = []
    for path in _unfolded(sheets, complaints):
        if path.suffix.lower() in NO_TEXT and path.exists():
            complaints.append(Complaint(clean(str(path)), 0, _not_text(path)))
            continue
        try:
            sheet = read_document(path, known, wanted)
        except InputError as error:  # the other sheets are checked all the same
            name = clean(str(path))
            complaints.append(Complaint(name, 0, str(error).removeprefix(f"{name}: ")))
            continue
        answers += sheet.answers
        complaints += sheet.complaints
        notes += sheet.notes
    return answers, complaints, notes


def _unfolded(sheets: Sequence[Path], complaints: list[Complaint]) -> Iterator[Path]:
    """The sheets, with those of a folder in its place."""
    from headwright.check.sheets.text import SUFFIXES, Complaint, clean
    from headwright.check.sheets.text import sheets as inside

    for path in sheets:
        if not path.is_dir():
            yield path
            continue
        found, seen = inside(path, MOST_SHEETS)
        complaints += seen
        if not found and not seen:
            wanted = f"no answer sheet in this folder: expected files that end in {', '.join(SUFFIXES)}"
            complaints.append(Complaint(clean(str(path)), 0, wanted))
        yield from found


def _not_text(path: Path) -> str:
    from headwright.check.sheets.text import SUFFIXES

    kinds = f"text, Markdown or LaTeX ({' '.join(SUFFIXES)})"
    return f"a file that ends in {path.suffix.lower()} is not read: expected {kinds}"


def _class(
    folders: Sequence[Path], exercise: str | None, known: Mapping[str, Exercise]
) -> tuple[list[Handed], list[Complaint], list[Note], list[str]]:
    """The answers of all students, and their files, as these are named below the folder of the class."""
    from dataclasses import replace

    from headwright.check.sheets.text import Complaint, sheets, student_of

    if not folders or not all(folder.is_dir() for folder in folders):
        raise InputError("--class expects folders, with a file or a folder for each student")
    answers: list[Handed] = []
    complaints: list[Complaint] = []
    notes: list[Note] = []
    files: list[str] = []
    for folder in folders:
        paths, seen = sheets(folder, MOST_SHEETS)
        complaints += seen
        found, others, more = _answers(paths, [], exercise, known) if paths else ([], [], [])
        answers += [replace(answer, file=_below(answer.file, folder)) for answer in found]
        complaints += [replace(each, file=_below(each.file, folder)) for each in others]
        notes += [replace(each, file=_below(each.file, folder)) for each in more]
        files += [str(path.relative_to(folder)) for path in paths]
        unread = _unread(folder, {student_of(file) for file in files})
        complaints += unread
        files += [each.file for each in unread]
    heard = {student_of(answer.file) for answer in answers} | {student_of(each.file) for each in complaints}
    silent = [note for note in notes if student_of(note.file) not in heard]  # else nobody would know why
    return answers, complaints + [Complaint(note.file, note.line, note.sentence) for note in silent], notes, files


def _unread(folder: Path, students: set[str]) -> list[Complaint]:
    """What other students handed in, of whom no sheet was found: they are missed by nobody but themselves."""
    from headwright.check.sheets.text import SUFFIXES, Complaint, clean, in_order, student_of

    found = []
    for path in sorted(folder.iterdir(), key=in_order)[:MOST_SHEETS]:
        name = clean(path.name)
        if path.name.startswith(".") or path.name == "__MACOSX" or path.is_symlink():
            continue
        if path.is_dir() and name not in students:
            found.append(
                Complaint(f"{name}/", 0, f"no answer sheet in it: expected files that end in {' '.join(SUFFIXES)}")
            )
        elif path.suffix.lower() in NO_TEXT and student_of(name) not in students:
            found.append(Complaint(name, 0, _not_text(path)))
    return found


def _below(file: str, folder: Path) -> str:
    from headwright.check.sheets.text import clean

    return file.removeprefix(f"{clean(str(folder))}/")


def _show_class(
    room: Classroom,
    complaints: Sequence[Complaint],
    known: Mapping[str, Exercise],
    json: bool,
    html: Path | None,
) -> None:
    from headwright.check.telling.report import classroom_page
    from headwright.cli.verdicts import print_class

    if json:
        problems = [{"file": c.file, "line": c.line, "sentence": c.sentence} for c in complaints]
        show_json({**room.as_json(), "complaints": problems})
    else:
        print_class(room)
        for complaint in complaints:
            complain(f"{complaint.place}: {complaint.sentence}")
    if html is not None:
        from headwright.files import write_whole

        titles = {exercise.id: exercise.title for exercise in known.values()}
        write_whole(html, classroom_page(room, complaints, titles).encode())
        say(f"The class is in {html}.")


def _show(
    checked: Sequence[Checked],
    complaints: Sequence[Complaint],
    notes: Sequence[Note],
    seed: int,
    json: bool,
    how: bool,
) -> None:
    from headwright.check.telling.told import results
    from headwright.cli.verdicts import print_verdicts

    if json:
        show_json(results(checked, complaints, seed, notes))
    else:
        print_verdicts(checked, notes, how=how)
        for complaint in complaints:
            complain(f"{complaint.place}: {complaint.sentence}")


def _write(
    checked: Sequence[Checked],
    complaints: Sequence[Complaint],
    known: Mapping[str, Exercise],
    gradescope: Path | None,
    html: Path | None,
    plot: Path | None,
) -> None:
    titles: dict[str, str] = {}
    if gradescope is not None or html is not None:
        from headwright.files import write_whole  # it brings NumPy along

        titles = {exercise.id: exercise.title for exercise in known.values()}
    if gradescope is not None:
        from headwright.check.autograder.assignment import Assignment
        from headwright.check.autograder.gradescope import as_bytes, grade

        as_told = Assignment(hints="full", after_deadline="full")  # what is not to be told is gone from the verdicts
        write_whole(gradescope, as_bytes(grade(checked, complaints, assignment=as_told, titles=titles)))
        say(f"The results for Gradescope are in {gradescope}.")
    if html is not None:
        from headwright.check.telling.report import report

        write_whole(html, report(checked, complaints, titles).encode())
        say(f"The report is in {html}.")
    if plot is not None:
        drawn = sorted(
            (each for each in checked if each.verdict.curve), key=lambda each: each.verdict.word != "refuted"
        )
        if not drawn:
            say("There is nothing to draw: no answer has a picture.")
        for each in drawn[:1]:
            from headwright.pictures import curve_picture

            if each.verdict.curve is not None:
                save_picture(plot, curve_picture(each.verdict.curve, f"{each.answer.exercise_id}: {each.verdict.word}"))


def _code(checked: Sequence[Checked], complaints: Sequence[Complaint], notes: Sequence[Note]) -> int:
    words = {each.verdict.word for each in checked}
    if complaints or "unreadable" in words or not checked:  # a document that only asks has nothing to judge
        return UNREADABLE
    if words & {"refuted", "no answer"}:
        return NO
    return OPEN if words & {"undecided", "holds"} or any(note.unjudged for note in notes) else 0


def _make(folder: Path, exercises: Path | None, points: str | None) -> None:
    from headwright.check.autograder import make_autograder

    written = make_autograder(folder, exercises, points)
    say(f"The autograder is in {folder} ({', '.join(written)}).")
    if folder.suffix == ".zip":
        say("Look through its assignment.toml, then upload it: see its README.md.")
    else:
        inside = folder / "assignment.toml"
        say(f"Look through {inside}, then zip what is in the folder and upload it: see its README.md.")
