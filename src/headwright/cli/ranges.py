"""headwright ranges."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from headwright.cli.console import (
    check_picture,
    check_writable,
    next_step,
    progress,
    save_picture,
    say,
    show_json,
    show_line,
    show_table,
    write_certificate,
)
from headwright.cli.options import DTypeName, Json, ModelName, Out, Plot, read_text
from headwright.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from headwright.value_ranges import Ranges

SHORT = "Bound keys, values and scores on every text."
EXAMPLES = (
    "headwright ranges ./model",
    "headwright ranges ./model --scales kv_scales.safetensors --format vllm",
    "headwright ranges ./model --text book.txt --plot ranges.svg",
    "headwright ranges ./model --search",
    "headwright ranges ./model --out ranges.json",
)
EXIT = {"proved": 0, "refuted": 1, "undecided": 3}


def ranges(
    model: ModelName,
    text: Annotated[
        Path | None,
        typer.Option(help="Run the model on this text, and show it beside the bounds."),
    ] = None,
    search: Annotated[
        bool,
        typer.Option(
            "--search", help="Search for a text that comes close to the largest bound."
        ),
    ] = False,
    dtype: DTypeName = None,
    scales: Annotated[
        Path | None,
        typer.Option(
            help="Write scales of an e4m3 cache with which no text clips (.safetensors)."
        ),
    ] = None,
    file_format: Annotated[
        Literal["vllm", "modelopt"] | None,
        typer.Option("--format", help="Whose names --scales has.", show_default="vllm"),
    ] = None,
    out: Out = None,
    json: Json = False,
    plot: Plot = None,
) -> None:
    """What keys, values and scores can be, on every text: may the cache be kept in 8 bits, and with which scales?"""
    from headwright.value_ranges.measure import ranges as measure
    from headwright.value_ranges.sentences import scales_in_words, summarise
    from headwright.value_ranges.verdicts import verdicts

    check_picture(plot)
    check_writable(scales, "--scales")
    check_writable(out, "--out")
    if file_format is not None and scales is None:
        raise InputError(f"--format {file_format}: expected --scales FILE with it")
    content = None if text is None else read_text(text, "text")
    with progress("reading the weights") as fraction:
        proved = measure(
            model, text=content, dtype=dtype, search=search, progress=fraction
        )
    cache = verdicts(proved)[0]
    code = EXIT[cache.answer]
    if scales is not None:
        _write_scales(proved, scales, file_format or "vllm")
        code = 0
    written = write_certificate(proved.certificate if out else None, out)
    if json:
        show_json(proved.to_json() | {"certificate": written})
    else:
        show_table(_table(proved))
        for line in summarise(proved).splitlines():
            show_line(line)
        if scales is not None:
            show_line(scales_in_words(str(scales)))
        if written is not None:
            command = next_step("verify", written, "--model", model)
            say("The certificate is written; verify it:", command)
    if plot is not None:
        _draw(proved, plot)
    raise typer.Exit(code)


def _write_scales(proved: Ranges, path: Path, file_format: str) -> None:
    from headwright.value_ranges.cache_scales import write_scales

    written = write_scales(proved, path, file_format)
    names = " and ".join(str(file) for file in written)
    say(f"The scales are in {names}.")


def _table(proved: Ranges) -> Table:
    """A row for each layer: the largest of its heads, and beside it what the text shows."""
    from rich.table import Table

    from headwright.value_ranges.rows import layer_rows

    rows = layer_rows(proved)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in rows[0].cells():
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*row.cells().values())
    return table


def _draw(proved: Ranges, path: Path) -> None:
    from headwright.pictures.ranges import ranges_picture
    from headwright.value_ranges.rows import layer_rows

    rows = [row.numbers() for row in layer_rows(proved)]
    save_picture(path, ranges_picture(rows, proved.model))
