"""What `headwright lowrank --json` prints."""

from __future__ import annotations

from typing import Any

from headwright.lowrank.truncation import LowRank


def to_json(result: LowRank, seed: int) -> dict[str, Any]:
    """All but the factors.

    >>> import numpy as np
    >>> from headwright.lowrank import truncate
    >>> to_json(truncate(np.eye(2), rank=2), 0)["error_upper_bound"]
    0.0
    """
    return {
        "rank": result.rank,
        "singular_values": result.singular_values.tolist(),
        "error_upper_bound": result.error_upper_bound,
        "guarantee": result.guarantee,
        "frobenius": result.frobenius,
        "energy": result.energy,
        "next_singular_value": result.next_singular_value,
        "method": result.method,
        "seed": seed,
        "kinds": {
            "error_upper_bound": "proven",
            "guarantee": "proven",
            "frobenius": "proven",  # rounded up
            "singular_values": "floating-point",
            "next_singular_value": "floating-point",
            "energy": "floating-point",
        },
    }
