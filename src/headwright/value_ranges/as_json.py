"""Ranges as JSON: a bound that is infinite is null."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from headwright.value_ranges.observed import ObservedHead, ObservedLayer
from headwright.value_ranges.result import (
    HeadRange,
    LayerRange,
    Ranges,
    ScoreRange,
    VectorRange,
)
from headwright.value_ranges.verdicts import RangeVerdict, large_centres, verdicts


def ranges_to_json(ranges: Ranges) -> dict[str, Any]:
    """All that is known, layer by layer and head by head."""
    observed = ranges.observed
    layers = []
    for number, layer in enumerate(ranges.layers):
        shown = None if observed is None else observed.layers[number]
        layers.append(_layer_to_json(layer, shown))
    centres = []
    for centre in large_centres(ranges):
        place = {"layer": centre.layer, "key_head": centre.head}
        centres.append({**place, "spreads": _finite(centre.spreads)})
    return {
        "model": ranges.model,
        "family": ranges.family,
        "digest": ranges.digest,
        "arithmetic": ranges.number_type,
        "largest_key": _finite(ranges.largest_key),
        "largest_value": _finite(ranges.largest_value),
        "largest_latent": _finite(ranges.largest_latent),
        "largest_query": _finite(ranges.largest_query),
        "largest_product": _finite(ranges.largest_score.product),
        "largest_score": _finite(ranges.largest_score.score),
        "verdicts": [_verdict_to_json(verdict) for verdict in verdicts(ranges)],
        "large_centres": centres,
        "close_text": None if ranges.close_text is None else asdict(ranges.close_text),
        "text_tokens": None if observed is None else observed.tokens,
        "layers": layers,
        "kinds": {"layers": "proven", "text": "floating-point"},
    }


def _layer_to_json(layer: LayerRange, shown: ObservedLayer | None) -> dict[str, Any]:
    heads: dict[str, Any] = {"layer": layer.index}
    for name in ("queries", "keys", "values"):
        of_text = (None,) * len(getattr(layer, name))
        if shown is not None:
            of_text = getattr(shown, name)
        pairs = zip(getattr(layer, name), of_text, strict=True)
        heads[name] = [_head_to_json(head, text) for head, text in pairs]
    if layer.latents:
        heads["latents"] = [_head_to_json(latent, None) for latent in layer.latents]
    heads["scores"] = []
    for number, score in enumerate(layer.scores):
        of_score = _score_to_json(score)
        if shown is not None:
            of_score["text"] = shown.scores[number]
        heads["scores"].append(of_score)
    return heads


def _head_to_json(head: HeadRange, shown: ObservedHead | None) -> dict[str, Any]:
    result: dict[str, Any] = {
        "before_rotation": _vectors_to_json(head.before),
        "after_rotation": _vectors_to_json(head.after),
        "centre": head.centre,
        "spread": head.spread,
    }
    if shown is not None:
        result["text"] = {"largest": shown.largest, "length": shown.length}
    return result


def _vectors_to_json(vectors: VectorRange) -> dict[str, Any]:
    return {
        "largest": _finite(vectors.largest),
        "length": _finite(vectors.length),
        "channels": [_finite(bound) for bound in vectors.channels.tolist()],
    }


def _score_to_json(score: ScoreRange) -> dict[str, Any]:
    return {"product": _finite(score.product), "score": _finite(score.score)}


def _verdict_to_json(verdict: RangeVerdict) -> dict[str, Any]:
    return {
        "question": str(verdict.question),
        "answer": str(verdict.answer),
        "bound": _finite(verdict.bound),
        "limit": verdict.limit,
        "text": None if verdict.shown is None else _finite(verdict.shown),
    }


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
