"""headwright every-text.

reading         the options, in the tokens of a model
first_layer     the first layer on every text: where the sweeps run, what is asked of them, and the certificate
next_token      induction through two layers: is b predicted after the second a, and which weight it has
printing        the result in words, as data and as a picture
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headwright.cli.console import TALK, check_picture, check_writable
from headwright.cli.options import (
    DeviceName,
    DTypeName,
    EngineName,
    HeadNumbers,
    Json,
    ModelName,
    Out,
    Plot,
    Resume,
    Scheduler,
    check_engine,
    read_numbers,
    read_text,
)

SHORT = "Prove what first-layer heads do on every text of a given length."
EXAMPLES = (
    "headwright every-text builtin:induction --length 64",
    "headwright every-text builtin:induction --length 16 --key e --out e.json",
    "headwright every-text builtin:induction16 --length 8 --predict all",
    "headwright every-text FOLDER --length 16 --query @text --text book.txt",
)


def every_text(
    model: ModelName,
    length: Annotated[int, typer.Option(metavar="T", help="Number of tokens of the texts.", show_default=False)],
    query: Annotated[
        str | None, typer.Option(help="Only texts that end in this token (@text: in one of the text's tokens).")
    ] = None,
    offset: Annotated[
        int | None, typer.Option(help="Also bound the weight on the token this many places back.")
    ] = None,
    key: Annotated[str | None, typer.Option(help="Bound the weight on all occurrences of this token.")] = None,
    pairs: Annotated[
        Path | None, typer.Option(help="A file of pairs, one per line: query token, key token, distance (1).")
    ] = None,
    logit: Annotated[
        str | None, typer.Option(metavar="TOKEN", help="Bound the direct effects of heads on this token's logit.")
    ] = None,
    text: Annotated[Path | None, typer.Option(help="Also look at the adjacent pairs of this text.")] = None,
    repeat: Annotated[
        str | None,
        typer.Option(
            metavar="AB",
            help="Two layers: has B over 1/2 after a second A? AB, or ABC with C before it.",
        ),
    ] = None,
    predict: Annotated[
        str | None,
        typer.Option(
            metavar="AB", help="Two layers: is B predicted after a second A? AB, ABC with C before it, or all."
        ),
    ] = None,
    curve: Annotated[bool, typer.Option("--curve", help="Also for T = 2, 4, 8, ... up to the length.")] = False,
    heads: HeadNumbers = None,
    device: DeviceName = "cpu",
    dtype: DTypeName = None,
    out: Out = None,
    engine: EngineName = "local",
    scheduler: Scheduler = None,
    resume: Resume = False,
    yes: Annotated[bool, typer.Option("--yes", help="Start even what takes more than an hour.")] = False,
    json: Json = False,
    plot: Plot = None,
) -> None:
    """Prove the smallest and the largest attention weight of first-layer heads over every text of a given length."""
    from headwright.cli.every_text.first_layer import show
    from headwright.cli.every_text.reading import EveryTextOptions
    from headwright.models.engine.cluster import Source
    from headwright.models.loading import load_model

    check_engine(engine, scheduler)
    check_writable(out, "--out")
    check_picture(plot)
    source = Source(model, device, dtype)
    asked = EveryTextOptions(
        length, source, read_numbers(heads, "--heads"), offset, query, key, logit,
        None if text is None else read_text(text, "text"), None if pairs is None else read_text(pairs, "pairs"),
        repeat, predict, curve, plot, out, engine == "dask", scheduler, resume, json, yes,
    )  # fmt: skip
    with TALK.status(f"loading {model}"):
        loaded = load_model(model, device=source.device, dtype=source.dtype)
    show(loaded, asked)
