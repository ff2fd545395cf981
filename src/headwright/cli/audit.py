"""headwright audit."""

from __future__ import annotations

import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headwright.cli.console import (
    DIGITS,
    OUT,
    TALK,
    check_picture,
    check_writable,
    progress,
    resumable,
    save_picture,
    say,
    show_json,
    show_line,
)
from headwright.cli.options import (
    DeviceName,
    DTypeName,
    EngineName,
    HeadNumbers,
    Json,
    Layers,
    ModelName,
    Plot,
    Resume,
    Scheduler,
    Seed,
    check_engine,
    read_numbers,
    read_text,
)
from headwright.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from headwright.models.auditor import Audit
    from headwright.models.documents import Document
    from headwright.models.explain import Explained, Row
    from headwright.models.loading.model import Model

SHORT = "Measure what every head of a trained model does, with a report."
EXAMPLES = (
    "headwright audit builtin:induction --out report.html",
    "headwright audit FOLDER --text book.txt --max-length 2048",
    "headwright audit builtin:induction --explain 1.0",
    "headwright audit FOLDER --tokens ids.npy --out heads.csv --plot heads.pdf",
)
MOST_LINES = 48  # of the table on a terminal; the report and --json have all heads
BUILT_IN = "builtin:"
OUTS = (".html", ".htm", ".json", ".csv", ".parquet")
TOKENS = 4000  # random ones, for a model that was trained on nothing else


