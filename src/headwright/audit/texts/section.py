"""What an audit's report shows about every text: a few sentences and a table, from the first layer and one text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headwright.audit.models.model import Model, Tokens
from headwright.audit.texts.every_text import Progress, every_text
from headwright.audit.texts.first import shortest
from headwright.audit.texts.reading import first_layer
from headwright.enclosure import shown_above, shown_below
from headwright.errors import InputError

LENGTH = 16  # tokens: a vocabulary of 50,000 takes seconds a head
MOST_QUERIES = 128  # distinct tokens of the text, the first ones


@dataclass(frozen=True)
class Section:
    """For the report: what it is about, a table by head and place, and sentences about pairs; or why there is none."""

    title: str
    about: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    sentences: tuple[str, ...]
    missing: str | None = None  # why there is nothing to show


def section(
    model: Model,
    text: Tokens,
    *,
    length: int = LENGTH,
    heads: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> Section:
    """The first layer over every text of a length that ends in a token of this text.

    >>> from headwright.audit.models import load_model
    >>> model = load_model("builtin:induction")
    >>> section(model, model.encode("the quick brown fox"), heads=[0]).sentences
    ('Head 0.0: 18 of 18 adjacent pairs of the text keep more than 1/2 on the previous token, whatever the rest is.',)
    """
    title = "For every text"
    try:
        layer = first_layer(model)
        free = {int(token) for token in layer.tokens[: len(layer.tokens) - layer.only_held]}
        queries = [token for token in dict.fromkeys(map(int, text)) if token in free][:MOST_QUERIES]
        chosen = max(length, shortest(layer) + 2)
        found = every_text(model, chosen, heads=heads, queries=queries, text=text, progress=progress)
    except InputError as error:  # its sentence says why, and is shown
        return Section(title, "", (), (), (), str(error))
    rows = tuple(
        (
            f"0.{one.head}", places.name, shown_below(places.least.bound, 4), shown_above(places.most.bound, 4),
            f"{places.never_half} of {one.queries}", f"{places.always_half} of {one.queries}",
        )
        for one in found for places in one.places
    )  # fmt: skip
    sentences = tuple(
        f"Head 0.{one.head}: {one.guarantee.kept} of {one.guarantee.pairs} adjacent pairs of the text keep more than "
        "1/2 on the previous token, whatever the rest is."
        for one in found
        if one.guarantee is not None and one.guarantee.kept
    )
    return Section(
        title,
        f"Proved for the weights in exact arithmetic: the first layer over every text of {chosen} tokens that ends in "
        f"one of {len(queries)} tokens of the text. Never, always 1/2: for how many of these no text, or every text, "
        "gives the place 1/2.",
        ("head", "place", "least", "most", "never 1/2", "always 1/2"),
        rows,
        sentences,
    )
