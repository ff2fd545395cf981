"""The part of a report about every text: bounds for the heads of a first layer, within a bounded amount of work.

A small vocabulary is looked at whole. With a large one the row's token is one of those that the text holds, the first
of them, while every other place may still hold any token of the vocabulary: so many tokens, and then so many heads, as
the work allows. How much that is follows from the sizes alone, not from a clock: a report says the same on any machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from headwright.errors import InputError
from headwright.models.loading.model import Model, Tokens
from headwright.models.texts.check_against_model import Attained
from headwright.models.texts.every_text import HeadOnEveryText, OnPlaces, every_text
from headwright.models.texts.first_layer import FirstLayer
from headwright.models.texts.next_token_proof import all_groups, predictions
from headwright.models.texts.read_layer import embedding_size, first_layer
from headwright.models.texts.sweep import Progress

LENGTH = 16  # of the texts
MOST_QUERIES = 128  # tokens that the row may have
FEWEST_QUERIES = 8  # rather than less, heads are left out
WORK = 2**38  # products of two numbers: about half a minute of one core
MAKING = 64  # about how many products it takes to make one number of what enters the heads at a place of its own
MOST_PAIRS = 512  # of the text
SAFE_PAIRS, SAFE_LENGTHS, SAFE_BOUNDS = 6, (4, 5, 6), 1  # pairs of the text, of texts, and for each group
MOST_NUMBERS = 2**28  # of embeddings: 2 GiB, and three times that for a while


@dataclass(frozen=True)
class Extreme:
    """A proven bound of a weight over every text, the text that attains it, and what the model does there."""

    bound: float
    text: tuple[str, ...]
    run: float


@dataclass(frozen=True)
class OnEveryText:
    """The weight that one head gives to one place in every text of a length, special tokens where they always stand."""

    head: int
    length: int
    at: int  # the place of the row: the last that holds no special token
    place: str
    queries: int  # tokens that the row may have
    choices: int  # and those that any other place may hold
    never_half: int  # those for which no text lets the head give this place 1/2
    always_half: int  # and for which every text does
    least: Extreme
    most: Extreme


@dataclass(frozen=True)
class PairOnEveryText:
    """A token and the one before it, and the least weight on the latter whatever the other tokens are."""

    before: str
    token: str
    least: float


@dataclass(frozen=True)
class PairsOnEveryText:
    """Adjacent pairs of the text: those that keep more than 1/2 on the previous token, in one head."""

    head: int
    pairs: int
    kept: int
    broken: tuple[PairOnEveryText, ...]  # those that keep least
    floors: tuple[float, ...]  # the least weight of every pair, the largest first


@dataclass(frozen=True)
class SafePair:
    """Whether b is predicted after a second a in every text of a length, wherever in it a b stands first."""

    before: str
    token: str
    lengths: tuple[tuple[int, str, float], ...]  # proved, false or open; and the least margin that a run had


@dataclass(frozen=True)
class FirstLayerBounds:
    """All that is proven of a first layer, and what was looked at; or why nothing is said."""

    places: tuple[OnEveryText, ...] = ()
    pairs: tuple[PairsOnEveryText, ...] = ()
    choices: int = 0  # tokens that any other place may hold
    queries: int = 0  # tokens that the row may have: all of these, or the first of the text
    left_out: tuple[int, ...] = ()  # heads that were asked for and not looked at
    slack: float = 0.0  # how far a score may be from the exact one
    missing: str = ""
    safe: tuple[SafePair, ...] = ()  # of a model of two attention layers and nothing else: through both

    @property
    def whole(self) -> bool:
        """Whether the row may have any token."""
        return self.queries == self.choices


def first_layer_bounds(
    model: Model,
    layers: Sequence[int],
    heads: Sequence[int],
    length: int = LENGTH,
    *,
    text: Tokens | None = None,
    progress: Progress | None = None,
) -> FirstLayerBounds:
    """Bounds for the first layer; `text` has the query tokens where there are too many to try all."""
    if 0 not in layers:
        return FirstLayerBounds(missing="the first layer was left out")
    if (numbers := embedding_size(model)) > MOST_NUMBERS:
        return FirstLayerBounds(missing=f"its embeddings are {numbers} numbers, more than a report should hold; "
                                  f"'headwright every-text {model.name} --length {length}' does it")  # fmt: skip
    safe = _safe(model, text)
    try:
        length = length if model.longest is None else min(length, model.longest)
        layer = first_layer(model, length)
        free = [int(token) for token in layer.tokens[: len(layer.tokens) - layer.only_held]]
        queries, chosen = _bounded(layer, free, heads, length, text)
        found = every_text(
            model, length, heads=chosen, queries=None if len(queries) == len(free) else queries,
            text=_with_pairs(queries, free, text), progress=progress,
        )  # fmt: skip
    except InputError as error:
        return FirstLayerBounds(missing=str(error), safe=safe)
    return FirstLayerBounds(
        tuple(_on(model, one, len(free), places) for one in found for places in one.places),
        tuple(_pairs(model, one) for one in found if one.guarantee is not None),
        len(free), len(queries), tuple(head for head in heads if head not in chosen), max(one.slack for one in found),
        safe=safe,
    )  # fmt: skip


def _safe(model: Model, text: Tokens | None) -> tuple[SafePair, ...]:
    """Of the first pairs of the text; none where the model is of another kind."""
    ordinary = set(model.ordinary().tolist())
    drawn = ((int(a), int(b)) for a, b in pairwise([] if text is None else text))
    pairs = list(dict.fromkeys(pair for pair in drawn if pair[0] != pair[1] and ordinary.issuperset(pair)))[:SAFE_PAIRS]
    found: dict[tuple[int, int], list[tuple[int, str, float]]] = {pair: [] for pair in pairs}
    try:
        for length in SAFE_LENGTHS:
            groups = [one for one in all_groups(model, length) if (one.a, one.b) in found]
            proved = predictions(model, length, groups, most=SAFE_BOUNDS) if groups else []
            for pair, lengths in found.items():
                mine = [one for one in proved if (one.a, one.b) == pair]
                words = {one.word for one in mine}
                word = next(word for word in ("false", "open", "proved") if word in words)
                lengths.append((length, word, min(one.run for one in mine)))
    except InputError:
        return ()
    spelt = [list(model.words(np.array(pair))) for pair in found]
    return tuple(SafePair(a, b, tuple(each)) for (a, b), each in zip(spelt, found.values(), strict=True))


def _bounded(
    layer: FirstLayer, free: Sequence[int], heads: Sequence[int], length: int, text: Tokens | None
) -> tuple[list[int], list[int]]:
    """The tokens that the row may have, and the heads, that the work allows: the first ones of each."""
    if not heads:
        raise InputError("no head was asked for")
    width, d = layer.keys[0].weight.shape
    allowed = set(free)
    given = [] if text is None else [token for token in map(int, text) if token in allowed]
    asked = list(free) if len(free) <= MOST_QUERIES else list(dict.fromkeys(given))
    if not asked:
        raise InputError(f"with {len(free)} tokens only some can be looked at as the row's, those of a text, and the "
                         "text holds none of them")  # fmt: skip
    made = 0 if layer.places is None else len(free) * width * (MAKING + d * len(heads))
    left = max(0, WORK // length - made)
    each = len(free) * d
    count = max(FEWEST_QUERIES, min(MOST_QUERIES, left // (each * len(heads))))
    queries = asked[:count]
    fit = max(1, left // (each * len(queries)))
    return queries, list(heads[:fit])


def _with_pairs(queries: Sequence[int], free: Sequence[int], text: Tokens | None) -> Tokens | None:
    """The text, if a pair of it is one to look at."""
    if text is None:
        return None
    asking, any_of = set(queries), set(free)
    text = text[: MOST_PAIRS + 1]
    some = any(int(a) in asking and int(b) in any_of for b, a in pairwise(text))
    return np.asarray(text) if some else None


def _on(model: Model, one: HeadOnEveryText, choices: int, found: OnPlaces) -> OnEveryText:
    return OnEveryText(
        one.head, one.length, one.place, found.name, one.queries, choices, found.never_half, found.always_half,
        _extreme(model, found.least), _extreme(model, found.most),
    )  # fmt: skip


def _extreme(model: Model, found: Attained) -> Extreme:
    return Extreme(found.bound, tuple(model.words(found.text)), found.run)


def _pairs(model: Model, one: HeadOnEveryText) -> PairsOnEveryText:
    kept = one.guarantee
    if kept is None:
        raise InputError(f"head {one.head}: no pair was looked at")
    broken = []
    for a, b, least in kept.broken:
        before, token = model.words(np.array([b, a]))
        broken.append(PairOnEveryText(before, token, least))
    return PairsOnEveryText(one.head, kept.pairs, kept.kept, tuple(broken), kept.floors)