def audit(
    model: ModelName,
    text: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="<path>", help="Measure on this text (- for standard input); give several, 8 or more for intervals."
        ),
    ] = None,
    tokens: Annotated[
        str | None,
        typer.Option(metavar="N|FILE", help="Measure on N random tokens, repeated, or on token ids (.npy)."),
    ] = None,
    max_length: Annotated[int | None, typer.Option(help="Cut documents to this many tokens.")] = None,
    layers: Layers = None,
    heads: HeadNumbers = None,
    device: DeviceName = "cpu",
    dtype: DTypeName = None,
    explain: Annotated[
        str | None, typer.Option(metavar="LAYER.HEAD", help="Explain rows of this head, and write no report.")
    ] = None,
    no_every_text: Annotated[
        bool, typer.Option("--no-every-text", help="Leave out what is proven for every text.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Write the result (.html, .json, .csv, .parquet).")] = None,
    plot: Plot = None,
    engine: EngineName = "local",
    scheduler: Scheduler = None,
    resume: Resume = False,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Measure what every head of a model attends to, with margins, robustness and ranks."""
    from headwright.models.auditor import audit as run
    from headwright.models.engine.cluster import Cluster, Source
    from headwright.models.engine.part_cache import STALE_DAYS, cache_folder, remove_stale
    from headwright.models.engine.work import run as here
    from headwright.models.engine.work import why_not_kept
    from headwright.models.loading import load_model

    if text and tokens is not None:
        raise InputError("--text and --tokens: expected one of them")
    check_engine(engine, scheduler)
    if out is not None and out.suffix not in OUTS:
        raise InputError(f"--out {out}: has the suffix '{out.suffix}', expected one of {', '.join(OUTS)}")
    if out is not None and out.suffix == ".parquet" and find_spec("pyarrow") is None:
        from headwright.models.report.data import no_parquet

        raise no_parquet()
    check_writable(out, "--out")
    check_picture(plot)
    ids = None if tokens is None else _tokens(tokens)
    given = [read_text(path, "text") for path in text] if text else None
    chosen, mine = read_numbers(layers, "--layers"), read_numbers(heads, "--heads")
    with TALK.status(f"loading {model}"):
        loaded = load_model(model, device=device, dtype=dtype)
    if given is None and ids is None and model.startswith(BUILT_IN):
        ids = TOKENS
    if explain is not None:
        _explain(loaded, explain, given, ids, max_length, seed, json)
        return
    keep, reason = cache_folder(), why_not_kept(cache_folder())
    if reason is not None:
        say(f"{keep}: finished parts cannot be kept there ({reason}), so this audit cannot be resumed if it is killed.")
    removed = 0 if resume else remove_stale(keep)
    if removed:
        said = "an unfinished audit" if removed == 1 else f"{removed} unfinished audits"
        say(f"Removed parts of {said} in {keep} that nothing was added to for {STALE_DAYS} days.")
    cluster = Cluster(Source(model, device, dtype), scheduler)
    with resumable(), progress(f"auditing {loaded.name}") as fraction:
        found = run(
            loaded, text=given, text_name=_text_names(text, tokens), tokens=ids, max_length=max_length,
            layers=chosen, heads_wanted=mine, seed=seed, command=shlex.join(["headwright", *sys.argv[1:]]),
            progress=fraction, engine=cluster if engine == "dask" else here, keep=keep if reason is None else None,
            resume=resume, every_text=not no_every_text,
        )  # fmt: skip
    if json:
        from headwright.models.report.data import data

        show_json(data(found))
    else:
        _show(found)
    if out is not None:
        from headwright.files import write_whole
        from headwright.models.report.data import written
        from headwright.models.report.page import page

        write_whole(out, page(found).encode() if out.suffix in (".html", ".htm") else written(found, out.suffix))
        say(f"The report is in {out}.")
    if plot is not None:
        from headwright.models.report.page import picture

        save_picture(plot, picture(found))


def _text_names(text: list[Path] | None, tokens: str | None) -> str | list[str]:
    """What is measured on, by its name without the folder: the texts, or the file of tokens."""
    if not text:
        return Path(tokens or "the text").name
    names = [path.name for path in text]
    if len(set(names)) < len(names):
        names = [str(path) for path in text]
    return names


def _tokens(given: str) -> int | np.ndarray:
    """How many random tokens, or the ids in a file."""
    if given.isascii() and given.isdigit():
        return int(given)
    if not given.endswith(".npy"):
        raise InputError(f"--tokens {given}: expected a number, or a .npy file of token ids")
    from headwright.files import read_array

    ids = read_array(given, what="token ids")
    whole = ids.astype("int64")
    if (whole != ids).any():
        raise InputError(f"--tokens {given}: holds {ids[whole != ids][0]:g}, expected whole numbers")
    return whole


def _show(found: Audit) -> None:
    from rich.markup import escape
    from rich.table import Table

    from headwright.models.report.page import columns
    from headwright.models.report.sentences import sentences

    OUT.print(f"[bold]{escape(found.title)}[/]: {found.headline}", highlight=False)
    for line in sentences(found):
        show_line(f"- {line}")
    for what, why in found.not_measured.items():
        show_line(f"- Not measured: {what}; {why}.")
    shown = [column for column in columns(found) if column.short in ON_SCREEN]
    table = Table(box=None, pad_edge=False)
    for name, unit in (
        ("head", ""),
        *((SCREEN_NAMES.get(column.short, column.short), column.unit) for column in shown),
    ):
        table.add_column(f"{name}\n{unit}", no_wrap=True, justify="right", min_width=max(len(name), len(unit)))
    table.add_column("what it does")
    told = [head for head in found.heads if head.roles] if len(found.heads) > MOST_LINES else list(found.heads)
    for head in told[:MOST_LINES]:
        values = [column.value(head) for column in shown]
        numbers = [
            "-" if value is None else f"{value:{column.shown}}" for value, column in zip(values, shown, strict=True)
        ]
        table.add_row(head.name, *numbers, ", ".join(role.short_label for role in head.roles))
    OUT.print()
    OUT.print(table)
    rest = len(found.heads) - len(told[:MOST_LINES])
    if rest:
        show_line(f"and {rest} more heads: --out report.html and --json have them all")
    show_line(
        "Floating-point means over rows, away from the first token but for 'first'; ?: the interval reaches below half."
    )
    show_line(found.intervals)


ON_SCREEN = ("first", "prev.", "self", "induct.", "long ind.", "entropy", "ball", "int4", "QK", "OV")  # of 80 columns
SCREEN_NAMES = {"long ind.": "long"}


def _explain(
    model: Model, head: str, text: list[str] | None, tokens: int | np.ndarray | None, max_length: int | None, seed: int,
    json: bool,
) -> None:  # fmt: skip
    from dataclasses import asdict

    from headwright.models.documents import default_texts, repeated_documents, text_documents
    from headwright.models.explain import explain, parse_head

    layer, number = parse_head(head, model)
    documents: list[Document]
    if isinstance(tokens, int):
        documents = repeated_documents(model, tokens=tokens, length=max_length, seed=seed, everything=True)
    else:
        looked = tokens if tokens is not None else (text or default_texts())[0]
        documents = text_documents(model, looked, "the text", max_length)
    found = explain(model, documents[0], layer, number)
    if json:
        show_json(asdict(found))
    else:
        _show_rows(found)


def _show_rows(found: Explained) -> None:
    OUT.print(f"[bold]head {found.layer}.{found.head}[/] on {found.document}", highlight=False)
    for row in found.rows:
        OUT.print()
        show_line(f"row {row.position}: {' '.join(row.before)} > {row.token}")
        for key in row.best:
            show_line(f"  {key.position:6}  {key.weight:6.3f}  score {key.score:8.3f}  {key.token}")
        show_line(f"  {_told(row)}")


def _told(row: Row) -> str:
    from headwright.enclosure import shown_above, shown_below

    short = row.shortest
    if short is None or short.own is None:
        return "no query was asked for"
    if short.length is None or short.bound is None:
        return f"the shortest query that would do the same: {short.verdict} ({short.words})"
    return (
        f"the shortest query that gives key {row.best[0].position} as much has length "
        f"{shown_above(short.length, DIGITS)} (verified; none below {shown_below(short.bound, DIGITS)} does), "
        f"the head's own {short.own:.4g}"
    )
