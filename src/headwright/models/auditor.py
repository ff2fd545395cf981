"""Audit a model: documents, work, findings, and the result as data.

documents           what the model is read on
engine              the model runs, and each layer of each document becomes a summary
findings            from the merged summary to what is said of each head
explain             heads worth looking at, with rows that show why
every_text_summary  what is proven of the first layer, for every text
report              the same numbers as a page, and the summary in plain words
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from headwright.cards import card, lines
from headwright.errors import InputError, typed_errors
from headwright.models.documents import Document, default_text, repeated_documents, text_documents
from headwright.models.engine.work import PartFiles, Plan, Progress, run
from headwright.models.every_text_summary import FirstLayerBounds, first_layer_bounds
from headwright.models.explain import Example, gallery
from headwright.models.findings.heads import Head, heads
from headwright.models.findings.shuffling import Order, order
from headwright.models.findings.summary import Summary
from headwright.models.loading.load import load_model
from headwright.models.loading.model import Model, Tokens
from headwright.models.report.data import data
from headwright.models.report.sentences import sentences

ENGINE, GALLERY = 0.7, 0.8  # about where these parts of the work end, for a bar that tells the truth
Engine = Callable[[Model, Plan, Progress | None, PartFiles | None], Summary]
LIBRARIES = ("headwright", "numba", "numpy", "torch", "transformers", "safetensors")


@dataclass(frozen=True, eq=False)
class Audit:
    """What was found, and on what. `report.data` has every number, and a page shows the same ones.

    >>> from headwright.models.loading import load_model
    >>> found = audit(load_model("builtin:induction"), tokens=400)
    >>> found.shape, len(found.heads)
    ((2, 2), 4)
    """

    model: str
    digest: str
    shape: tuple[int, int]  # layers and heads of the model
    layers: tuple[int, ...]  # those looked at
    documents: tuple[Document, ...]
    text: str | None  # the name of the text; None if all documents are random tokens
    text_digest: str | None
    seed: int
    heads: tuple[Head, ...]
    order: Order
    not_measured: dict[str, str]  # what is missing, and why
    circuits_leave_out: tuple[str, ...]
    examples: tuple[Example, ...]
    every_text: FirstLayerBounds
    command: str
    date: str
    versions: dict[str, str]

    @property
    def title(self) -> str:
        """The name of the model, without the folder of a file."""
        return PurePath(self.model).name if PurePath(self.model).is_absolute() else self.model

    @property
    def context(self) -> int:
        """How many tokens the longest document has, of those that everything is measured on."""
        return max(len(document.tokens) for document in self.documents if document.everything)

    @property
    def headline(self) -> str:
        """The number of heads, of rows, and the length of the context."""
        return f"{len(self.heads)} heads, {self.rows} rows each, contexts of up to {self.context} tokens"

    def to_dict(self) -> dict[str, Any]:
        """All numbers, with what each name means: text, numbers, lists and None only, as --json prints them."""
        return data(self)

    @property
    def rows(self) -> int:
        """How many rows of each head the text, or what stands for it, has."""
        mean = self.heads[0].means.get("sink") if self.heads else None
        return 0 if mean is None else mean.rows

    def _shown(self, show: Callable[[str, str, list[tuple[str, str]]], str]) -> str:
        told = [(str(number), line) for number, line in enumerate(sentences(self), 1)]
        return show("audited", f"{self.title}: {self.headline}.", told)

    def __repr__(self) -> str:
        """The summary in a few lines; `report.page` has all of it."""
        return self._shown(lines)

    def _repr_html_(self) -> str:
        """For notebooks: the same as a card."""
        return self._shown(card)


@typed_errors
def audit(
    model: Model,
    *,
    text: str | None = None,
    text_name: str = "the text",
    tokens: int | Tokens | None = None,
    max_length: int | None = None,
    layers: Sequence[int] | None = None,
    heads_wanted: Sequence[int] | None = None,
    seed: int = 0,
    command: str = "headwright.audit(...)",
    progress: Progress | None = None,
    engine: Engine = run,
    keep: Path | None = None,
    resume: bool = False,
    every_text: bool = True,
) -> Audit:
    """What every head of a model does: on a text (or the default one), on token ids, or on random ones that repeat.

    `tokens` is an array of token ids, or how many random ones; with `max_length`, each document of them is so long.

    The model is what `load_model` gives, or a model of transformers that is in memory; a text needs its tokenizer:
    audit(load_model(model, tokenizer=tokenizer)).

    Finished parts are kept in the folder `keep` until the audit is done; with `resume`, those that an audit left there
    that did not come to its end are taken instead of being measured again. What is proven for every text takes up to
    half a minute where the vocabulary is large; `every_text=False` leaves it out.

    >>> from headwright.models.loading import load_model
    >>> found = audit(load_model("builtin:induction"), tokens=400)
    >>> sorted(role.name for head in found.heads for role in head.roles if role.name == "induction")[:1]
    ['induction']
    """
    if isinstance(model, str):
        raise InputError(f"the model is {model!r}: expected load_model({model!r})")
    if hasattr(model, "named_parameters"):
        model = load_model(model)
    if isinstance(tokens, str | bytes | float):
        raise InputError(f"tokens is {tokens!r}: expected a whole number, or an array of token ids")
    given = None if tokens is None or isinstance(tokens, int) else np.asarray(tokens)
    if text is not None and tokens is not None:
        raise InputError("a text and tokens: expected one of them")
    date = _date()
    chosen = _chosen(layers, model.layers, "layer")
    mine = _chosen(heads_wanted, model.heads, "head")
    name: str | None = None
    if isinstance(tokens, int):
        documents = repeated_documents(model, tokens=tokens, length=max_length, seed=seed, everything=True)
    else:
        name = text_name
        if text is None and given is None:
            name, text = "the default text", default_text()
        documents = text_documents(model, text if text is not None else np.asarray(given), name, max_length)
        documents += repeated_documents(model, length=max_length, seed=seed)
    notes, no_circuits = _circuits(model, chosen[0])
    plan = Plan(tuple(documents), chosen, model.heads, no_circuits)
    tell = progress or (lambda _: None)
    kept = PartFiles(None) if keep is None else PartFiles.of(keep, model, plan, resume=resume)
    found = heads(engine(model, plan, lambda done: tell(ENGINE * done), kept), chosen, mine)
    shuffled = order(model, documents[0].tokens, documents[0].opening, chosen, seed)
    tell((GALLERY + ENGINE) / 2)
    examples = gallery(model, plan.documents, found)
    tell(GALLERY)
    proven = (
        first_layer_bounds(
            model, chosen, mine, text=documents[0].tokens, progress=lambda d: tell(GALLERY + (1 - GALLERY) * d)
        )
        if every_text
        else FirstLayerBounds(missing="it was not asked for")
    )
    tell(1.0)
    kept.clear()
    return Audit(
        model.name, model.digest, (model.layers, model.heads), chosen, plan.documents, name,
        None if text is None else hashlib.sha256(text.encode()).hexdigest(), seed, found, shuffled,
        {} if no_circuits is None else {"rank, share": no_circuits}, notes, examples, proven, command, date,
        _versions(),
    )  # fmt: skip


def _date() -> str:
    """The date of the report; SOURCE_DATE_EPOCH (seconds since 1970), if set, makes reports reproducible."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        moment = datetime.now(UTC) if not epoch else datetime.fromtimestamp(int(epoch), UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InputError(f"SOURCE_DATE_EPOCH is {epoch!r}: expected seconds since 1970, a whole number") from error
    return moment.strftime("%Y-%m-%d %H:%M UTC")


def _circuits(model: Model, layer: int) -> tuple[tuple[str, ...], str | None]:
    """What the matrices of a head leave out; and why there are none, if there are none."""
    try:
        return model.circuits(layer).notes, None
    except InputError as error:
        return (), str(error)


def _chosen(wanted: Sequence[int] | None, count: int, what: str) -> tuple[int, ...]:
    if wanted is None:
        return tuple(range(count))
    for number in wanted:
        if not 0 <= number < count:
            raise InputError(f"there is no {what} {number}: expected 0 to {count - 1}")
    if not wanted:
        raise InputError(f"no {what}: expected at least one of 0 to {count - 1}")
    return tuple(sorted(set(wanted)))


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
