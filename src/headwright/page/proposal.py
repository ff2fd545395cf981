"""A query that JavaScript proposes, written as a certificate and verified by the exact checker, in the browser.

The proposal is a query with a multiplier for each target, or multipliers and a pattern that show that there is none.
Nothing of it is believed. This module needs the standard library alone, as the checker does; a design that it cannot
prove is 'undecided', and `headwright design` may decide it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from struct import pack
from typing import Any

from headwright.certificates.exact.certificate import FORMAT, VERSION
from headwright.certificates.exact.verify import ExactVerdict, verify
from headwright.errors import InputError

MOST_KEYS, MOST_DIMENSIONS, MOST_TARGETS = 60, 60, 16
MOST_CHARACTERS = 60  # of a number
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d{1,3}|/\d+)?", re.ASCII)
BUDGET = 20.0  # estimated seconds of the exact checker on the command line
# The lower bound is computed in floating point, and asked for a little less of.
SHARES_OF_BOUND = (1 - 1e-12, 1 - 1e-9, 1 - 1e-6, 1 - 1e-3)
UNIT_ROUNDING = 2.0**-53
Row = Sequence[float]


@dataclass(frozen=True)
class ProposedDesign:
    """Keys, the least weight of each target, the scale of the scores, and what JavaScript found."""

    keys: tuple[tuple[float, ...], ...]
    targets: Mapping[int, Fraction]
    scale: Fraction
    query: tuple[float, ...] | None  # None: there is said to be none
    multipliers: Mapping[int, float]
    pattern: tuple[float, ...]  # where there is said to be none
    # Keys that are multiplied by any number between two.
    stretched: Mapping[int, tuple[Fraction, Fraction]] = field(default_factory=dict)


def design(given: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of the lab's call `design`, for the proposal in `given`.

    >>> asked = {"keys": [[1.0], [-1.0]], "copy": 0, "eps": "1", "scale": "1"}
    >>> found = design({**asked, "proposal": {"query": [1.0], "multipliers": [1.0]}})
    >>> found["verdict"], found["norm"], found["norm_lower_bound"]
    ('designed', 1.0, 0.0)
    """
    proposed = read_proposal(given)
    if proposed.query is None:
        return _impossible(proposed)
    return _designed(proposed, proposed.query)


def read_proposal(given: Mapping[str, Any]) -> ProposedDesign:
    """The question and the proposal, each number checked."""
    keys = tuple(read_row(row, "keys") for row in given["keys"])
    if not 1 <= len(keys) <= MOST_KEYS:
        raise InputError(f"keys: {len(keys)} of them, expected 1 to {MOST_KEYS} here")
    widths = {len(row) for row in keys}
    if len(widths) > 1 or not 1 <= min(widths) <= MOST_DIMENSIONS:
        raise InputError(
            f"keys: expected rows of one length, of 1 to {MOST_DIMENSIONS} numbers here"
        )
    targets = _targets(given, len(keys))
    proposal = given["proposal"]
    multipliers = read_row(proposal["multipliers"], "multipliers")
    query = proposal.get("query")
    pattern = read_row(proposal.get("pattern") or (), "pattern")
    if len(multipliers) != len(targets):
        raise InputError("multipliers: expected one for each target")
    if query is not None and len(query) != len(keys[0]):
        raise InputError(f"query: expected {len(keys[0])} numbers")
    if query is None and len(pattern) != len(keys):
        raise InputError("pattern: expected a number for each key")
    return ProposedDesign(
        keys,
        targets,
        _fraction(given.get("scale", "1"), "scale"),
        None if query is None else read_row(query, "query"),
        dict(zip(targets, multipliers, strict=True)),
        pattern,
        _stretched(given.get("uncertainty") or (), len(keys)),
    )


