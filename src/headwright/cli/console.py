"""How results are shown: tables and JSON on standard output, progress and complaints on standard error."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rich.console import Console, ConsoleDimensions
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from headwright.cli.interruption import check_interruption
from headwright.errors import InputError
from headwright.extras import require
from headwright.notebook import brief

if TYPE_CHECKING:
    from headwright.pictures import Chart

UNBROKEN = 10**6  # columns
# As a process that SIGPIPE ends; rich and typer would say 1, which means 'no'.
UNHEARD = 141


class _Plain(Console):
    """Shows no characters that a terminal obeys: what is told may come out of a file that somebody else wrote.

    Lines are broken for a terminal only, or where COLUMNS asks for it: a program that reads them gets them whole.
    """

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        # It is asked for each time: rich would keep what COLUMNS was at first.
        self._width = None

    @property  # type: ignore[misc]  # nobody sets it
    def size(self) -> ConsoleDimensions:
        if self.is_terminal or "COLUMNS" in os.environ:
            return super().size
        return ConsoleDimensions(UNBROKEN, 25)

    def render_str(self, text: str, **how: Any) -> Text:
        return super().render_str(_shown(text), **how)


class _Results(_Plain):
    """Standard output; where its reader has gone, as in `headwright ... | head`, the answer is neither yes nor no."""

    def on_broken_pipe(self) -> NoReturn:
        self.quiet = True
        hush()
        raise SystemExit(UNHEARD)


OUT = _Results(highlight=False)
TALK = _Plain(stderr=True, highlight=False)
PICTURES = (".svg", ".png", ".pdf", ".html")
DIGITS = 4  # of a number for people
_hints: list[str] = []  # what is said after an interruption


@contextmanager
def resumable() -> Iterator[None]:
    """Work whose finished parts are kept: after an interruption, a hint names --resume."""
    try:
        yield
    except KeyboardInterrupt:
        _hints.append(
            "finished parts are kept, and the same command with --resume goes on from there"
        )
        raise


def interrupted() -> str:
    """What is said after Ctrl-C."""
    return f"interrupted; {_hints.pop() if _hints else 'nothing was written'}"


def complain(sentence: str) -> None:
    """Say what went wrong."""
    TALK.print(Text.assemble(("error:", "bold red"), f" {_shown(brief(sentence))}"))


def say(sentence: str, command: str = "") -> None:
    """Talk that is not a result; a command that follows it is never broken, so that it can be copied."""
    sentence = brief(sentence)
    whole = f"{sentence} {command}".rstrip()
    if command and len(whole) > TALK.width:
        say(sentence)
        TALK.print(Text(_shown(f"  {command}")), soft_wrap=True)
    else:
        TALK.print(Text(_shown(whole)))


def show_line(line: str | Text) -> None:
    """A result in words, of bounded length; a terminal gets it broken between words, everybody else whole."""
    OUT.print(line if isinstance(line, Text) else Text(_shown(brief(line))))


def next_step(*arguments: object) -> str:
    """A command of ours as it works in this shell: by the name that this one was called by, with paths quoted.

    >>> next_step("verify", "my certificate.json")
    "... verify 'my certificate.json'"
    """
    return shlex.join([*_called(), *map(str, arguments)])


def _called() -> list[str]:
    called = Path(sys.argv[0])
    if called.name in ("__main__.py", "-c", ""):
        is_python = sys.executable == shutil.which("python")
        return ["python" if is_python else sys.executable, "-m", "headwright"]
    on_path = shutil.which(called.name)
    is_same = on_path is not None and Path(on_path).resolve() == called.resolve()
    if is_same or called.name == str(called):
        return [called.name]
    return [str(called)]


def show_table(table: Table) -> None:
    """A table without the spaces that fill its last column."""
    for line in OUT.render_lines(table, pad=False):
        text = Text.assemble(*((piece.text, piece.style or "") for piece in line))
        text.rstrip()
        OUT.print(text, soft_wrap=True)


def show_json(result: dict[str, Any]) -> None:
    """A result for scripts; never NaN or Infinity, which JSON does not have."""
    text = json.dumps(result, indent=2, allow_nan=False) + "\n"
    try:
        OUT.file.write(text)
    except BrokenPipeError:
        OUT.on_broken_pipe()


def hush() -> None:
    """Nothing more goes to standard output: the interpreter would try again as it ends, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def progress(what: str) -> Iterator[Callable[[float], None]]:
    """A bar on standard error, gone when the work is done; it takes the fraction done, and never goes back."""
    check_interruption()  # before work that may take minutes
    with Progress(console=TALK, transient=True, disable=not TALK.is_terminal) as bar:
        task = bar.add_task(what, total=1.0)
        yield lambda fraction: bar.update(
            task, completed=max(fraction, bar.tasks[0].completed)
        )


def check_writable(path: Path | None, option: str) -> None:
    """Refuse a file that cannot be written before the work is done rather than after it."""
    if path is None:
        return
    if path.is_dir():
        raise InputError(f"{option} {path}: is a folder, expected a file")
    if not path.parent.is_dir():
        raise InputError(f"{option} {path}: there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK):
        raise InputError(f"{option} {path}: cannot be written into {path.parent}")


def check_picture(path: Path | None) -> None:
    """Refuse a picture's name before the work is done rather than after it."""
    if path is None:
        return
    if path.suffix not in PICTURES:
        raise InputError(
            f"--plot {path}: has the suffix '{path.suffix}', expected one of {', '.join(PICTURES)}"
        )
    check_writable(path, "--plot")
    require("plots", "--plot")


def save_picture(path: Path, chart: Chart) -> None:
    """Write the picture and say where it is."""
    from headwright.files import write_whole
    from headwright.pictures import render

    write_whole(path, render(chart, path.suffix))
    say(f"The picture is in {path}.")


def write_certificate(certificate: str | None, path: Path | None) -> str | None:
    """Write the certificate where one was found and is wanted; where it is."""
    if certificate is None or path is None:
        return None
    from headwright.files import write_whole

    write_whole(path, certificate.encode())
    return str(path)


def _visible(letter: str) -> str:
    """Control characters, marks that turn the direction of writing and halves of characters as escapes."""
    if letter in "\n\t" or unicodedata.category(letter) not in ("Cc", "Cf", "Cs"):
        return letter
    return letter.encode("unicode_escape").decode()


def _shown(text: str) -> str:
    return "".join(map(_visible, text))
