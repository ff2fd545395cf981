"""headwright lowrank."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headwright.cli.console import TALK, check_picture, save_picture, show_json, show_line
from headwright.cli.options import ARRAY, Json, Plot, Seed
from headwright.errors import InputError

SHORT = "A matrix of small rank, with a certified error."
EXAMPLES = ("headwright lowrank W.npy --rank 8 --plot spectrum.svg",)


def lowrank(
    matrix: Annotated[Path, typer.Argument(metavar="MATRIX", help=f"The matrix {ARRAY}.", show_default=False)],
    rank: Annotated[int | None, typer.Option(help="Cut to this rank.")] = None,
    tolerance: Annotated[
        float | None, typer.Option(help="Cut to the smallest rank with a certified error of at most this.")
    ] = None,
    seed: Seed = 0,
    json: Json = False,
    plot: Plot = None,
) -> None:
    """Cut a matrix to a small rank, with a certified bound on what that misses."""
    from headwright.enclosure import shown_above
    from headwright.files import read_array
    from headwright.lowrank import truncate

    check_picture(plot)
    if (rank is None) == (tolerance is None):
        raise InputError("expected --rank or --tolerance, and not both")
    A = read_array(matrix, what="matrix", axes=2)
    with TALK.status("cutting") as status:
        result = truncate(A, rank=rank, tolerance=tolerance, seed=seed, progress=status.update)
    if json:
        from headwright.lowrank.wire import to_json

        show_json(to_json(result, seed))
    else:
        n, d = A.shape
        show_line(f"{n} x {d} matrix cut to rank {result.rank} ({result.method})")
        show_line(f"  certified error    |A - B|_2 <= {shown_above(result.error_upper_bound, 10)}")
        show_line(f"  best possible      sigma_{result.rank + 1} = {result.next_singular_value:.10g} (floating-point)")
        best = shown_above(result.guarantee, 10)
        show_line(
            f"  guarantee          |A|_F / sqrt({result.rank + 1}) = {best} (certified, for the best of this rank)"
        )
        show_line(f"  energy kept        {result.energy:.6%} of |A|_F^2 (floating-point)")
        show_line(f"  |A|_F              <= {shown_above(result.frobenius, 10)} (certified)")
        shown = ", ".join(f"{value:.5g}" for value in result.singular_values[:8])
        more = ", ..." if len(result.singular_values) > 8 else ""
        show_line(f"  singular values    {shown}{more} (floating-point)")
    if plot is not None:
        from headwright.pictures import spectrum

        save_picture(plot, spectrum(result, f"Singular values of {matrix.name}"))