def _stretched(
    entries: Sequence[Mapping[str, Any]], count: int
) -> dict[int, tuple[Fraction, Fraction]]:
    """Keys of uncertain length; any other uncertainty is refused.

    >>> _stretched([{"key": 0, "scale": {"between": [0.5, 1.5]}}], 2)
    {0: (Fraction(1, 2), Fraction(3, 2))}
    """
    stretched = {}
    for entry in entries:
        index, scale = entry.get("key"), entry.get("scale") or {}
        if set(entry) != {"key", "scale"} or set(scale) != {"between"}:
            raise InputError("uncertainty: expected keys with a scale between two here")
        if not isinstance(index, int) or not 0 <= index < count or index in stretched:
            raise InputError(f"uncertainty: there is no key {index!r:.20}, or it twice")
        low, high = read_row(scale["between"], f"scale of key {index}")
        if low > high:
            raise InputError(f"scale of key {index}: expected two numbers in order")
        # A number is the decimal that it prints as, as in a file.
        stretched[index] = (Fraction(str(low)), Fraction(str(high)))
    return stretched


def read_row(numbers: Sequence[object], name: str) -> tuple[float, ...]:
    """Finite numbers, or an error that names the field."""
    row = []
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise InputError(f"{name}: {number!r:.60} is not a number")
        value = float(number)
        if not math.isfinite(value):
            raise InputError(f"{name}: {value} is not finite")
        row.append(value)
    return tuple(row)


def _fraction(text: object, name: str) -> Fraction:
    shown = str(text)
    sentence = (
        f"{name}: {shown[:MOST_CHARACTERS]!r} is not a number such as 0.01 or 1/8"
    )
    if len(shown) > MOST_CHARACTERS or not NUMBER.fullmatch(shown):
        raise InputError(sentence)
    try:
        return Fraction(shown)
    except ZeroDivisionError:
        raise InputError(sentence) from None


def _targets(given: Mapping[str, Any], count: int) -> dict[int, Fraction]:
    """The least weight of each target, in the order of the multipliers."""
    if given.get("at_least"):
        least = {
            int(key): _fraction(weight, f"weight of key {key}")
            for key, weight in given["at_least"].items()
        }
    else:
        named = given.get("average") or [given.get("copy")]
        indices = [index for index in named if isinstance(index, int)]
        eps = _fraction(given.get("eps", "0.01"), "eps")
        if eps <= 0:
            raise InputError(f"eps is {eps}: expected a positive number")
        least = {index: 1 / (len(indices) + eps) for index in indices}
    if not 1 <= len(least) <= MOST_TARGETS:
        raise InputError(f"{len(least)} targets: expected 1 to {MOST_TARGETS} here")
    for index, weight in least.items():
        if not 0 <= index < count:
            raise InputError(f"target {index}: there is no such key")
        if not 0 < weight <= 1:
            raise InputError(f"target {index}: weight {weight}, expected 0 to 1")
    return least


def _designed(proposed: ProposedDesign, query: tuple[float, ...]) -> dict[str, Any]:
    """With the largest lower bound that the checker accepts; with none, if it accepts the query alone."""
    # The bound below is one for keys that are certain.
    bound = 0.0 if proposed.stretched else lower_bound(proposed, query)
    claims = [Fraction(bound * share) for share in SHARES_OF_BOUND if bound > 0]
    for none_shorter in [*claims, Fraction(0)]:
        text = _certificate(proposed, "designed", query, none_shorter)
        verdict = verify(text, budget=BUDGET)
        if verdict.word == "verified":
            norm = length(query)
            # Rounded outward, since the checker's own bound is exact.
            norm_above = norm * (1 + len(query) * UNIT_ROUNDING) if norm else 0.0
            lower = float(none_shorter) * (1 - 2 * UNIT_ROUNDING)
            return _answer("designed", verdict, text, [list(query)], norm_above, lower)
    return _undecided(verdict)


def _impossible(proposed: ProposedDesign) -> dict[str, Any]:
    """A mean of targets and a mean of all keys are made exactly equal; the checker then computes the entropy."""
    shares = exact_shares(proposed)
    if shares is None or proposed.stretched:
        return _undecided(None)
    text = _certificate(proposed, "impossible", None, Fraction(0), shares)
    verdict = verify(text, budget=BUDGET)
    if verdict.word != "verified":
        return _undecided(verdict)
    answer = _answer("impossible", verdict, text, [], None, None)
    return {**answer, "mixing": _mixing(shares)}


