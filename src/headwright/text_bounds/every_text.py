"""Bounds over every text of a length for the heads of a first layer, with texts that attain them, run in the model.

Besides sets of places: pairs of a query token and a key token at a distance, and the bounds by length T = 2, 4, 8, ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from jaxtyping import Float, Int

from headwright.argument_types import check_argument
from headwright.errors import InputError
from headwright.models.model import Model, Tokens, check_model
from headwright.notebook import lines
from headwright.numerics.enclosure import shown_above, shown_below
from headwright.text_bounds.compare_with_model import (
    Attained,
    assert_run_within,
    attained,
    random_texts,
    run_patterns,
)
from headwright.text_bounds.first_layer import FirstLayer, token_indices
from headwright.text_bounds.progress import Progress, part_of
from headwright.text_bounds.read_layer import first_layer
from headwright.text_bounds.search.extreme_texts import extremes, witness
from headwright.text_bounds.search.head_vectors import head_of
from headwright.text_bounds.search.heads import FirstLayerHead
from headwright.text_bounds.search.sweep import (
    Extreme,
    Sweeper,
    SweepResult,
    WeightBand,
    band,
    pair_band,
    sweep,
)
from headwright.text_bounds.search.texts import TextFamily, texts_of

HALF = 0.5
MOST_BROKEN = 12  # pairs below 1/2 that are named
# Query tokens: so many are looked at in all heads together.
FEW_QUERIES = 512

Rows = Int[np.ndarray, " queries"]


@dataclass(frozen=True, eq=False)
class OnPlaces:
    """The weight on some places over every text, whatever the query token."""

    name: str
    places: tuple[int, ...]
    least: Attained
    most: Attained
    # Query tokens for which no text whatever lets the head give these places 1/2,
    never_half: int
    # and for which every text does.
    always_half: int


@dataclass(frozen=True, eq=False)
class Guarantee:
    """Adjacent pairs of a text: how many keep more than 1/2 on the previous token whatever the other tokens are."""

    pairs: int
    kept: int
    # The query token, the one before it, and the least weight: the lowest of those that do not keep it,
    broken: tuple[tuple[int, int, float], ...]
    floors: tuple[float, ...]  # the least weight of every pair, the largest first
    # and all that do.
    firm: tuple[tuple[int, int, float], ...]


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
    # It holds in one forward pass over the whole text, and perhaps not with a cache.
    one_pass: bool = False

    def __repr__(self) -> str:
        """The least and the most weight of each place, rounded outwards."""
        bounds = []
        for places in self.places:
            least = shown_below(places.least.bound, 4)
            most = shown_above(places.most.bound, 4)
            bounds.append((places.name, f"{least} to {most}"))
        texts = f"every text of {self.length} tokens"
        return lines("proved", f"weights of head 0.{self.head} on {texts}", bounds)


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
    before: Callable[[FirstLayer, TextFamily], None] | None = None,
) -> list[HeadOnEveryText]:
    """Each head of the first layer over every text of `length` tokens, seen from the last place.

    `queries` are token ids (all that a text may hold, unless given); `offset` asks for one more place, so many before
    the last; with a `text`, its adjacent pairs are looked at. `sweeper` may be the one for a GPU; without one, a few
    query tokens are looked at in all heads together. `before` is called when the layer has been read and the work is
    about to begin; `estimate` can then say how long that will take.

    >>> from headwright.models import load_model
    >>> result, other = every_text(load_model("builtin:induction"), 16)
    >>> [places.name for places in result.places]
    ['self', 'previous', 'first']
    >>> bool(result.places[1].least.bound > 0.5)  # the previous token, in every text of 16 tokens
    True
    """
    check_model(model)
    check_argument("length", length, int)
    check_argument("heads", heads, Sequence[int] | None)
    check_argument("offset", offset, int | None)
    check_argument("sweeper", sweeper, Sweeper | None)
    layer = first_layer(model, length)
    texts = texts_of(layer, length)
    rows = None if queries is None else token_indices(layer, queries)
    chosen = range(len(layer.queries)) if heads is None else heads
    sets = _asked_places(texts, offset)
    if text is not None and "previous" in sets and texts.place - 1 not in texts.free:
        raise InputError(
            f"texts of {length} tokens: the place before the last is held, and pairs of a text are about "
            "it; expected longer ones"
        )
    if before is not None:
        before(layer, texts)
    # Nothing runs until a head is asked for.
    swept_heads = _sweep_heads(layer, texts, chosen, sets, rows, sweeper, progress)
    runs = []
    for ids in random_texts(layer, texts, queries=queries or ()):
        runs.append((ids, run_patterns(model, ids, texts)))
    results = []
    for number, swept in zip(chosen, swept_heads, strict=True):
        for ids, patterns in runs:
            _assert_run_in_bands(layer, swept.sweep, number, ids, patterns[number])
        results.append(_head_result(model, layer, number, swept, text))
    return results


def _asked_places(texts: TextFamily, offset: int | None = None) -> dict[str, list[int]]:
    """The places that one asks about first: the query's own, the previous, the first, and one more if asked."""
    sets = {"self": [texts.place]}
    if texts.place - 1 in texts.seen:
        sets["previous"] = [texts.place - 1]
    if 0 in texts.seen and texts.place > 1:
        sets["first"] = [0]
    if offset is not None:
        if offset < 0 or texts.place - offset not in texts.seen:
            raise InputError(
                f"offset {offset}: expected a place that the last of {texts.length} tokens sees"
            )
        sets[f"{offset} before"] = [texts.place - offset]
    return sets


