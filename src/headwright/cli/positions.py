"""headwright positions."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from headwright.cli.console import (
    check_picture,
    progress,
    save_picture,
    show_json,
    show_line,
)
from headwright.cli.options import ARRAY, Json, Plot
from headwright.errors import InputError

if TYPE_CHECKING:
    from headwright.positions import Report, Scheme

SHORT = "Find position encodings that coincide after rounding."
EXAMPLES = ("headwright positions --dim 512 --length 100000 --dtype bfloat16",)
Name = Literal["sinusoidal", "rotary", "alibi", "learned"]
DType = Literal["exact", "float32", "float16", "bfloat16"]  # exact: not rounded


def positions(
    scheme: Annotated[Name, typer.Option(help="Position encoding.")] = "sinusoidal",
    length: Annotated[int | None, typer.Option(help="Number of positions.")] = None,
    dim: Annotated[
        int | None,
        typer.Option(help="Dimension of the encoding; for alibi, the number of heads."),
    ] = None,
    base: Annotated[
        float, typer.Option(help="Base of the frequencies (sinusoidal, rotary).")
    ] = 10000.0,
    table: Annotated[
        Path | None, typer.Option(help=f"The table of the learned scheme {ARRAY}.")
    ] = None,
    dtype: Annotated[
        DType, typer.Option(help="Number type of the encodings.")
    ] = "exact",
    index_dtype: Annotated[
        DType, typer.Option(help="Number type of the position index.")
    ] = "exact",
    angle_dtype: Annotated[
        DType, typer.Option(help="Number type of the angles.")
    ] = "exact",
    json: Json = False,
    plot: Plot = None,
) -> None:
    """Find the positions whose encodings coincide after rounding, and the closest two."""
    from headwright.positions import Precision, report

    check_picture(plot)
    chosen = _scheme(scheme, dim, base, table)
    length = length if length is not None or table is None else len(chosen.table)  # type: ignore[attr-defined]
    if length is None:
        raise InputError("--length is missing: expected the number of positions")
    precision = Precision(index=index_dtype, angle=angle_dtype, rows=dtype)
    with progress("comparing positions") as fraction:
        result = report(chosen, length, precision, progress=fraction)
    if json:
        show_json(result.to_json())
    else:
        _print(result, length)
    if plot is not None:
        from headwright.pictures import position_picture
        from headwright.positions import preview

        start = (
            max(0, min(result.first_pair[1] - 16, length - 50))
            if result.first_pair
            else 0
        )
        title = f"{scheme.capitalize()} positions"
        subtitle = (
            f"{result.collisions} of {length} positions coincide with an earlier one"
        )
        drawn = preview(chosen, length, precision, start)
        save_picture(plot, position_picture(drawn, title, subtitle, result.first_pair))


def _scheme(name: Name, dim: int | None, base: float, table: Path | None) -> Scheme:
    from headwright.files import read_array
    from headwright.positions import Alibi, Learned, Rotary, Sinusoidal

    if name == "learned":
        if table is None:
            raise InputError("--table is missing: the learned scheme needs its table")
        return Learned(read_array(table, what="table", axes=2))
    if dim is None:
        raise InputError(f"--dim is missing: the {name} scheme needs it")
    if name == "alibi":
        return Alibi(dim)
    return Rotary(dim, base) if name == "rotary" else Sinusoidal(dim, base)


def _print(result: Report, length: int) -> None:
    from headwright.numerics.enclosure import shown_above

    show_line(
        f"{result.collisions} of {length} positions coincide with an earlier one ({result.how_collisions})"
    )
    if result.first_pair:
        show_line(
            f"  first: position {result.first_pair[1]} is the same as position {result.first_pair[0]}"
        )
    if result.overflow_from is not None:
        onward = result.lost == length - result.overflow_from
        if onward:
            show_line(
                f"  from position {result.overflow_from} on the numbers are not finite"
            )
        else:
            show_line(
                f"  numbers that are not finite: {result.lost} of the positions, first {result.overflow_from}"
            )
    if math.isinf(result.min_distance):
        show_line(f"closest: not known ({result.how_distance})")
        return
    t, u = result.closest_pair
    apart = f"{shown_above(result.min_distance, 4)} apart ({result.how_distance})"
    show_line(
        f"closest: positions {t} and {u} (difference {result.min_difference}), {apart}"
    )