def length(query: Row) -> float:
    """The length of a query, to a few units of rounding."""
    return math.hypot(*query)


def dot(key: Row, query: Row) -> float:
    """Their inner product."""
    return sum(x * y for x, y in zip(key, query, strict=True))


def lower_bound(proposed: ProposedDesign, query: Row) -> float:
    """No shorter query meets the targets: (entropy + sum lambda ln p) / |sum lambda k_a - sum pi k|, in floating point.

    The pattern pi is that of the proposed query.
    """
    total = sum(max(0.0, x) for x in proposed.multipliers.values())
    if not total:
        return 0.0
    scale = float(proposed.scale)
    scores = [scale * dot(key, query) for key in proposed.keys]
    top = max(scores)
    powers = [math.exp(score - top) for score in scores]
    pattern = [power / sum(powers) for power in powers]
    entropy = -sum(share * math.log(share) for share in pattern if share)
    pull = [0.0] * len(query)
    value = entropy
    for index, multiplier in proposed.multipliers.items():
        weight = max(0.0, multiplier) / total
        value += weight * math.log(proposed.targets[index])
        own = proposed.keys[index]
        # k_a - sum pi k = sum pi (k_a - k): differences keep their digits.
        for share, key in zip(pattern, proposed.keys, strict=True):
            factor = weight * share
            pull = [
                x + factor * (y - z) for x, y, z in zip(pull, own, key, strict=True)
            ]
    distance = abs(scale) * length(pull)
    if value <= 0 or not distance:
        return 0.0
    return value / distance


@dataclass(frozen=True)
class ExactShares:
    """Multipliers of targets and shares of keys, with exactly the same mean key."""

    multipliers: Mapping[int, Fraction]
    distribution: Mapping[int, Fraction]


def exact_shares(proposed: ProposedDesign) -> ExactShares | None:
    """The proposed shares, changed as little as it takes to make both mean keys equal; None where they cannot be."""
    weights = {
        index: Fraction(max(0.0, x)) for index, x in proposed.multipliers.items()
    }
    total = sum(weights.values(), Fraction(0))
    shares = [Fraction(max(0.0, x)) for x in proposed.pattern]
    if not total or not sum(shares):
        return None
    multipliers = {index: weight / total for index, weight in weights.items()}
    rows = [[Fraction(x) for x in key] for key in proposed.keys]
    # What is missing in each coordinate, and in the sum of the shares.
    missing = [Fraction(0)] * len(rows[0])
    for index, weight in multipliers.items():
        missing = [x + weight * y for x, y in zip(missing, rows[index], strict=True)]
    for share, row in zip(shares, rows, strict=True):
        missing = [x - share * y for x, y in zip(missing, row, strict=True)]
    missing.append(1 - sum(shares, Fraction(0)))
    # Keys of large shares are changed, since these stay positive.
    order = sorted(range(len(shares)), key=lambda index: -shares[index])
    columns = {index: [*rows[index], Fraction(1)] for index in order}
    changes = solve_exactly(columns, missing)
    if changes is None:
        return None
    for index, change in changes.items():
        shares[index] += change
    if min(shares) < 0:
        return None
    return ExactShares(
        multipliers, {index: share for index, share in enumerate(shares) if share}
    )


def solve_exactly(
    columns: Mapping[int, Sequence[Fraction]], right: Sequence[Fraction]
) -> dict[int, Fraction] | None:
    """Coefficients with which columns add up to the right side, of the first columns that are independent.

    >>> one, two = Fraction(1), Fraction(2)
    >>> solve_exactly({5: [one, one], 6: [two, two], 7: [one, two]}, [one, one])
    {5: Fraction(1, 1), 7: Fraction(0, 1)}
    """
    height = len(right)
    # Gauss and Jordan: each chosen column becomes a unit vector at its own place.
    table = {index: list(column) for index, column in columns.items()}
    rest = list(right)
    place_of: dict[int, int] = {}
    free = list(range(height))
    for index in columns:
        column = table[index]
        pivot = next((place for place in free if column[place]), None)
        if pivot is None:
            continue
        free.remove(pivot)
        place_of[index] = pivot
        for other in (*table.values(), rest):
            factor = other[pivot] / column[pivot]
            if other is column or not factor:
                continue
            for place in range(height):
                other[place] -= factor * column[place] if place != pivot else 0
            other[pivot] = factor
        for place in range(height):
            column[place] = Fraction(int(place == pivot))
        if not free:
            break
    if any(rest[place] for place in free):
        return None
    return {index: rest[place] for index, place in place_of.items()}


