"""headwright check."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from headwright.cli.console import (
    check_picture,
    complain,
    progress,
    save_picture,
    say,
    show_json,
)
from headwright.cli.options import Json, Plot, Seed
from headwright.errors import InputError
from headwright.extras import require

if TYPE_CHECKING:
    from headwright.cli.classes import GradedClass
    from headwright.grading.assignment import Assignment
    from headwright.grading.exercise import Exercise
    from headwright.grading.sheets.classes import ClassSheets
    from headwright.grading.sheets.sheet import AnswerText, Checked, Problem

SHORT = "Check answers to exercises, formula by formula."
EXAMPLES = (
    r"headwright check --exercise averaging-two --formula 'q = 2(k_a + k_b)'",
    "headwright check answers.md --out report.html",
    "headwright check --class submissions/ --out class.html",
)
MOST_SHEETS = 2000  # of a class
MOST_FORMULAS = 200
WANTED = (
    "expected answer sheets, or --formula with --exercise: headwright check ANSWERS.md"
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
        typer.Option(
            metavar="<formula>",
            help="A formula instead of a sheet; give several for one answer.",
        ),
    ] = None,
    exercise: Annotated[
        str | None,
        typer.Option(
            help="Id of the exercise that the whole file answers; it then needs no headings."
        ),
    ] = None,
    exercises: Annotated[
        Path | None, typer.Option(help="A folder with exercises of your own (.toml).")
    ] = None,
    classroom: Annotated[
        bool,
        typer.Option(
            "--class",
            help="Grade a class: folders with a file or folder for each student, or zips of Canvas or Moodle.",
        ),
    ] = False,
    assignment: Annotated[
        Path | None,
        typer.Option(
            help="The file of an assignment: exercises, points, hints, own exercises (.toml)."
        ),
    ] = None,
    decisions: Annotated[
        Path | None,
        typer.Option(
            help="With --class: points that you decided, and what is open (.csv; decisions.csv beside --out).",
            show_default=False,
        ),
    ] = None,
    feedback: Annotated[
        Path | None,
        typer.Option(
            help="With --class: write a page for each student into this folder."
        ),
    ] = None,
    anonymous: Annotated[
        bool,
        typer.Option(
            "--anonymous",
            help="With --class: show codes in place of names, except in grades and feedback.",
        ),
    ] = False,
    csv: Annotated[
        Literal["canvas", "moodle", "gradescope"] | None,
        typer.Option(
            help="With --class: write the grades for this system too, beside --out.",
        ),
    ] = None,
    json: Json = False,
    gradescope: Annotated[
        Path | None, typer.Option(help="Write the results here for Gradescope (.json).")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write a report here (.html); with --class also the points, beside it (.csv)."
        ),
    ] = None,
    hints: Annotated[
        Literal["none", "direction", "full"],
        typer.Option(
            help="What is shown: the verdict (none), also where a formula fails (direction), or everything (full)."
        ),
    ] = "full",
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            help="Also list the formulas that are open or quoted, and every sentence to read.",
        ),
    ] = False,
    plot: Plot = None,
    seed: Seed = 0,
    timeout: Annotated[float, typer.Option(help="Seconds for each answer.")] = 20.0,
    make_autograder: Annotated[
        Path | None,
        typer.Option(
            help="Write an autograder for Gradescope into this folder or .zip; check nothing."
        ),
    ] = None,
    points: Annotated[
        str | None,
        typer.Option(
            help="For --make-autograder: exercises and points, such as copying=2,energy=5."
        ),
    ] = None,
) -> None:
    """Check answers: each formula is proved, refuted or left open; sentences are listed for a person to read."""
    require("check", "check")
    chosen, exercises = _read_assignment(assignment, exercises)
    if make_autograder is not None:
        _make(make_autograder, exercises, points, chosen if assignment else None)
        return
    if points is not None:
        raise InputError("--points goes with --make-autograder")
    from headwright.cli.classes import ClassFiles, grade_class, write_class
    from headwright.grading.assignment import (
        Assignment,
        set_exercises,
        with_known_ids,
    )
    from headwright.grading.exercise import load_exercises
    from headwright.grading.running import run, warm

    check_picture(plot)
    _check_files(gradescope, out)
    files = ClassFiles(out, decisions, feedback, csv, anonymous)
    if not classroom and (decisions or feedback or csv or anonymous):
        raise InputError(
            "--decisions, --feedback, --csv and --anonymous go with --class"
        )
    with warm(exercises) as worker:  # it starts while the answers are read
        known = load_exercises(exercises)
        chosen = with_known_ids(chosen, known)
        asked = {each.id: each for each in set_exercises(chosen, known)}
        others = _without(known, asked)
        sheets = answers or []
        if classroom:
            handed_in = _class_sheets(sheets, exercise, asked, others)
        elif formula:
            handed_in = _formulas(formula, sheets, exercise, asked)
        else:
            handed_in = _sheets(sheets, exercise, asked, others)
        from headwright.grading.report.text import code, hinted

        with progress("checking") as report:
            checked = run(
                handed_in.answers,
                exercises,
                seed=seed or chosen.seed,
                timeout=timeout if assignment is None else chosen.timeout,
                progress=report,
                warmed=worker,
            )
    checked = [hinted(answer, hints) for answer in checked]
    problems = handed_in.problems
    notes = handed_in.notes
    titles = {name: known[name].title for name in known}
    graded = None
    if handed_in.of_class is not None:
        ids = list(asked) if assignment is not None else []
        graded = grade_class(handed_in.of_class, checked, ids, chosen, files)
        checked = graded.checked
        problems = graded.problems
        notes = graded.notes
    _show(checked, problems, notes, seed, json, graded, verbose=verbose)
    _write(checked, problems, notes, titles, gradescope, None if classroom else out)
    if graded is not None and assignment is not None:
        write_class(graded, titles, chosen, chosen.hints, files)
    elif graded is not None:
        write_class(graded, titles, Assignment(title="The class"), hints, files)
    _plot(checked, plot)
    raise typer.Exit(code(checked, problems, notes))


@dataclass
class HandedIn:
    """Answers to check, and what cannot be checked: as problems, or as notes where nothing is wrong."""

    answers: list[AnswerText] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)
    of_class: ClassSheets | None = None  # by student


def _read_assignment(
    path: Path | None, exercises: Path | None
) -> tuple[Assignment, Path | None]:
    """The assignment, or one that says nothing; and the folder with exercises of one's own."""
    from headwright.grading.assignment import Assignment, own_folder, read_assignment

    if path is None:
        return Assignment(), exercises
    assignment = read_assignment(path)
    if assignment.folder is None:
        return assignment, exercises
    if exercises is not None:
        raise InputError("--exercises: the assignment names a folder already")
    return assignment, own_folder(assignment, path)


