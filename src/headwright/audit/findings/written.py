"""What a head writes, against the other heads of its layer: a head that writes next to nothing is dead.

A row's head output is c = sum alpha_j v_j, and c W_O is what it adds to the residual stream. The share of a head is its
mean |c W_O|^2 over that of all heads of the layer. Even shares would be 1 / heads; a head with less than a hundredth
of that is called dead: on these rows, switching it off changes next to nothing by its own size.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from headwright.audit.findings.rounding import Looked
from headwright.audit.findings.summary import Layered
from headwright.audit.models.model import Circuits

DEAD = 0.01  # of an even share


def written(
    kept: Layered, layer: int, looked: list[Looked], values: Float[np.ndarray, "key_heads keys e"], circuits: Circuits
) -> None:
    """Squares of what each head writes, summed over the rows looked at."""
    group = len(looked) // len(values)
    squares = np.zeros((len(looked), 2))
    for head, one in enumerate(looked):
        c = one.pattern @ values[head // group].astype(np.float64)
        squares[head] = len(c), float(np.square(c @ circuits.output[head].astype(np.float64)).sum())
    kept.add(layer, "written", squares)


def shares(kept: Float[np.ndarray, "heads 2"]) -> Float[np.ndarray, " heads"] | None:
    """The share of each head of a layer; None where nothing was measured.

    >>> shares(np.array([[5.0, 3.0], [5.0, 1.0]]))
    array([0.75, 0.25])
    """
    total = kept[:, 1].sum()
    if not total > 0:
        return None
    result: Float[np.ndarray, " heads"] = kept[:, 1] / total
    return result
