"""What a head writes, against the other heads of its layer: a head that writes next to nothing is dead.

A row's head output is c = sum alpha_j v_j, and c W_O is what it adds to the residual stream. The share of a head is its
sum of |c W_O|^2 over that of all heads of the layer. Even shares would be 1 / heads; a head with less than a hundredth
of that is called dead: on these rows, switching it off changes next to nothing by its own size. In a layer that
writes nothing at all every share is 0.

Outputs come from documents and W_O from the weights, and neither waits for the other: with C = sum c^T c over rows and
G = W_O W_O^T, both of the size of a head, sum |c W_O|^2 = sum_ij C_ij G_ij.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from headwright.models.findings.rounding import Looked
from headwright.models.findings.summary import Layered, Summary
from headwright.models.loading.model import Circuits

DEAD = 0.01  # of an even share


def mixed(kept: Layered, layer: int, looked: list[Looked], values: Float[np.ndarray, "key_heads keys e"]) -> None:
    """C of each head, over the rows looked at."""
    group = len(looked) // len(values)
    outputs = [one.pattern @ values[head // group].astype(np.float64) for head, one in enumerate(looked)]
    kept.add(layer, "mixed", np.stack([c.T @ c for c in outputs]))


def writing(kept: Layered, layer: int, circuits: Circuits) -> None:
    """G of each head."""
    outputs = circuits.output.astype(np.float64)
    kept.add(layer, "writing", outputs @ outputs.swapaxes(1, 2))


def shares(summary: Summary, at: int) -> Float[np.ndarray, " heads"] | None:
    """The share of each head of a layer, all of them 0 where nothing is written at all; None where it was not measured.

    >>> kept = Summary({"mixed": np.array([[[[3.0]], [[1.0]]]]), "writing": np.ones((1, 2, 1, 1))})
    >>> shares(kept, 0)
    array([0.75, 0.25])
    """
    if "mixed" not in summary.sums or "writing" not in summary.sums:
        return None
    squares = (summary.sums["mixed"][at] * summary.sums["writing"][at]).sum(axis=(1, 2)).clip(min=0.0)
    total = squares.sum()
    result: Float[np.ndarray, " heads"] = squares / total if total > 0 else squares
    return result
