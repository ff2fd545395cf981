"""Ranges in words: the only place where sentences about them are made."""

from __future__ import annotations

import math

from headwright.numerics.enclosure import shown_above
from headwright.value_ranges.families import FAMILIES
from headwright.value_ranges.result import CloseText, Ranges
from headwright.value_ranges.verdicts import (
    LargeCentre,
    RangeAnswer,
    RangeQuestion,
    RangeVerdict,
    large_centres,
    largest_ratio,
    verdicts,
)

DIGITS = 4
NOT_BOUNDED = "not bounded"
REFUTED = {
    RangeQuestion.CACHE_AT_SCALE_ONE: "an e4m3 cache at scale 1 clips on this text",
    RangeQuestion.QUERIES_AT_SCALE_ONE: "queries in e4m3 at scale 1 clip on this text",
    RangeQuestion.SCORES_IN_FLOAT16: "scores overflow float16 on this text",
}
UNDECIDED = {
    RangeQuestion.CACHE_AT_SCALE_ONE: "an e4m3 cache at scale 1 may clip on some text",
    RangeQuestion.QUERIES_AT_SCALE_ONE: "queries in e4m3 at scale 1 may clip on some text",
    RangeQuestion.SCORES_IN_FLOAT16: "scores may overflow float16 before they are scaled",
}
SCALES_HELP = "with the scales that --scales writes it clips on none"


def summarise(ranges: Ranges) -> str:
    """A headline, then one line for each verdict and each warning."""
    lines = [headline(ranges)]
    lines.extend(verdict_in_words(verdict) for verdict in verdicts(ranges))
    lines.extend(warnings(ranges))
    width = largest_ratio(ranges)
    if width is not None and width > 1:
        lines.append(ratio_in_words(width))
    if ranges.close_text is not None:
        lines.append(close_text_in_words(ranges.close_text))
    return "\n".join(lines)


def headline(ranges: Ranges) -> str:
    """Which model, in which arithmetic, and the largest numbers of all."""
    sizes = f"keys {_at_most(ranges.largest_key)}"
    sizes += f", values {_at_most(ranges.largest_value)}"
    if ranges.largest_latent > 0:
        sizes += f", latent vectors {_at_most(ranges.largest_latent)}"
    sizes += f", queries {_at_most(ranges.largest_query)}"
    sizes += f", scores {_at_most(ranges.largest_score.score)}"
    start = (
        f"{ranges.model} ({ranges.family}, {len(ranges.layers)} layers, computed in "
    )
    arithmetic = ranges.number_type
    family = FAMILIES.get(ranges.family)
    if family is not None and "layer" in (family.norm_kind, family.head_norm_kind):
        arithmetic += ", LayerNorm to within a part in 128"
    return f"{start}{arithmetic}), on every text: {sizes}"


def _at_most(bound: float) -> str:
    return (
        f"at most {shown_above(bound, DIGITS)}" if math.isfinite(bound) else NOT_BOUNDED
    )


def bound_in_words(bound: float) -> str:
    """An upper bound, rounded up.

    >>> bound_in_words(117.20001), bound_in_words(math.inf)
    ('117.3', 'not bounded')
    """
    return shown_above(bound, DIGITS) if math.isfinite(bound) else NOT_BOUNDED


def verdict_in_words(verdict: RangeVerdict) -> str:
    """One line: the answer, the statement, and the numbers that it rests on."""
    statement = str(verdict.question)
    if verdict.answer is RangeAnswer.REFUTED:
        statement = REFUTED[verdict.question]
    elif verdict.answer is RangeAnswer.UNDECIDED:
        statement = UNDECIDED[verdict.question]
        is_cache = verdict.question is RangeQuestion.CACHE_AT_SCALE_ONE
        if is_cache and math.isfinite(verdict.bound):
            statement += f"; {SCALES_HELP}"
    numbers = f"at most {bound_in_words(verdict.bound)} of {verdict.limit:g}"
    if not math.isfinite(verdict.bound):
        numbers = (
            "not bounded: a number on the way may overflow, or has no norm before it"
        )
    if verdict.shown is not None:
        numbers += f"; this text shows {verdict.shown:.4g}"
    return f"{verdict.answer}: {statement} ({numbers})"


def ratio_in_words(ratio: float) -> str:
    """What scales from the bounds cost: range in a format with an exponent, bits in others."""
    return (
        f"note: bounds are up to {ratio:.3g} times what this text shows: as scales they cost fp8 range and no "
        f"precision, and int8 or int4 up to {math.log2(ratio):.2g} bits"
    )


def close_text_in_words(close: CloseText) -> str:
    """How loose the largest bound is."""
    place = f"keys of layer {close.layer}, key head {close.head}"
    return (
        f"how close: {place}: proved at most {bound_in_words(close.bound)}; {close.by_text:.4g} on a text of "
        f"{len(close.tokens)} tokens that was searched for; {close.by_embeddings:.4g} on embeddings that are no text; "
        f"{close.by_input:.4g} for an input of the norm"
    )


def warnings(ranges: Ranges) -> list[str]:
    """What breaks caches of few bits."""
    centres = large_centres(ranges)
    if not centres:
        return []
    line = f"warning: {centre_in_words(centres[0])}"
    if len(centres) > 1:
        heads = "head has" if len(centres) == 2 else "heads have"
        line += f", and {len(centres) - 1} more key {heads} a large one"
    return [f"{line}: few-bit caches break here"]


def centre_in_words(centre: LargeCentre) -> str:
    """How far keys are from 0 whatever the text is."""
    place = f"layer {centre.layer}, key head {centre.head}"
    return f"the bias of {place} is {centre.spreads:.3g} times the spread of its keys"


def scales_in_words(path: str) -> str:
    """What the written scales are good for."""
    return f"proved: with the scales in {path} an e4m3 cache clips on no text"
