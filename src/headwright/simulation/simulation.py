"""Simulate uncertain keys: the weights of targets, and how often they are met; sampled, and proven where possible."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Float

from headwright.errors import InputError, typed_errors
from headwright.files import indices
from headwright.notebook import card, lines
from headwright.numerics.enclosure import (
    TOLERANCE,
    Enclosure,
    assert_within,
    shown_above,
    shown_below,
)
from headwright.numerics.quantiles import check_sample, student_quantile
from headwright.numerics.quantiles import clopper_pearson as clopper_pearson
from headwright.simulation.exact_probability import (
    Exact,
    exact,
    probability_met,
    why_not_exact,
)
from headwright.simulation.sampling import sample_weights
from headwright.uncertainty.uncertainty import Uncertainty, rows

NEVER = 1 - 1e-12  # of an interval that is wrong by chance as good as never
QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
CLOUD = 1500  # draws kept for a picture
MOST_NUMBERS = 5 * 10**8  # samples times targets: 4 GB

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


@typed_errors
def mean_interval(
    mean: float, deviation: float, samples: int, confidence: float = 0.95
) -> tuple[float, float]:
    """Student's interval of a mean, mean -+ t deviation / sqrt(samples): exact for normal draws, else for many.

    One draw says nothing about how far draws are apart, so its interval is the whole line.

    >>> low, high = mean_interval(0.5, 0.1, 10_000)
    >>> round(low, 5), round(high, 5)
    (0.49804, 0.50196)
    >>> mean_interval(0.5, 0.0, 1)
    (-inf, inf)
    """
    check_sample(samples, confidence)
    if samples == 1:
        return -math.inf, math.inf
    half = (
        student_quantile(samples - 1, (1 + confidence) / 2)
        * deviation
        / math.sqrt(samples)
    )
    return mean - half, mean + half


@dataclass(frozen=True)
class Held:
    """In how many draws every target had its least weight; and a little less than it, and a little more."""

    times: int = 0
    nearly: int = 0
    clearly: int = 0

    def plus(
        self,
        weights: Float[np.ndarray, "draws targets"],
        least: Sequence[tuple[int, Fraction]],
    ) -> Held:
        """With more draws."""
        counts = (
            int(
                np.all([weights[:, k] >= float(p) + by for k, p in least], axis=0).sum()
            )
            for by in (0.0, -TOLERANCE, TOLERANCE)
        )
        return Held(
            *(
                old + new
                for old, new in zip(
                    (self.times, self.nearly, self.clearly), counts, strict=True
                )
            )
        )


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
    held: Held


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
    _check_targets(list(least), len(keys))
    held = Held()
    asked = list(enumerate(least.values()))
    drawn = sample_weights(
        keys, queries, uncertainty, list(least), samples, scale=float(scale), seed=seed
    )
    for block, _ in _with_progress(drawn, samples, progress):
        held = held.plus(block, asked)
    return _summed_up(
        held,
        keys,
        queries,
        uncertainty,
        least,
        samples=samples,
        scale=scale,
        seed=seed,
        confidence=confidence,
    )


def not_by_chance(
    nearly: int, clearly: int, samples: int, proven: Enclosure, what: str
) -> None:
    """Raise a ContradictionError unless so many draws can come from the proven probability.

    `nearly` are those in which it happened, or all but happened; `clearly` those in which it did beyond all rounding.
    An interval that holds but for one sample in 10^12 must meet the proven one.
    """
    assert_within(clopper_pearson(nearly, samples, NEVER)[1], what, least=proven.lower)
    assert_within(clopper_pearson(clearly, samples, NEVER)[0], what, most=proven.upper)


def _summed_up(
    held: Held,
    keys: Float[np.ndarray, "n d"],
    queries: Float[np.ndarray, "heads d"],
    uncertainty: Uncertainty,
    least: Mapping[int, Fraction],
    *,
    samples: int,
    scale: Fraction | float,
    seed: int,
    confidence: float,
) -> TargetsMet:
    """What so many draws in which the targets were met say, beside what can be proven."""
    reason = why_not_exact(keys, queries, uncertainty)
    proven = (
        None
        if reason
        else probability_met(keys, queries, uncertainty, least, scale=scale)
    )
    if proven is not None:
        not_by_chance(
            held.nearly, held.clearly, samples, proven, "how often the targets are met"
        )
    return TargetsMet(
        least=dict(least),
        probability=held.times / samples,
        interval=clopper_pearson(held.times, samples, confidence),
        exact=proven,
        why_not_exact=reason,
        samples=samples,
        seed=seed,
        confidence=confidence,
        held=held,
    )


def _check_targets(targets: Sequence[int], n: int) -> None:
    """Refuse targets that are not different keys."""
    if not indices(targets, "targets"):
        raise InputError("no targets: expected at least one key to watch")
    for target in targets:
        if not 0 <= target < n:
            raise InputError(
                f"target {target}, and there are {n} keys: expected 0 to {n - 1}"
            )
    if len(set(targets)) < len(targets):
        raise InputError(f"targets {list(targets)}: expected each key once")


@dataclass(frozen=True)
class TargetWeight:
    """The weight of one target in the pattern, averaged over the heads, over the draws of uncertain keys.

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
class Simulation:
    """What `simulate` found: sampled numbers with intervals, and enclosures in `exact` where there are any.

    >>> found = simulate(np.eye(2), np.array([1.0, 0.0]), Uncertainty(), [0], samples=10)
    >>> print(found.exact.means[0])
    0.7310585786 .. 0.7310585787
    """

    targets: tuple[TargetWeight, ...]
    near_average: float  # sampled probability that every target is within the tolerance of 1/(number of targets)
    near_average_interval: tuple[float, float]
    exact: Exact | None
    why_not_exact: str
    tolerance: Fraction
    samples: int
    seed: int
    confidence: float
    sampled_uniformly: tuple[
        str, ...
    ]  # sets in the uncertainty that were given a uniform law
    cloud: Float[np.ndarray, "draws targets"]  # the first draws, for a picture
    met: TargetsMet | None = None  # how often a target was met, if there was one

    def to_json(self) -> dict[str, Any]:
        """All of it in JSON's own types."""
        exact = self.exact
        return {
            "targets": [
                {
                    "key": target.key,
                    "mean": target.mean,
                    "mean_interval": list(target.mean_interval),
                    "std": target.deviation,
                    "quantiles": {
                        str(level): value for level, value in target.quantiles.items()
                    },
                    "exact_mean": _enclosure(exact.means[k]) if exact else None,
                    "exact_std": _enclosure(exact.deviations[k]) if exact else None,
                }
                for k, target in enumerate(self.targets)
            ],
            "near_average": {
                "probability": self.near_average,
                "interval": list(self.near_average_interval),
                "exact": exact.near_average.midpoint if exact else None,
                "exact_enclosure": _enclosure(exact.near_average) if exact else None,
                "why_not_exact": self.why_not_exact or None,
            },
            "met": _met_as_json(self.met) if self.met else None,
            "tolerance": float(self.tolerance),
            "confidence": self.confidence,
            "samples": self.samples,
            "seed": self.seed,
            "sampled_uniformly": list(self.sampled_uniformly),
            "kinds": KINDS,
        }

    def _shown(self, show: Callable[[str, str, list[tuple[str, str]]], str]) -> str:
        low, high = self.near_average_interval
        within = f"every target within {shown_above(self.tolerance)} of the average"
        sampled = f"{self.near_average:.4g}, sampled ({shown_below(low, 4)} to {shown_above(high, 4)})"
        facts = [(within, sampled)]
        if self.exact is not None:
            facts.append((within, f"{self.exact.near_average}, proven"))
        for target in self.targets:
            low, high = target.mean_interval
            mean = f"{target.mean:.4g} on average, sampled ({shown_below(low, 4)} to {shown_above(high, 4)})"
            facts.append((f"weight of key {target.key}", mean))
        return show(
            "simulated",
            f"{self.samples} draws, seed {self.seed}; intervals at {self.confidence:g}.",
            facts,
        )

    def __repr__(self) -> str:
        """Probabilities and means, each sampled with its interval, and proven where they are."""
        return self._shown(lines)

    def _repr_html_(self) -> str:
        """For notebooks: the same as a card."""
        return self._shown(card)


