"""The smallest change of the keys that moves the largest weight of a row to another key.

The ball. Let key w win a row by the margin m = s_w - max_{j != w} s_j > 0, with scores s_j = c <q, k_j>, c > 0. Move
every key by any vector e_j of length at most r. Then

    s_w - s_j  changes by  c <q, e_w - e_j>  >=  -c |q| (|e_w| + |e_j|)  >=  -2 c |q| r,

so the winner stays as long as 2 c |q| r < m, that is for every r < m / (2 c |q|). For c = 1/sqrt(d) this is
m sqrt(d) / (2 |q|). No larger ball will do: e_w = -r q/|q| and e_j = r q/|q| reach the bound. A softcap,
t -> a tanh(t/a), keeps the order of scores and never widens their differences, so the ball from the margin after it is
safe, not sharp.

Shortening. If the winning key alone is shortened to x k_w, 0 <= x <= 1, its score becomes x s_w (before any softcap).
It keeps winning down to x = s_2 / s_w if the runner-up's score s_2 is above 0; down to 0 if s_2 <= 0, and also if
s_w <= 0, where shortening lifts it.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from headwright.models.findings.first_token import Away
from headwright.models.findings.summary import Layered, bin_counts
from headwright.models.rows.scoring import Scoring

Rows = Float[np.ndarray, "heads rows"]


def fragility(kept: Layered, layer: int, rows: Away) -> None:
    """Counts of rows by margin, ball and shortening: of all rows, and of those that the first token does not win."""
    ball = ball_radius(rows.margin, rows.queries, rows.scoring)
    lengths = _lengths(rows.keys).mean(axis=1)[rows.key_head]
    relative = np.divide(ball, lengths[:, None], out=np.zeros_like(ball), where=lengths[:, None] > 0)
    needed = length_needed(rows.best, rows.margin, rows.scoring)
    winning = ~rows.resting
    kept.add(layer, "margin", bin_counts(rows.margin))
    kept.add(layer, "margin_away", bin_counts(rows.margin, winning))
    kept.add(layer, "ball_away", bin_counts(relative, winning))
    kept.add(layer, "needed_away", bin_counts(needed, winning))


def ball_radius(margin: Rows, queries: Float[np.ndarray, "heads rows d"], scoring: Scoring) -> Rows:
    """margin / (2 scale |q|): the keys of a row may all move by less than this, and the same one wins."""
    steep = 2 * abs(scoring.scale) * _lengths(queries)
    radius: Rows = np.divide(margin, steep, out=np.full_like(margin, np.inf), where=steep > 0)
    return radius


def _lengths(vectors: Float[np.ndarray, "heads rows d"]) -> Rows:
    """The lengths, in float64 without a copy in float64."""
    found: Rows = np.sqrt(np.einsum("hid,hid->hi", vectors, vectors, dtype=np.float64))
    return found


def length_needed(best: Rows, margin: Rows, scoring: Scoring) -> Rows:
    """The part of its length that the winning key needs in order to win; 0 if it could lose all of it."""
    winner, second = _raw(best, scoring), _raw(best - margin, scoring)
    breaks = (winner > 0) & (second > 0)
    part: Rows = np.clip(np.divide(second, winner, out=np.zeros_like(winner), where=breaks), 0.0, 1.0)
    return part


def _raw(s: Rows, scoring: Scoring) -> Rows:
    """The score before the softcap."""
    if scoring.softcap is None:
        return s
    t = np.clip(s / scoring.softcap, -1 + 1e-16, 1 - 1e-16)
    result: Rows = scoring.softcap * np.arctanh(t)
    return result
