"""The statement that ranges make."""

from __future__ import annotations

import math
import re

from headwright.numerics.enclosure import shown_above
from headwright.value_ranges.result import Ranges
from headwright.value_ranges.statement import LayerClaims, RangesStatement

DIGITS = 7
LONGEST_NAME = 200
# The checker's own bounds may be larger than the prover's by its rounding.
ROOM = 1 + 2.0**-20


def state_ranges(ranges: Ranges) -> RangesStatement:
    """What was proved, with bounds rounded up."""
    layers = []
    for layer in ranges.layers:
        claims = LayerClaims(
            queries=tuple(_decimal(head.after.largest) for head in layer.queries),
            keys=tuple(_decimal(head.after.largest) for head in layer.keys),
            values=tuple(_decimal(head.after.largest) for head in layer.values),
            scores=tuple(_decimal(score.score) for score in layer.scores),
            latents=tuple(_decimal(head.after.largest) for head in layer.latents),
        )
        layers.append(claims)
    # A path may hold what a name may not.
    name = re.sub(r"[^\w./:-]", "_", ranges.model, flags=re.ASCII)[-LONGEST_NAME:]
    return RangesStatement(name, ranges.digest, ranges.number_type, tuple(layers))


def _decimal(bound: float) -> str | None:
    if not math.isfinite(bound):
        return None
    return shown_above(bound * ROOM, DIGITS)
