"""The smallest change of the keys that moves the largest weight of a row to another key.

The robustness radius. Let key w win a row by the margin m = s_w - max_{j != w} s_j > 0, with scores
s_j = c <q, k_j>, c > 0. Move every key by any vector e_j of length at most r. Then

    s_w - s_j  changes by  c <q, e_w - e_j>  >=  -c |q| (|e_w| + |e_j|)  >=  -2 c |q| r,

so the winner stays as long as 2 c |q| r < m, that is for every r < m / (2 c |q|). For c = 1/sqrt(d) this is
m sqrt(d) / (2 |q|). No larger radius will do: e_w = -r q/|q| and e_j = r q/|q| reach the bound. A softcap,
t -> a tanh(t/a), keeps the order of scores and never widens their differences, so the radius from the margin after it
is safe, not sharp.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from headwright.auditing.measures.first_token import AwayFromFirst
from headwright.statistics.attention_config import AttentionConfig

Rows = Float[np.ndarray, "heads rows"]


def robustness_radius(
    margin: Rows, queries: Float[np.ndarray, "heads rows d"], scoring: AttentionConfig
) -> Rows:
    """margin / (2 scale |q|): the keys of a row may all move by less than this, and the same one wins."""
    steepness = 2 * abs(scoring.scale) * _lengths(queries)
    infinite = np.full_like(margin, np.inf)
    radius: Rows = np.divide(margin, steepness, out=infinite, where=steepness > 0)
    return radius


def relative_radius(rows: AwayFromFirst) -> Rows:
    """The radius of each row as a part of the mean length of the head's keys; 0 where all keys are 0."""
    radius = robustness_radius(rows.margin, rows.queries, rows.scoring)
    mean_length = _lengths(rows.keys).mean(axis=1)[rows.key_head][:, None]
    zero = np.zeros_like(radius)
    relative: Rows = np.divide(radius, mean_length, out=zero, where=mean_length > 0)
    return relative


def _lengths(vectors: Float[np.ndarray, "heads rows d"]) -> Rows:
    """The lengths, in float64 without a copy in float64."""
    squares = np.einsum("hid,hid->hi", vectors, vectors, dtype=np.float64)
    lengths: Rows = np.sqrt(squares)
    return lengths
