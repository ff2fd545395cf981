"""A design as JSON: what scripts read of the command line, and browsers of the lab."""

from __future__ import annotations

import math
from typing import Any

from headwright.queries.designer import Design

KINDS = {  # what each number is; the norm and the interval of best_eps are rounded outward
    "queries": "exact",
    "norm": "proven",
    "norm_lower_bound": "proven",
    "gap": "floating-point",
    "pattern": "proven",
    "best_eps": "proven",
    "best_eps_interval": "proven",
    "probability": "sampled",
    "probability.proven_at_least": "proven",
    "probability.exact_enclosure": "proven",
}


def to_json(found: Design, certificate: str | None) -> dict[str, Any]:
    """What was found, in JSON's own types; `certificate` is where the certificate is, or the certificate itself.

    >>> import numpy as np
    >>> from headwright.queries import copy, design
    >>> to_json(design(np.eye(2), copy(0)), None)["verdict"]
    'designed'
    """
    finite = math.isfinite(found.norm)
    return {
        "verdict": found.word,
        "queries": found.queries.tolist(),
        "norm": found.norm if finite else None,
        "norm_lower_bound": found.norm_lower_bound if math.isfinite(found.norm_lower_bound) else None,
        "gap": found.gap if finite and math.isfinite(found.gap) else None,
        "pattern": {str(key): least for key, least in found.pattern.items()},
        "heads": [{"head": share.head, "targets": list(share.targets)} for share in found.shares],
        "best_eps": found.best_eps[1] if found.best_eps else None,
        "best_eps_interval": list(found.best_eps) if found.best_eps else None,
        "probability": _probability(found),
        "checkers": list(found.checkers),
        "certificate": certificate,
        "words": found.words,
        "kinds": KINDS,
    }


def _probability(found: Design) -> dict[str, Any] | None:
    chance = found.probability
    if chance is None:
        return None
    return {
        "proven_at_least": float(found.question.confidence),
        "probability": chance.probability,
        "interval": list(chance.interval),
        "samples": chance.samples,
        "conservative": chance.conservative,
        "exact_enclosure": [chance.exact.lower, chance.exact.upper] if chance.exact else None,
        "drawn_evenly": chance.evenly,
    }
