"""What ranges mean for a cache and for scores, as data. The words are made in `sentences`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from headwright.value_ranges.result import Ranges

E4M3_LARGEST = 448.0
FLOAT16_LARGEST = 65504.0
# A centre so many spreads from 0 takes the bits of a cache of few bits for itself.
LARGE_CENTRE = 10.0


class RangeQuestion(StrEnum):
    """What is asked of the ranges of a model."""

    CACHE_AT_SCALE_ONE = "an e4m3 cache at scale 1 never clips"
    QUERIES_AT_SCALE_ONE = "queries in e4m3 at scale 1 never clip"
    SCORES_IN_FLOAT16 = "scores cannot overflow float16"


class RangeAnswer(StrEnum):
    """Proved for every text; refuted by the text that was run; or neither."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class RangeVerdict:
    """The answer to one question: a bound, the largest allowed number, and what a text shows."""

    question: RangeQuestion
    answer: RangeAnswer
    bound: float
    limit: float
    shown: float | None = None


@dataclass(frozen=True)
class LargeCentre:
    """Keys of a head that are far from 0 whatever the text is, compared with how far they spread."""

    layer: int
    head: int
    spreads: float


def verdicts(ranges: Ranges) -> tuple[RangeVerdict, ...]:
    """The answer to every question.

    >>> from transformers import LlamaConfig, LlamaModel
    >>> from headwright.value_ranges.measure import ranges
    >>> sizes = {"hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2, "vocab_size": 8}
    >>> model = LlamaModel(LlamaConfig(num_hidden_layers=1, **sizes))
    >>> [verdict.answer.value for verdict in verdicts(ranges(model))]
    ['proved', 'proved', 'proved']
    """
    cache = _verdict(
        RangeQuestion.CACHE_AT_SCALE_ONE,
        ranges.largest_cached,
        E4M3_LARGEST,
        _shown_in_cache(ranges),
    )
    queries = _verdict(
        RangeQuestion.QUERIES_AT_SCALE_ONE,
        ranges.largest_query,
        E4M3_LARGEST,
        _shown_in_queries(ranges),
    )
    # A product is rounded to the type before it is scaled, if the kernel does so.
    product = ranges.largest_score.product
    scores = _verdict(RangeQuestion.SCORES_IN_FLOAT16, product, FLOAT16_LARGEST, None)
    return cache, queries, scores


def large_centres(ranges: Ranges) -> tuple[LargeCentre, ...]:
    """Heads whose keys have a centre far from 0, the furthest first."""
    centres = []
    for layer in ranges.layers:
        for number, head in enumerate(layer.keys):
            if head.centre_in_spreads > LARGE_CENTRE:
                centres.append(LargeCentre(layer.index, number, head.centre_in_spreads))
    return tuple(sorted(centres, key=lambda centre: -centre.spreads))


def largest_ratio(ranges: Ranges) -> float | None:
    """Over layers, the largest bound on keys or values divided by what the text shows; None without a text."""
    if ranges.observed is None:
        return None
    ratios = []
    for layer, shown in zip(ranges.layers, ranges.observed.layers, strict=True):
        for bound, heads in (
            (layer.largest_key, shown.keys),
            (layer.largest_value, shown.values),
        ):
            largest = max(head.largest for head in heads)
            if math.isfinite(bound) and largest > 0:
                ratios.append(bound / largest)
    return max(ratios) if ratios else None


def _verdict(
    question: RangeQuestion, bound: float, limit: float, shown: float | None
) -> RangeVerdict:
    answer = RangeAnswer.UNDECIDED
    if bound <= limit:
        answer = RangeAnswer.PROVED
    elif shown is not None and not shown <= limit:
        answer = RangeAnswer.REFUTED
    return RangeVerdict(question, answer, bound, limit, shown)


def _shown_in_cache(ranges: Ranges) -> float | None:
    if ranges.observed is None:
        return None
    # A cache of latent vectors does not keep the keys and values that were seen.
    if any(layer.latents for layer in ranges.layers):
        return None
    largest = -math.inf
    for layer in ranges.observed.layers:
        for head in (*layer.keys, *layer.values):
            largest = max(largest, head.largest)
    return largest


def _shown_in_queries(ranges: Ranges) -> float | None:
    if ranges.observed is None:
        return None
    layers = ranges.observed.layers
    return max(head.largest for layer in layers for head in layer.queries)