@dataclass(frozen=True, eq=False)
class _SweptHead:
    """One head, swept, and how the text of an extreme is found."""

    head: FirstLayerHead
    sweep: SweepResult
    # Of a query token (where it stands among the rows) and places.
    text: Callable[[int, Sequence[int], Extreme], Tokens]


def _sweep_heads(
    layer: FirstLayer,
    texts: TextFamily,
    heads: Sequence[int],
    sets: Mapping[str, Sequence[int]],
    rows: Rows | None,
    sweeper: Sweeper | None,
    progress: Progress | None,
) -> Iterator[_SweptHead]:
    """A few query tokens in all heads together; many, head by head."""
    few = np.arange(layer.free) if rows is None else rows
    if sweeper is None and len(few) <= FEW_QUERIES:
        for of_head in extremes(layer, heads, texts, few, progress):
            yield _SweptHead(of_head.head, of_head.swept(sets), of_head.text)
        return
    for number, which in enumerate(heads):
        head = head_of(layer, which)
        report = part_of(progress, number, 1, len(heads))
        result = (sweeper or sweep)(head, texts, sets, rows, report)
        yield _SweptHead(head, result, _text_finder(head, result))


def _text_finder(
    head: FirstLayerHead, result: SweepResult
) -> Callable[[int, Sequence[int], Extreme], Tokens]:
    def text(row: int, places: Sequence[int], extreme: Extreme) -> Tokens:
        return witness(head, result.texts, int(result.rows[row]), places, extreme)

    return text


def _assert_run_in_bands(
    layer: FirstLayer,
    result: SweepResult,
    number: int,
    ids: Tokens,
    pattern: Float[np.ndarray, " seen"],
) -> None:
    """Raise a ContradictionError unless the weights of a head on a random text lie in the bands."""
    query = ids[result.texts.place]
    (row,) = np.flatnonzero(layer.tokens[result.rows] == query)
    for name, places in result.sets.items():
        run = float(pattern[np.isin(result.texts.seen, places)].sum())
        bounds = band(result, name)
        what = f"head {number}, {name} of {result.texts.length}"
        assert_run_within(run, float(bounds.least.lower[row]), "least", what)
        assert_run_within(run, float(bounds.most.upper[row]), "most", what)


def _head_result(
    model: Model,
    layer: FirstLayer,
    number: int,
    swept: _SweptHead,
    text: Tokens | None,
) -> HeadOnEveryText:
    result = swept.sweep
    places = tuple(
        _on_places(model, layer, swept, number, name) for name in result.sets
    )
    guarantee = None
    if text is not None and "previous" in result.sets:
        guarantee = _guarantee(layer, swept.head, result, text)
    return HeadOnEveryText(
        number,
        result.texts.length,
        result.texts.place,
        len(result.rows),
        float(result.slack.max()),
        places,
        guarantee,
        layer.one_pass,
    )


def _on_places(
    model: Model, layer: FirstLayer, swept: _SweptHead, number: int, name: str
) -> OnPlaces:
    """The extremes over all query tokens, each with its text, run in the model."""
    result = swept.sweep
    places = result.sets[name]
    bounds = band(result, name)

    def attain(row: int, extreme: Extreme, bound: float) -> Attained:
        ids = layer.tokens[swept.text(row, places, extreme)]
        return attained(model, number, ids, result.texts, places, extreme, bound)

    lowest = int(bounds.least.lower.argmin())
    highest = int(bounds.most.upper.argmax())
    return OnPlaces(
        name,
        places,
        attain(lowest, "least", float(bounds.least.lower[lowest])),
        attain(highest, "most", float(bounds.most.upper[highest])),
        int(bounds.most.below(HALF).sum()),
        int(bounds.least.above(HALF).sum()),
    )


