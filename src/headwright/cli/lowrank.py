"""headwright lowrank."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headwright.cli.console import (
    DIGITS,
    TALK,
    check_picture,
    save_picture,
    show_json,
    show_line,
)
from headwright.cli.options import ARRAY, Json, Plot
from headwright.errors import InputError

SHORT = "Truncate a matrix to low rank, with a certified error."
EXAMPLES = ("headwright lowrank W.npy --rank 8 --plot spectrum.svg",)


def lowrank(
    matrix: Annotated[
        Path,
        typer.Argument(
            metavar="MATRIX", help=f"The matrix {ARRAY}.", show_default=False
        ),
    ],
    rank: Annotated[int | None, typer.Option(help="Truncate to this rank.")] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            help="Truncate to the smallest rank whose certified error is at most this."
        ),
    ] = None,
    json: Json = False,
    plot: Plot = None,
) -> None:
    """Truncate a matrix to low rank, with a certified bound on the error."""
    from headwright.files import read_array
    from headwright.lowrank import truncate
    from headwright.numerics.enclosure import shown_above

    check_picture(plot)
    if (rank is None) == (tolerance is None):
        raise InputError("expected --rank or --tolerance, and not both")
    A = read_array(matrix, what="matrix", axes=2)
    with TALK.status("truncating"):
        result = truncate(A, rank=rank, tolerance=tolerance)
    if json:
        show_json(result.to_json())
    else:
        n, d = A.shape
        show_line(f"{n} x {d} matrix truncated to rank {result.rank} ({result.method})")
        show_line(
            f"  certified error    |A - B|_2 <= {shown_above(result.error_upper_bound, DIGITS)}"
        )
        show_line(
            f"  best possible      sigma_{result.rank + 1} = {result.next_singular_value:.4g} (floating-point)"
        )
        best = shown_above(result.guarantee, DIGITS)
        show_line(
            f"  guarantee          |A|_F / sqrt({result.rank + 1}) = {best} (certified, for the best of this rank)"
        )
        show_line(
            f"  energy kept        {result.energy:.4%} of |A|_F^2 (floating-point)"
        )
        show_line(
            f"  |A|_F              <= {shown_above(result.frobenius, DIGITS)} (certified)"
        )
        largest_values = ", ".join(
            f"{value:.4g}" for value in result.singular_values[:8]
        )
        more = ", ..." if len(result.singular_values) > 8 else ""
        show_line(f"  singular values    {largest_values}{more} (floating-point)")
    if plot is not None:
        from headwright.pictures import spectrum

        save_picture(plot, spectrum(result, f"Singular values of {matrix.name}"))
