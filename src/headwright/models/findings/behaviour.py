"""Where a head attends: its weight on known places, how sharp it is, and how far it reaches.

Each number is a mean over rows, kept as sums; see `first_token` for what 'away from the first token' means, and
`summary` for the sums. Names here are the names in a report.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from headwright.models.findings.first_token import AwayFromFirst, duplicate_weight
from headwright.models.findings.summary import Layered, ratio_sums
from headwright.models.loading.model import Tokens

COPIES = 10 / 11  # a row copies a key if that has at least this weight: the wish to copy up to eps = 1/10
SEVERAL, EVEN = 3.0, 2.0  # a row averages if it uses that many keys, the largest within that factor of an even share


def behaviour(kept: Layered, layer: int, rows: AwayFromFirst, tokens: Tokens) -> None:
    """What any text shows."""
    away, rest, everything = rows.away, rows.rest, np.ones_like(rows.rest)

    def share(name: str, weight: Float[np.ndarray, "heads rows"]) -> None:
        """Of a row's attention away from the first token, as a part of that and of all attention."""
        kept.add(layer, f"{name}_away", ratio_sums(rest * weight, rest))
        kept.add(layer, name, ratio_sums(rest * weight, everything))

    kept.add(layer, "sink", ratio_sums(rows.first, everything))
    kept.add(layer, "resting", ratio_sums(rows.resting.astype(np.float64), everything))
    share("previous", away.offsets[1])
    share("self", away.offsets[0])
    share("duplicate", duplicate_weight(rows, tokens))
    kept.add(layer, "largest", ratio_sums(rows.largest, everything))
    kept.add(layer, "entropy", ratio_sums(rows.entropy, everything))
    for name, weight in (
        ("largest_away", away.largest),
        ("entropy_away", away.entropy),
        ("distance_away", away.distance),
        ("copying_away", (away.largest >= COPIES).astype(np.float64)),
        ("averaging_away", _averaging(away.largest, away.entropy)),
    ):
        kept.add(layer, name, ratio_sums(rest * weight, rest))


def _averaging(
    largest: Float[np.ndarray, "heads rows"], entropy: Float[np.ndarray, "heads rows"]
) -> Float[np.ndarray, "heads rows"]:
    """1 for rows that average several keys, else 0.

    exp(entropy) is how many keys a pattern uses, and 1 / (largest weight) is never more; they are equal exactly if the
    pattern is even over the keys that it uses at all.
    """
    used = np.exp(entropy)
    even = (used >= SEVERAL) & (largest * used <= EVEN)
    result: Float[np.ndarray, "heads rows"] = even.astype(np.float64)
    return result


def induction(kept: Layered, layer: int, rows: AwayFromFirst, tokens: Tokens, begin: int, name: str) -> None:
    """What repeated random tokens show: the weight of the keys that follow earlier places of the row's own token.

    Rows of the first period, before the position `begin`, have none, and are left out. Short and long sequences are
    kept apart, by the name of the measure.
    """
    later = rows.positions >= begin
    rest = rows.rest[:, later]
    weight = rest * duplicate_weight(rows, tokens, after=1)[:, later]
    kept.add(layer, name, ratio_sums(weight, np.ones_like(rest)))
    kept.add(layer, f"{name}_away", ratio_sums(weight, rest))
