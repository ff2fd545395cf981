"""The command line: arguments, printing, exit codes; no mathematics.

Results go to standard output, progress and talk to standard error. Exit 0: yes; 1: no; 2: what was given cannot be
used; 3: undecided; 4: a bug of ours, and nothing else. A command imports what it needs when it runs, so that
`headwright --help` stays quick.
"""

from __future__ import annotations

import os
import shlex
import sys
import traceback
from collections.abc import Callable

import typer
from typer.exceptions import TyperException

from headwright import __version__
from headwright.cli.attend import attend
from headwright.cli.audit import audit
from headwright.cli.check import check
from headwright.cli.console import OUT, complain, hush, say
from headwright.cli.design import design
from headwright.cli.doctor import doctor
from headwright.cli.exercises import exercises
from headwright.cli.lab import lab
from headwright.cli.lowrank import lowrank
from headwright.cli.positions import positions
from headwright.cli.simulate import simulate
from headwright.cli.tour import tour
from headwright.cli.verify import verify
from headwright.errors import HeadwrightError

UNUSABLE, BUG, INTERRUPTED = 2, 4, 130
DEBUG = "HEADWRIGHT_DEBUG"  # set it to anything, and a bug shows where it happened

app = typer.Typer(
    help="Headwright: a workbench for attention.",
    epilog="Every command takes --help. In Python: import headwright.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
# What the list of commands says of each, and examples for its own help.
COMMANDS: dict[Callable[..., None], tuple[str, tuple[str, ...]]] = {
    design: ("From a wish to the shortest query, with a certificate.", (
        "headwright design --keys keys.npy --copy 3 --out copy.json",
        "headwright design --keys keys.npy --average 0,1 --world noise.toml --heads 2",
        "headwright design --rules previous.toml --out heads/")),
    verify: ("Is a certificate true, and about what you think?", (
        "headwright verify copy.json --keys keys.npy --copy 3",
        "headwright verify copy.json --rocq copy.v")),
    check: ("Answers: proved, or refuted with a counterexample.", (
        r"headwright check --exercise averaging-two --formula 'q = \lambda (k_a + k_b)'",
        "headwright check answers.md --html report.html",
        "headwright check --class submissions/ --hints direction")),
    exercises: ("The exercises, and what an answer names.", (
        "headwright exercises", "headwright exercises averaging-two", "headwright exercises --lint mine.toml")),
    attend: ("Scores, pattern and output, by definition.", (
        "headwright attend --keys keys.npy --query q.npy --plot pattern.svg",)),
    audit: ("What every head of a trained model does.", (
        "headwright audit builtin:induction --out report.html",
        "headwright audit FOLDER --text book.txt --max-length 2048",
        "headwright audit builtin:induction --every-text 64")),
    simulate: ("What noise in the keys does to a head.", (
        "headwright simulate --keys keys.npy --world noise.toml --query q.npy --targets 0,1",)),
    positions: ("Which positions coincide after rounding.", (
        "headwright positions --scheme sinusoidal --dim 512 --length 100000 --dtype bfloat16",)),
    lowrank: ("A matrix of small rank, with a certified error.", (
        "headwright lowrank W.npy --rank 8 --plot spectrum.svg",)),
    lab: ("All of it in a browser: see it, drag it, break it.", ("headwright lab",)),
    tour: ("A story of all this, with pictures.", ("headwright tour --out out",)),
    doctor: ("What works on this machine, and what is missing.", ("headwright doctor",)),
}  # fmt: skip
for command, (short, examples) in COMMANDS.items():
    app.command(short_help=short, epilog="\n".join(("\b", "Examples:", *(f"  {each}" for each in examples))))(command)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"headwright {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    del version  # its callback has already answered
    if context.invoked_subcommand is None:
        say(context.get_help())
        raise typer.Exit(UNUSABLE)


def main() -> None:
    """Run the command line; every failure is one sentence on standard error and an exit code."""
    given = shlex.join(["headwright", *sys.argv[1:]])
    try:
        code = _run(given)
        sys.stdout.flush()  # what cannot be written is said here, not by the interpreter as it ends
    except BrokenPipeError:  # the reader of our output has gone, as in `headwright ... | head`: neither yes nor no
        OUT.on_broken_pipe()
    except OSError as error:  # a disk that is full, a process that may not start: no bug, and no answer
        hush()
        complain(f"{error.filename or 'the results'}: cannot be read or written ({error.strerror or error})")
        code = UNUSABLE
    if code == INTERRUPTED:  # the exit code that typer makes of Ctrl-C
        complain("interrupted; nothing was written")
    sys.exit(code)


def _run(given: str) -> int:
    try:
        return int(app(standalone_mode=False) or 0)
    except HeadwrightError as error:
        complain(str(error))
    except TyperException as error:
        message = error.format_message().rstrip(".") if hasattr(error, "format_message") else "this was not understood"
        complain(f"{message} (in: {given})")
    except MemoryError:
        complain(f"there is not enough memory for this: {given}")
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001  (a crash must not look like an answer: 1 would be read as 'no')
        if os.environ.get(DEBUG):
            traceback.print_exc()
        what = " ".join(f"{type(error).__name__}: {error}".split())[:500]
        complain(f"this is a bug in headwright, worth reporting with the command: {what} (in: {given}; "
                 f"{DEBUG}=1 shows where it happened)")  # fmt: skip
        return BUG
    return UNUSABLE
