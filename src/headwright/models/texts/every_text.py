"""Bounds over every text of a length for the heads of a first layer, with texts that attain them, run in the model.

Besides sets of places: pairs of a query token and a key token at a distance, and the bounds by length T = 2, 4, 8, ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from jaxtyping import Float, Int

from headwright.cards import lines
from headwright.enclosure import shown_above, shown_below
from headwright.errors import InputError, typed_errors
from headwright.models.loading.model import Model, Tokens
from headwright.models.texts.check_against_model import (
    Attained,
    attained,
    not_beyond,
    random_texts,
    run_patterns,
)
from headwright.models.texts.extreme_texts import extremes, witness
from headwright.models.texts.first_layer import FirstLayer, head_of, texts_of
from headwright.models.texts.head import Head, Texts
from headwright.models.texts.read_layer import first_layer
from headwright.models.texts.sweep import Band, Between, Extreme, Progress, Sweep, Sweeper, band, pair_band, sweep

HALF = 0.5
NAMED = 12  # exceptions that are told by name
FEW = 512  # query tokens: so many are looked at in all heads together


@dataclass(frozen=True, eq=False)
class OnPlaces:
    """The weight on some places over every text, whatever the query token."""

    name: str
    places: tuple[int, ...]
    least: Attained
    most: Attained
    never_half: int  # query tokens for which no text whatever lets the head give these places 1/2
    always_half: int  # and for which every text does


@dataclass(frozen=True, eq=False)
class Guarantee:
    """Adjacent pairs of a text: how many keep more than 1/2 on the previous token whatever the other tokens are."""

    pairs: int
    kept: int
    broken: tuple[tuple[int, int, float], ...]  # the query token, the one before it, and the least weight
    floors: tuple[float, ...]  # the least weight of every pair, the largest first
    firm: tuple[tuple[int, int, float], ...]  # as `broken`, those that keep more than 1/2


@dataclass(frozen=True, eq=False)
class HeadOnEveryText:
    """One head on all texts of a length."""

    head: int
    length: int
    place: int
    queries: int  # how many query tokens this is about
    slack: float  # no score used is further than this from the exact one
    places: tuple[OnPlaces, ...]
    guarantee: Guarantee | None
    one_pass: bool = False  # it holds in one forward pass over the whole text, and perhaps not with a cache

    def __repr__(self) -> str:
        """The least and the most weight of each place, rounded outwards."""
        bounds = [
            (one.name, f"{shown_below(one.least.bound, 4)} to {shown_above(one.most.bound, 4)}") for one in self.places
        ]
        return lines("proved", f"weights of head 0.{self.head} on every text of {self.length} tokens", bounds)


@typed_errors
def every_text(
    model: Model,
    length: int,
    *,
    heads: Sequence[int] | None = None,
    offset: int | None = None,
    queries: Sequence[int] | None = None,
    text: Tokens | None = None,
    sweeper: Sweeper | None = None,
    progress: Progress | None = None,
    before: Callable[[FirstLayer, Texts], None] | None = None,
) -> list[HeadOnEveryText]:
    """Each head of the first layer over every text of `length` tokens, seen from the last place.

    `queries` are token ids (all that a text may hold, unless given); `offset` asks for one more place, so many before
    the last; with a `text`, its adjacent pairs are looked at. `sweeper` may be the one for a GPU; without one, a few
    query tokens are looked at in all heads together. `before` is called when the layer has been read and the work is
    about to begin; `estimate` can then say how long that will take.

    >>> from headwright.models.loading import load_model
    >>> found, other = every_text(load_model("builtin:induction"), 16)
    >>> [places.name for places in found.places]
    ['self', 'previous', 'first']
    >>> bool(found.places[1].least.bound > 0.5)  # the previous token, in every text of 16 tokens
    True
    """
    if isinstance(model, str):
        raise InputError(f"the model is {model!r}: expected load_model({model!r})")
    layer = first_layer(model, length)
    texts = texts_of(layer, length)
    rows = None if queries is None else counted(layer, queries)
    chosen = range(len(layer.queries)) if heads is None else heads
    sets = _asked_places(texts, offset)
    if text is not None and "previous" in sets and texts.place - 1 not in texts.free:
        raise InputError(f"texts of {length} tokens: the place before the last is held, and pairs of a text are about "
                         "it; expected longer ones")  # fmt: skip
    if before is not None:
        before(layer, texts)
    looked = _looked(layer, texts, chosen, sets, rows, sweeper, progress)
    runs = [(ids, run_patterns(model, ids, texts)) for ids in random_texts(layer, texts, queries=queries or ())]
    found = []
    for number, each in zip(chosen, looked, strict=True):
        for ids, patterns in runs:
            _inside(layer, each.swept, number, ids, patterns[number])
        found.append(_one(model, layer, number, each, text))
    return found


def _inside(layer: FirstLayer, swept: Sweep, number: int, ids: Tokens, pattern: Float[np.ndarray, " seen"]) -> None:
    """Raise a ContradictionError unless the weights of a head on a random text lie in the bands."""
    (row,) = np.flatnonzero(layer.tokens[swept.rows] == ids[swept.texts.place])
    for name, places in swept.sets.items():
        run, here = float(pattern[np.isin(swept.texts.seen, places)].sum()), band(swept, name)
        what = f"head {number}, {name} of {swept.texts.length}"
        not_beyond(run, float(here.least.lower[row]), "least", what)
        not_beyond(run, float(here.most.upper[row]), "most", what)


@dataclass(frozen=True, eq=False)
class _Looked:
    """One head, swept, and how the text of an extreme is found."""

    head: Head
    swept: Sweep
    text: Callable[
        [int, Sequence[int], Extreme], Tokens
    ]  # of a query token (where it stands among the rows) and places


def _looked(
    layer: FirstLayer, texts: Texts, chosen: Sequence[int], sets: Mapping[str, Sequence[int]],
    rows: Int[np.ndarray, " queries"] | None, sweeper: Sweeper | None, progress: Progress | None,
) -> Iterator[_Looked]:  # fmt: skip
    free = len(layer.tokens) - layer.only_held
    if sweeper is None and (free if rows is None else len(rows)) <= FEW:
        asking = np.arange(free) if rows is None else rows
        for one in extremes(layer, chosen, texts, asking, progress):
            yield _Looked(one.head, one.swept(sets), one.text)
        return
    for number, which in enumerate(chosen):
        head = head_of(layer, which)
        part = None if progress is None else (lambda done, n=number: progress((n + done) / len(chosen)))
        swept = (sweeper or sweep)(head, texts, sets, rows, part)

        def text(row: int, places: Sequence[int], extreme: Extreme, head: Head = head, swept: Sweep = swept) -> Tokens:
            return witness(head, texts, int(swept.rows[row]), places, extreme)

        yield _Looked(head, swept, text)


def _one(model: Model, layer: FirstLayer, number: int, looked: _Looked, text: Tokens | None) -> HeadOnEveryText:
    swept = looked.swept
    places = tuple(_on_places(model, layer, looked, number, name, band(swept, name)) for name in swept.sets)
    guarantee = None if text is None or "previous" not in swept.sets else _guarantee(layer, looked.head, swept, text)
    return HeadOnEveryText(
        number, swept.texts.length, swept.texts.place, len(swept.rows), float(swept.slack.max()), places, guarantee,
        layer.one_pass,
    )  # fmt: skip


def _asked_places(texts: Texts, offset: int | None = None) -> dict[str, list[int]]:
    """The places that one asks about first: the query's own, the previous, the first, and one more if asked."""
    sets = {"self": [texts.place]}
    if texts.place - 1 in texts.seen:
        sets["previous"] = [texts.place - 1]
    if 0 in texts.seen and texts.place > 1:
        sets["first"] = [0]
    if offset is not None:
        if offset < 0 or texts.place - offset not in texts.seen:
            raise InputError(f"offset {offset}: expected a place that the last of {texts.length} tokens sees")
        sets[f"{offset} before"] = [texts.place - offset]
    return sets


