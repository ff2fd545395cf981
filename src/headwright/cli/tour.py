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

if TYPE_CHECKING:
    from headwright.tour import Chapter

SHORT = "Run a tour of all functions, with pictures, on generated data."
EXAMPLES = ("headwright tour --out out",)


def tour(
    out: Annotated[Path, typer.Option(help="Folder for pictures and files.")] = Path("out"),
    json: Json = False,
) -> None:
    """Run a tour of what Headwright does, on data it generates; pictures and a page are written into a folder."""
    from headwright.files import write_whole
    from headwright.pictures import render
    from headwright.tour import chapters, page

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--out {out}: the folder cannot be made ({error.strerror})") from error
    story: list[Chapter] = []
    telling = chapters(out)
    while True:
        with TALK.status(f"computing chapter {len(story) + 1}"):  # gone before the chapter is printed
            told = next(telling, None)
            if told is None:
                break
            chapter = replace(told, commands=tuple(map(_as_called, told.commands)))
            write_whole(out / f"{chapter.name}.svg", render(chapter.picture, ".svg"))
        story.append(chapter)
        if json:
            continue
        OUT.print(f"\n[bold]{len(story)}. {chapter.title}[/]")
        show_line(Text(chapter.plain))
        again = (f"again:   {command}" for command in chapter.commands)
        for line in (f"picture: {out}/{chapter.name}.svg", *again):
            OUT.print(f"  {line}", markup=False, style="dim", soft_wrap=True)  # whole, to be copied
    write_whole(out / "index.html", page(story).encode())
    if json:
        pages = [
            {"title": one.title, "text": one.plain, "picture": f"{out}/{one.name}.svg", "commands": list(one.commands)}
            for one in story
        ]
        show_json({"page": f"{out}/index.html", "chapters": pages})
    else:
        show_line(f"\nThe whole tour as a page: {out}/index.html")


def _as_called(command: str) -> str:
    """The command as it works in this shell, where neither headwright nor Python need be on the path."""
    program, _, rest = command.partition(" ")
    return f"{next_step() if program == 'headwright' else shlex.quote(sys.executable)} {rest}"
