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
from pathlib import Path
from typing import Any

import numpy as np

from headwright.cards import card, lines
from headwright.errors import InputError, typed_errors
from headwright.models.documents import (
    Document,
    default_texts,
    draws_of,
    induction_documents,
    repeated_documents,
    repeated_tokens,
    text_documents,
)
from headwright.models.engine.work import PartFiles, Plan, Progress, run
from headwright.models.every_text_summary import FirstLayerBounds, first_layer_bounds
from headwright.models.explain import Example, gallery
from headwright.models.findings.heads import Head, heads
from headwright.models.findings.shuffling import Order, order
from headwright.models.findings.summary import Draws, RepeatedTokens, Summary
from headwright.models.loading.load import load_model
from headwright.models.loading.model import Model, Tokens
from headwright.models.report.data import data
from headwright.models.report.sentences import sentences

ENGINE, GALLERY = 0.7, 0.8  # about where these parts of the work end, for a bar that tells the truth
Engine = Callable[[Model, Plan, Progress | None, PartFiles | None], Summary]
INDUCTION_WORDS = {"induction": "induction", "induction_long": "long induction"}
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
    title: str  # the model's name without the folders that lead to it
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
    def context(self) -> int:
        """How many tokens the longest document has, of those that everything is measured on."""
        return max(len(document.tokens) for document in self.documents if document.everything)

    @property
    def measured_documents(self) -> int:
        """How many documents there are that everything is measured on."""
        return sum(document.everything for document in self.documents)

    @property
    def headline(self) -> str:
        """The number of heads, of rows, and the length of the contexts; induction has contexts of its own."""
        lengths = " and ".join(str(tokens.context) for tokens in self.induction.values())
        return (
            f"{len(self.heads)} heads, {self.rows} rows each, contexts of up to {self.context} tokens; induction in "
            f"contexts of {lengths} tokens"
        )

    @property
    def induction(self) -> dict[str, RepeatedTokens]:
        """The random tokens that induction was measured on, by the name of the measure."""
        return repeated_tokens(self.documents)

    @property
    def intervals(self) -> str:
        """What the intervals are about, or why there are none, in sentences."""
        draws = _everything(self.documents)
        parts = [draws.interval]
        for name, tokens in self.induction.items():
            sequences = Draws(tokens.sequences, "random sequences")
            if sequences != draws:
                parts.append(f"for {INDUCTION_WORDS[name]}, {sequences.interval}")
        said = "; ".join(parts)
        return f"{said[0].upper()}{said[1:]}."

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
    text: str | Sequence[str] | None = None,
    text_name: str | Sequence[str] = "the text",
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
    """What every head of a model does: on texts (or the default ones), on token ids, or on random ones that repeat.

    Several texts are several documents, and at least 8 give intervals; `text_name` then has a name for each of them.
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
    texts = _texts(text, tokens)
    if isinstance(tokens, int):
        documents = repeated_documents(model, tokens=tokens, length=max_length, seed=seed, everything=True)
    elif given is not None:
        name = str(text_name)
        documents = text_documents(model, given, name, max_length)
    else:
        names = _text_names(text, text_name, len(texts))
        name = _texts_name(text, names)
        documents = []
        for content, its_name in zip(texts, names, strict=True):
            documents += text_documents(model, content, its_name, max_length)
    documents += induction_documents(model, length=max_length, seed=seed, measured=documents)
    notes, no_circuits = _circuits(model, chosen[0])
    plan = Plan(tuple(documents), chosen, model.heads, no_circuits)
    tell = progress or (lambda _: None)
    kept = PartFiles(None) if keep is None else PartFiles.of(keep, model, plan, resume=resume)
    summary = engine(model, plan, lambda done: tell(ENGINE * done), kept)
    found = heads(summary, chosen, mine, _everything(documents), repeated_tokens(documents))
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
        model.name, title_of(model.name), model.digest, (model.layers, model.heads), chosen, plan.documents, name,
        hashlib.sha256("\0".join(texts).encode()).hexdigest() if texts else None, seed, found, shuffled,
        {} if no_circuits is None else {"rank, share": no_circuits}, notes, examples, proven, command, date,
        _versions(),
    )  # fmt: skip


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


def _everything(documents: Sequence[Document]) -> Draws:
    """What those documents are draws of that everything is measured on."""
    return draws_of([document for document in documents if document.everything])


def _texts(text: str | Sequence[str] | None, tokens: object) -> tuple[str, ...]:
    """The texts that are measured on: those given, or the default ones where no tokens are given either."""
    if text is None:
        return default_texts() if tokens is None else ()
    return (text,) if isinstance(text, str) else tuple(text)


def _text_names(text: object, names: str | Sequence[str], count: int) -> list[str]:
    """A name for each text."""
    if text is None:
        return [f"default text {k}" for k in range(1, count + 1)]
    if not isinstance(names, str):
        if len(names) != count:
            raise InputError(f"{count} texts and {len(names)} names of texts: expected a name for each text")
        return list(names)
    return [names] if count == 1 else [f"{names} {k}" for k in range(1, count + 1)]


def _texts_name(text: object, names: Sequence[str]) -> str:
    """One name for all texts."""
    if text is None:
        return f"the {len(names)} default texts"
    if len(names) == 1:
        return names[0]
    return f"{len(names)} texts ({names[0]}, ..., {names[-1]})"


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
