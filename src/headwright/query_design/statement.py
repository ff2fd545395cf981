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

from headwright.certificates.exact.values import rational
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
        named = [i for i, noise in self.uncertainty.noise.items() if noise.random]
        if self.uncertainty.scenarios or not (named or self.uncertainty.others.random):
            return frozenset()
        others = (
            [i for i in range(self.n) if i not in self.uncertainty.noise]
            if self.uncertainty.others.random
            else []
        )
        return frozenset([*named, *others])

    @cached_property
    def entries(self) -> tuple[UncertaintyEntry, ...]:
        """The uncertainty of the statement, entry by entry, in floating point; none with scenarios."""
        named = np.zeros(self.n, dtype=bool)
        named[list(self.uncertainty.noise)] = True
        found = []
        for entry in uncertainty_entries(self.uncertainty, self.n, self.d):
            keys = (
                np.flatnonzero(~named)
                if entry["keys"] == "*"
                else np.array(entry["keys"])
            )
            low, high = (rational(x) for x in entry["scale"])
            ball, stretch = (
                float(rational(entry[name])) for name in ("ball", "stretch")
            )
            columns = [[float.fromhex(x) for x in column] for column in entry["factor"]]
            factor = np.array(columns).T if columns else np.empty((self.d, 0))
            found.append(
                UncertaintyEntry(
                    keys, (low, high), ball, stretch, factor, entry["random"]
                )
            )
        return tuple(found)


def statement(
    question: DesignQuestion,
    claim: str,
    queries: Float[np.ndarray, "heads d"] | None = None,
    none_shorter: Fraction = Fraction(0),
) -> dict[str, Any]:
    """The statement of a certificate."""
    return {
        "claim": claim,
        "heads": question.heads,
        "keys": [_name(keys) for keys in question.keys],
        "scale": str(question.scale),
        "targets": {
            str(key): str(question.targets.least[key])
            for key in question.targets.indices
        },
        "uncertainty": uncertainty_entries(
            question.uncertainty, question.n, question.d
        ),
        "confidence": str(question.confidence if question.random else 1),
        "queries": [] if queries is None else [hex_floats(query) for query in queries],
        "none_shorter": str(none_shorter),
    }


def hex_floats(numbers: Float[np.ndarray, " k"]) -> list[str]:
    """Floats written exactly."""
    return [float(number).hex() for number in numbers]


def _name(keys: Float[np.ndarray, "n d"]) -> dict[str, Any]:
    content = np.ascontiguousarray(keys, dtype="<f8")
    rows = [hex_floats(row) for row in content] if keys.size <= INLINE_NUMBERS else None
    return {
        "n": keys.shape[0],
        "d": keys.shape[1],
        "sha256": digest_of_keys(content),
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
    found = [_spread(noise, [key], d) for key, noise in uncertainty.noise.items()]
    if not uncertainty.others.certain and len(uncertainty.noise) < n:
        found.append(_spread(uncertainty.others, "*", d))
    return found


def rounded_deviations(uncertainty: Uncertainty) -> bool:
    """Whether a standard deviation is irrational, and so the next float above it in every statement."""
    spreads = [
        each.spread.square
        for each in (*uncertainty.noise.values(), uncertainty.others)
        if each.spread is not None
    ]
    scales = [
        each.scale.variance
        for each in (*uncertainty.noise.values(), uncertainty.others)
        if each.scale is not None
    ]
    return any(
        _ratio_root(square) is None
        for square in (*spreads, *(exact(each, "a variance") for each in scales))
    )


def _spread(noise: Noise, keys: list[int] | str, d: int) -> dict[str, Any]:
    scale, spread = noise.scale, noise.spread
    if scale is not None and scale.random and spread is not None and not spread.random:
        raise InputError(
            "a key of Gaussian scale inside a ball or ellipsoid: expected both random, or both sets"
        )
    return {
        "keys": keys,
        "scale": [_decimal(end) for end in scale.ends]
        if scale is not None
        else ["1", "1"],
        "ball": _root(spread.square) if spread is not None else "0",
        "stretch": _root(exact(scale.variance, "a variance"))
        if scale is not None
        else "0",
        "factor": [hex_floats(column) for column in spread.factor(d).T]
        if spread is not None
        else [],
        "random": noise.random,
    }


def _root(square: Fraction) -> str:
    """A radius, or a standard deviation: exactly if it is rational, else the next float above it."""
    root = _ratio_root(square)
    return (
        _decimal(root)
        if root is not None
        else math.nextafter(math.sqrt(square), math.inf).hex()
    )


def _ratio_root(square: Fraction) -> Fraction | None:
    """The root, where it is a ratio of whole numbers; else None."""
    root = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    return root if root**2 == square else None


def _decimal(number: float | Fraction) -> str:
    """A float in an uncertainty is read as the decimal it prints as, like every number in a statement."""
    return str(exact(number, "a number of the uncertainty"))
