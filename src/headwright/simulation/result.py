"""What a simulation found: data only. `rendering` shows it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from headwright.simulation.exact_probability import Exact
from headwright.simulation.targets_met import TargetsMet


@dataclass(frozen=True)
class TargetWeight:
    """The weight of one target in the pattern, averaged over the heads, over the draws of uncertain keys.

    >>> from headwright.simulation import simulate
    >>> from headwright.uncertainty import Uncertainty
    >>> found = simulate(np.eye(2), np.zeros(2), Uncertainty(), [1], samples=10)
    >>> found.targets[0].key, found.targets[0].mean
    (1, 0.5)
    """

    key: int
    mean: float
    mean_interval: tuple[float, float]
    deviation: float
    quantiles: dict[float, float]


@dataclass(frozen=True)
class SimulationResult:
    """Sampled numbers with intervals, and enclosures in `exact` where there are any."""

    targets: tuple[TargetWeight, ...]
    # The sampled probability that every target is within the tolerance of 1/(number of targets).
    near_average: float
    near_average_interval: tuple[float, float]
    exact: Exact | None
    why_not_exact: str
    tolerance: Fraction
    samples: int
    seed: int
    confidence: float
    sampled_uniformly: tuple[str, ...]  # sets that were given a uniform law
    cloud: Float[np.ndarray, "draws targets"]  # the first draws, for a picture
    met: TargetsMet | None = None  # how often the targets are met, if there are any
