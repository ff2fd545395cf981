"""The part of a report about every text: bounds for the heads of a first layer, within a bounded amount of work.

A small vocabulary is looked at whole. With a large one the row's token is one of those that the text holds, the first
of them, while every other position may still hold any token of the vocabulary: so many tokens, and then so many heads,
as the work allows. How much that is follows from the sizes alone, not from a clock: a report says the same on any
machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from headwright.errors import InputError
from headwright.models.model import Model, Tokens
from headwright.text_bounds.compare_with_model import Attained
from headwright.text_bounds.every_text import HeadOnEveryText, OnPlaces, every_text
from headwright.text_bounds.first_layer import FirstLayer
from headwright.text_bounds.induction.prove import all_groups, prove_groups
from headwright.text_bounds.progress import Progress
from headwright.text_bounds.read_layer import embedding_size, first_layer

LENGTH = 16  # of the texts
MOST_QUERIES = 128  # tokens that the row may have
FEWEST_QUERIES = 8  # rather than less, heads are left out
WORK = 2**38  # products of two numbers: about half a minute of one core
# About how many products it takes to make one number of what enters the heads at a position of its own.
WORK_OF_INPUT = 64
MOST_PAIRS = 512  # of the text
SAFE_PAIRS = 6  # of the text
SAFE_LENGTHS = (4, 5, 6)  # of texts
SAFE_BOUNDS = 1  # tried for each group
MOST_NUMBERS = 2**28  # of embeddings: 2 GiB, and three times that for a while


@dataclass(frozen=True)
class ExtremeWeight:
    """A proven bound of a weight over every text, the text that attains it, and what the model does there."""

    bound: float
    text: tuple[str, ...]
    run: float


@dataclass(frozen=True)
class WeightBounds:
    """The weight that one head gives to one key in every text of a length, special tokens where they always stand."""

    head: int
    length: int
    row: int  # the position of the row: the last that holds no special token
    key: str  # self, previous or first
    queries: int  # tokens that the row may have
    choices: int  # and those that any other position may hold
    never_half: int  # those for which no text lets the head give this key 1/2
    always_half: int  # and for which every text does
    least: ExtremeWeight
    most: ExtremeWeight


@dataclass(frozen=True)
class PairWeight:
    """A token and the one before it, and the least weight on the latter whatever the other tokens are."""

    before: str
    token: str
    least: float


@dataclass(frozen=True)
class PairBounds:
    """Adjacent pairs of the text: those with more than 1/2 on the previous token in every text, in one head."""

    head: int
    pairs: int
    above_half: int
    weakest: tuple[PairWeight, ...]  # of the others, those with the least weight
    least_weights: tuple[float, ...]  # of every pair, the largest first


@dataclass(frozen=True)
class SafePair:
    """Whether b is predicted after a second a in every text of a length, wherever in it a b stands first."""

    before: str
    token: str
    # by length: proved, false or open; and the least margin that a run had
    lengths: tuple[tuple[int, str, float], ...]


@dataclass(frozen=True)
class FirstLayerBounds:
    """All that is proven of a first layer, and of what; or why nothing is."""

    weights: tuple[WeightBounds, ...] = ()
    pairs: tuple[PairBounds, ...] = ()
    choices: int = 0  # tokens that any other position may hold
    # tokens that the row may have: all of these, or the first of the text
    queries: int = 0
    left_out: tuple[int, ...] = ()  # heads that were asked for and not looked at
    slack: float = 0.0  # how far a score may be from the exact one
    missing: str = ""
    # of a model of two attention layers and nothing else: through both
    safe: tuple[SafePair, ...] = ()

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
    numbers = embedding_size(model)
    if numbers > MOST_NUMBERS:
        return FirstLayerBounds(
            missing=f"its embeddings are {numbers} numbers, more than a report should hold; "
            f"'headwright every-text {model.name} --length {length}' does it"
        )
    # Through both layers, where the model has no more than these.
    safe = _safe_pairs(model, text)
    # The first layer alone: for as many query tokens and heads as the work allows.
    try:
        length = length if model.max_length is None else min(length, model.max_length)
        layer = first_layer(model, length)
        free = [
            int(token) for token in layer.tokens[: len(layer.tokens) - layer.only_held]
        ]
        queries, chosen = _affordable(layer, free, heads, length, text)
        bounds = every_text(
            model,
            length,
            heads=chosen,
            queries=None if len(queries) == len(free) else queries,
            text=_text_with_pairs(queries, free, text),
            progress=progress,
        )
    except InputError as error:
        return FirstLayerBounds(missing=str(error), safe=safe)
    weights = []
    pairs = []
    for of_head in bounds:
        for on_key in of_head.places:
            weights.append(_weight_bounds(model, of_head, len(free), on_key))
        if of_head.guarantee is not None:
            pairs.append(_pair_bounds(model, of_head))
    return FirstLayerBounds(
        weights=tuple(weights),
        pairs=tuple(pairs),
        choices=len(free),
        queries=len(queries),
        left_out=tuple(head for head in heads if head not in chosen),
        slack=max(of_head.slack for of_head in bounds),
        safe=safe,
    )


def _safe_pairs(model: Model, text: Tokens | None) -> tuple[SafePair, ...]:
    """Of the first pairs of the text; none where the model is of another kind."""
    pairs = _first_pairs(model, text)
    lengths: dict[tuple[int, int], list[tuple[int, str, float]]] = {
        pair: [] for pair in pairs
    }
    try:
        for length in SAFE_LENGTHS:
            of_pairs = [
                group
                for group in all_groups(model, length)
                if (group.a, group.b) in lengths
            ]
            proved = []
            if of_pairs:
                proved = prove_groups(model, length, of_pairs, most_bounds=SAFE_BOUNDS)
            for pair in pairs:
                results = [result for result in proved if (result.a, result.b) == pair]
                words = {result.verdict for result in results}
                # A pair is safe if all its groups are, and not safe if one is not.
                worst = next(
                    word for word in ("false", "open", "proved") if word in words
                )
                least = min(result.run for result in results)
                lengths[pair].append((length, worst, least))
    except InputError:
        return ()
    safe = []
    for pair in pairs:
        before, token = model.token_strings(np.array(pair))
        safe.append(SafePair(before, token, tuple(lengths[pair])))
    return tuple(safe)


def _first_pairs(model: Model, text: Tokens | None) -> list[tuple[int, int]]:
    """The first few different pairs of adjacent tokens, of two different ordinary ones each."""
    ordinary = set(model.regular_tokens().tolist())
    pairs: dict[tuple[int, int], None] = {}
    for before, token in pairwise([] if text is None else text):
        pair = (int(before), int(token))
        if pair[0] != pair[1] and ordinary.issuperset(pair):
            pairs[pair] = None
    return list(pairs)[:SAFE_PAIRS]


def _affordable(
    layer: FirstLayer,
    free: Sequence[int],
    heads: Sequence[int],
    length: int,
    text: Tokens | None,
) -> tuple[list[int], list[int]]:
    """The tokens that the row may have, and the heads, that the work allows: the first ones of each."""
    if not heads:
        raise InputError("no head was asked for")
    candidates = _query_candidates(free, text)
    if not candidates:
        raise InputError(
            f"with {len(free)} tokens only some can be looked at as the row's, those of a text, and the "
            "text holds none of them"
        )
    width, d = layer.keys[0].weight.shape
    # What has to be done whatever the queries are: with positions in the embedding, the inputs and keys of every
    # position are made first.
    work_of_inputs = 0
    if layer.places is not None:
        work_of_inputs = len(free) * width * (WORK_OF_INPUT + d * len(heads))
    left = max(0, WORK // length - work_of_inputs)
    # Each query token is scored against each key token, at each position and in each head.
    work_of_query = len(free) * d
    affordable = left // (work_of_query * len(heads))
    queries = candidates[: max(FEWEST_QUERIES, min(MOST_QUERIES, affordable))]
    affordable_heads = max(1, left // (work_of_query * len(queries)))
    return queries, list(heads[:affordable_heads])


def _query_candidates(free: Sequence[int], text: Tokens | None) -> list[int]:
    """All tokens if they are few; else those of the text, in its order."""
    if len(free) <= MOST_QUERIES:
        return list(free)
    allowed = set(free)
    of_text = [] if text is None else [int(token) for token in text]
    return list(dict.fromkeys(token for token in of_text if token in allowed))


def _text_with_pairs(
    queries: Sequence[int], free: Sequence[int], text: Tokens | None
) -> Tokens | None:
    """The text, if a pair of it is one to look at."""
    if text is None:
        return None
    asked = set(queries)
    allowed = set(free)
    text = text[: MOST_PAIRS + 1]
    for before, token in pairwise(text):
        if int(token) in asked and int(before) in allowed:
            return np.asarray(text)
    return None


def _weight_bounds(
    model: Model, of_head: HeadOnEveryText, choices: int, on_key: OnPlaces
) -> WeightBounds:
    return WeightBounds(
        head=of_head.head,
        length=of_head.length,
        row=of_head.place,
        key=on_key.name,
        queries=of_head.queries,
        choices=choices,
        never_half=on_key.never_half,
        always_half=on_key.always_half,
        least=_extreme(model, on_key.least),
        most=_extreme(model, on_key.most),
    )


def _extreme(model: Model, attained: Attained) -> ExtremeWeight:
    words = tuple(model.token_strings(attained.text))
    return ExtremeWeight(attained.bound, words, attained.run)


def _pair_bounds(model: Model, of_head: HeadOnEveryText) -> PairBounds:
    guarantee = of_head.guarantee
    if guarantee is None:
        raise InputError(f"head {of_head.head}: no pair was looked at")
    weakest = []
    for a, b, least in guarantee.broken:
        before, token = model.token_strings(np.array([b, a]))
        weakest.append(PairWeight(before, token, least))
    return PairBounds(
        head=of_head.head,
        pairs=guarantee.pairs,
        above_half=guarantee.kept,
        weakest=tuple(weakest),
        least_weights=guarantee.floors,
    )