def _on_places(model: Model, layer: FirstLayer, looked: _Looked, number: int, name: str, found: Band) -> OnPlaces:
    swept = looked.swept

    def shown(extreme: Extreme, bounds: Between) -> Attained:
        row = int(bounds.lower.argmin() if extreme == "least" else bounds.upper.argmax())
        bound = float(bounds.lower[row] if extreme == "least" else bounds.upper[row])
        ids = layer.tokens[looked.text(row, swept.sets[name], extreme)]
        return attained(model, number, ids, swept.texts, swept.sets[name], extreme, bound)

    return OnPlaces(
        name, swept.sets[name], shown("least", found.least), shown("most", found.most),
        int(found.most.below(HALF).sum()), int(found.least.above(HALF).sum()),
    )  # fmt: skip


def _guarantee(layer: FirstLayer, head: Head, swept: Sweep, text: Tokens) -> Guarantee:
    at = {int(token): index for index, token in enumerate(layer.tokens[: head.free])}
    asked = {int(row) for row in swept.rows}
    adjacent = {(at.get(int(after)), at.get(int(before))) for before, after in pairwise(text)}
    pairs = sorted((a, b) for a, b in adjacent if a is not None and b is not None and a in asked)
    if not pairs:
        raise InputError("the text holds no adjacent pair of ordinary tokens: give it a longer one")
    floor = pair_band(head, swept, "previous", np.array(pairs)).least.lower
    kept = floor > HALF
    ids = [
        (int(layer.tokens[a]), int(layer.tokens[b]), float(least)) for (a, b), least in zip(pairs, floor, strict=True)
    ]
    broken = sorted((each for each, held in zip(ids, kept, strict=True) if not held), key=lambda each: each[2])
    firm = tuple(each for each, held in zip(ids, kept, strict=True) if held)
    return Guarantee(len(pairs), len(firm), tuple(broken[:NAMED]), tuple(sorted(floor.tolist(), reverse=True)), firm)