def _guarantee(
    layer: FirstLayer, head: FirstLayerHead, result: SweepResult, text: Tokens
) -> Guarantee:
    """The least weights of the text's adjacent pairs of ordinary tokens whose second one was swept."""
    index = {int(token): at for at, token in enumerate(layer.tokens[: head.free])}
    swept = {int(row) for row in result.rows}
    different = set()
    for before, after in pairwise(text):
        query = index.get(int(after))
        key = index.get(int(before))
        if query is not None and query in swept and key is not None:
            different.add((query, key))
    if not different:
        raise InputError(
            "the text holds no adjacent pair of ordinary tokens: give it a longer one"
        )
    pairs = np.array(sorted(different))
    floors = pair_band(head, result, "previous", pairs).least.lower.tolist()
    firm: list[tuple[int, int, float]] = []
    broken: list[tuple[int, int, float]] = []
    for (query, key), floor in zip(pairs.tolist(), floors, strict=True):
        entry = int(layer.tokens[query]), int(layer.tokens[key]), floor
        (firm if floor > HALF else broken).append(entry)
    broken.sort(key=lambda entry: entry[2])
    return Guarantee(
        len(pairs),
        len(firm),
        tuple(broken[:MOST_BROKEN]),
        tuple(sorted(floors, reverse=True)),
        tuple(firm),
    )


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
            raise InputError(
                f"distance {pair.distance}: expected 1 to {texts.place - min(texts.free, default=0)}, "
                f"where a text of {length} tokens may hold any"
            )
    chosen = range(len(layer.queries)) if heads is None else heads
    distances = sorted({pair.distance for pair in pairs})
    sets = {str(distance): [texts.place - distance] for distance in distances}
    rows = np.unique(token_indices(layer, [pair.query for pair in pairs]))
    results = []
    for turn, number in enumerate(chosen):
        head = head_of(layer, number)
        result = sweeper(head, texts, sets, rows, None)
        for pair in pairs:
            results.append(_kept_by_pair(model, layer, head, result, pair))
        if progress is not None:
            progress((turn + 1) / len(chosen))
    return results


def _kept_by_pair(
    model: Model,
    layer: FirstLayer,
    head: FirstLayerHead,
    result: SweepResult,
    pair: Pair,
) -> KeptByPair:
    texts = result.texts
    place = texts.place - pair.distance
    query, key = token_indices(layer, [pair.query, pair.key]).tolist()
    pair_rows = np.array([[query, key]])
    bounds = pair_band(head, result, str(pair.distance), pair_rows)
    held = replace(texts, held={**texts.held, place: key})

    def attain(extreme: Extreme, bound: float) -> Attained:
        ids: Tokens = layer.tokens[witness(head, held, query, [place], extreme)]
        return attained(model, head.number, ids, texts, [place], extreme, bound)

    least = attain("least", float(bounds.least.lower[0]))
    most = attain("most", float(bounds.most.upper[0]))
    return KeptByPair(head.number, pair, least, most)


@dataclass(frozen=True)
class AtLength:
    """Over every text of one length, whatever the query token: proven bounds."""

    length: int
    least: float
    most: float
    never_half: int  # query tokens for which no text lets the head give the place 1/2
    always_half: int  # and for which every text does


@dataclass(frozen=True)
class LengthCurve:
    """One head, one kind of place."""

    head: int
    name: str
    queries: int
    points: tuple[AtLength, ...]


def every_length(
    model: Model,
    longest: int,
    *,
    heads: Sequence[int] | None = None,
    queries: Sequence[int] | None = None,
    sweeper: Sweeper = sweep,
    progress: Progress | None = None,
) -> list[LengthCurve]:
    """What `every_text` finds of the heads of a first layer, for T = 2, 4, 8, ... up to a length.

    >>> from headwright.models import load_model
    >>> own, previous, first = every_length(load_model("builtin:induction"), 8, heads=[0])
    >>> previous.name, [point.length for point in previous.points]
    ('previous', [4, 8])
    """
    check_model(model)
    check_argument("longest", longest, int)
    check_argument("heads", heads, Sequence[int] | None)
    check_argument("sweeper", sweeper, Sweeper)
    layer = first_layer(model, longest)
    # From where the previous place is free.
    lengths = _lengths_to(longest, len(layer.opening) + len(layer.closing) + 2)
    rows = None if queries is None else token_indices(layer, queries)
    chosen = range(len(layer.queries)) if heads is None else heads
    points: dict[tuple[int, str], list[AtLength]] = {}
    count = 0
    done = 0
    for length in lengths:
        layer = first_layer(model, length)  # frequencies may depend on the length
        texts = texts_of(layer, length)
        sets = _asked_places(texts)
        for number in chosen:
            result = sweeper(head_of(layer, number), texts, sets, rows, None)
            count = len(result.rows)
            for name in sets:
                point = _at_length(length, band(result, name))
                points.setdefault((number, name), []).append(point)
            done += length
            if progress is not None:
                progress(done / (sum(lengths) * len(chosen)))
    names = dict.fromkeys(name for _, name in points)
    curves = []
    for number in chosen:
        for name in names:
            # A window may hide the first place of a longer text.
            if (number, name) in points:
                of_place = tuple(points[number, name])
                curves.append(LengthCurve(number, name, count, of_place))
    return curves


def _lengths_to(longest: int, least: int = 2) -> list[int]:
    """Powers of two up to a length, and that length."""
    powers = [2**k for k in range(1, longest.bit_length())]
    return [power for power in powers if least <= power < longest] + [longest]


def _at_length(length: int, bounds: WeightBand) -> AtLength:
    return AtLength(
        length,
        float(bounds.least.lower.min()),
        float(bounds.most.upper.max()),
        int(bounds.most.below(HALF).sum()),
        int(bounds.least.above(HALF).sum()),
    )