def _check_files(gradescope: Path | None, out: Path | None) -> None:
    """Before any work: what is to be written can be."""
    if out is not None:
        require("plots", "--out")
        if out.suffix.lower() not in (".html", ".htm"):
            raise InputError(f"--out {out}: expected a name that ends in .html")
    for option, path in (("--gradescope", gradescope), ("--out", out)):
        if path is not None and not path.parent.is_dir():
            raise InputError(f"{option} {path}: there is no folder {path.parent}")


def _without(
    known: Mapping[str, Exercise], asked: Mapping[str, Exercise]
) -> dict[str, Exercise]:
    """The exercises that are known and not asked."""
    return {name: known[name] for name in known if name not in asked}


def _wanted(exercise: str | None, asked: Iterable[str]) -> str | None:
    """The id of the exercise that all answers are to."""
    from headwright.grading.sheets.sheet import find

    if exercise is None:
        return None
    return find(exercise, {name: name for name in asked})


def _class_sheets(
    sheets: Sequence[Path],
    exercise: str | None,
    asked: Mapping[str, Exercise],
    others: Mapping[str, Exercise],
) -> HandedIn:
    """What the students of a class handed in."""
    from headwright.grading.sheets.classes import read_class

    wanted = _wanted(exercise, asked)
    of_class = read_class(sheets, asked, wanted, others)
    return HandedIn(
        list(of_class.answers),
        list(of_class.problems),
        list(of_class.notes),
        of_class,
    )


def _formulas(
    formulas: Sequence[str],
    sheets: Sequence[Path],
    exercise: str | None,
    asked: Mapping[str, Exercise],
) -> HandedIn:
    """Formulas on the command line, which are one answer."""
    from headwright.grading.markdown import of_formulas
    from headwright.grading.sheets.files import clean
    from headwright.grading.sheets.sheet import AnswerText

    wanted = _wanted(exercise, asked)
    if sheets:
        raise InputError(WANTED)
    if wanted is None:
        raise InputError(
            "--formula needs --exercise: which exercise does it answer? (headwright exercises)"
        )
    if len(formulas) > MOST_FORMULAS:
        raise InputError(
            f"{len(formulas)} formulas were given, expected at most {MOST_FORMULAS}"
        )
    text = of_formulas([clean(formula) for formula in formulas])
    return HandedIn([AnswerText("--formula", 1, wanted, text)])


