"""headwright tour."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from headwright.cli.console import OUT, TALK, next_step, show_json, show_line
from headwright.cli.options import Json
from headwright.errors import InputError
from headwright.extras import require

if TYPE_CHECKING:
    from headwright.tour import Chapter

SHORT = "Run a tour of all functions, with pictures, on generated data."
EXAMPLES = ("headwright tour --out out",)


def tour(
    out: Annotated[Path, typer.Option(help="Folder for pictures and files.")] = Path(
        "out"
    ),
    json: Json = False,
) -> None:
    """Run a tour of what Headwright does, on data it generates; pictures and a page are written into a folder."""
    require("tour", "the tour")
    from headwright.files import write_whole
    from headwright.pictures import render
    from headwright.tour import chapters, page

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"--out {out}: the folder cannot be made ({error.strerror})"
        ) from error
    story: list[Chapter] = []
    generated = chapters(out)
    while True:
        # The status line is gone before the chapter is printed.
        with TALK.status(f"computing chapter {len(story) + 1}"):
            chapter = next(generated, None)
            if chapter is None:
                break
            commands = tuple(map(_as_called, chapter.commands))
            chapter = replace(chapter, commands=commands)
            write_whole(out / f"{chapter.name}.svg", render(chapter.picture, ".svg"))
        story.append(chapter)
        if json:
            continue
        OUT.print(f"\n[bold]{len(story)}. {chapter.title}[/]")
        show_line(Text(chapter.plain))
        again = (f"again:   {command}" for command in chapter.commands)
        for line in (f"picture: {out}/{chapter.name}.svg", *again):
            # Never broken, so that it can be copied.
            OUT.print(f"  {line}", markup=False, style="dim", soft_wrap=True)
    write_whole(out / "index.html", page(story).encode())
    if json:
        pages = [
            {
                "title": chapter.title,
                "text": chapter.plain,
                "picture": f"{out}/{chapter.name}.svg",
                "commands": list(chapter.commands),
            }
            for chapter in story
        ]
        show_json({"page": f"{out}/index.html", "chapters": pages})
    else:
        show_line(f"\nThe whole tour as a page: {out}/index.html")


def _as_called(command: str) -> str:
    """The command as it works in this shell, where neither headwright nor Python need be on the path."""
    program, _, rest = command.partition(" ")
    return f"{next_step() if program == 'headwright' else shlex.quote(sys.executable)} {rest}"
