"""The smallest change of the keys that moves the largest weight of a row to another key.

The ball. Let key w win a row by the margin m = s_w - max_{j != w} s_j > 0, with scores s_j = c <q, k_j>, c > 0. Move
every key by any vector e_j of length at most r. Then

    s_w - s_j  changes by  c <q, e_w - e_j>  >=  -c |q| (|e_w| + |e_j|)  >=  -2 c |q| r,

so the winner stays as long as 2 c |q| r < m, that is for every r < m / (2 c |q|). For c = 1/sqrt(d) this is
m sqrt(d) / (2 |q|). No larger ball will do: e_w = -r q/|q| and e_j = r q/|q| reach the bound. A softcap,
t -> a tanh(t/a), keeps the order of scores and never widens their differences, so the ball from the margin after it is
safe, not sharp.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from headwright.models.findings.first_token import AwayFromFirst
from headwright.models.findings.summary import Layered, bin_counts
from headwright.models.rows.scoring import Scoring

Rows = Float[np.ndarray, "heads rows"]


def fragility(kept: Layered, layer: int, rows: AwayFromFirst) -> None:
    """Counts of rows by margin and ball: of all rows, and of those that the first token does not win."""
    ball = ball_radius(rows.margin, rows.queries, rows.scoring)
    lengths = _lengths(rows.keys).mean(axis=1)[rows.key_head]
    relative = np.divide(ball, lengths[:, None], out=np.zeros_like(ball), where=lengths[:, None] > 0)
    winning = ~rows.resting
    kept.add(layer, "margin", bin_counts(rows.margin))
    kept.add(layer, "margin_away", bin_counts(rows.margin, winning))
    kept.add(layer, "ball_away", bin_counts(relative, winning))


def ball_radius(margin: Rows, queries: Float[np.ndarray, "heads rows d"], scoring: Scoring) -> Rows:
    """margin / (2 scale |q|): the keys of a row may all move by less than this, and the same one wins."""
    steep = 2 * abs(scoring.scale) * _lengths(queries)
    radius: Rows = np.divide(margin, steep, out=np.full_like(margin, np.inf), where=steep > 0)
    return radius


def _lengths(vectors: Float[np.ndarray, "heads rows d"]) -> Rows:
    """The lengths, in float64 without a copy in float64."""
    found: Rows = np.sqrt(np.einsum("hid,hid->hi", vectors, vectors, dtype=np.float64))
    return found
