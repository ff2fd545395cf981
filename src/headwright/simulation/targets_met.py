"""How often every target gets its least weight: sampled with an interval, and proven where possible."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from headwright.errors import InputError
from headwright.files import indices
from headwright.numerics.enclosure import TOLERANCE, Enclosure
from headwright.numerics.quantiles import clopper_pearson
from headwright.simulation.exact_probability import probability_met, why_not_exact
from headwright.simulation.intervals import check_probability
from headwright.simulation.sampling import sample_weights
from headwright.uncertainty.uncertainty import Uncertainty, rows


@dataclass(frozen=True)
class DrawCounts:
    """In how many draws every target had its least weight; and a little less than it, and a little more."""

    times: int = 0
    nearly: int = 0
    clearly: int = 0

    def plus(
        self, weights: Float[np.ndarray, "draws targets"], least: Sequence[Fraction]
    ) -> DrawCounts:
        """With more draws; the columns are targets, each with its least weight."""
        floors = np.array([float(p) for p in least])
        return DrawCounts(
            self.times + _count_above(weights, floors),
            self.nearly + _count_above(weights, floors - TOLERANCE),
            self.clearly + _count_above(weights, floors + TOLERANCE),
        )


def _count_above(
    weights: Float[np.ndarray, "draws targets"], floors: Float[np.ndarray, " targets"]
) -> int:
    return int((weights >= floors).all(axis=1).sum())


@dataclass(frozen=True)
class TargetsMet:
    """The probability that every target gets its least weight (of the mean pattern over the heads).

    >>> found = targets_met(np.eye(2), np.array([[9.0, 0.0]]), Uncertainty(), {0: Fraction(1, 2)}, samples=10)
    >>> found.probability, found.exact.lower
    (1.0, 1.0)
    """

    least: dict[int, Fraction]
    probability: float  # sampled
    interval: tuple[float, float]  # Clopper-Pearson
    exact: Enclosure | None  # proven
    why_not_exact: str
    samples: int
    seed: int
    confidence: float  # of the interval
    counts: DrawCounts


@dataclass(frozen=True, eq=False)
class SamplePlan:
    """What is drawn, and how often."""

    keys: Float[np.ndarray, "n d"]
    queries: Float[np.ndarray, "heads d"]
    uncertainty: Uncertainty
    scale: Fraction | float
    samples: int
    seed: int
    confidence: float  # of intervals

    @property
    def why_not_exact(self) -> str:
        """Why nothing is proven of it; empty if it is."""
        return why_not_exact(self.keys, self.queries, self.uncertainty)

    def weights(
        self, targets: Sequence[int], progress: Callable[[float], None] | None
    ) -> Iterator[Float[np.ndarray, "draws targets"]]:
        """The weights of targets, in blocks of draws."""
        blocks = sample_weights(
            self.keys,
            self.queries,
            self.uncertainty,
            targets,
            self.samples,
            scale=float(self.scale),
            seed=self.seed,
        )
        return _with_progress(blocks, self.samples, progress)


def _with_progress(
    blocks: Iterable[Float[np.ndarray, "draws targets"]],
    samples: int,
    progress: Callable[[float], None] | None,
) -> Iterator[Float[np.ndarray, "draws targets"]]:
    done = 0
    for block in blocks:
        yield block
        done += len(block)
        if progress is not None:
            progress(done / samples)


def targets_met(
    keys: Float[np.ndarray, "n d"],
    queries: Float[np.ndarray, "heads d"],
    uncertainty: Uncertainty,
    least: Mapping[int, Fraction],
    *,
    samples: int = 100_000,
    scale: Fraction | float = 1.0,
    seed: int = 0,
    confidence: float = 0.95,
    progress: Callable[[float], None] | None = None,
) -> TargetsMet:
    """Draw the keys many times and count how often the targets are met; proven where one key's length is random.

    >>> from headwright.uncertainty import Noise, Normal
    >>> uncertainty = Uncertainty({0: Noise(scale=Normal(1.0, 0.01))})
    >>> found = targets_met(np.eye(2), np.array([[9.0, -9.0]]), uncertainty, {0: Fraction(100, 101)})
    >>> print(found.exact)
    0.9999999999 .. 1
    """
    keys, queries = rows(keys, queries, uncertainty)
    check_targets(list(least), len(keys))
    plan = SamplePlan(keys, queries, uncertainty, scale, samples, seed, confidence)
    counts = DrawCounts()
    for block in plan.weights(list(least), progress):
        counts = counts.plus(block, list(least.values()))
    return summarise_counts(plan, least, counts)


def summarise_counts(
    plan: SamplePlan, least: Mapping[int, Fraction], counts: DrawCounts
) -> TargetsMet:
    """What so many draws in which the targets were met say, beside what can be proven."""
    reason = plan.why_not_exact
    proven = None
    if not reason:
        proven = probability_met(
            plan.keys, plan.queries, plan.uncertainty, least, scale=plan.scale
        )
        check_probability(
            counts.nearly,
            counts.clearly,
            plan.samples,
            proven,
            "how often the targets are met",
        )
    return TargetsMet(
        least=dict(least),
        probability=counts.times / plan.samples,
        interval=clopper_pearson(counts.times, plan.samples, plan.confidence),
        exact=proven,
        why_not_exact=reason,
        samples=plan.samples,
        seed=plan.seed,
        confidence=plan.confidence,
        counts=counts,
    )


def check_targets(targets: Sequence[int], n: int) -> None:
    """Refuse targets that are not different keys."""
    if not indices(targets, "targets"):
        raise InputError("no targets: expected at least one key to watch")
    for target in targets:
        if not 0 <= target < n:
            raise InputError(
                f"target {target}, and there are {n} keys: expected 0 to {n - 1}"
            )
    if len(set(targets)) < len(targets):
        raise InputError(
            f"targets {list(targets)}: expected each key once", field="targets"
        )