@typed_errors
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
    keys, queries = rows(keys, queries, uncertainty)
    targets = indices(targets, "targets")
    tolerance = Fraction(str(tolerance))
    _check_arguments(len(keys), targets, tolerance, samples)
    if not set(least or ()) <= set(targets):
        raise InputError(
            f"targets {list(targets)}, and the targets are about {sorted(least or ())}: expected all of these"
        )
    drawn = np.empty((samples, len(targets)))
    blocks = sample_weights(
        keys, queries, uncertainty, targets, samples, scale=float(scale), seed=seed
    )
    for block, done in _with_progress(blocks, samples, progress):
        drawn[done : done + len(block)] = block
    apart = np.abs(drawn - 1 / len(targets)).max(axis=1)
    near = int((apart <= float(tolerance)).sum())
    reason = why_not_exact(keys, queries, uncertainty)
    held = (
        Held().plus(drawn, [(targets.index(a), p) for a, p in least.items()])
        if least
        else Held()
    )
    proven = (
        None
        if reason
        else exact(
            keys, queries, uncertainty, targets, tolerance=tolerance, scale=scale
        )
    )
    if proven is not None:
        nearly, clearly = (
            int((apart <= float(tolerance) + by).sum())
            for by in (TOLERANCE, -TOLERANCE)
        )
        not_by_chance(
            nearly,
            clearly,
            samples,
            proven.near_average,
            "how often targets are near their average",
        )
        room = (
            float(np.sqrt(np.log(2 / (1 - NEVER)) / (2 * samples))) + TOLERANCE
        )  # Hoeffding, for numbers in [0, 1]
        for key, mean, known in zip(
            targets, drawn.mean(axis=0).tolist(), proven.means, strict=True
        ):
            assert_within(
                mean,
                f"the mean weight of key {key}",
                least=known.lower,
                most=known.upper,
                tolerance=room,
            )
    return Simulation(
        targets=tuple(
            _summary(key, drawn[:, k], confidence) for k, key in enumerate(targets)
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
        cloud=drawn[:CLOUD].copy(),
        met=(
            _summed_up(
                held,
                keys,
                queries,
                uncertainty,
                least,
                samples=samples,
                scale=scale,
                seed=seed,
                confidence=confidence,
            )
            if least
            else None
        ),
    )


def _with_progress(
    blocks: Iterable[Float[np.ndarray, "draws targets"]],
    samples: int,
    progress: Callable[[float], None] | None,
) -> Iterator[tuple[Float[np.ndarray, "draws targets"], int]]:
    """Each block of draws, with the number of draws before it."""
    done = 0
    for block in blocks:
        yield block, done
        done += len(block)
        if progress is not None:
            progress(done / samples)


def _summary(
    key: int, drawn: Float[np.ndarray, " samples"], confidence: float
) -> TargetWeight:
    mean = float(drawn.mean())
    deviation = float(drawn.std(ddof=1)) if len(drawn) > 1 else 0.0
    low, high = mean_interval(mean, deviation, len(drawn), confidence)
    return TargetWeight(
        key=key,
        mean=mean,
        mean_interval=(max(low, 0.0), min(high, 1.0)),
        deviation=deviation,
        quantiles=dict(
            zip(QUANTILES, np.quantile(drawn, QUANTILES).tolist(), strict=True)
        ),
    )


def _check_arguments(
    n: int, targets: Sequence[int], tolerance: Fraction, samples: int
) -> None:
    _check_targets(targets, n)
    if tolerance < 0:
        raise InputError(f"tolerance {float(tolerance)}: expected 0 or more")
    if not 1 <= samples <= MOST_NUMBERS // len(targets):
        raise InputError(
            f"{samples} samples: expected at least 1 and at most {MOST_NUMBERS // len(targets)}"
        )


def _met_as_json(targets: TargetsMet) -> dict[str, Any]:
    return {
        "least": {str(key): str(p) for key, p in sorted(targets.least.items())},
        "probability": targets.probability,
        "interval": list(targets.interval),
        "exact": targets.exact.midpoint if targets.exact else None,
        "exact_enclosure": _enclosure(targets.exact) if targets.exact else None,
        "why_not_exact": targets.why_not_exact or None,
    }


def _enclosure(enclosure: Enclosure) -> list[float]:
    return [enclosure.lower, enclosure.upper]
