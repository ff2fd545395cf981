"""The inputs of an audit: a text, cut to the length of the model, and random tokens that repeat."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from headwright.errors import InputError
from headwright.models.findings.summary import Draws, RepeatedTokens
from headwright.models.loading.model import Model, Tokens

LENGTH = 1024  # tokens of a document unless told otherwise, or fewer if the model has fewer positions
SHORTEST = 16  # tokens, below which there is nothing to measure
PERIOD, REPEATS, SEQUENCES = 64, 4, 8  # of repeated random tokens, where the model has the room
BETWEEN_TEXTS = "\n=====\n"  # in the file of default texts


@dataclass(frozen=True, eq=False)
class Document:
    """Tokens for one run of the model. Those that repeat say after how many and how often."""

    name: str
    tokens: Tokens
    opening: int  # how many tokens at the front are special
    period: int = 0  # 0 if nothing repeats
    repeats: int = 0
    everything: bool = True  # else only what needs repeated tokens is measured on it
    long: bool = False  # of tokens that repeat: whether they show induction over a long context
    source: str = ""  # the text that it is, or is a passage of

    @property
    def induction(self) -> str | None:
        """The name under which induction is measured on it; None if nothing repeats."""
        if not self.period:
            return None
        return "induction_long" if self.long else "induction"


def draws_of(documents: Sequence[Document]) -> Draws:
    """What documents are draws of: random sequences, whole texts, or passages.

    >>> draws_of([Document("a", np.arange(20), 0, source="a"), Document("b", np.arange(20), 0, source="b")]).over
    'texts'
    """
    count = len(documents)
    if any(document.period for document in documents):
        return Draws(count, "random sequences")
    texts = len({document.source for document in documents})
    if texts == count:
        return Draws(count, "texts")
    if texts == 1:
        return Draws(count, "passages of one text")
    # Passages of the same text resemble each other more than those of others do: they are no sample of texts.
    return Draws(count, f"passages of {texts} texts", alike=False)


def repeated_tokens(documents: Sequence[Document]) -> dict[str, RepeatedTokens]:
    """What induction is measured on, by the name of the measure: induction, and induction_long where there is any."""
    measured = {}
    for name in ("induction", "induction_long"):
        mine = [document for document in documents if document.induction == name]
        if mine:
            context = max(len(document.tokens) for document in mine)
            measured[name] = RepeatedTokens(mine[0].period, context, len(mine))
    return measured


def default_texts() -> tuple[str, ...]:
    """The texts that come with the package, of several kinds and of much the same length."""
    whole = files("headwright.models").joinpath("texts.txt").read_text(encoding="utf-8")
    return tuple(text.strip("\n") + "\n" for text in whole.split(BETWEEN_TEXTS))


def text_documents(model: Model, text: str | Tokens, name: str, length: int | None = None) -> list[Document]:
    """The text, or its tokens, as documents of at most `length` tokens, each with the model's opening in front.

    A last piece that is too short to show anything is left out, if there are others. Tokens that do not begin with the
    opening get none. Of a table of tokens, each row is a document.
    """
    opening = np.asarray(model.opening())
    if isinstance(text, str):
        tokens = np.asarray(model.encode(text))
    else:
        tokens = np.asarray(text)
        if tokens.dtype.kind not in "iu" or tokens.ndim not in (1, 2) or not tokens.size:
            raise InputError(f"{name}: tokens of type {tokens.dtype.name} and shape {tokens.shape}: expected whole "
                             "numbers, a row for each document")  # fmt: skip
        tokens = tokens.astype(np.int64)
        if tokens.ndim == 2:
            parts = [text_documents(model, row, f"{name}, row {k}", length or len(row)) for k, row in enumerate(tokens)]
            return [document for part in parts for document in part]
        if not np.array_equal(tokens[: len(opening)], opening):
            opening = opening[:0]
    length = _fitting(model, length)
    if len(tokens) < SHORTEST:
        raise InputError(f"{name} has {len(tokens)} tokens: expected at least {SHORTEST}, so that there is something "
                         "to measure; give a longer text")  # fmt: skip
    if len(tokens) <= length:
        return [Document(name, tokens, len(opening), source=name)]
    begins = len(opening) if np.array_equal(tokens[: len(opening)], opening) else 0
    body, room = tokens[begins:], length - len(opening)
    pieces = [body[start : start + room] for start in range(0, len(body), room)]
    kept = [piece for piece in pieces if len(piece) + len(opening) >= SHORTEST]
    return [
        Document(f"{name}, part {k + 1}", np.concatenate([opening, piece]).astype(np.int64), len(opening), source=name)
        for k, piece in enumerate(kept)
    ]


def repeated_documents(
    model: Model, *, tokens: int | None = None, length: int | None = None, seed: int = 0, everything: bool = False
) -> list[Document]:
    """Random tokens that repeat, after the model's opening: so many in all, or eight sequences.

    Within a period all tokens differ, so that an earlier place of the same token is always a whole number of periods
    back. The period is as long as vocabulary and positions allow, at most 64, and comes four times (twice where there
    is little room). Where both numbers are given, each document has that length: the period is a quarter of it or, if
    the vocabulary is smaller, comes more often. Documents that are longer than four periods of 64 are called long.
    """
    exact, length = tokens is not None and length is not None, _fitting(model, length)
    opening, ordinary = np.asarray(model.opening()), np.asarray(model.ordinary())
    if tokens is not None and tokens < SHORTEST:
        raise InputError(f"{tokens} tokens: expected at least {SHORTEST}, so that there is something to measure")
    room = length - len(opening) if tokens is None else min(length, tokens) - len(opening)
    repeats = REPEATS if room >= 8 * REPEATS else 2
    period = min(len(ordinary), -(-room // repeats) if exact else min(PERIOD, room // repeats))
    if period < 2:
        raise InputError(f"{model.name} has room for {room} tokens and {len(ordinary)} ordinary ones: expected at "
                         "least 4 and 2, so that something can repeat")  # fmt: skip
    body = room if exact else period * repeats
    each, repeats = len(opening) + body, -(-body // period)
    count = SEQUENCES if tokens is None else max(1, tokens // each)
    rng = np.random.default_rng(seed)
    random = [rng.choice(ordinary, size=period, replace=False) for _ in range(count)]
    long = body > _longest_short_body(len(ordinary))
    name = "long random tokens" if long else "random tokens"
    return [
        Document(
            f"{name} {k + 1}", np.concatenate([opening, np.resize(one, body)]).astype(np.int64), len(opening),
            period, repeats, everything, long, source=f"{name} {k + 1}",
        )
        for k, one in enumerate(random)
    ]  # fmt: skip


def induction_documents(
    model: Model, *, length: int | None = None, seed: int = 0, measured: Sequence[Document] = ()
) -> list[Document]:
    """The random tokens on which induction is measured, but for those in `measured` already.

    A head may follow repeats over a short distance and not over a long one, or only over a long one. So there are eight
    short sequences (64 tokens, four times) and, where documents may be longer than these, one that fills the longest
    context. One is enough: it has thousands of rows, and costs as much as a document.
    """
    there = {document.induction for document in measured}
    short = repeated_documents(model, length=length, seed=seed)
    added = [] if "induction" in there else short
    longest = _fitting(model, length)
    if longest - len(model.opening()) > _longest_short_body(len(model.ordinary())) and "induction_long" not in there:
        added = added + repeated_documents(model, tokens=longest, length=longest, seed=seed)
    return added


def _longest_short_body(ordinary: int) -> int:
    """How many random tokens a sequence has at most that is not called long, of a model with so many ordinary ones."""
    return min(PERIOD, ordinary) * REPEATS


def _fitting(model: Model, length: int | None) -> int:
    """How many tokens a document may have; refused if the model has fewer positions than were asked for."""
    if length is None:
        return min(LENGTH, model.longest or LENGTH)
    if length < SHORTEST:
        raise InputError(f"documents of {length} tokens: expected at least {SHORTEST}")
    if model.longest is not None and length > model.longest:
        raise InputError(f"documents of {length} tokens, and {model.name} has {model.longest} positions: expected at "
                         f"most {model.longest}")  # fmt: skip
    return length


def digest_of(documents: Sequence[Document]) -> str:
    """sha256 of the tokens of all documents, in order."""
    whole = hashlib.sha256()
    for document in documents:
        whole.update(len(document.tokens).to_bytes(8, "little"))
        whole.update(document.tokens.astype("<i8").tobytes())
    return whole.hexdigest()
