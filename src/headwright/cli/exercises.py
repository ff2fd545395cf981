"""headwright exercises."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from headwright.cli.console import OUT, next_step, say, show_json, show_line, show_table
from headwright.cli.options import Json
from headwright.errors import InputError
from headwright.extras import require

if TYPE_CHECKING:
    from headwright.grading.exercise import Exercise

SHORT = "List the exercises, or show one."
EXAMPLES = (
    "headwright exercises",
    "headwright exercises averaging-two",
    "headwright exercises --lint mine.toml",
)


def exercises(
    exercise: Annotated[
        str | None,
        typer.Argument(
            metavar="ID",
            help="Show this one; without it, list all.",
            show_default=False,
        ),
    ] = None,
    exercises: Annotated[
        Path | None, typer.Option(help="A folder with exercises of your own (.toml).")
    ] = None,
    json: Json = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the statements, typeset, into this page (.html)."),
    ] = None,
    lint: Annotated[
        Path | None,
        typer.Option(help="Check the exercise in this file for errors (.toml)."),
    ] = None,
) -> None:
    """List the exercises that answers can be checked against, or show one with the names that an answer must define."""
    if lint is not None or out is not None:
        require("check", "exercises with --lint or --out")
    from headwright.grading.exercise import load_exercises
    from headwright.grading.sheets.sheet import find

    if lint is not None:
        _lint(lint, json)
        return
    if out is not None and not out.parent.is_dir():
        raise InputError(f"--out {out}: there is no folder {out.parent}")
    known = load_exercises(exercises)
    chosen = [find(exercise, known)] if exercise is not None else list(known.values())
    if json:
        show_json({"exercises": [each.as_json() for each in chosen]})
    elif exercise is not None:
        _show(chosen[0])
    else:
        _list(chosen)
    if out is not None:
        from headwright.files import write_whole
        from headwright.grading.report.page import statements

        write_whole(out, statements(chosen).encode())
        say(f"The statements are in {out}.")


def _lint(path: Path, json: bool) -> None:
    from headwright.grading.exercise import read_exercise
    from headwright.grading.linting import lint

    exercise = read_exercise(path)
    complaints = lint(exercise)
    if json:
        show_json({"exercise": exercise.id, "complaints": complaints})
    else:
        show_line("\n".join(complaints) or f"{exercise.id}: nothing to complain of")
    raise typer.Exit(1 if complaints else 0)


def _list(chosen: list[Exercise]) -> None:
    from headwright.grading.verdict import readable

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("exercise", "title", "an answer names"):
        table.add_column(name, overflow="fold")
    for exercise in chosen:
        table.add_row(
            Text(exercise.id, "bold"),
            Text(exercise.title),
            Text(", ".join(map(readable, exercise.names)) or "each step"),
        )
    show_table(table)
    show_line("\nMore about one of them: headwright exercises ID")


def _show(exercise: Exercise) -> None:
    from headwright.grading.report.typeset import readable_text
    from headwright.grading.verdict import readable

    show_line(Text.assemble((exercise.id, "bold"), "  ", exercise.title))
    OUT.print()
    show_line(Text(readable_text(exercise.statement)))
    if exercise.goals:
        OUT.print("\nwhat is checked", style="dim")
        for goal in exercise.goals:
            show_line(Text(f"  {readable(goal)}"))
    OUT.print("\nan answer sheet", style="dim")
    for line in exercise.sheet.split("\n"):
        show_line(Text(f"  {line}"))
    OUT.print("\ncheck it", style="dim")
    show_line(f"  {next_step('check', 'SHEET.md')}")
    if exercise.answer:
        formula_options = [
            part for name in exercise.answer for part in ("--formula", f"{name} = ...")
        ]
        show_line(
            f"  {next_step('check', '--exercise', exercise.id, *formula_options)}"
        )
