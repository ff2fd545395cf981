"""The options that several commands share, and how they are read."""

from __future__ import annotations

import math
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headwright.errors import InputError

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy as np
    from jaxtyping import Float

    from headwright.queries import Wish
    from headwright.trusted.certificate import Certificate

LARGEST_BYTES = 2**33  # of what standard input is read
ARRAY = "(.npy .npz .csv .json .safetensors, FILE.safetensors:TENSOR, or - for standard input)"


class Engine(StrEnum):
    """Who can do the work."""

    local = "local"
    dask = "dask"


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise InputError(f"--scale {number}: expected a finite number")
    return number


Keys = Annotated[Path, typer.Option(help=f"The keys, one a row {ARRAY}.")]
Queries = Annotated[list[Path], typer.Option(metavar="<path>", help="A query; give the option once for each head.")]
Scale = Annotated[float, typer.Option(callback=_finite, help="Factor of the scores; a layer uses 1/sqrt(d).")]
ExactScale = Annotated[str | None, typer.Option(help="Factor of the scores; exact, such as 1/8.", show_default="1")]
Copy = Annotated[int | None, typer.Option(help="The wish: attend to this key.")]
Average = Annotated[str | None, typer.Option(help="The wish: attend evenly to these keys, such as 0,1.")]
AtLeast = Annotated[str | None, typer.Option(help="The wish: least weights, such as 0=0.6,1=0.3.")]
Eps = Annotated[
    str | None,
    typer.Option(help="How much is left to others: 1/(targets + eps) for each target.", show_default="0.01"),
]
EngineName = Annotated[Engine, typer.Option(help="In this process, or on Dask's workers.")]
Scheduler = Annotated[str | None, typer.Option(metavar="ADDRESS", help="Of a Dask scheduler, for a cluster.")]
Seed = Annotated[int, typer.Option(min=0, help="Where chance starts from.")]
Checker = Annotated[
    str | None,
    typer.Option(
        metavar="both|exact|float|proved",
        help="Who must accept a certificate: both checkers, one of them, or the program that `make proof` builds.",
        show_default="both; above 1e6 key entries exact",
    ),
]
Fast = Annotated[bool, typer.Option("--fast", hidden=True)]  # the older spelling of --checker float
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Plot = Annotated[Path | None, typer.Option(help="Draw the result into this file (.svg, .png or .html).")]


def check_checker(checker: str | None, *, fast: bool) -> None:
    """Refuse a checker that there is not, and the older spelling of one."""
    from headwright.verification import which

    if fast:
        raise InputError("--fast is now --checker float; without it both checkers run")
    which(checker, 0)


def check_engine(engine: Engine, scheduler: str | None) -> None:
    """Refuse a scheduler that would not be asked."""
    if scheduler is not None and engine is not Engine.dask:
        raise InputError(f"--scheduler {scheduler}: expected --engine dask with it")


def read_keys(path: Path) -> Float[np.ndarray, "n d"]:
    """The keys, one a row."""
    from headwright.files import read_array

    return read_array(path, what="keys", axes=2)


def read_queries(paths: list[Path]) -> Float[np.ndarray, "heads d"]:
    """The queries, one a row, from files of one query each."""
    import numpy as np

    from headwright.files import read_array

    given = [read_array(path, what="query") for path in paths]
    # A row or a column of numbers is a query.
    queries = [query.ravel() if query.ndim == 2 and 1 in query.shape else query for query in given]
    for path, query in zip(paths, queries, strict=True):
        if query.ndim != 1:
            raise InputError(f"query {path}: has shape {query.shape}, expected 1 axis")
    if len({query.shape for query in queries}) > 1:
        lengths = ", ".join(str(len(query)) for query in queries)
        raise InputError(f"the queries have {lengths} numbers: expected as many in each")
    return np.stack(queries)


def read_wish(copy: int | None, average: str | None, at_least: str | None, eps: str | None) -> Wish | None:
    """The wish that these options make; None where there is none."""
    from headwright.queries import wish

    if (copy is not None) + (average is not None) + (at_least is not None) > 1:
        raise InputError("expected one wish: --copy, --average or --at-least")
    if eps is not None and copy is None and average is None:
        raise InputError(f"--eps {eps}: expected it with --copy or --average")
    slack = "0.01" if eps is None else eps
    if copy is not None:
        return wish.copy(copy, slack)
    if average is not None:
        return wish.average(read_indices(average, "--average"), slack)
    if at_least is None:
        return None
    bounds: dict[int, str] = {}
    for part in at_least.split(","):
        key, equals, least = part.partition("=")
        if not equals or not (key.strip().isascii() and key.strip().isdigit()):
            raise InputError(f"--at-least {at_least!r}: expected weights such as 0=0.6,1=0.3")
        if int(key) in bounds:
            raise InputError(f"--at-least {at_least!r}: expected each key once")
        bounds[int(key)] = least
    return wish.at_least(bounds)


def read_number(text: str, option: str) -> Fraction:
    """An exact number: 0.1 is 1/10."""
    from headwright.queries.wish import exact

    return exact(text, option)


def read_bytes(path: Path, what: str) -> bytes:
    """The content of a file, or of standard input."""
    try:
        return sys.stdin.buffer.read(LARGEST_BYTES) if str(path) == "-" else path.read_bytes()
    except OSError as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise InputError(f"{what} {path}: {reason}") from error


def read_text(path: Path, what: str) -> str:
    """The text of a file, or of standard input."""
    try:
        return read_bytes(path, what).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{what} {path}: is not text in UTF-8") from error


def read_certificate(path: Path) -> Certificate:
    """A certificate about keys, as data: nothing of it is verified."""
    from headwright.trusted.certificate import about_heads, document, read
    from headwright.trusted.keys import Reject

    text = read_text(path, "certificate")
    refuse_older(text, path)
    try:
        said, proof = document(text)
        if about_heads(said):
            raise InputError(f"certificate {path}: is about whole heads, expected one about keys")
        return read(said, proof)
    except Reject as error:
        raise InputError(f"certificate {path}: {error}") from error


def refuse_older(text: str, path: Path) -> None:
    """Say of a certificate of an older version that it is one, and what to do."""
    import json

    from headwright.trusted.certificate import FORMAT, VERSION

    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return  # whoever reads it will say why it cannot be read
    version = document.get("version") if isinstance(document, dict) and document.get("format") == FORMAT else VERSION
    if type(version) is int and version < VERSION:
        raise InputError(
            f"certificate {path}: is of version {version}, and this headwright reads version {VERSION}; "
            "what it says may well be true, but it has to be designed again"
        )


def read_indices(text: str, what: str) -> list[int]:
    """Indices written as 0,1,2."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise InputError(f"{what} {text!r}: expected indices such as 0,1") from error
