"""A simulation as JSON: what scripts read of the command line, and browsers of the lab."""

from __future__ import annotations

from typing import Any

from headwright.enclosure import Enclosure
from headwright.noise.simulation import Granted, Simulation

KINDS = {
    "targets": "sampled",
    "targets.exact_mean": "proven",
    "targets.exact_std": "proven",
    "near_average": "sampled",
    "near_average.exact": "floating-point",  # the middle of the enclosure
    "near_average.exact_enclosure": "proven",
    "wish": "sampled",
    "wish.exact": "floating-point",
    "wish.exact_enclosure": "proven",
    "tolerance": "given",
    "confidence": "given",
}


def to_json(result: Simulation) -> dict[str, Any]:
    """What was found, in JSON's own types.

    >>> import numpy as np
    >>> from headwright.noise import World, simulate
    >>> to_json(simulate(np.eye(2), np.zeros(2), World(), [1], samples=10))["near_average"]["why_not_exact"]
    """
    exact = result.exact
    return {
        "targets": [
            {
                "key": target.key,
                "mean": target.mean,
                "mean_interval": list(target.mean_interval),
                "std": target.deviation,
                "quantiles": {str(level): value for level, value in target.quantiles.items()},
                "exact_mean": _enclosure(exact.means[k]) if exact else None,
                "exact_std": _enclosure(exact.deviations[k]) if exact else None,
            }
            for k, target in enumerate(result.targets)
        ],
        "near_average": {
            "probability": result.near_average,
            "interval": list(result.near_average_interval),
            "exact": exact.near_average.midpoint if exact else None,
            "exact_enclosure": _enclosure(exact.near_average) if exact else None,
            "why_not_exact": result.why_not_exact or None,
        },
        "wish": _wish_as_json(result.wish) if result.wish else None,
        "tolerance": float(result.tolerance),
        "confidence": result.confidence,
        "samples": result.samples,
        "seed": result.seed,
        "sampled_uniformly": list(result.sampled_uniformly),
        "kinds": KINDS,
    }


def _wish_as_json(wish: Granted) -> dict[str, Any]:
    return {
        "least": {str(key): str(p) for key, p in sorted(wish.least.items())},
        "probability": wish.probability,
        "interval": list(wish.interval),
        "exact": wish.exact.midpoint if wish.exact else None,
        "exact_enclosure": _enclosure(wish.exact) if wish.exact else None,
        "why_not_exact": wish.why_not_exact or None,
    }


def _enclosure(enclosure: Enclosure) -> list[float]:
    return [enclosure.lower, enclosure.upper]
