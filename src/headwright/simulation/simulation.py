"""Simulate uncertain keys: the weights of targets, and how often they are met; sampled, and proven where possible."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Float

from headwright.argument_types import check_argument
from headwright.errors import InputError
from headwright.files import indices
from headwright.numerics.enclosure import TOLERANCE
from headwright.numerics.quantiles import clopper_pearson
from headwright.simulation.exact_probability import Exact, exact
from headwright.simulation.intervals import (
    check_mean,
    check_probability,
    mean_interval,
)
from headwright.simulation.rendering import (
    simulation_as_json,
    simulation_card,
    simulation_lines,
)
from headwright.simulation.result import SimulationResult, TargetWeight
from headwright.simulation.targets_met import (
    DrawCounts,
    SamplePlan,
    TargetsMet,
    check_targets,
    summarise_counts,
)
from headwright.uncertainty.uncertainty import Uncertainty, rows

QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
CLOUD = 1500  # draws kept for a picture
MOST_NUMBERS = 5 * 10**8  # samples times targets: 4 GB

Weights = Float[np.ndarray, "samples targets"]


class Simulation(SimulationResult):
    """What `simulate` found: sampled numbers with intervals, and enclosures in `exact` where there are any.

    >>> found = simulate(np.eye(2), np.array([1.0, 0.0]), Uncertainty(), [0], samples=10)
    >>> print(found.exact.means[0])
    0.7310585786 .. 0.7310585787
    """

    def to_json(self) -> dict[str, Any]:
        """All of it in JSON's own types."""
        return simulation_as_json(self)

    def __repr__(self) -> str:
        """Probabilities and means, each sampled with its interval, and proven where they are."""
        return simulation_lines(self)

    def _repr_html_(self) -> str:
        """For notebooks: the same as a card."""
        return simulation_card(self)


def simulate(
    keys: Float[np.ndarray, "n d"],
    queries: Float[np.ndarray, "heads d"],
    uncertainty: Uncertainty,
    targets: Sequence[int],
    *,
    tolerance: Fraction | float = Fraction(1, 20),
    least: Mapping[int, Fraction] | None = None,
    samples: int = 100_000,
    scale: Fraction | float = 1.0,
    seed: int = 0,
    confidence: float = 0.95,
    progress: Callable[[float], None] | None = None,
) -> Simulation:
    """Draw the keys many times and say what becomes of the targets; and how often they all get their least weight.

    >>> from headwright.uncertainty import Noise, Normal
    >>> uncertainty = Uncertainty({0: Noise(scale=Normal(1.0, 0.5))})
    >>> one_head = simulate(np.eye(3), 10 * np.array([[1.0, 1.0, 0.0]]), uncertainty, [0, 1])
    >>> two_heads = simulate(np.eye(3), 10 * np.eye(3)[:2], uncertainty, [0, 1])
    >>> round(one_head.exact.near_average.midpoint, 6), round(two_heads.exact.near_average.midpoint, 6)
    (0.022636, 0.842678)
    >>> low, high = two_heads.near_average_interval
    >>> low <= two_heads.exact.near_average.midpoint <= high
    True
    """
    check_argument("uncertainty", uncertainty, Uncertainty)
    check_argument("samples", samples, int)
    check_argument("seed", seed, int)
    check_argument("confidence", confidence, float)
    check_argument("scale", scale, float)
    check_argument("tolerance", tolerance, float)
    check_argument("least", least, Mapping[int, float] | None)
    keys, queries = rows(keys, queries, uncertainty)
    targets = indices(targets, "targets")
    tolerance = Fraction(str(tolerance))
    least = least or {}
    _check_arguments(len(keys), targets, tolerance, samples)
    if not set(least) <= set(targets):
        raise InputError(
            f"targets {list(targets)}, and the targets are about {sorted(least)}: expected all of these",
            field="targets",
        )
    plan = SamplePlan(keys, queries, uncertainty, scale, samples, seed, confidence)
    weights = np.empty((samples, len(targets)))
    done = 0
    for block in plan.weights(targets, progress):
        weights[done : done + len(block)] = block
        done += len(block)
    distances = np.abs(weights - 1 / len(targets)).max(axis=1)
    near = _count_below(distances, float(tolerance))
    reason = plan.why_not_exact
    proven = None
    if not reason:
        proven = exact(
            keys, queries, uncertainty, targets, tolerance=tolerance, scale=scale
        )
        _check_against(proven, weights, distances, targets, float(tolerance))
    return Simulation(
        targets=tuple(
            _summary(key, weights[:, k], confidence) for k, key in enumerate(targets)
        ),
        near_average=near / samples,
        near_average_interval=clopper_pearson(near, samples, confidence),
        exact=proven,
        why_not_exact=reason,
        tolerance=tolerance,
        samples=samples,
        seed=seed,
        confidence=confidence,
        sampled_uniformly=tuple(uncertainty.sampled_sets),
        cloud=weights[:CLOUD].copy(),
        met=_targets_met(plan, weights, targets, least) if least else None,
    )


def _count_below(distances: Float[np.ndarray, " samples"], most: float) -> int:
    return int((distances <= most).sum())


def _check_against(
    proven: Exact,
    weights: Weights,
    distances: Float[np.ndarray, " samples"],
    targets: Sequence[int],
    tolerance: float,
) -> None:
    """Raise a ContradictionError unless the draws can come from what was proved."""
    samples = len(weights)
    check_probability(
        _count_below(distances, tolerance + TOLERANCE),
        _count_below(distances, tolerance - TOLERANCE),
        samples,
        proven.near_average,
        "how often targets are near their average",
    )
    means = weights.mean(axis=0).tolist()
    for key, mean, known in zip(targets, means, proven.means, strict=True):
        check_mean(mean, samples, known, f"the mean weight of key {key}")


def _targets_met(
    plan: SamplePlan,
    weights: Weights,
    targets: Sequence[int],
    least: Mapping[int, Fraction],
) -> TargetsMet:
    columns = [targets.index(key) for key in least]
    counts = DrawCounts().plus(weights[:, columns], list(least.values()))
    return summarise_counts(plan, least, counts)


def _summary(
    key: int, drawn: Float[np.ndarray, " samples"], confidence: float
) -> TargetWeight:
    mean = float(drawn.mean())
    deviation = float(drawn.std(ddof=1)) if len(drawn) > 1 else 0.0
    low, high = mean_interval(mean, deviation, len(drawn), confidence)
    quantiles = np.quantile(drawn, QUANTILES).tolist()
    return TargetWeight(
        key=key,
        mean=mean,
        mean_interval=(max(low, 0.0), min(high, 1.0)),
        deviation=deviation,
        quantiles=dict(zip(QUANTILES, quantiles, strict=True)),
    )


def _check_arguments(
    n: int, targets: Sequence[int], tolerance: Fraction, samples: int
) -> None:
    check_targets(targets, n)
    if tolerance < 0:
        raise InputError(
            f"tolerance {float(tolerance)}: expected 0 or more", field="tolerance"
        )
    most = MOST_NUMBERS // len(targets)
    if not 1 <= samples <= most:
        raise InputError(
            f"{samples} samples: expected at least 1 and at most {most}",
            field="samples",
        )