def _certificate(
    proposed: ProposedDesign,
    claim: str,
    query: Row | None,
    none_shorter: Fraction,
    shares: ExactShares | None = None,
) -> str:
    keys = proposed.keys
    content = b"".join(pack(f"<{len(row)}d", *row) for row in keys)
    statement = {
        "claim": claim,
        "heads": 1,
        "keys": [
            {
                "n": len(keys),
                "d": len(keys[0]),
                "sha256": sha256(content).hexdigest(),
                "rows": [[x.hex() for x in row] for row in keys],
            }
        ],
        "scale": str(proposed.scale),
        "targets": {str(index): str(p) for index, p in proposed.targets.items()},
        "uncertainty": [
            {
                "keys": [index],
                "scale": [str(low), str(high)],
                "ball": "0",
                "stretch": "0",
                "factor": [],
                "random": False,
            }
            for index, (low, high) in proposed.stretched.items()
        ],
        "confidence": "1",
        "queries": [] if query is None else [[x.hex() for x in query]],
        "none_shorter": str(none_shorter),
    }
    has_bound = none_shorter > 0 or shares is not None
    bound = _bound(proposed, query, shares) if has_bound else None
    document = {
        "format": FORMAT,
        "version": VERSION,
        "statement": statement,
        "evidence": {"guard": None, "bound": bound},
    }
    return json.dumps(document, indent=1) + "\n"


def _bound(
    proposed: ProposedDesign, query: Row | None, shares: ExactShares | None
) -> dict[str, Any]:
    if shares is None:
        multipliers = {
            index: Fraction(max(0.0, x)) for index, x in proposed.multipliers.items()
        }
        distribution = None
    else:
        multipliers = dict(shares.multipliers)
        distribution = {
            str(index): _exact(share) for index, share in shares.distribution.items()
        }
    constraints = [
        {
            "scenario": 0,
            "target": index,
            "multiplier": _exact(multiplier),
            "distribution": distribution,
        }
        for index, multiplier in multipliers.items()
    ]
    part = {
        "query": [x.hex() for x in query or [0.0] * len(proposed.keys[0])],
        "lifts": [],
        "moves": [],
        "push": None,
        "constraints": constraints,
    }
    return {
        "among": None,
        "deviations": "0",
        "scales": {},
        "own_scales": {},
        "parts": [part],
    }


def _exact(share: Fraction) -> str:
    return f"{hex(share.numerator)}/{hex(share.denominator)}"


def _mixing(shares: ExactShares) -> dict[str, Any]:
    """For the picture: targets as a convex combination of other keys."""
    targets = {index: share for index, share in shares.multipliers.items() if share}
    others = dict(shares.distribution)
    if len(targets) == 1:
        for index in targets:
            others.pop(index, None)
    total = sum(others.values())
    return {
        "targets": {str(index): float(share) for index, share in targets.items()},
        "of": {str(index): float(share / total) for index, share in others.items()},
    }


def _answer(
    word: str,
    verdict: ExactVerdict | None,
    certificate: str | None,
    queries: list[list[float]],
    norm: float | None,
    lower: float | None,
) -> dict[str, Any]:
    """The fields of `headwright design --json` that the view reads."""
    return {
        "verdict": word,
        "queries": queries,
        "norm": norm,
        "norm_lower_bound": lower,
        "best_eps": None,
        "best_eps_interval": None,
        "probability": None,
        "mixing": None,
        "checkers": ["exact"] if certificate else [],
        "certificate": certificate,
        "words": verdict.words if verdict is not None else "",
    }


def _undecided(verdict: ExactVerdict | None) -> dict[str, Any]:
    return _answer("undecided", verdict, None, [], None, None)
