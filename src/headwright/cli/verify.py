"""headwright verify."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from headwright.cli.console import OUT, progress, show_json
from headwright.cli.options import Json
from headwright.errors import InputError

EXIT = {"verified": 0, "rejected": 1, "unreadable": 2}
LARGEST_BYTES = 2**30


def verify(
    certificate: Annotated[Path, typer.Argument(help="The certificate (.json), or - for standard input.")],
    keys: Annotated[
        list[Path] | None, typer.Option(help="The keys (.npy), where the certificate does not hold them.")
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Use the second checker: as rigorous, far quicker.")] = False,
    json: Json = False,
) -> None:
    """Check a certificate: is its statement certainly true? Standard library only, unless --fast."""
    text, files = _text(certificate), [_bytes(path) for path in keys or []]
    with progress("checking") as report:
        if fast:
            from headwright import fast as quick

            verdict = quick.verify(text, files)
        else:
            from headwright.trusted.verify import verify

            verdict = verify(text, files, report)
    if json:
        show_json({"verdict": verdict.word, "words": verdict.words, "checker": "fast" if fast else "trusted"})
    else:
        OUT.print(f"{verdict.word}: {verdict.words}", markup=False, soft_wrap=True)
    raise typer.Exit(EXIT[verdict.word])


def _text(path: Path) -> str:
    try:
        return (sys.stdin.buffer.read(LARGEST_BYTES) if str(path) == "-" else _bytes(path)).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"certificate {path}: is not text in UTF-8") from error


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise InputError(f"{path}: {reason}") from error
