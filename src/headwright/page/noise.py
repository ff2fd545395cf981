"""Noise in the tab: how often two keys are averaged when one has a random length.

JavaScript draws and counts; the interval around what it counted is computed here, and so
is the probability itself, enclosed by ball arithmetic where one random length decides.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from headwright.errors import InputError
from headwright.numerics.enclosure import Enclosure
from headwright.numerics.quantiles import clopper_pearson
from headwright.page.proposal import MOST_KEYS, read_row
from headwright.uncertainty.random_scale import (
    RandomScaleCase,
    ball,
    decimal,
    normal_law,
    probability_in_ranges,
)

MOST_HEADS, MOST_TARGETS = 4, 4
BITS = 192  # behind the point of the scores


def simulate(given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the lab's call `simulate` that the view reads; `near` of `samples` draws were near.

    >>> random = {"key": 0, "scale": {"normal": [1.0, 0.5]}}
    >>> eye = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> asked = {"keys": eye, "queries": [[10.0, 10.0, 0.0]], "uncertainty": [random], "targets": [0, 1]}
    >>> found = simulate({**asked, "tolerance": "0.05", "samples": 1000, "near": 20})["near_average"]
    >>> round(found["exact"], 6), found["interval"][0] < 0.02 < found["interval"][1]
    (0.022636, True)
    """
    samples, near = int(given["samples"]), int(given["near"])
    proven, reason = _proven(given)
    return {
        "near_average": {
            "probability": near / samples,
            "interval": list(clopper_pearson(near, samples)),
            "exact": proven.midpoint if proven else None,
            "exact_enclosure": [proven.lower, proven.upper] if proven else None,
            "why_not_exact": reason or None,
        },
        "samples": samples,
    }


def _proven(given: Mapping[str, Any]) -> tuple[Enclosure | None, str]:
    """The probability that every target is near the average, or why it is not known."""
    keys = [read_row(row, "keys") for row in given["keys"]]
    queries = [read_row(row, "queries") for row in given["queries"]]
    targets = [int(target) for target in given["targets"]]
    if len(keys) > MOST_KEYS or not 1 <= len(queries) <= MOST_HEADS:
        raise InputError(f"expected up to {MOST_KEYS} keys and {MOST_HEADS} heads here")
    if {len(row) for row in (*keys, *queries)} != {len(keys[0])}:
        raise InputError("keys, queries: expected rows of one length")
    if not targets or not all(0 <= target < len(keys) for target in targets):
        raise InputError("targets: expected keys")
    noise = given["uncertainty"]
    if len(noise) != 1 or noise[0]["key"] == "*":
        return None, "several keys are uncertain"
    (entry,) = noise
    if set(entry) != {"key", "scale"} or set(entry["scale"]) != {"normal"}:
        return None, f"key {entry['key']} is uncertain in more than its length"
    mean, variance = (decimal(x) for x in read_row(entry["scale"]["normal"], "scale"))
    if not variance > 0 or not 0 <= entry["key"] < len(keys):
        raise InputError("uncertainty: expected a key and a variance above 0")
    tolerance = decimal(float(given["tolerance"]))
    with ctx.workprec(_bits(keys, queries)):
        scores = [[_score(key, query) for key in keys] for query in queries]
        law = normal_law(ball(mean), ball(variance))
        average = Fraction(1, len(targets))
        near = (ball(average - tolerance), ball(average + tolerance))
        case = RandomScaleCase(scores, entry["key"], law)
        return probability_in_ranges([case], targets, [near] * len(targets)), ""


def _score(key: Sequence[float], query: Sequence[float]) -> arb:
    """The inner product; a float is a ball without a radius."""
    total = arb(0)
    for x, y in zip(key, query, strict=True):
        if x and y:
            total += arb(x) * arb(y)
    return total


def _bits(keys: Sequence[Sequence[float]], queries: Sequence[Sequence[float]]) -> int:
    """A precision at which scores still have their digits behind the point."""
    longest = [max(math.hypot(*row) for row in rows) for rows in (keys, queries)]
    return BITS + max(0, math.frexp(longest[0] * longest[1])[1])
