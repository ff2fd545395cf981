"""Uncertainty: uncertainty models for the keys.

A key k_i = c mu_i + e has a scale c and a spread e around its given place mu_i; each may be certain. Scales and
spreads are either laws (normal, one of several, Gaussian) or mere sets (between two numbers, a ball). Where a
sample of a set is wanted it is drawn uniformly, and the result says so. It may instead list whole scenarios.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

from headwright.argument_types import check_argument
from headwright.errors import InputError
from headwright.files import finite
from headwright.uncertainty.scales import SCALES, Scale, read_scale
from headwright.uncertainty.spreads import SPREADS, Spread


@dataclass(frozen=True)
class Noise:
    """What is uncertain about one key: its scale, its spread, both, or nothing.

    >>> from headwright.uncertainty import Isotropic, Normal
    >>> Noise(scale=Normal(1.0, 0.5), spread=Isotropic(1e-6)).certain
    False
    """

    scale: Scale | None = None
    spread: Spread | None = None

    @property
    def certain(self) -> bool:
        """The key is where it is given."""
        return self.scale is None and self.spread is None

    @property
    def random(self) -> bool:
        """The key follows a Gaussian law.

        >>> from headwright.uncertainty import Normal, OneOf
        >>> Noise(scale=Normal(1.0, 0.5)).random, Noise(scale=OneOf((0.5, 1.5))).random
        (True, False)
        """
        return any(
            part is not None and part.random for part in (self.scale, self.spread)
        )

    @classmethod
    def read(
        cls,
        scales: Mapping[str, Sequence[float]] | None,
        spreads: Mapping[str, float | Float[np.ndarray, "d m"]],
    ) -> Noise:
        """From the names and numbers of a file: one kind of scale, or None, and at most one of spread.

        >>> Noise.read({"between": [0.5, 1.5]}, {"isotropic": 1e-6})
        Noise(scale=Between(low=0.5, high=1.5), spread=Isotropic(variance=1e-06))
        """
        if scales is not None and len(scales) != 1:
            raise InputError(
                f"the scale has {len(scales)} laws: expected one of {', '.join(SCALES)}"
            )
        if len(spreads) > 1:
            raise InputError(
                f"there are {len(spreads)} spreads: expected one of {', '.join(SPREADS)}"
            )
        scale = next(
            (read_scale(name, numbers) for name, numbers in (scales or {}).items()),
            None,
        )
        spread = next((SPREADS[name](size) for name, size in spreads.items()), None)  # type: ignore[arg-type]
        return cls(scale, spread)


def rows(
    keys: Any, queries: Any, uncertainty: Any
) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "heads d"]]:
    """The keys and the queries of heads in an uncertainty as they are computed with: float64, a row for each."""
    K = finite(keys, "keys", axes=2)
    Q = np.atleast_2d(finite(queries, "queries"))
    if not isinstance(uncertainty, Uncertainty):
        raise InputError(
            f"the uncertainty is {uncertainty!r}: expected one such as read_uncertainty(path) gives"
        )
    if Q.ndim > 2 or K.shape[1] != Q.shape[1]:
        raise InputError(
            f"keys have shape {K.shape} and queries {Q.shape}: the last axes differ",
            field="keys",
        )
    uncertainty.check_fits(K)
    return K, Q


@dataclass(frozen=True)
class Uncertainty:
    """What all the keys may be: noise for keys by index, noise for all others, or a list of scenarios.

    >>> from headwright.uncertainty import Isotropic, Normal
    >>> uncertainty = Uncertainty({0: Noise(scale=Normal(1.0, 0.5))}, others=Noise(spread=Isotropic(1e-6)))
    >>> uncertainty.of(0).scale, uncertainty.of(7).spread
    (Normal(mean=1.0, variance=0.5), Isotropic(variance=1e-06))
    >>> Uncertainty().fixed
    True
    """

    noise: Mapping[int, Noise] = field(default_factory=dict)
    others: Noise = Noise()
    scenarios: tuple[Float[np.ndarray, "n d"], ...] = ()

    def __post_init__(self) -> None:
        check_argument("noise", self.noise, Mapping[int, Noise])
        check_argument("others", self.others, Noise)
        check_argument("scenarios", self.scenarios, Sequence[object])
        if self.scenarios and (self.noise or not self.others.certain):
            raise InputError(
                "an uncertainty has scenarios or noise, not both: put the noise into the scenarios"
            )
        object.__setattr__(
            self,
            "scenarios",
            tuple(finite(scenario, "scenario", axes=2) for scenario in self.scenarios),
        )
        if self.scenarios and len({s.shape for s in self.scenarios}) > 1:
            shapes = ", ".join(str(s.shape) for s in self.scenarios)
            raise InputError(
                f"the scenarios have shapes {shapes}: expected all the same"
            )

    @property
    def noises(self) -> tuple[Noise, ...]:
        """All that is said of keys: of those that are named, and of the others."""
        return (*self.noise.values(), self.others)

    def of(self, key: int) -> Noise:
        """What is uncertain about this key."""
        return self.noise.get(key, self.others)

    @property
    def fixed(self) -> bool:
        """Nothing is uncertain."""
        return (
            not self.scenarios
            and self.others.certain
            and all(n.certain for n in self.noise.values())
        )

    @property
    def lists_scales(self) -> bool:
        """Some key has one of several scales: a list, which is less than the range from its least to its largest.

        >>> from headwright.uncertainty import OneOf
        >>> Uncertainty({0: Noise(scale=OneOf((0.5, 1.5)))}).lists_scales
        True
        """
        return any(
            noise.scale is not None and len(set(noise.scale.values or ())) > 1
            for noise in self.noises
        )

    @property
    def sampled_sets(self) -> list[str]:
        """The sets (not laws) in this uncertainty, which a sample has to give a law of its own."""
        scales = {
            scale.name
            for noise in self.noises
            if (scale := noise.scale) is not None and scale.is_set
        }
        spreads = {
            spread.name
            for noise in self.noises
            if (spread := noise.spread) is not None and not spread.random
        }
        return sorted(scales | spreads | ({"scenarios"} if self.scenarios else set()))

    def check_fits(self, keys: Float[np.ndarray, "n d"]) -> None:
        """Refuse an uncertainty that is not about these keys."""
        n, d = keys.shape
        for key, noise in self.noise.items():
            if not 0 <= key < n:
                raise InputError(
                    f"the uncertainty names key {key}, and there are {n} keys: expected 0 to {n - 1}"
                )
            self._check_spread(noise, d, f"key {key}")
        self._check_spread(self.others, d, "the other keys")
        for scenario in self.scenarios:
            if scenario.shape != keys.shape:
                raise InputError(
                    f"a scenario has shape {scenario.shape}, the keys have {keys.shape}"
                )

    @staticmethod
    def _check_spread(noise: Noise, d: int, whose: str) -> None:
        if noise.spread is not None and noise.spread.coordinates not in (None, d):
            name = noise.spread.name
            rows = noise.spread.coordinates
            raise InputError(
                f"the {name} of {whose} has {rows} rows, the keys have {d} numbers each"
            )
