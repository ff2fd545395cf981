"""A simulation for people and programs: lines of text, a card, JSON."""

from __future__ import annotations

from typing import Any

from headwright.notebook import card, lines
from headwright.numerics.enclosure import Enclosure, shown_above, shown_below
from headwright.simulation.result import SimulationResult
from headwright.simulation.targets_met import TargetsMet

KINDS = {
    "targets": "sampled",
    "targets.exact_mean": "proven",
    "targets.exact_std": "proven",
    "near_average": "sampled",
    "near_average.exact": "floating-point",  # the middle of the enclosure
    "near_average.exact_enclosure": "proven",
    "met": "sampled",
    "met.exact": "floating-point",
    "met.exact_enclosure": "proven",
    "tolerance": "given",
    "confidence": "given",
}


def simulation_as_json(found: SimulationResult) -> dict[str, Any]:
    """All of it in JSON's own types."""
    exact = found.exact
    targets = []
    for number, target in enumerate(found.targets):
        quantiles = {str(level): value for level, value in target.quantiles.items()}
        targets.append(
            {
                "key": target.key,
                "mean": target.mean,
                "mean_interval": list(target.mean_interval),
                "std": target.deviation,
                "quantiles": quantiles,
                "exact_mean": _ends(exact.means[number]) if exact else None,
                "exact_std": _ends(exact.deviations[number]) if exact else None,
            }
        )
    return {
        "targets": targets,
        "near_average": {
            "probability": found.near_average,
            "interval": list(found.near_average_interval),
            "exact": exact.near_average.midpoint if exact else None,
            "exact_enclosure": _ends(exact.near_average) if exact else None,
            "why_not_exact": found.why_not_exact or None,
        },
        "met": _met_as_json(found.met) if found.met else None,
        "tolerance": float(found.tolerance),
        "confidence": found.confidence,
        "samples": found.samples,
        "seed": found.seed,
        "sampled_uniformly": list(found.sampled_uniformly),
        "kinds": KINDS,
    }


def _met_as_json(met: TargetsMet) -> dict[str, Any]:
    return {
        "least": {str(key): str(p) for key, p in sorted(met.least.items())},
        "probability": met.probability,
        "interval": list(met.interval),
        "exact": met.exact.midpoint if met.exact else None,
        "exact_enclosure": _ends(met.exact) if met.exact else None,
        "why_not_exact": met.why_not_exact or None,
    }


def _ends(enclosure: Enclosure) -> list[float]:
    return [enclosure.lower, enclosure.upper]


def simulation_lines(found: SimulationResult) -> str:
    """Probabilities and means, each sampled with its interval, and proven where they are."""
    return lines("simulated", _sentence(found), _facts(found))


def simulation_card(found: SimulationResult) -> str:
    """The same as a card."""
    return card("simulated", _sentence(found), _facts(found))


def _sentence(found: SimulationResult) -> str:
    return (
        f"{found.samples} draws, seed {found.seed}; intervals at {found.confidence:g}."
    )


def _facts(found: SimulationResult) -> list[tuple[str, str]]:
    within = f"every target within {shown_above(found.tolerance)} of the average"
    interval = _between(found.near_average_interval)
    facts = [(within, f"{found.near_average:.4g}, sampled ({interval})")]
    if found.exact is not None:
        facts.append((within, f"{found.exact.near_average}, proven"))
    for target in found.targets:
        interval = _between(target.mean_interval)
        mean = f"{target.mean:.4g} on average, sampled ({interval})"
        facts.append((f"weight of key {target.key}", mean))
    return facts


def _between(interval: tuple[float, float]) -> str:
    low, high = interval
    return f"{shown_below(low, 4)} to {shown_above(high, 4)}"