def counted(layer: FirstLayer, queries: Sequence[int]) -> Int[np.ndarray, " queries"]:
    """Token ids as the heads count them; refused if a text may not hold one."""
    at = {int(token): index for index, token in enumerate(layer.tokens[: len(layer.tokens) - layer.only_held])}
    missing = [token for token in queries if token not in at]
    if missing:
        raise InputError(f"token {missing[0]} is not one that a text may hold")
    if not len(queries):
        raise InputError("no query token that a text may hold: expected at least one")
    return np.array([at[token] for token in queries])


@dataclass(frozen=True)
class Pair:
    """Token ids: the query's, at the end of a text, and that of a key so many places before it."""

    query: int
    key: int
    distance: int = 1


@dataclass(frozen=True, eq=False)
class KeptByPair:
    """The weight of one head on the key of a pair: least and most over every other token of the text."""

    head: int
    pair: Pair
    least: Attained
    most: Attained


def kept_by_pairs(
    model: Model,
    length: int,
    pairs: Sequence[Pair],
    *,
    heads: Sequence[int] | None = None,
    sweeper: Sweeper = sweep,
    progress: Progress | None = None,
) -> list[KeptByPair]:
    """For each head and pair, over every text of a length that ends so."""
    layer = first_layer(model, length)
    texts = texts_of(layer, length)
    if not pairs:
        raise InputError("no pair of tokens: expected at least one")
    for pair in pairs:
        if texts.place - pair.distance not in texts.free:
            raise InputError(f"distance {pair.distance}: expected 1 to {texts.place - min(texts.free, default=0)}, "
                             f"where a text of {length} tokens may hold any")  # fmt: skip
    found, chosen = [], range(len(layer.queries)) if heads is None else heads
    distances = sorted({pair.distance for pair in pairs})
    for turn, number in enumerate(chosen):
        head = head_of(layer, number)
        rows = np.unique(counted(layer, [pair.query for pair in pairs]))
        sets = {str(distance): [texts.place - distance] for distance in distances}
        swept = sweeper(head, texts, sets, rows, None)
        for pair in pairs:
            at, name = texts.place - pair.distance, str(pair.distance)
            query, key = counted(layer, [pair.query, pair.key])
            both = pair_band(head, swept, name, np.array([[query, key]]))
            held = replace(texts, held={**texts.held, at: int(key)})

            def shown(extreme: Extreme, bound: float) -> Attained:
                ids: Tokens = layer.tokens[witness(head, held, int(query), [at], extreme)]  # noqa: B023
                return attained(model, number, ids, texts, [at], extreme, bound)  # noqa: B023

            found.append(KeptByPair(number, pair, shown("least", float(both.least.lower[0])),
                                    shown("most", float(both.most.upper[0]))))  # fmt: skip
        if progress is not None:
            progress((turn + 1) / len(chosen))
    return found


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


def _lengths_to(longest: int, least: int = 2) -> list[int]:
    """Powers of two up to a length, and that length."""
    powers = [2**k for k in range(1, longest.bit_length()) if least <= 2**k < longest]
    return [*powers, longest]


@typed_errors
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
    lengths = _lengths_to(longest, len(layer.opening) + len(layer.closing) + 2)  # the previous place is free
    rows = None if queries is None else counted(layer, queries)
    found: dict[tuple[int, str], list[AtLength]] = {}
    count, done, total = 0, 0, sum(lengths) * len(chosen := range(len(layer.queries)) if heads is None else heads)
    for length in lengths:
        layer = first_layer(model, length)  # frequencies may depend on the length
        texts = texts_of(layer, length)
        sets = _asked_places(texts)
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
