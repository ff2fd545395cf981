"""headwright every-text.

questions       what the options ask, one dataclass for each kind of question
reading         tokens and pairs of the options, in the tokens of a model
first_layer     bounds for the first layer: each question, and who sweeps
waiting         how long it will take, before it begins
certificate     the strongest result about the first layer, as a certificate
printing        results about the first layer in words, as data and as a picture
induction       induction through two layers: is b predicted after the second a, and which weight it has
induction_printing  its results in words and as data
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
from headwright.errors import InputError

SHORT = "Prove what first-layer heads do on every text of a given length."
EXAMPLES = (
    "headwright every-text builtin:induction --length 64",
    "headwright every-text builtin:induction --length 16 --key e --out e.json",
    "headwright every-text builtin:induction16 --length 8 --predict all",
    "headwright every-text FOLDER --length 16 --query @text --text book.txt",
)


def every_text(
    model: ModelName,
    length: Annotated[
        int,
        typer.Option(
            metavar="T", help="Number of tokens of the texts.", show_default=False
        ),
    ],
    query: Annotated[
        str | None,
        typer.Option(
            help="Only texts that end in this token (@text: in one of the text's tokens)."
        ),
    ] = None,
    offset: Annotated[
        int | None,
        typer.Option(help="Also bound the weight on the token this many places back."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(help="Bound the weight on all occurrences of this token."),
    ] = None,
    pairs: Annotated[
        Path | None,
        typer.Option(
            help="A file of pairs, one per line: query token, key token, distance (1)."
        ),
    ] = None,
    logit: Annotated[
        str | None,
        typer.Option(
            metavar="TOKEN",
            help="Bound the direct effects of heads on this token's logit.",
        ),
    ] = None,
    text: Annotated[
        Path | None, typer.Option(help="Also look at the adjacent pairs of this text.")
    ] = None,
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
            metavar="AB",
            help="Two layers: is B predicted after a second A? AB, ABC with C before it, or all.",
        ),
    ] = None,
    curve: Annotated[
        bool,
        typer.Option("--curve", help="Also for T = 2, 4, 8, ... up to the length."),
    ] = False,
    heads: HeadNumbers = None,
    device: DeviceName = "cpu",
    dtype: DTypeName = None,
    out: Out = None,
    engine: EngineName = "local",
    scheduler: Scheduler = None,
    resume: Resume = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Start even what takes more than an hour.")
    ] = False,
    json: Json = False,
    plot: Plot = None,
) -> None:
    """Prove the smallest and the largest attention weight of first-layer heads over every text of a given length."""
    from headwright.cli.every_text.first_layer import bound_first_layer
    from headwright.cli.every_text.induction import prove_induction
    from headwright.cli.every_text.questions import (
        FirstLayerQuestion,
        InductionQuestion,
        OutputOptions,
        SweepPlan,
        refuse_options,
    )
    from headwright.models import load_model
    from headwright.models.source import Source

    check_engine(engine, scheduler)
    check_writable(out, "--out")
    check_picture(plot)
    source = Source(model, device, dtype)
    plan = SweepPlan(source, engine == "dask", scheduler, yes)
    output = OutputOptions(json, plot, out)
    numbers = read_numbers(heads, "--heads")

    of_first_layer: dict[str, object] = {
        "--query": query,
        "--key": key,
        "--logit": logit,
        "--text": text,
        "--pairs": pairs,
        "--plot": plot,
    }
    induction = None
    if predict is not None:
        refuse_options("--predict", of_first_layer)
        refuse_options("--predict", {"--heads": numbers, "--repeat": repeat})
        induction = InductionQuestion("--predict", predict, length, None, offset, curve)
    elif repeat is not None:
        refuse_options("--repeat", of_first_layer)
        induction = InductionQuestion(
            "--repeat", repeat, length, numbers, offset, curve
        )
    elif resume:
        raise InputError(
            "--resume continues an interrupted --predict or --repeat: leave it out"
        )
    if induction is not None and plan.on_workers:
        raise InputError(
            f"--engine dask is for sweeps over the first layer: leave it out with {induction.option}"
        )
    question = FirstLayerQuestion(
        length,
        numbers,
        offset,
        query,
        key,
        logit,
        None if text is None else read_text(text, "text"),
        None if pairs is None else read_text(pairs, "pairs"),
        by_length=curve or plot is not None,
    )

    with TALK.status(f"loading {model}"):
        loaded = load_model(model, device=source.device, dtype=source.dtype)
    if induction is not None:
        prove_induction(loaded, induction, output, resume=resume)
    else:
        bound_first_layer(loaded, question, plan, output)
