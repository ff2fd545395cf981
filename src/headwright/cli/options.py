"""The options that several commands share, and how they are read."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from headwright.errors import InputError

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy as np
    from jaxtyping import Float

    from headwright.certificates.exact.certificate import Certificate
    from headwright.query_design import Targets

LARGEST_BYTES = 2**33  # of what standard input is read
ARRAY = "(.npy .npz .csv .json .safetensors, FILE.safetensors:TENSOR, or - for standard input)"


MODELS = "A folder, a .gguf or .safetensors file, a hub id (owner/name), or builtin:induction (builtin:induction16)."
DESIGN_EXIT = {"designed": 0, "impossible": 1, "longer": 1, "undecided": 3}


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise InputError(f"--scale {number}: expected a finite number")
    return number


Keys = Annotated[Path, typer.Option(help=f"Keys, one per row {ARRAY}.")]
Queries = Annotated[
    list[Path],
    typer.Option(metavar="<path>", help="A query; give the option once for each head."),
]
Scale = Annotated[
    float,
    typer.Option(
        callback=_finite, help="Factor of the scores; a layer uses 1/sqrt(d)."
    ),
]
ExactScale = Annotated[
    str | None,
    typer.Option(
        help="Factor of the scores, an exact number such as 1/8.", show_default="1"
    ),
]
Copy = Annotated[int | None, typer.Option(help="Targets: attend to this key.")]
Average = Annotated[
    str | None, typer.Option(help="Targets: attend evenly to these keys, such as 0,1.")
]
AtLeast = Annotated[
    str | None, typer.Option(help="Targets: least weights, such as 0=0.6,1=0.3.")
]
Eps = Annotated[
    str | None,
    typer.Option(
        help="Tolerance: each target gets at least 1/(targets + eps).",
        show_default="0.01",
    ),
]
Uncertainty = Annotated[
    Path | None, typer.Option(help="Uncertainty model for the keys (.toml).")
]
EngineName = Annotated[
    Literal["local", "dask"],
    typer.Option(help="Run in this process (local) or on Dask workers (dask)."),
]
Scheduler = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Address of a Dask scheduler.")
]
Seed = Annotated[int, typer.Option(min=0, help="Random seed.")]
Checker = Annotated[
    str | None,
    typer.Option(
        metavar="both|exact|float|proved",
        help="Which checkers must accept the certificate; 'proved' is the program that `make proof` builds.",
        show_default="both; above 1e6 key entries exact",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Plot = Annotated[
    Path | None,
    typer.Option(help="Draw the result into this file (.svg, .png, .pdf or .html)."),
]
Out = Annotated[
    Path | None, typer.Option(help="Write the certificate into this file (.json).")
]
ModelName = Annotated[
    str, typer.Argument(metavar="MODEL", help=MODELS, show_default=False)
]
Layers = Annotated[
    str | None,
    typer.Option("--layers", "--layer", help="Only these layers, such as 0,4-7."),
]
HeadNumbers = Annotated[
    str | None, typer.Option(help="Only these heads of each layer, such as 0,4-7.")
]
DeviceName = Annotated[
    Literal["cpu", "cuda"], typer.Option(help="Where the model runs.")
]
DTypeName = Annotated[
    Literal["float32", "bfloat16", "float16"] | None,
    typer.Option(help="Number type the model runs in.", show_default="float32"),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Continue a run that was interrupted.")
]


def check_checker(checker: str | None) -> None:
    """Refuse a checker that there is not."""
    from headwright.certificates.checkers import which

    which(checker, 0)


def read_numbers(text: str | None, option: str) -> list[int] | None:
    """Numbers written as 0,4-7."""
    if text is None:
        return None
    numbers: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not all(
            end.isascii() and end.isdigit() and len(end) < 7
            for end in ([first, last] if dash else [first])
        ):
            raise InputError(f"{option} {text!r}: expected numbers such as 0,4-7")
        low = int(first)
        high = int(last if dash else first)
        if low > high:
            raise InputError(
                f"{option} {text!r}: {low}-{high} is empty, expected the smaller number first"
            )
        numbers.extend(range(low, high + 1))
    return numbers


def check_engine(engine: str, scheduler: str | None) -> None:
    """Refuse a scheduler that would not be asked."""
    if scheduler is not None and engine != "dask":
        raise InputError(f"--scheduler {scheduler}: expected --engine dask with it")


def read_keys(path: Path) -> Float[np.ndarray, "n d"]:
    """The keys, one a row."""
    from headwright.files import read_array

    return read_array(path, what="keys", axes=2)


def read_queries(paths: list[Path]) -> Float[np.ndarray, "heads d"]:
    """The queries, one a row, from files of one query each."""
    import numpy as np

    from headwright.files import read_array

    arrays = [read_array(path, what="query") for path in paths]
    # A row or a column of numbers is a query.
    queries = [
        query.ravel() if query.ndim == 2 and 1 in query.shape else query
        for query in arrays
    ]
    for path, query in zip(paths, queries, strict=True):
        if query.ndim != 1:
            raise InputError(f"query {path}: has shape {query.shape}, expected 1 axis")
    if len({query.shape for query in queries}) > 1:
        lengths = ", ".join(str(len(query)) for query in queries)
        raise InputError(
            f"the queries have {lengths} numbers: expected as many in each"
        )
    return np.stack(queries)


def read_targets(
    copy: int | None, average: str | None, at_least: str | None, eps: str | None
) -> Targets | None:
    """The targets that these options make; None where there is none."""
    from headwright.query_design import targets

    if (copy is not None) + (average is not None) + (at_least is not None) > 1:
        raise InputError("expected one target: --copy, --average or --at-least")
    if eps is not None and copy is None and average is None:
        raise InputError(f"--eps {eps}: expected it with --copy or --average")
    slack = "0.01" if eps is None else eps
    if copy is not None:
        return targets.copy(copy, slack)
    if average is not None:
        return targets.average(read_numbers(average, "--average") or [], slack)
    if at_least is None:
        return None
    bounds: dict[int, str] = {}
    for part in at_least.split(","):
        key, equals, least = part.partition("=")
        if not equals or not (key.strip().isascii() and key.strip().isdigit()):
            raise InputError(
                f"--at-least {at_least!r}: expected weights such as 0=0.6,1=0.3"
            )
        if int(key) in bounds:
            raise InputError(f"--at-least {at_least!r}: expected each key once")
        bounds[int(key)] = least
    return targets.at_least(bounds)


def read_number(text: str, option: str) -> Fraction:
    """An exact number: 0.1 is 1/10."""
    from headwright.query_design.targets import exact

    return exact(text, option)


def read_bytes(path: Path, what: str) -> bytes:
    """The content of a file, or of standard input."""
    try:
        if str(path) == "-":
            return sys.stdin.buffer.read(LARGEST_BYTES)
        return path.read_bytes()
    except OSError as error:
        from headwright.files import unreadable  # it brings NumPy along

        raise unreadable(error, f"{what} {path}") from error


def read_text(path: Path, what: str) -> str:
    """The text of a file, or of standard input."""
    try:
        return read_bytes(path, what).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{what} {path}: is not text in UTF-8") from error


def read_certificate(path: Path) -> Certificate:
    """A certificate about keys, as data: nothing of it is verified."""
    from headwright.certificates.exact.certificate import (
        about_heads,
        read_certificate,
        read_document,
    )
    from headwright.certificates.exact.keys import Reject

    text = read_text(path, "certificate")
    try:
        statement, evidence = read_document(text)
        if about_heads(statement):
            raise InputError(
                f"certificate {path}: is about whole heads, expected one about keys"
            )
        return read_certificate(statement, evidence)
    except Reject as error:
        raise InputError(f"certificate {path}: {error}") from error
