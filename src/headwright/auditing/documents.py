"""The inputs of an audit: a text, cut to the length of the model, and random tokens that repeat."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from headwright.auditing.measures.summary import Draws, RepeatedTokens
from headwright.errors import InputError
from headwright.models.model import Model, Tokens

LENGTH = 1024  # tokens of a document unless told otherwise, or fewer if the model has fewer positions
SHORTEST = 16  # tokens, below which there is nothing to measure
# Of repeated random tokens, where the model has the room.
PERIOD = 64
REPEATS = 4
SEQUENCES = 8
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
    # of tokens that repeat: whether they show induction over a long context
    long: bool = False
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
        sequences = [document for document in documents if document.induction == name]
        if sequences:
            context = max(len(document.tokens) for document in sequences)
            period = sequences[0].period
            measured[name] = RepeatedTokens(period, context, len(sequences))
    return measured


def default_texts() -> tuple[str, ...]:
    """The texts that come with the package, of several kinds and of much the same length."""
    whole = (
        files("headwright.auditing").joinpath("texts.txt").read_text(encoding="utf-8")
    )
    return tuple(text.strip("\n") + "\n" for text in whole.split(BETWEEN_TEXTS))


def text_documents(
    model: Model, text: str | Tokens, name: str, length: int | None = None
) -> list[Document]:
    """The text, or its tokens, as documents of at most `length` tokens, each with the model's opening in front.

    A last piece that is too short to show anything is left out, if there are others. Tokens that do not begin with the
    opening get none. Of a table of tokens, each row is a document.
    """
    opening = np.asarray(model.bos_tokens())
    if isinstance(text, str):
        tokens = np.asarray(model.encode(text))
    else:
        tokens = _token_ids(text, name)
        if tokens.ndim == 2:
            documents = []
            for number, row in enumerate(tokens):
                row_name = f"{name}, row {number}"
                documents += text_documents(model, row, row_name, length or len(row))
            return documents
        if not np.array_equal(tokens[: len(opening)], opening):
            opening = opening[:0]
    length = _document_length(model, length)
    if len(tokens) < SHORTEST:
        raise InputError(
            f"{name} has {len(tokens)} tokens: expected at least {SHORTEST}, so that there is something "
            "to measure; give a longer text",
            field=name,
        )
    if len(tokens) <= length:
        return [Document(name, tokens, len(opening), source=name)]
    # The opening is taken off the text, if it is there, and put in front of each piece.
    has_opening = np.array_equal(tokens[: len(opening)], opening)
    body = tokens[len(opening) :] if has_opening else tokens
    room = length - len(opening)
    documents = []
    for start in range(0, len(body), room):
        piece = np.concatenate([opening, body[start : start + room]]).astype(np.int64)
        if len(piece) >= SHORTEST:
            part = f"{name}, part {len(documents) + 1}"
            documents.append(Document(part, piece, len(opening), source=name))
    return documents


def _token_ids(text: Tokens, name: str) -> Tokens:
    """A row, or a table, of whole numbers."""
    tokens = np.asarray(text)
    whole_numbers = tokens.dtype.kind in "iu"
    if not whole_numbers or tokens.ndim not in (1, 2) or not tokens.size:
        raise InputError(
            f"{name}: tokens of type {tokens.dtype.name} and shape {tokens.shape}: expected whole "
            "numbers, a row for each document"
        )
    return tokens.astype(np.int64)


def repeated_documents(
    model: Model,
    *,
    tokens: int | None = None,
    length: int | None = None,
    seed: int = 0,
    everything: bool = False,
) -> list[Document]:
    """Random tokens that repeat, after the model's opening: so many in all, or eight sequences.

    Within a period all tokens differ, so that an earlier position of the same token is always a whole number of periods
    back. The period is as long as vocabulary and positions allow, at most 64, and comes four times (twice where there
    is little room). Where both numbers are given, each document has that length: the period is a quarter of it or, if
    the vocabulary is smaller, comes more often. Documents that are longer than four periods of 64 are called long.
    """
    fill_length = tokens is not None and length is not None
    length = _document_length(model, length)
    opening = np.asarray(model.bos_tokens())
    ordinary = np.asarray(model.regular_tokens())
    if tokens is not None and tokens < SHORTEST:
        raise InputError(
            f"{tokens} tokens: expected at least {SHORTEST}, so that there is something to measure"
        )
    # The period, and the length of the body that it fills.
    room = length - len(opening)
    if tokens is not None:
        room = min(length, tokens) - len(opening)
    repeats = REPEATS if room >= 8 * REPEATS else 2
    quarter = -(-room // repeats) if fill_length else min(PERIOD, room // repeats)
    period = min(len(ordinary), quarter)
    if period < 2:
        raise InputError(
            f"{model.name} has room for {room} tokens and {len(ordinary)} ordinary ones: expected at "
            "least 4 and 2, so that something can repeat"
        )
    body = room if fill_length else period * repeats
    # As many documents as the tokens fill.
    count = SEQUENCES
    if tokens is not None:
        count = max(1, tokens // (len(opening) + body))
    long = body > _longest_short_body(len(ordinary))
    rng = np.random.default_rng(seed)
    documents = []
    for number in range(1, count + 1):
        sequence = rng.choice(ordinary, size=period, replace=False)
        name = f"{'long random tokens' if long else 'random tokens'} {number}"
        documents.append(
            Document(
                name,
                np.concatenate([opening, np.resize(sequence, body)]).astype(np.int64),
                opening=len(opening),
                period=period,
                repeats=-(-body // period),
                everything=everything,
                long=long,
                source=name,
            )
        )
    return documents


def induction_documents(
    model: Model,
    *,
    length: int | None = None,
    seed: int = 0,
    measured: Sequence[Document] = (),
) -> list[Document]:
    """The random tokens on which induction is measured, but for those in `measured` already.

    A head may follow repeats over a short distance and not over a long one, or only over a long one. So there are eight
    short sequences (64 tokens, four times) and, where documents may be longer than these, one that fills the longest
    context. One is enough: it has thousands of rows, and costs as much as a document.
    """
    there = {document.induction for document in measured}
    documents = []
    short = repeated_documents(model, length=length, seed=seed)
    if "induction" not in there:
        documents += short
    longest = _document_length(model, length)
    longest_body = longest - len(model.bos_tokens())
    has_room = longest_body > _longest_short_body(len(model.regular_tokens()))
    if has_room and "induction_long" not in there:
        documents += repeated_documents(
            model, tokens=longest, length=longest, seed=seed
        )
    return documents


def _longest_short_body(ordinary: int) -> int:
    """How many random tokens a sequence has at most that is not called long, of a model with so many ordinary ones."""
    return min(PERIOD, ordinary) * REPEATS


def _document_length(model: Model, length: int | None) -> int:
    """How many tokens a document may have; refused if the model has fewer positions than were asked for."""
    if length is None:
        return min(LENGTH, model.max_length or LENGTH)
    if length < SHORTEST:
        raise InputError(f"documents of {length} tokens: expected at least {SHORTEST}")
    if model.max_length is not None and length > model.max_length:
        raise InputError(
            f"documents of {length} tokens, and {model.name} has {model.max_length} positions: expected at "
            f"most {model.max_length}"
        )
    return length


def digest_of(documents: Sequence[Document]) -> str:
    """sha256 of the tokens of all documents, in order."""
    whole = hashlib.sha256()
    for document in documents:
        whole.update(len(document.tokens).to_bytes(8, "little"))
        whole.update(document.tokens.astype("<i8").tobytes())
    return whole.hexdigest()
