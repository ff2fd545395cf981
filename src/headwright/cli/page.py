"""headwright page."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from headwright.cli.console import say, show_json, show_line
from headwright.cli.options import Json
from headwright.errors import InputError
from headwright.extras import require

SHORT = "Write a static web page that checks answers in the browser."
EXAMPLES = (
    "headwright page --out course",
    "headwright page --out course --assignment week-3.toml",
)


def page(
    out: Annotated[
        Path | None,
        typer.Option(
            help="The folder to write, for any web server.", show_default=False
        ),
    ] = None,
    assignment: Annotated[
        Path | None,
        typer.Option(
            help="A file that chooses exercises, hints and whether solutions appear (.toml)."
        ),
    ] = None,
    downloads: Annotated[
        Path | None,
        typer.Option(
            help="Keep what was fetched in this folder, and use it again.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Write a page that checks answers and verifies certificates in the browser, with nothing to install.

    Pyodide and its wheels are fetched by npm and pip, once; the page itself needs no other server than its own.
    """
    require("check", "page")
    from headwright.page.build import build

    if out is None:
        raise InputError(
            "--out is missing: expected the folder to write, such as --out course"
        )
    built = build(out, assignment, downloads=downloads, tell=say)
    if json:
        show_json({"folder": str(out), **asdict(built)})
        return
    sizes = f"{built.raw / 1e6:.1f} MB, {built.compressed / 1e6:.1f} MB compressed"
    show_line(
        f"{out}: {built.exercises} exercises, {sizes}, without the solver, which is loaded when it is needed"
    )
    say(f"Try it: python -m http.server -d {out} 8000, then open http://localhost:8000")
