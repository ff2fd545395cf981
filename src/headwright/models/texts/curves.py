"""How the bounds over every text change with its length: T = 2, 4, 8, ... as one curve for each head and place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headwright.errors import InputError
from headwright.models.loading.model import Model
from headwright.models.texts.bands import band
from headwright.models.texts.every_text import HALF, Progress, Sweeper, asked_places, counted
from headwright.models.texts.first import head_of, texts_of
from headwright.models.texts.reading import first_layer
from headwright.models.texts.sweep import sweep


@dataclass(frozen=True)
class AtLength:
    """Over every text of one length, whatever the query token: proven bounds."""

    length: int
    least: float
    most: float
    never_half: int  # query tokens for which no text lets the head give the place 1/2
    always_half: int  # and for which every text does


@dataclass(frozen=True)
class Curve:
    """One head, one kind of place."""

    head: int
    name: str
    queries: int
    points: tuple[AtLength, ...]


def lengths_to(longest: int, least: int = 2) -> list[int]:
    """Powers of two up to a length, and that length.

    >>> lengths_to(24, 3)
    [4, 8, 16, 24]
    """
    powers = [2**k for k in range(1, longest.bit_length()) if least <= 2**k < longest]
    return [*powers, longest]


def every_length(
    model: Model,
    longest: int,
    *,
    heads: Sequence[int] | None = None,
    queries: Sequence[int] | None = None,
    sweeper: Sweeper = sweep,
    progress: Progress | None = None,
) -> list[Curve]:
    """What `every_text` finds of the heads of a first layer, for T = 2, 4, 8, ... up to a length.

    >>> from headwright.models.loading import load_model
    >>> own, previous, first = every_length(load_model("builtin:induction"), 8, heads=[0])
    >>> previous.name, [point.length for point in previous.points]
    ('previous', [4, 8])
    """
    if isinstance(model, str):
        raise InputError(f"the model is {model!r}: expected load_model({model!r})")
    layer = first_layer(model, longest)
    lengths = lengths_to(longest, len(layer.opening) + len(layer.closing) + 2)  # the previous place is free
    rows = None if queries is None else counted(layer, queries)
    found: dict[tuple[int, str], list[AtLength]] = {}
    count, done, total = 0, 0, sum(lengths) * len(chosen := range(len(layer.queries)) if heads is None else heads)
    for length in lengths:
        layer = first_layer(model, length)  # frequencies may depend on the length
        texts = texts_of(layer, length)
        sets = asked_places(texts)
        for number in chosen:
            swept = sweeper(head_of(layer, number), texts, sets, rows, None)
            count = len(swept.rows)
            for name in sets:
                here = band(swept, name)
                point = AtLength(
                    length, float(here.least.lower.min()), float(here.most.upper.max()),
                    int(here.most.below(HALF).sum()), int(here.least.above(HALF).sum()),
                )  # fmt: skip
                found.setdefault((number, name), []).append(point)
            done += length
            if progress is not None:
                progress(done / total)
    names = dict.fromkeys(name for _, name in found)  # a window may hide the first place of a longer text
    return [
        Curve(number, name, count, tuple(found[number, name]))
        for number in chosen for name in names if (number, name) in found
    ]  # fmt: skip
