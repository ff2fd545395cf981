"""The question, written exactly: keys by digest, targets and uncertainty as rationals; and in floats for the solver."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from headwright.certificates.exact.values import read_fraction
from headwright.errors import InputError
from headwright.query_design.targets import Targets, exact
from headwright.uncertainty.uncertainty import Noise, Uncertainty

INLINE_NUMBERS = 4096  # keys up to this size are written into the certificate


@dataclass(frozen=True, eq=False)
class UncertaintyEntry:
    """One entry of the uncertainty in floating point: what some keys may be."""

    keys: Int[np.ndarray, " some"]
    ends: tuple[Fraction, Fraction]  # of the scale
    ball: float
    stretch: float
    factor: Float[np.ndarray, "d width"]
    random: bool

    @property
    def scale(self) -> tuple[float, float]:
        """The ends of the scale in floating point."""
        return float(self.ends[0]), float(self.ends[1])

    @property
    def width(self) -> int:
        """How many columns the factor has."""
        return int(self.factor.shape[1])


@dataclass(frozen=True)
class DesignQuestion:
    """A target for given keys in an uncertainty, at a scale; where keys are random, with a confidence."""

    keys: tuple[Float[np.ndarray, "n d"], ...]  # one matrix for each scenario
    targets: Targets
    uncertainty: Uncertainty
    scale: Fraction
    confidence: Fraction
    heads: int = 1

    @property
    def n(self) -> int:
        """How many keys."""
        return int(self.keys[0].shape[0])

    @property
    def d(self) -> int:
        """How many numbers a key has."""
        return int(self.keys[0].shape[1])

    @property
    def wider(self) -> bool:
        """The statement is about whole ranges of scales where the question lists a few, and that is not the same.

        What is met throughout a range is met for its list. For one head and certain keys the ends decide, and
        the reverse holds too; a mean of patterns, or a probability, may fail in between: then no bound carries over.
        """
        return self.uncertainty.lists_scales and (self.heads > 1 or self.random)

    @property
    def met_by_nothing(self) -> bool:
        """A query of length 0 meets it, exactly: it gives every key the same weight, wherever keys are."""
        return all(p * self.n <= 1 for p in self.targets.least.values())

    @property
    def random(self) -> bool:
        """Some key follows a Gaussian law, so that only a probability can be had."""
        return bool(self.random_keys)

    @cached_property
    def random_keys(self) -> frozenset[int]:
        """The keys that follow a Gaussian law."""
        if self.uncertainty.scenarios:
            return frozenset()
        noise = self.uncertainty.noise
        random = {key for key, of_key in noise.items() if of_key.random}
        if self.uncertainty.others.random:
            random |= set(range(self.n)) - set(noise)
        return frozenset(random)

    @cached_property
    def entries(self) -> tuple[UncertaintyEntry, ...]:
        """The uncertainty of the statement, entry by entry, in floating point; none with scenarios."""
        is_named = np.zeros(self.n, dtype=bool)
        is_named[list(self.uncertainty.noise)] = True
        entries = []
        for entry in uncertainty_entries(self.uncertainty, self.n, self.d):
            keys = np.array(entry["keys"])
            if entry["keys"] == "*":
                keys = np.flatnonzero(~is_named)
            low, high = map(read_fraction, entry["scale"])
            factor = np.empty((self.d, 0))
            if entry["factor"]:
                columns = [list(map(float.fromhex, c)) for c in entry["factor"]]
                factor = np.array(columns).T
            entries.append(
                UncertaintyEntry(
                    keys=keys,
                    ends=(low, high),
                    ball=float(read_fraction(entry["ball"])),
                    stretch=float(read_fraction(entry["stretch"])),
                    factor=factor,
                    random=entry["random"],
                )
            )
        return tuple(entries)


def statement(
    question: DesignQuestion,
    claim: str,
    queries: Float[np.ndarray, "heads d"] | None = None,
    none_shorter: Fraction = Fraction(0),
) -> dict[str, Any]:
    """The statement of a certificate."""
    targets = {}
    for key in question.targets.indices:
        targets[str(key)] = str(question.targets.least[key])
    uncertainty = uncertainty_entries(question.uncertainty, question.n, question.d)
    return {
        "claim": claim,
        "heads": question.heads,
        "keys": [_name_of_keys(keys) for keys in question.keys],
        "scale": str(question.scale),
        "targets": targets,
        "uncertainty": uncertainty,
        "confidence": str(question.confidence if question.random else 1),
        "queries": [] if queries is None else list(map(hex_floats, queries)),
        "none_shorter": str(none_shorter),
    }


def hex_floats(numbers: Float[np.ndarray, " k"]) -> list[str]:
    """Floats written exactly."""
    return [float(number).hex() for number in numbers]


def _name_of_keys(keys: Float[np.ndarray, "n d"]) -> dict[str, Any]:
    """Shape and digest, and the rows of a small matrix."""
    rows = None
    if keys.size <= INLINE_NUMBERS:
        rows = list(map(hex_floats, keys))
    return {
        "n": keys.shape[0],
        "d": keys.shape[1],
        "sha256": digest_of_keys(keys),
        "rows": rows,
    }


def digest_of_keys(keys: Float[np.ndarray, "n d"]) -> str:
    """The digest by which a statement names keys."""
    content = np.ascontiguousarray(keys, dtype="<f8")
    return hashlib.sha256(content.tobytes()).hexdigest()


def uncertainty_entries(
    uncertainty: Uncertainty, n: int, d: int
) -> list[dict[str, Any]]:
    """The uncertainty as the checker knows it, and nothing for keys that there are none of; no entry with scenarios."""
    if uncertainty.scenarios:
        return []
    entries = []
    for key, noise in uncertainty.noise.items():
        entries.append(_entry(noise, [key], d))
    if not uncertainty.others.certain and len(uncertainty.noise) < n:
        entries.append(_entry(uncertainty.others, "*", d))
    return entries


def rounded_deviations(uncertainty: Uncertainty) -> bool:
    """Whether a standard deviation is irrational, and so the next float above it in every statement."""
    for noise in (*uncertainty.noise.values(), uncertainty.others):
        variances = []
        if noise.spread is not None:
            variances.append(noise.spread.square)
        if noise.scale is not None:
            variances.append(exact(noise.scale.variance, "a variance"))
        if any(_ratio_root(variance) is None for variance in variances):
            return True
    return False


def _entry(noise: Noise, keys: list[int] | str, d: int) -> dict[str, Any]:
    """What some keys may be, as a statement has it: certain in all that is not said."""
    scale = noise.scale
    spread = noise.spread
    entry: dict[str, Any] = {
        "keys": keys,
        "scale": ["1", "1"],
        "ball": "0",
        "stretch": "0",
        "factor": [],
        "random": noise.random,
    }
    if scale is not None and spread is not None and scale.random and not spread.random:
        raise InputError(
            "a key of Gaussian scale inside a ball or ellipsoid: expected both random, or both sets"
        )
    if scale is not None:
        entry["scale"] = list(map(_decimal, scale.ends))
        entry["stretch"] = _root(exact(scale.variance, "a variance"))
    if spread is not None:
        entry["ball"] = _root(spread.square)
        entry["factor"] = list(map(hex_floats, spread.factor(d).T))
    return entry


def _root(square: Fraction) -> str:
    """A radius, or a standard deviation: exactly if it is rational, else the next float above it."""
    root = _ratio_root(square)
    if root is not None:
        return _decimal(root)
    return math.nextafter(math.sqrt(square), math.inf).hex()


def _ratio_root(square: Fraction) -> Fraction | None:
    """The root, where it is a ratio of whole numbers; else None."""
    root = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    return root if root**2 == square else None


def _decimal(number: float | Fraction) -> str:
    """A float in an uncertainty is read as the decimal it prints as, like every number in a statement."""
    return str(exact(number, "a number of the uncertainty"))
