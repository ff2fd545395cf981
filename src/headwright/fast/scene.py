"""One scenario through one query: scores relative to that of one target, and sharper ones where they matter.

Floats give every score with an error of about d u |k_i - c| |q|. That is enough unless the query is very long, and then
only few keys come near the top: the scores of these are computed again in Arb.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import arb
from jaxtyping import Float, Int

from headwright.fast.balls import Balls
from headwright.fast.exactly import Beyond, ball, dot, relative_scores, row, to_balls
from headwright.fast.groups import Groups, group, highest
from headwright.fast.passes import Centred, Products
from headwright.trusted.certificate import Statement

Rows = Int[np.ndarray, " some"]
SHARP = 2.0**-42  # a relative error of the whole sum that does not matter


@dataclass(frozen=True, eq=False)
class Scene:
    """The keys of one scenario, through one query; the centre is a target, and scores are relative to its score."""

    statement: Statement
    centred: Centred
    products: Products
    query: Float[np.ndarray, " d"]

    @cached_property
    def q(self) -> list[arb]:
        """The query."""
        return [arb(x) for x in self.query.tolist()]

    @cached_property
    def scale(self) -> arb:
        """The scale of scores."""
        return ball(self.statement.scale)

    @cached_property
    def centre(self) -> list[arb]:
        """The target that all is relative to."""
        return row(self.centred.keys, self.centred.row)

    @cached_property
    def reference(self) -> arb:
        """The score of the centre at its given place."""
        return self.scale * dot(self.centre, self.q)

    @cached_property
    def targets(self) -> Rows:
        """The targets of the wish."""
        return np.array(list(self.statement.wish), dtype=np.intp)

    @cached_property
    def groups(self) -> Groups:
        """What the keys may be."""
        return group(self.statement, self.q)

    @cached_property
    def x(self) -> Balls:
        """The score of every key at its given place, less the reference."""
        factor = self.scale * arb(2) ** self.products.exponent
        if not factor.abs_lower() > 2.0**-900:
            raise Beyond("scores are beyond the range of doubles")
        return self.products.balls * to_balls([factor])

    @cached_property
    def m(self) -> Balls:
        """The score of every key at its given place."""
        return self.x + to_balls([self.reference])

    def exact(self, rows: Rows) -> list[arb]:
        """The scores of some keys at their given places, less the reference."""
        return [self.scale * x for x in relative_scores(self.centred.keys, rows, self.centred.row, self.q)]

    def highest(self) -> Balls:
        """The score that no key exceeds, less the reference; sharp where it matters, and hidden for targets."""
        if not self.statement.world:
            return sharpen(self.hide(self.x), self.exact)
        constants = (constant[self.groups.index] for constant in self.groups.constants(self.scale))
        return sharpen(self.hide(highest(self.x, self.m, *constants)), self.exactly_highest)

    def exactly_highest(self, rows: Rows) -> list[arb]:
        """The same for some keys, in Arb."""
        constants = [g.constants(self.scale) for g in self.groups.groups]
        which = self.groups.index[rows].tolist()
        return [highest(x, x + self.reference, *constants[g]) for x, g in zip(self.exact(rows), which, strict=True)]

    def exactly_lowest(self, rows: Rows) -> list[arb]:
        """The score that some keys do not fall below, less the reference: -m is at its highest."""
        constants = [g.constants(self.scale) for g in self.groups.groups]
        which = self.groups.index[rows].tolist()
        return [-highest(-x, -x - self.reference, *constants[g]) for x, g in zip(self.exact(rows), which, strict=True)]

    def hide(self, scores: Balls) -> Balls:
        """The same, with every target at minus infinity: its exponential is 0."""
        mid, rad = scores.mid.copy(), scores.rad.copy()
        mid[self.targets], rad[self.targets] = -np.inf, 0.0
        return Balls(mid, rad)


def sharpen(scores: Balls, exact: Callable[[Rows], Sequence[arb]]) -> Balls:
    """The same, with the scores computed again that put the sum of exponentials in doubt.

    Which ones these are is a matter of tightness and of speed, not of truth.

    >>> loose = Balls(np.array([0.0, -1.0, -1e5]), np.array([1.0, 1e-18, 1.0]))
    >>> sharpen(loose, lambda rows: [arb(0)] * len(rows)).rad.round(9).tolist()
    [0.0, 0.0, 1.0]
    """
    unknown = ~(np.isfinite(scores.rad) & ~np.isnan(scores.mid))
    mid, rad = np.where(unknown, 0.0, scores.mid), np.where(unknown, np.inf, scores.rad)
    if not rad.max() <= SHARP:
        far = 60 + math.log(len(mid))
        rough = np.flatnonzero((rad > 2.0**-10) & (mid + rad > (mid - rad).max() - far))
        _replace(mid, rad, rough, exact)
        with np.errstate(all="ignore"):
            weights = np.exp(np.maximum(mid - mid[np.isfinite(rad)].max(), -700.0))
            loss = weights * np.minimum(rad, 1.0)
        if loss.sum() > SHARP * weights.sum():
            _replace(mid, rad, np.flatnonzero(loss > SHARP / 4 * weights.sum() / len(mid)), exact)
    return Balls(mid, rad)


def _replace(
    mid: Float[np.ndarray, " n"], rad: Float[np.ndarray, " n"], rows: Rows, exact: Callable[[Rows], Sequence[arb]]
) -> None:
    if len(rows):
        sharp = to_balls(exact(rows))
        mid[rows], rad[rows] = sharp.mid, sharp.rad
