"""headwright check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    from headwright.grading.sheets.sheet import AnswerText, Checked, Problem

SHORT = "Check answers to exercises, formula by formula."
EXAMPLES = (
    r"headwright check --exercise averaging-two --formula 'q = 2(k_a + k_b)'",
    "headwright check answers.md --out report.html",
    "headwright check --class submissions/ --out class.html",
)
MOST_SHEETS = 2000  # of a class
MOST_FORMULAS = 200


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
    from headwright.grading.assignment import Assignment, own_folder, read_assignment

    chosen = Assignment() if assignment is None else read_assignment(assignment)
    if assignment is not None and chosen.folder is not None:
        if exercises is not None:
            raise InputError("--exercises: the assignment names a folder already")
        exercises = own_folder(chosen, assignment)
    if make_autograder is not None:
        _make(make_autograder, exercises, points, chosen if assignment else None)
        return
    if points is not None:
        raise InputError("--points goes with --make-autograder")
    from headwright.cli.classes import ClassFiles, grade_class, write_class
    from headwright.grading.assignment import set_exercises, with_known_ids
    from headwright.grading.exercise import load_exercises
    from headwright.grading.running import run, warm
    from headwright.grading.sheets.classes import read_class
    from headwright.grading.sheets.sheet import find

    check_picture(plot)
    if out is not None:
        require("plots", "--out")
    if out is not None and out.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--out {out}: expected a name that ends in .html")
    for option, path in (("--gradescope", gradescope), ("--out", out)):
        if path is not None and not path.parent.is_dir():
            raise InputError(f"{option} {path}: there is no folder {path.parent}")
    files = ClassFiles(out, decisions, feedback, csv, anonymous)
    if not classroom and (decisions or feedback or csv or anonymous):
        raise InputError(
            "--decisions, --feedback, --csv and --anonymous go with --class"
        )
    with warm(exercises) as worker:  # it starts while the answers are read
        known = load_exercises(exercises)
        chosen = with_known_ids(chosen, known)
        asked = {one.id: one for one in set_exercises(chosen, known)}
        others = {name: one for name, one in known.items() if name not in asked}
        if classroom:
            names = {name: name for name in asked}
            wanted = None if exercise is None else find(exercise, names)
            handed_in = read_class(answers or [], asked, wanted, others)
            found = list(handed_in.answers)
            problems = list(handed_in.problems)
            notes = list(handed_in.notes)
        else:
            found, problems, notes = _answers(
                answers or [], formula or [], exercise, asked, others
            )
        from headwright.grading.report.text import code, hinted

        with progress("checking") as report:
            checked = run(
                found,
                exercises,
                seed=seed or chosen.seed,
                timeout=timeout if assignment is None else chosen.timeout,
                progress=report,
                warmed=worker,
            )
    checked = [hinted(each, hints) for each in checked]
    titles = {one.id: one.title for one in known.values()}
    graded = None
    if classroom:
        ids = list(asked) if assignment is not None else []
        graded = grade_class(handed_in, checked, ids, chosen, files)
        checked = graded.checked
        problems = graded.problems
        notes = graded.notes
    _show(checked, problems, notes, seed, json, graded, verbose=verbose)
    _write(checked, problems, notes, titles, gradescope, None if classroom else out)
    if graded is not None:
        told = hints if assignment is None else chosen.hints
        page = chosen if assignment is not None else Assignment(title="The class")
        write_class(graded, titles, page, told, files)
    _plot(checked, plot)
    raise typer.Exit(code(checked, problems, notes))


def _answers(
    sheets: Sequence[Path],
    formulas: Sequence[str],
    exercise: str | None,
    known: Mapping[str, Exercise],
    others: Mapping[str, Exercise],
) -> tuple[list[AnswerText], list[Problem], list[Problem]]:
    from headwright.grading.sheets.files import NOT_READ, OTHERS, clean
    from headwright.grading.sheets.sheet import AnswerText, Problem, find

    wanted = None if exercise is None else find(exercise, {one: one for one in known})
    if bool(sheets) == bool(formulas):
        raise InputError(
            "expected answer sheets, or --formula with --exercise: headwright check ANSWERS.md"
        )
    if formulas:
        from headwright.grading.markdown import of_formulas

        if wanted is None:
            raise InputError(
                "--formula needs --exercise: which exercise does it answer? (headwright exercises)"
            )
        if len(formulas) > MOST_FORMULAS:
            raise InputError(
                f"{len(formulas)} formulas were given, expected at most {MOST_FORMULAS}"
            )
        return (
            [
                AnswerText(
                    "--formula",
                    1,
                    wanted,
                    of_formulas([clean(text) for text in formulas]),
                )
            ],
            [],
            [],
        )
    for path in sheets:
        if "=" in str(path) and not path.exists():
            raise InputError(
                f"there is no file {path}; a formula is given with --exercise NAME --formula '{path}'"
            )
    from headwright.grading.sheets.document import read_document

    answers: list[AnswerText] = []
    problems: list[Problem] = []
    notes: list[Problem] = []
    for path in _unfolded(sheets, problems, notes):
        name = clean(str(path))
        if path.suffix.lower() in OTHERS and path.exists():
            problems.append(Problem(name, 0, NOT_READ))
            continue
        try:
            sheet = read_document(path, known, wanted, others)
        except InputError as error:  # the other sheets are checked all the same
            problems.append(Problem(name, 0, str(error)))
            continue
        answers += sheet.answers
        problems += sheet.problems
        notes += sheet.notes
    return answers, problems, notes


def _unfolded(
    sheets: Sequence[Path], problems: list[Problem], notes: list[Problem]
) -> Iterator[Path]:
    """The sheets, with those of a folder in its place."""
    from headwright.grading.sheets.files import SUFFIXES, clean
    from headwright.grading.sheets.files import sheets as inside
    from headwright.grading.sheets.sheet import Problem

    for path in sheets:
        if not path.is_dir():
            yield path
            continue
        found, seen, unread = inside(path, MOST_SHEETS)
        problems += seen
        notes += unread
        if not found and not seen:
            wanted = f"no answer sheet in this folder: expected files that end in {', '.join(SUFFIXES)}"
            problems.append(Problem(clean(str(path)), 0, wanted))
        yield from found


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
        found = results(checked, problems, seed, notes)
        if graded is not None:
            found["students"] = graded.to_json()
        show_json(found)
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

        as_told = Assignment(
            hints="full"
        )  # what is not to be shown is gone from the verdicts
        write_whole(
            gradescope,
            as_bytes(
                grade(checked, [*problems, *notes], assignment=as_told, titles=titles)
            ),
        )
        say(f"The results for Gradescope are in {gradescope}.")
    if out is not None:
        from headwright.grading.report.page import report

        write_whole(out, report(checked, problems, titles, notes).encode())
        say(f"The report is in {out}.")


def _plot(checked: Sequence[Checked], plot: Path | None) -> None:
    if plot is None:
        return
    drawn = sorted(
        (each for each in checked if each.verdict.curve),
        key=lambda each: each.verdict.word != "refuted",
    )
    if not drawn or drawn[0].verdict.curve is None:
        say("There is nothing to draw: no answer has a picture.")
        return
    from headwright.pictures import curve_picture

    title = f"{drawn[0].answer.exercise_id}: {drawn[0].verdict.word}"
    save_picture(plot, curve_picture(drawn[0].verdict.curve, title))


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
