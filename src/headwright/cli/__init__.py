"""The command line: arguments, printing, exit codes; no mathematics.

Results go to standard output, progress and talk to standard error. Exit 0: yes; 1: no; 2: what was given cannot be
used; 3: undecided. A command imports what it needs when it runs, so that `headwright --help` stays quick.
"""

from __future__ import annotations

import shlex
import sys

import typer
from typer.exceptions import TyperException

from headwright import __version__
from headwright.cli.attend import attend
from headwright.cli.check import check
from headwright.cli.console import complain
from headwright.cli.design import design
from headwright.cli.exercises import exercises
from headwright.cli.lowrank import lowrank
from headwright.cli.positions import positions
from headwright.cli.simulate import simulate
from headwright.cli.tour import tour
from headwright.cli.verify import verify
from headwright.errors import HeadwrightError

UNUSABLE, INTERRUPTED = 2, 130

app = typer.Typer(
    help="Headwright: a workbench for attention.",
    epilog="Every command takes --help. In Python: import headwright.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for command in (design, verify, check, exercises, attend, simulate, positions, lowrank, tour):
    app.command()(command)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"headwright {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    del version  # its callback has already answered


def main() -> None:
    """Run the command line; every failure is one sentence on standard error and an exit code."""
    given = shlex.join(["headwright", *sys.argv[1:]])
    try:
        code = app(standalone_mode=False)
    except HeadwrightError as error:
        complain(str(error))
        code = UNUSABLE
    except TyperException as error:
        complain(f"{error.format_message().rstrip('.')} (in: {given})" if hasattr(error, "format_message") else given)
        code = UNUSABLE
    except MemoryError:
        complain(f"there is not enough memory for this: {given}")
        code = UNUSABLE
    except BrokenPipeError:  # the reader of our output has gone, as in `headwright ... | head`
        sys.stderr.close()
        code = 0
    if code == INTERRUPTED:  # the exit code that typer makes of Ctrl-C
        complain("interrupted; nothing was written")
    sys.exit(code)
