"""headwright conform."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from headwright.cli.console import (
    check_picture,
    progress,
    save_picture,
    show_json,
    show_line,
)
from headwright.cli.options import Json, Plot
from headwright.errors import InputError

if TYPE_CHECKING:
    from headwright.conformance.verdict import ConformanceVerdict

SHORT = "Tell a wrong attention kernel from rounding."
EXAMPLES = (
    "headwright conform dump.safetensors --causal --window 128",
    "headwright conform dump.npz --dtype bfloat16 --plot errors.svg",
    "headwright conform builtin:fp8-keys,dim=64 --causal",
)
EXIT = {"within": 0, "outside": 1, "undecided": 3}
BUILTIN = "builtin:none or another mistake of a demonstration"
NAMES = "q, k, v and out; also sinks, bias, alibi, key_padding, documents, mask; "
NAMES += "and dout with dq, dk, dv, which are judged, too"


def conform(
    dump: Annotated[
        Path,
        typer.Argument(
            metavar="DUMP",
            help=f"Tensors (.safetensors or .npz): {NAMES}. Or {BUILTIN}.",
            show_default=False,
        ),
    ],
    causal: Annotated[
        bool, typer.Option("--causal", help="A row sees no later keys.")
    ] = False,
    corner: Annotated[
        Literal["end", "start"],
        typer.Option(help="The last row stands at the last key, or row 0 at key 0."),
    ] = "end",
    window: Annotated[
        str | None,
        typer.Option(
            help="Keys that a row sees with its own, or BEFORE,AFTER without it."
        ),
    ] = None,
    scale: Annotated[
        float | None,
        typer.Option(help="Factor of the scores.", show_default="1/sqrt(dim)"),
    ] = None,
    softcap: Annotated[
        float | None, typer.Option(help="Scores become S * tanh(score / S).")
    ] = None,
    layout: Annotated[
        Literal["bhtd", "bthd"], typer.Option(help="Axes: batch, heads, tokens, dim.")
    ] = "bhtd",
    dtype: Annotated[
        Literal["float32", "float16", "bfloat16", "float64"] | None,
        typer.Option(
            help="The type the kernel ran in, if the tensors were saved in a wider one."
        ),
    ] = None,
    contract: Annotated[
        str | None,
        typer.Option(
            help="Which roundings are allowed: fused, eager, prescaled, tf32 or fp8.",
            show_default="the strictest that holds",
        ),
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option(help="Judge so many rows, evenly spread.", show_default="all"),
    ] = None,
    json: Json = False,
    plot: Plot = None,
) -> None:
    """Whether an output of attention is right up to rounding: within a proved bound, or outside it and why."""
    from headwright.conformance.checking import conform

    check_picture(plot)
    tensors = _read_tensors(dump, dtype, _read_window(window))
    out, q, k, v = (tensors.pop(name) for name in ("out", "q", "k", "v"))
    gradients: dict[str, Any] = {
        name: tensors.pop(name) for name in ("dq", "dk", "dv") if name in tensors
    }
    with progress("comparing with float64") as fraction:
        verdict = conform(
            out,
            q,
            k,
            v,
            causal=causal,
            corner=corner,
            window=_read_window(window),
            scale=scale,
            softcap=softcap,
            layout=layout,
            contract=contract,
            rows=rows,
            progress=fraction,
            gradients=gradients or False,
            **tensors,
        )
    if json:
        show_json(verdict.to_json())
    else:
        for line in str(verdict).splitlines():
            show_line(line)
    if plot is not None:
        _draw(verdict, plot)
    raise typer.Exit(EXIT[verdict.word])


def _read_tensors(
    dump: Path, dtype: str | None, window: int | tuple[int, ...] | None
) -> dict[str, Any]:
    """The tensors of a file, or of a demonstration."""
    from headwright.conformance.demonstration import (
        PREFIX,
        demonstrate,
        read_demonstration,
    )
    from headwright.conformance.dumps import read_dump

    if not str(dump).startswith(PREFIX):
        return dict(read_dump(dump, dtype))
    if isinstance(window, tuple):
        raise InputError(f"{dump}: expected a window of one number")
    q, k, v, out = demonstrate(read_demonstration(str(dump), window))
    return {"q": q, "k": k, "v": v, "out": out}


def _read_window(written: str | None) -> int | tuple[int, ...] | None:
    if written is None:
        return None
    try:
        numbers = tuple(int(part) for part in written.split(","))
    except ValueError as error:
        raise InputError(
            f"--window {written}: expected a number of keys, or two as in 127,0"
        ) from error
    return numbers[0] if len(numbers) == 1 else numbers


def _draw(verdict: ConformanceVerdict, plot: Path) -> None:
    from headwright.pictures import conformance_picture

    worst = verdict.worst
    title = f"Error / bound, batch {worst.batch}, head {worst.head}"
    subtitle = (
        f"{verdict.word} ({verdict.contract}): each cell is the worst of its elements"
    )
    ratios = verdict.ratios[worst.batch, worst.head]
    save_picture(plot, conformance_picture(ratios, verdict.rows, title, subtitle))
