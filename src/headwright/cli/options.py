"""The options that several commands share, and how they are read."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headwright.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import Float

ARRAY = "(.npy .npz .csv .json .safetensors, or - for standard input)"


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise InputError(f"--scale {number}: expected a finite number")
    return number


Keys = Annotated[Path, typer.Option(help=f"The keys, one a row {ARRAY}.")]
Queries = Annotated[list[Path], typer.Option(help="A query; give the option once for each head.")]
Scale = Annotated[float, typer.Option(callback=_finite, help="Factor of the scores; a layer uses 1/sqrt(d).")]
Seed = Annotated[int, typer.Option(min=0, help="Where chance starts from.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Plot = Annotated[Path | None, typer.Option(help="Draw the result into this file (.svg, .png or .html).")]


def read_keys(path: Path) -> Float[np.ndarray, "n d"]:
    """The keys, one a row."""
    from headwright.files import read_array

    return read_array(path, what="keys", axes=2)


def read_queries(paths: list[Path]) -> Float[np.ndarray, "heads d"]:
    """The queries, one a row, from files of one query each."""
    import numpy as np

    from headwright.files import read_array

    queries = [read_array(path, what="query", axes=1) for path in paths]
    if len({query.shape for query in queries}) > 1:
        lengths = ", ".join(str(len(query)) for query in queries)
        raise InputError(f"the queries have {lengths} numbers: expected as many in each")
    return np.stack(queries)


def read_indices(text: str, what: str) -> list[int]:
    """Indices written as 0,1,2."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise InputError(f"{what} {text!r}: expected indices such as 0,1") from error
