"""Probabilities for a key of random length: in the limit of long queries, and at one length, exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from headwright.check.judging import shown
from headwright.check.rooms.keys.deciding import Decider
from headwright.check.rooms.keys.event import chances_of
from headwright.check.rooms.keys.limits import growth
from headwright.check.rooms.keys.meaning import Reader
from headwright.check.scalars import Scalar
from headwright.formula import parse
from headwright.formula.tree import Call
from headwright.noise import Noise, Normal, World, exact

KEYS, LENGTH = 10, 10  # the instance for which a finite length is told
NEAR = Fraction(1, 20)


def luck(decider: Decider) -> dict[str, Any] | None:
    """How likely the output is near the average: as the queries grow, and at one length; None if nothing is random."""
    scene = decider.scene
    law = next((s.normal for s in scene.setting.scales.values() if s.normal is not None), None)
    event = _event(decider)
    if law is None or event is None:
        return None
    given = decider.under(*(parse(source) for source in scene.setting.given))
    found, wanted = chances_of(given, event)
    if found is None:
        return None
    overall, conditional = found.probability(wanted, conditional=False), found.probability(wanted)
    if overall is None:
        return None
    told: dict[str, Any] = {"limit": shown(overall, 6)}
    if scene.setting.given and conditional is not None:
        told["limit_given"] = shown(conditional, 6)
        told["given"] = ", ".join(scene.setting.given)
    moments = found.moments(scene.setting.named[0], KEYS)
    if moments is not None:
        told["limit_mean"], told["limit_deviation"] = (shown(ball, 6) for ball in moments)
    return told | _at_one_length(decider, law)


def in_words(told: dict[str, Any]) -> str:
    """The probabilities as a sentence."""
    said = f"as the queries grow, the output tends to the average with probability {told['limit']}"
    if "limit_given" in told:
        said += f" ({told['limit_given']} given {told['given']})"
    if "limit_deviation" in told:
        said += f", and the weight of the uncertain key has a standard deviation of {told['limit_deviation']}"
    low, high = told["probability"]
    at = told["at"]
    return (
        f"{said}; with {at['n']} keys and a factor of {at['length']} it is within {at['within']:g} of the average with "
        f"probability {(low + high) / 2:.6g} (proven, for the query rounded to doubles)"
    )


def _event(decider: Decider) -> Call | None:
    reported = decider.scene.setting.reports
    node = None if reported is None else parse(reported)
    return node if isinstance(node, Call) and node.function == "P" else None


def _at_one_length(decider: Decider, law: Any) -> dict[str, Any]:
    """The same for KEYS keys and free names so large that every query has a factor of LENGTH."""
    scene = decider.scene
    queries = np.zeros((len(scene.queries), KEYS))
    names = scene.classes.named
    for row, head in enumerate(scene.queries):
        query = Reader(scene, {}).query(head)
        for column in range(KEYS):
            x = query.of(names[column] if column < len(names) else "*")
            queries[row, column] = float(_grown(x))
    noise = Noise(scale=Normal(float(law.mean), float(law.variance)))
    result = exact(np.eye(KEYS), queries, World({0: noise}), [0, 1], tolerance=NEAR)
    return {
        "at": {"n": KEYS, "length": LENGTH, "within": float(NEAR)},
        "probability": [result.near_average.lower, result.near_average.upper],
        "mean": [result.means[0].lower, result.means[0].upper],
        "deviation": [result.deviations[0].lower, result.deviations[0].upper],
    }


def _grown(coordinate: Scalar) -> arb:
    """A coordinate where every free name, or its logarithm, is the length."""
    free = coordinate.names() - {"n"}
    for name in free:
        parts = growth(coordinate, name)
        if parts is not None:
            coordinate = parts[0] * LENGTH + parts[1]
    return coordinate.value({"n": KEYS} | dict.fromkeys(free, LENGTH))
