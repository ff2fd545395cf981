"""Audit a model: documents, work, findings, and the result as data.

documents           what the model is run on
engine              the model runs, and each layer of each document becomes a summary
measures            what is measured, and how
head_findings       from the merged summary to what was found about each head
explain             examples: heads worth a look, with rows that show why
every_text_summary  what is proven of the first layer, for every text
report              the same numbers as a page, as JSON, as tables, and in plain words
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from headwright.argument_types import check_argument
from headwright.auditing.documents import (
    Document,
    default_texts,
    draws_of,
    induction_documents,
    repeated_documents,
    repeated_tokens,
    text_documents,
)
from headwright.auditing.engine.local import run_locally
from headwright.auditing.engine.part_store import PartStore, open_store
from headwright.auditing.engine.plan import Plan, Progress
from headwright.auditing.every_text_summary import FirstLayerBounds, first_layer_bounds
from headwright.auditing.explain import find_examples
from headwright.auditing.head_findings import conclude_heads
from headwright.auditing.measures.key_ranges import prove_sizes
from headwright.auditing.measures.shuffling import measure_order
from headwright.auditing.measures.summary import Summary
from headwright.auditing.report.data import (
    TableRow,
    audit_to_dict,
    encode_audit,
    head_table,
)
from headwright.auditing.report.sentences import summary_card, summary_lines
from headwright.auditing.result import AuditResult
from headwright.errors import InputError
from headwright.extras import require
from headwright.files import write_whole
from headwright.models.load import load_model
from headwright.models.model import Model, Tokens, check_model

Engine = Callable[[Model, Plan, Progress | None, PartStore | None], Summary]

# About where these parts of the work end, for a bar that is true.
END_OF_RUNS = 0.7
END_OF_ORDER = 0.75
END_OF_EXAMPLES = 0.8
PAGE_SUFFIXES = (".html", ".htm")
TABLE_SUFFIXES = (".json", ".csv", ".parquet")
PICTURE_SUFFIXES = (".svg", ".png", ".pdf")
LIBRARIES = ("headwright", "numpy", "torch", "transformers", "safetensors")


class Audit(AuditResult):
    """What was found, and on what, with what people do with it; `report.page` has all of it as a page.

    >>> from headwright.models import load_model
    >>> result = audit(load_model("builtin:induction"), tokens=400)
    >>> result.shape, len(result.heads)
    ((2, 2), 4)
    """

    def to_dict(self) -> dict[str, Any]:
        """All numbers, with what each name means: text, numbers, lists and None only, as --json prints them."""
        return audit_to_dict(self)

    def table(self) -> list[TableRow]:
        """A line for each head, by the names of its columns: for `pandas.DataFrame(result.table())` and others.

        The columns are those of a .csv file: the place of the head and its roles, each measure with the ends of its
        interval (`sink`, `sink_low`, `sink_high`), and how much it was measured on. What could not be measured is None.
        """
        return head_table(self)

    def save(self, path: str | Path) -> None:
        """Write a file, whose suffix says what is in it.

        `.html` is the report, `.json` all numbers, `.csv` and `.parquet` the table, and `.svg`, `.png` and `.pdf` are
        its picture.
        """
        check_argument("path", path, str | Path)
        suffix = Path(path).suffix
        if suffix in TABLE_SUFFIXES:
            write_whole(path, encode_audit(self, suffix))
        elif suffix in PAGE_SUFFIXES:
            require("plots", "a report as .html")
            from headwright.auditing.report.page import page

            write_whole(path, page(self).encode())
        elif suffix in PICTURE_SUFFIXES:
            require("plots", "a picture of an audit")
            from headwright.auditing.report.page import audit_picture
            from headwright.pictures import render

            write_whole(path, render(audit_picture(self), suffix))
        else:
            known = (*PAGE_SUFFIXES, *TABLE_SUFFIXES, *PICTURE_SUFFIXES)
            raise InputError(
                f"{path}: has the suffix '{suffix}', expected one of {', '.join(known)}"
            )

    def __repr__(self) -> str:
        """The summary in a few lines."""
        return summary_lines(self)

    def _repr_html_(self) -> str:
        """For notebooks: the same as a card."""
        return summary_card(self)


@dataclass(frozen=True)
class AuditOptions:
    """What is asked of an audit; `audit` says what each of them means.

    >>> AuditOptions(tokens=400).max_length is None
    True
    """

    text: str | Sequence[str] | None = None
    text_name: str | Sequence[str] = "the text"
    tokens: int | Tokens | None = None
    max_length: int | None = None
    layers: Sequence[int] | None = None
    heads: Sequence[int] | None = None
    seed: int = 0
    command: str = "headwright.audit(...)"
    progress: Progress | None = None
    engine: Engine = run_locally
    keep: Path | None = None
    resume: bool = False
    every_text: bool = True

    def __post_init__(self) -> None:
        check_argument("text", self.text, str | Sequence[str] | None)
        check_argument("max_length", self.max_length, int | None)
        check_argument("layers", self.layers, Sequence[int] | None)
        check_argument("heads", self.heads, Sequence[int] | None)
        check_argument("seed", self.seed, int)
        check_argument("keep", self.keep, Path | None)

    def report_progress(self, done: float) -> None:
        """Say how much of the work is done, to who wants to know."""
        if self.progress is not None:
            self.progress(done)


def audit(
    model: Model,
    *,
    text: str | Sequence[str] | None = None,
    text_name: str | Sequence[str] = "the text",
    tokens: int | Tokens | None = None,
    max_length: int | None = None,
    layers: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
    seed: int = 0,
    command: str = "headwright.audit(...)",
    progress: Progress | None = None,
    engine: Engine = run_locally,
    keep: Path | None = None,
    resume: bool = False,
    every_text: bool = True,
) -> Audit:
    """What every head of a model does: on texts (or the default ones), on token ids, or on random ones that repeat.

    Several texts are several documents, and at least 8 give intervals; `text_name` then has a name for each of them.
    `tokens` is an array of token ids, or how many random ones; with `max_length`, each document of them is so long.

    The model is what `load_model` gives, or a model of transformers that is in memory; a text needs its tokenizer:
    audit(load_model(model, tokenizer=tokenizer)).

    Finished parts are stored in the folder `keep` until the audit is done; with `resume`, those that an audit left
    there that did not come to its end are taken instead of being measured again. What is proven for every text takes
    up to half a minute where the vocabulary is large; `every_text=False` leaves it out.

    >>> from headwright.models import load_model
    >>> result = audit(load_model("builtin:induction"), tokens=400)
    >>> sorted(role.name for head in result.heads for role in head.roles if role.name == "induction")[:1]
    ['induction']
    """
    options = AuditOptions(
        text=text,
        text_name=text_name,
        tokens=tokens,
        max_length=max_length,
        layers=layers,
        heads=heads,
        seed=seed,
        command=command,
        progress=progress,
        engine=engine,
        keep=keep,
        resume=resume,
        every_text=every_text,
    )
    return run_audit(model, options)


def run_audit(model: Model, options: AuditOptions) -> Audit:
    """The audit of a model with these options."""
    if hasattr(model, "named_parameters"):
        model = load_model(model)
    check_model(model)
    date = report_date()
    # What is measured, and on what: all that can be refused is refused before the work begins.
    layers = _select(options.layers, model.layers, "layer")
    heads = _select(options.heads, model.heads, "head")
    inputs = read_inputs(model, options)
    circuits = look_at_circuits(model, layers[0])
    plan = Plan(inputs.documents, layers, circuits.missing)
    store = open_store(options.keep, model, plan, resume=options.resume)

    # The runs of the model, which give sums over rows; and the runs on shuffled tokens.
    totals = options.engine(
        model, plan, lambda done: options.report_progress(END_OF_RUNS * done), store
    )
    first = plan.documents[0]
    order = measure_order(model, first.tokens, first.opening, layers, options.seed)
    totals = totals + order.summary
    sizes = prove_sizes(model, layers)
    totals = totals + sizes.summary
    options.report_progress(END_OF_ORDER)
    # From the sums to what is reported of each head.
    measured = [document for document in plan.documents if document.everything]
    repeated = repeated_tokens(plan.documents)
    findings = conclude_heads(totals, layers, heads, draws_of(measured), repeated)
    # What is shown beside the numbers: examples, and proofs about the first layer.
    examples = find_examples(model, plan.documents, findings)
    options.report_progress(END_OF_EXAMPLES)
    bounds = prove_every_text(model, layers, heads, first, options)
    options.report_progress(1.0)
    # Nothing is left to be resumed.
    store.clear()
    return Audit(
        model=model.name,
        title=title_of(model.name),
        digest=model.digest,
        shape=(model.layers, model.heads),
        layers=layers,
        documents=plan.documents,
        text=inputs.name,
        text_digest=inputs.text_digest,
        seed=options.seed,
        heads=findings,
        order=order,
        not_measured=circuits.not_measured | sizes.not_measured,
        circuits_leave_out=circuits.notes,
        cache=sizes.sentence,
        examples=examples,
        every_text=bounds,
        command=options.command,
        date=date,
        versions=library_versions(),
    )


@dataclass(frozen=True, eq=False)
class AuditInputs:
    """The documents of an audit, and the text that they are from."""

    documents: tuple[Document, ...]
    name: str | None  # of the text; None for random tokens
    text_digest: str | None


def read_inputs(model: Model, options: AuditOptions) -> AuditInputs:
    """The documents: of texts, of token ids, or of random tokens; and random tokens for induction."""
    tokens = options.tokens
    if isinstance(tokens, str | bytes | float):
        raise InputError(
            f"tokens is {tokens!r}: expected a whole number, or an array of token ids",
            field="tokens",
        )
    if options.text is not None and tokens is not None:
        raise InputError("a text and tokens: expected one of them")
    length = options.max_length
    name: str | None = None
    text_digest: str | None = None
    documents: list[Document] = []
    if isinstance(tokens, int):
        documents += repeated_documents(
            model, tokens=tokens, length=length, seed=options.seed, everything=True
        )
    elif tokens is not None:
        name = str(options.text_name)
        documents += text_documents(model, np.asarray(tokens), name, length)
    else:
        texts = _texts(options.text)
        names = _text_names(options, len(texts))
        name = _name_of_all(options, names)
        text_digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()
        for text, text_name in zip(texts, names, strict=True):
            documents += text_documents(model, text, text_name, length)
    documents += induction_documents(
        model, length=length, seed=options.seed, measured=documents
    )
    return AuditInputs(tuple(documents), name, text_digest)


def _texts(text: str | Sequence[str] | None) -> tuple[str, ...]:
    """The texts that were given, or the default ones."""
    if text is None:
        return default_texts()
    return (text,) if isinstance(text, str) else tuple(text)


def _text_names(options: AuditOptions, count: int) -> list[str]:
    """A name for each text."""
    names = options.text_name
    if options.text is None:
        return [f"default text {number}" for number in range(1, count + 1)]
    if not isinstance(names, str):
        if len(names) != count:
            raise InputError(
                f"{count} texts and {len(names)} names of texts: expected a name for each text"
            )
        return list(names)
    if count == 1:
        return [names]
    return [f"{names} {number}" for number in range(1, count + 1)]


def _name_of_all(options: AuditOptions, names: Sequence[str]) -> str:
    """One name for all texts."""
    if options.text is None:
        return f"the {len(names)} default texts"
    if len(names) == 1:
        return names[0]
    return f"{len(names)} texts ({names[0]}, ..., {names[-1]})"


@dataclass(frozen=True)
class CircuitsInfo:
    """Whether the weights of a model can be looked at, and what they leave out."""

    notes: tuple[str, ...] = ()
    missing: str | None = None  # why they cannot

    @property
    def not_measured(self) -> dict[str, str]:
        """The measures that are missing, and why."""
        return {} if self.missing is None else {"rank, output share": self.missing}


def look_at_circuits(model: Model, layer: int) -> CircuitsInfo:
    """What the matrices of a head leave out; or why there are none."""
    try:
        return CircuitsInfo(notes=model.circuits(layer).notes)
    except InputError as error:
        return CircuitsInfo(missing=str(error))


def prove_every_text(
    model: Model,
    layers: Sequence[int],
    heads: Sequence[int],
    document: Document,
    options: AuditOptions,
) -> FirstLayerBounds:
    """Bounds over every text, if they were asked for; the document has the tokens that a row may have."""
    if not options.every_text:
        return FirstLayerBounds(missing="it was not asked for")

    def report(done: float) -> None:
        options.report_progress(END_OF_EXAMPLES + (1 - END_OF_EXAMPLES) * done)

    return first_layer_bounds(
        model, layers, heads, text=document.tokens, progress=report
    )


def title_of(name: str) -> str:
    """The name of a model for a title: of a file or folder the last part, and a hub id as it is.

    >>> title_of("../models/SmolLM2.gguf"), title_of("HuggingFaceTB/SmolLM2-135M"), title_of("builtin:induction")
    ('SmolLM2.gguf', 'HuggingFaceTB/SmolLM2-135M', 'builtin:induction')
    """
    path = Path(name)
    hub_id = name.count("/") == 1 and not name.startswith((".", "/", "~"))
    if hub_id and not path.exists():
        return name
    if path.name in ("", ".."):
        path = path.resolve()
    return path.name or name


def report_date() -> str:
    """The date of the report; SOURCE_DATE_EPOCH (seconds since 1970), if set, makes reports reproducible."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    moment = datetime.now(UTC)
    if epoch:
        try:
            moment = datetime.fromtimestamp(int(epoch), UTC)
        except (ValueError, OverflowError, OSError) as error:
            raise InputError(
                f"SOURCE_DATE_EPOCH is {epoch!r}: expected seconds since 1970, a whole number"
            ) from error
    return moment.strftime("%Y-%m-%d %H:%M UTC")


def library_versions() -> dict[str, str]:
    """The versions of Python and of the libraries that numbers come from, as far as they are installed."""
    versions = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


def _select(wanted: Sequence[int] | None, count: int, what: str) -> tuple[int, ...]:
    """The numbers of the layers or heads that are wanted, all of them unless some are given."""
    if wanted is None:
        return tuple(range(count))
    for number in wanted:
        if not 0 <= number < count:
            raise InputError(f"there is no {what} {number}: expected 0 to {count - 1}")
    if not wanted:
        raise InputError(f"no {what}: expected at least one of 0 to {count - 1}")
    return tuple(sorted(set(wanted)))
