"""The command line: arguments, printing, exit codes; no mathematics.

Results go to standard output, progress and messages to standard error. A command imports what it needs when it runs,
so that `headwright --help` stays quick.
"""

from __future__ import annotations

import os
import shlex
import sys
import traceback
from importlib import import_module

import typer
from typer.exceptions import TyperException

from headwright import __version__
from headwright.cli.console import OUT, complain, hush, interrupted, say
from headwright.cli.interruption import remember_interruptions, was_interrupted
from headwright.errors import ContradictionError, HeadwrightError

EXIT_CODES = {
    0: "yes: designed, verified, proved, within; or the command did what was asked",
    1: "no: impossible, rejected, refuted, outside, missing",
    2: "unusable input",
    3: "undecided, not confirmed",
    4: "internal error",
}
UNUSABLE = 2
BUG = 4
INTERRUPTED = 130
# If it is set, an internal error is shown with its traceback.
DEBUG = "HEADWRIGHT_DEBUG"

app = typer.Typer(
    help="Exact statements about attention heads: design heads with proofs, check homework answers, audit models.",
    epilog="\n".join(
        (
            "\b",
            "Exit codes:",
            *(f"  {code}  {meaning}" for code, meaning in EXIT_CODES.items()),
            "",
            "\b",
            "Every command takes --help, which has examples, and --json.",
            "In Python: import headwright.",
        )
    ),
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS = (  # in the order of the help page; each has a module of its name, with its function, SHORT and EXAMPLES
    "design",
    "heads",
    "verify",
    "check",
    "exercises",
    "audit",
    "every_text",
    "conform",
    "ranges",
    "attend",
    "simulate",
    "positions",
    "lowrank",
    "lab",
    "page",
    "tour",
    "doctor",
)
for name in COMMANDS:
    command = import_module(f"headwright.cli.{name}")
    lines = (f"  {example}" for example in command.EXAMPLES)
    examples = "\n".join(("\b", "Examples:", *lines))
    app.command(short_help=command.SHORT, epilog=examples)(getattr(command, name))


def _version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"headwright {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version."
    ),
) -> None:
    del version  # its callback has already answered
    if context.invoked_subcommand is None:
        say(context.get_help())
        raise typer.Exit(UNUSABLE)


def main() -> None:
    """Run the command line; every failure is one sentence on standard error and an exit code."""
    command_line = shlex.join(["headwright", *sys.argv[1:]])
    remember_interruptions()
    try:
        code = _run(command_line)
        sys.stdout.flush()  # what cannot be written is said here, not by the interpreter as it ends
    except BrokenPipeError:  # the reader of our output has gone, as in `headwright ... | head`: neither yes nor no
        OUT.on_broken_pipe()
    except SystemExit as stop:
        # typer makes 1 of a broken pipe, as of `headwright --help | true`
        if isinstance(stop.__context__, BrokenPipeError):
            OUT.on_broken_pipe()
        raise
    except OSError as error:
        # A disk that is full, a process that may not start: neither an internal error nor an answer.
        hush()
        place = error.filename or "the results"
        complain(f"{place}: cannot be read or written ({error.strerror or error})")
        code = UNUSABLE
    if code == INTERRUPTED:  # the exit code that typer makes of Ctrl-C
        complain(interrupted())
    sys.exit(code)


def _run(command_line: str) -> int:
    try:
        return int(app(prog_name="headwright", standalone_mode=False) or 0)
    except OSError:
        raise
    except KeyboardInterrupt:  # before typer looks after it, as while it reads options
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001  (a crash must not look like an answer: 1 would be read as 'no')
        if was_interrupted():  # whatever became of it on its way here
            return INTERRUPTED
        return _report(error, command_line)


def _report(error: Exception, command_line: str) -> int:
    """Say in one sentence what went wrong; the exit code."""
    match error:
        case ContradictionError():
            complain(
                f"internal error, please report it with the command; nothing is claimed: {error} (in: {command_line})"
            )
            return BUG
        case HeadwrightError():
            complain(str(error))
            return UNUSABLE
        case TyperException():
            message = "this was not understood"
            if hasattr(error, "format_message"):
                message = error.format_message().rstrip(".")
            complain(f"{message} (in: {command_line})")
            return UNUSABLE
        case MemoryError():
            complain(f"there is not enough memory for this: {command_line}")
            return UNUSABLE
    if os.environ.get(DEBUG):
        traceback.print_exception(error)
    what = " ".join(f"{type(error).__name__}: {error}".split())[:500]
    complain(
        f"internal error, please report it with the command: {what} (in: {command_line}; {DEBUG}=1 shows where)"
    )
    return BUG
