"""headwright audit."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
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
from headwright.extras import require

if TYPE_CHECKING:
    import numpy as np
    from rich.table import Table

    from headwright.auditing.auditor import Audit, AuditOptions, Engine
    from headwright.auditing.documents import Document
    from headwright.auditing.explain import ExplainedHead, ExplainedRow
    from headwright.auditing.head_findings import HeadFindings
    from headwright.auditing.report.columns import Column
    from headwright.models.model import Model

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
            metavar="<path>",
            help="Measure on this text (- for standard input); give several, 8 or more for intervals.",
        ),
    ] = None,
    tokens: Annotated[
        str | None,
        typer.Option(
            metavar="N|FILE",
            help="Measure on N random tokens, repeated, or on token ids (.npy).",
        ),
    ] = None,
    max_length: Annotated[
        int | None, typer.Option(help="Cut documents to this many tokens.")
    ] = None,
    layers: Layers = None,
    heads: HeadNumbers = None,
    device: DeviceName = "cpu",
    dtype: DTypeName = None,
    explain: Annotated[
        str | None,
        typer.Option(
            metavar="LAYER.HEAD", help="Explain rows of this head, and write no report."
        ),
    ] = None,
    no_every_text: Annotated[
        bool,
        typer.Option(
            "--no-every-text", help="Leave out what is proven for every text."
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the result (.html, .json, .csv, .parquet)."),
    ] = None,
    plot: Plot = None,
    engine: EngineName = "local",
    scheduler: Scheduler = None,
    resume: Resume = False,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Measure what every head of a model attends to, with margins, robustness and ranks."""
    from headwright.auditing.auditor import AuditOptions, run_audit
    from headwright.models import load_model

    if text and tokens is not None:
        raise InputError("--text and --tokens: expected one of them")
    check_engine(engine, scheduler)
    _check_out(out)
    check_picture(plot)
    token_ids = None if tokens is None else _read_tokens(tokens)
    texts = [read_text(path, "text") for path in text] if text else None
    chosen_layers = read_numbers(layers, "--layers")
    chosen_heads = read_numbers(heads, "--heads")
    with TALK.status(f"loading {model}"):
        loaded = load_model(model, device=device, dtype=dtype)
    if texts is None and token_ids is None and model.startswith(BUILT_IN):
        token_ids = TOKENS
    options = AuditOptions(
        text=texts,
        text_name=_text_names(text, tokens),
        tokens=token_ids,
        max_length=max_length,
        layers=chosen_layers,
        heads=chosen_heads,
        seed=seed,
        command=shlex.join(["headwright", *sys.argv[1:]]),
        engine=_choose_engine(engine, model, device, dtype, scheduler),
        resume=resume,
        every_text=not no_every_text,
    )
    if explain is not None:
        _explain(loaded, explain, options, json)
        return
    options = replace(options, keep=_writable_cache(resume))
    with resumable(), progress(f"auditing {loaded.name}") as fraction:
        result = run_audit(loaded, replace(options, progress=fraction))
    if json:
        show_json(result.to_dict())
    else:
        _show(result)
    if out is not None:
        _write(result, out)
    if plot is not None:
        from headwright.auditing.report.page import audit_picture

        save_picture(plot, audit_picture(result))


def _check_out(out: Path | None) -> None:
    """Refuse a file that could not be written at the end."""
    if out is not None and out.suffix not in OUTS:
        raise InputError(
            f"--out {out}: has the suffix '{out.suffix}', expected one of {', '.join(OUTS)}"
        )
    if out is not None and out.suffix == ".parquet" and find_spec("pyarrow") is None:
        from headwright.files import no_parquet

        raise no_parquet()
    if out is not None and out.suffix in (".html", ".htm"):
        require("plots", "a report as .html")
    check_writable(out, "--out")


def _choose_engine(
    name: EngineName,
    model: str,
    device: DeviceName,
    dtype: DTypeName,
    scheduler: str | None,
) -> Engine:
    """What runs the pieces of the work: this process, or the workers of a scheduler."""
    from headwright.auditing.engine.cluster import Cluster
    from headwright.auditing.engine.local import run_locally
    from headwright.models.source import Source

    if name == "dask":
        return Cluster(Source(model, device, dtype), scheduler)
    return run_locally


def _writable_cache(resume: bool) -> Path | None:
    """The folder for finished parts, without those that nobody resumed for long; None if it cannot be written to."""
    from headwright.auditing.engine.part_cache import (
        STALE_DAYS,
        cache_folder,
        remove_stale,
    )
    from headwright.auditing.engine.part_store import why_not_writable

    folder = cache_folder()
    reason = why_not_writable(folder)
    if reason is not None:
        say(
            f"{folder}: finished parts cannot be kept there ({reason}), so this audit cannot be resumed if it is "
            "killed."
        )
    removed = 0 if resume else remove_stale(folder)
    if removed:
        audits = (
            "an unfinished audit" if removed == 1 else f"{removed} unfinished audits"
        )
        say(
            f"Removed parts of {audits} in {folder} that nothing was added to for {STALE_DAYS} days."
        )
    return folder if reason is None else None


