"""The findings of each head, computed from a summary."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from headwright.models.findings.circuits import DEAD, Spectrum, shares
from headwright.models.findings.rounding import FORMATS
from headwright.models.findings.summary import Draws, Mean, RepeatedTokens, Summary, mean_of, quantile

MEANS = (
    "sink", "resting", "previous", "self", "duplicate", "induction", "induction_long", "largest", "entropy",
    "previous_away", "self_away", "duplicate_away", "induction_away", "induction_long_away", "largest_away",
    "entropy_away", "distance_away", "copying_away", "averaging_away",
)  # fmt: skip
UNBOUNDED = ("entropy", "entropy_away", "distance_away")
COUNTED = ("margin", "margin_away", "ball_away")
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
HALF = 0.5
ENOUGH = 0.1  # of its attention must be away from the first token, for a word about what it does there
BY_MEAN = {
    "first token": "sink", "previous token": "previous_away", "self": "self_away", "duplicate token": "duplicate_away",
    "induction": "induction_away", "long induction": "induction_long_away", "copies": "copying_away",
    "averages": "averaging_away",
}  # fmt: skip


@dataclass(frozen=True)
class Rounded:
    """What one format does to the keys of a head."""

    tv: Mean
    bound: float  # the mean of the proven bounds
    worst: float
    flips: float


@dataclass(frozen=True)
class Quantiles:
    """Some quantiles over rows, each known up to 1 %; inf where a row has but one key."""

    rows: int
    values: dict[float, float]


@dataclass(frozen=True)
class Role:
    """A word for what a head does; sure if the whole interval lies above one half, None where there is no interval.

    Induction is measured on random tokens that repeat: then `period` says after how many they do, and `context` how
    many tokens a sequence has.
    """

    name: str
    sure: bool | None
    period: int | None = None
    context: int | None = None

    @property
    def label(self) -> str:
        """As it is shown: with what it was measured on, and a question mark if the interval reaches below one half."""
        on = "" if self.context is None else f" (period {self.period}, {self.context} tokens)"
        return f"{self.name}{self._doubt}{on}"

    @property
    def short_label(self) -> str:
        """The same where there is little room: of what it was measured on the length alone."""
        on = "" if self.context is None else f" at {self.context}"
        return f"{self.name}{self._doubt}{on}"

    @property
    def _doubt(self) -> str:
        return "?" if self.sure is False else ""


@dataclass(frozen=True, eq=False)
class Head:
    """All findings about one head. A mean is None where there was nothing to take it of."""

    layer: int
    head: int
    means: dict[str, Mean | None]
    quantiles: dict[str, Quantiles | None]
    rounding: dict[str, Rounded]
    share: float | None  # of what the layer writes
    spectra: dict[str, Spectrum]
    roles: tuple[Role, ...]

    @property
    def name(self) -> str:
        """layer.head."""
        return f"{self.layer}.{self.head}"

    def value(self, mean: str) -> float | None:
        """The value of a mean, if there is one."""
        found = self.means.get(mean)
        return None if found is None else found.value


def heads(
    summary: Summary, layers: tuple[int, ...], chosen: tuple[int, ...], draws: Draws,
    repeated: Mapping[str, RepeatedTokens],
) -> tuple[Head, ...]:  # fmt: skip
    """The findings of each head, layer by layer; `draws` and `repeated` say what they were measured on."""
    return tuple(_head(summary, at, layer, head, draws, repeated) for at, layer in enumerate(layers) for head in chosen)


def _head(
    summary: Summary, at: int, layer: int, head: int, draws: Draws, repeated: Mapping[str, RepeatedTokens]
) -> Head:
    sums, peaks = summary.sums, summary.peaks
    means = {name: _mean(sums[name][at, head], name, draws) for name in MEANS if name in sums}
    counted = {name: _quantiles(sums[name][at, head]) for name in COUNTED if name in sums}
    rounding = {}
    for name in FORMATS:
        tv = mean_of(sums[f"tv/{name}"][at, head], draws.over, alike=draws.alike)
        bound, flips = (mean_of(sums[f"{what}/{name}"][at, head]) for what in ("bound", "flips"))
        if tv is not None and bound is not None and flips is not None:
            above = min(1.0, bound.value * (1 + 1e-12))  # what adding floats may lose is less
            rounding[name] = Rounded(tv.clipped(1.0), above, float(peaks[f"tv/{name}"][at, head]), flips.value)
    by_layer = shares(summary, at)
    share = None if by_layer is None else float(by_layer[head])
    spectra = {
        name: Spectrum(*sums[f"spectrum/{name}"][at, head]) for name in ("qk", "ov") if f"spectrum/{name}" in sums
    }
    dead = share is not None and by_layer is not None and share < DEAD / len(by_layer)
    return Head(layer, head, means, counted, rounding, share, spectra, roles(means, dead, repeated))


def roles(
    means: dict[str, Mean | None], dead: bool = False, repeated: Mapping[str, RepeatedTokens] | None = None
) -> tuple[Role, ...]:
    """The words that fit a head; `repeated` says on which tokens induction was measured."""
    sink = means.get("sink")
    occupied = sink is not None and 1 - sink.value < ENOUGH
    fitting = []
    for word, name in BY_MEAN.items():
        mean = means.get(name)
        if mean is None or not mean.value > HALF or (occupied and name != "sink"):
            continue
        sure = None if mean.low is None else mean.low > HALF
        tokens = (repeated or {}).get(name.removesuffix("_away"))
        if tokens is None:
            fitting.append(Role(word, sure))
        else:
            fitting.append(Role(word, sure, tokens.period, tokens.context))
    if dead:
        fitting.append(Role("dead", sure=True))
    return tuple(fitting)


def _mean(kept: np.ndarray, name: str, draws: Draws) -> Mean | None:
    if name.startswith("induction"):
        mean = mean_of(kept, "random sequences")
    else:
        mean = mean_of(kept, draws.over, alike=draws.alike)
    return None if mean is None else mean.clipped(math.inf if name in UNBOUNDED else 1.0)


def _quantiles(counts: np.ndarray) -> Quantiles | None:
    values = {share: quantile(counts, share) for share in QUANTILES}
    known = {share: value for share, value in values.items() if value is not None}
    return Quantiles(int(counts.sum()), known) if known else None
