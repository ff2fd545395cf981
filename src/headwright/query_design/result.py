"""What a design found: data only. `rendering` shows it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from headwright.numerics.enclosure import Enclosure
from headwright.query_design.several_heads import Share
from headwright.query_design.statement import DesignQuestion


@dataclass(frozen=True)
class EstimatedProbability:
    """A sampled probability with its 95% Clopper-Pearson interval, and its exact value where that can be had."""

    probability: float
    interval: tuple[float, float]
    samples: int
    conservative: bool  # several ways to fail were counted as if they never coincided
    exact: Enclosure | None = None
    # What may be any of several things was drawn as if each were as likely.
    evenly: bool = False


@dataclass(frozen=True, eq=False)
class DesignResult:
    """All numbers are proven by the certificate, but for those that say otherwise."""

    question: DesignQuestion
    word: str  # "designed", "impossible", "longer" (than any use) or "undecided"
    words: str  # what was proved, or why nothing was
    certificate: str | None = None  # JSON, as the checker accepted it
    # None unless designed.
    queries: Float[np.ndarray, "heads d"] = field(
        default_factory=lambda: np.empty((0, 0))
    )
    norm: float = math.inf  # the length of the longest query, rounded up
    # No query shorter than this meets the targets, of any kind; inf if none does.
    norm_lower_bound: float = 0.0
    shares: tuple[Share, ...] = ()  # which head serves which targets
    # If impossible: what can be met instead lies between; proven.
    best_eps: tuple[float, float] | None = None
    # If keys are random: how often the targets are met, sampled.
    probability: EstimatedProbability | None = None
    # Who verified the certificate: "exact", "float" or "proved"; none without one.
    checkers: tuple[str, ...] = ()

    @property
    def gap(self) -> float:
        """How much longer than the bound the longest query is, relatively."""
        if self.norm == 0:
            return 0.0
        if not 0 < self.norm_lower_bound < math.inf:
            return math.inf
        return self.norm / self.norm_lower_bound - 1

    @property
    def pattern(self) -> dict[int, float]:
        """The weight that each target gets at least, in every admissible realization; nothing unless designed."""
        if self.word != "designed":
            return {}
        least = self.question.targets.least
        return {key: math.nextafter(float(p), 0.0) for key, p in least.items()}