def _text_names(text: list[Path] | None, tokens: str | None) -> str | list[str]:
    """What is measured on, by its name without the folder: the texts, or the file of tokens."""
    if not text:
        return Path(tokens or "the text").name
    names = [path.name for path in text]
    if len(set(names)) < len(names):
        return [str(path) for path in text]
    return names


def _read_tokens(text: str) -> int | np.ndarray:
    """How many random tokens, or the ids in a file."""
    if text.isascii() and text.isdigit():
        return int(text)
    if not text.endswith(".npy"):
        raise InputError(
            f"--tokens {text}: expected a number, or a .npy file of token ids"
        )
    from headwright.files import read_array

    ids = read_array(text, what="token ids")
    whole = ids.astype("int64")
    if (whole != ids).any():
        raise InputError(
            f"--tokens {text}: holds {ids[whole != ids][0]:g}, expected whole numbers"
        )
    return whole


def _write(result: Audit, out: Path) -> None:
    from headwright.auditing.report.data import encode_audit
    from headwright.auditing.report.page import page
    from headwright.files import write_whole

    if out.suffix in (".html", ".htm"):
        write_whole(out, page(result).encode())
    else:
        write_whole(out, encode_audit(result, out.suffix))
    say(f"The report is in {out}.")


def _show(result: Audit) -> None:
    """The summary, and a table of as many heads as fit."""
    from rich.markup import escape

    from headwright.auditing.report.columns import table_columns
    from headwright.auditing.report.sentences import (
        describe_intervals,
        headline,
        sentences,
    )

    OUT.print(f"[bold]{escape(result.title)}[/]: {headline(result)}", highlight=False)
    for line in sentences(result):
        show_line(f"- {line}")
    for what, why in result.not_measured.items():
        show_line(f"- Not measured: {what}; {why}.")
    columns = [column for column in table_columns(result) if column.display.terminal]
    heads = list(result.heads)
    if len(heads) > MOST_LINES:
        heads = [head for head in heads if head.roles][:MOST_LINES]
    OUT.print()
    OUT.print(_head_table(columns, heads))
    rest = len(result.heads) - len(heads)
    if rest:
        show_line(f"and {rest} more heads: --out report.html and --json have them all")
    show_line(
        "Floating-point means over rows, away from the first token but for 'first'; ?: the interval reaches below half."
    )
    show_line(describe_intervals(result))


def _head_table(columns: Sequence[Column], heads: Sequence[HeadFindings]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    titles = [("head", "")]
    titles += [(column.display.heading, column.unit) for column in columns]
    for heading, unit in titles:
        table.add_column(
            f"{heading}\n{unit}",
            no_wrap=True,
            justify="right",
            min_width=max(len(heading), len(unit)),
        )
    table.add_column("what it does")
    for head in heads:
        numbers = [column.text(head, missing="-") for column in columns]
        roles = ", ".join(role.short_label for role in head.roles)
        table.add_row(head.name, *numbers, roles)
    return table


def _explain(model: Model, name: str, options: AuditOptions, json: bool) -> None:
    """Rows of one head, on the first document of what was asked for."""
    from dataclasses import asdict

    from headwright.auditing.explain import explain, parse_head

    layer, head = parse_head(name, model)
    document = _document_to_explain(model, options)
    explained = explain(model, document, layer, head)
    if json:
        show_json(asdict(explained))
    else:
        _show_rows(explained)


def _document_to_explain(model: Model, options: AuditOptions) -> Document:
    from headwright.auditing.documents import (
        default_texts,
        repeated_documents,
        text_documents,
    )

    length = options.max_length
    if isinstance(options.tokens, int):
        documents = repeated_documents(
            model,
            tokens=options.tokens,
            length=length,
            seed=options.seed,
            everything=True,
        )
    elif options.tokens is not None:
        documents = text_documents(model, options.tokens, "the text", length)
    else:
        text = (options.text or default_texts())[0]
        documents = text_documents(model, text, "the text", length)
    return documents[0]


def _show_rows(explained: ExplainedHead) -> None:
    OUT.print(
        f"[bold]head {explained.layer}.{explained.head}[/] on {explained.document}",
        highlight=False,
    )
    for row in explained.rows:
        OUT.print()
        show_line(f"row {row.position}: {' '.join(row.before)} > {row.token}")
        for key in row.best:
            show_line(
                f"  {key.position:6}  {key.weight:6.3f}  score {key.score:8.3f}  {key.token}"
            )
        show_line(f"  {_shortest_query(row)}")


def _shortest_query(row: ExplainedRow) -> str:
    from headwright.numerics.enclosure import shown_above, shown_below

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