def _sheets(
    sheets: Sequence[Path],
    exercise: str | None,
    asked: Mapping[str, Exercise],
    others: Mapping[str, Exercise],
) -> HandedIn:
    """Answer sheets, and folders of them."""
    from headwright.grading.sheets.files import NOT_READ, OTHERS, clean
    from headwright.grading.sheets.sheet import Problem

    wanted = _wanted(exercise, asked)
    if not sheets:
        raise InputError(WANTED)
    for path in sheets:
        if "=" in str(path) and not path.exists():
            raise InputError(
                f"there is no file {path}; a formula is given with --exercise NAME --formula '{path}'"
            )
    from headwright.grading.sheets.document import read_document

    handed_in = HandedIn()
    for path in _unfolded(sheets, handed_in):
        name = clean(str(path))
        if path.suffix.lower() in OTHERS and path.exists():
            handed_in.problems.append(Problem(name, 0, NOT_READ))
            continue
        try:
            sheet = read_document(path, asked, wanted, others)
        except InputError as error:  # the other sheets are checked all the same
            handed_in.problems.append(Problem(name, 0, str(error)))
            continue
        handed_in.answers += sheet.answers
        handed_in.problems += sheet.problems
        handed_in.notes += sheet.notes
    return handed_in


def _unfolded(sheets: Sequence[Path], handed_in: HandedIn) -> Iterator[Path]:
    """The sheets, with those of a folder in its place; what cannot be read there is added."""
    from headwright.grading.sheets.files import SUFFIXES, clean
    from headwright.grading.sheets.files import sheets as inside
    from headwright.grading.sheets.sheet import Problem

    for path in sheets:
        if not path.is_dir():
            yield path
            continue
        sheets_inside, problems, notes = inside(path, MOST_SHEETS)
        handed_in.problems += problems
        handed_in.notes += notes
        if not sheets_inside and not problems:
            empty = f"no answer sheet in this folder: expected files that end in {', '.join(SUFFIXES)}"
            handed_in.problems.append(Problem(clean(str(path)), 0, empty))
        yield from sheets_inside


def _show(
    checked: Sequence[Checked],
    problems: Sequence[Problem],
    notes: Sequence[Problem],
    seed: int,
    json: bool,
    graded: GradedClass | None,
    *,
    verbose: bool,
) -> None:
    from headwright.cli.verdicts import print_class, print_verdicts
    from headwright.grading.report.text import results

    if json:
        as_json = results(checked, problems, seed, notes)
        if graded is not None:
            as_json["students"] = graded.to_json()
        show_json(as_json)
    elif graded is None:
        print_verdicts(checked, notes, verbose=verbose)
    else:
        print_class(graded.shown, notes)
    if not json:
        for problem in problems:
            complain(f"{problem.place}: {problem.sentence}")


def _write(
    checked: Sequence[Checked],
    problems: Sequence[Problem],
    notes: Sequence[Problem],
    titles: Mapping[str, str],
    gradescope: Path | None,
    out: Path | None,
) -> None:
    if gradescope is None and out is None:
        return
    from headwright.files import write_whole  # it brings NumPy along

    if gradescope is not None:
        from headwright.grading.assignment import Assignment
        from headwright.grading.autograder.gradescope import as_bytes, grade

        # What is not to be shown is gone from the verdicts already.
        everything = Assignment(hints="full")
        graded = grade(
            checked, [*problems, *notes], assignment=everything, titles=titles
        )
        write_whole(gradescope, as_bytes(graded))
        say(f"The results for Gradescope are in {gradescope}.")
    if out is not None:
        from headwright.grading.report.page import report

        write_whole(out, report(checked, problems, titles, notes).encode())
        say(f"The report is in {out}.")


def _plot(checked: Sequence[Checked], plot: Path | None) -> None:
    if plot is None:
        return
    with_curve = [answer for answer in checked if answer.verdict.curve]
    # The first that is refuted, or else the first.
    with_curve.sort(key=lambda answer: answer.verdict.word != "refuted")
    curve = with_curve[0].verdict.curve if with_curve else None
    if curve is None:
        say("There is nothing to draw: no answer has a picture.")
        return
    from headwright.pictures import curve_picture

    drawn = with_curve[0]
    title = f"{drawn.answer.exercise_id}: {drawn.verdict.word}"
    save_picture(plot, curve_picture(curve, title))


def _make(
    folder: Path,
    exercises: Path | None,
    points: str | None,
    assignment: Assignment | None,
) -> None:
    from headwright.grading.autograder import make_autograder

    if points is not None and assignment is not None:
        raise InputError("--points: the assignment says what exercises are worth")
    written = make_autograder(folder, exercises, points, assignment)
    say(f"The autograder is in {folder} ({', '.join(written)}).")
    if folder.suffix == ".zip":
        say("Look through its assignment.toml, then upload it: see its README.md.")
    else:
        inside = folder / "assignment.toml"
        say(
            f"Look through {inside}, then zip what is in the folder and upload it: see its README.md."
        )
