"""Where the bound puts the keys: any admissible places will do, and the nearer to the worst ones the better.

An uncertain key goes to c k + e with e = t v k + b p, where t is its stretch and p = r^2 q + E E^T q. That is e = L z
with L = [t k, r I, E] and z = (v, b r q, b E^T q): admissible if |z|^2 = v^2 + b^2 <p, q> <= deviations^2, whatever v
and b are. So they are guessed in floats, a hair short, and then tested.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb
from jaxtyping import Bool, Float

from headwright.fast.balls import Array, Balls
from headwright.fast.exactly import ball, dot, row, to_balls
from headwright.fast.groups import Group
from headwright.fast.scene import Rows, Scene
from headwright.trusted.certificate import Spread
from headwright.trusted.numbers import Reject

SHORT = 1 - 2.0**-40


@dataclass(frozen=True, eq=False)
class Places:
    """The places of all keys as rivals; alpha is c - 1 + t v, what a key is stretched by on top of itself."""

    scene: Scene
    scales: Mapping[int, Fraction]
    high: Bool[np.ndarray, " n"]  # at the upper end of its scales, unless a scale is given
    v: Float[np.ndarray, " n"]
    b: Float[np.ndarray, " n"]

    @cached_property
    def alpha(self) -> Balls:
        """alpha of every key."""
        index = self.scene.groups.index
        low, high, _, _ = self.scene.groups.constants(self.scene.scale)
        mid, rad = (np.where(self.high, h[index], x[index]) for h, x in ((high.mid, low.mid), (high.rad, low.rad)))
        given = [(i, scale) for i, scale in self.scales.items() if index[i]]  # certain keys are where they are
        for i, scale in given:
            check_allowed(i, scale, self.scene.groups.groups[index[i]].spread)
        if given:
            sharp = to_balls([ball(scale - 1) for _, scale in given])
            rows = np.array([i for i, _ in given], dtype=np.intp)
            mid[rows], rad[rows] = sharp.mid, sharp.rad
        stretch = to_balls([ball(g.spread.stretch) for g in self.scene.groups.groups])[index]
        return Balls(mid, rad) + stretch * Balls.of(self.v)

    def scores(self) -> Balls:
        """The scores at these places, less the reference."""
        gain = to_balls([self.scene.scale * g.G for g in self.scene.groups.groups])[self.scene.groups.index]
        return self.scene.x + self.alpha * self.scene.m + gain * Balls.of(self.b)

    def exact(self, rows: Rows) -> list[arb]:
        """The same for some keys, in Arb."""
        found = []
        for i, x in zip(rows.tolist(), self.scene.exact(rows), strict=True):
            number = int(self.scene.groups.index[i])
            group = self.scene.groups.groups[number]
            spread = group.spread
            end = spread.high if self.high[i] else spread.low
            scale = self.scales.get(i, end) if number else end  # certain keys are where they are
            alpha = ball(scale - 1) + ball(spread.stretch) * arb(float(self.v[i]))
            gain = self.scene.scale * group.G * arb(float(self.b[i]))
            found.append(x + alpha * (x + self.scene.reference) + gain)
        return found


def rivals(scene: Scene, scales: Mapping[int, Fraction]) -> Places:
    """Places with nearly the highest scores."""
    index = scene.groups.index
    groups = scene.groups.groups
    m = scene.m.mid
    z, stretch, G, square = (
        to_balls(column)[index]
        for column in zip(
            *((ball(g.deviations), ball(g.spread.stretch), g.G, ball(g.deviations) ** 2) for g in groups), strict=True
        )
    )
    scale = float(scene.statement.scale)
    with np.errstate(all="ignore"):
        size = np.sqrt((stretch.mid * m) ** 2 + scale**2 * G.mid)
        v = z.mid * stretch.mid * m / size * SHORT
        b = z.mid * scale / size * SHORT
    v, b = _finite(v), _finite(b)
    used = Balls.of(v) * Balls.of(v) + Balls.of(b) * Balls.of(b) * G
    admissible = used.upper() <= square.lower()
    return Places(scene, scales, m > 0, np.where(admissible, v, 0.0), np.where(admissible, b, 0.0))


def target_place(scene: Scene, target: int, scale: Fraction | None, sign: int) -> list[arb]:
    """A place of a target with nearly the highest (sign 1) or lowest (-1) score, less the centre."""
    group: Group = scene.groups.groups[scene.groups.index[target]]
    spread = group.spread
    key = row(scene.centred.keys, target)
    m = scene.scale * dot(key, scene.q)
    if scale is None:
        scale = spread.high if bool(m * sign > 0) else spread.low
    check_allowed(target, scale, spread)
    stretch, z = ball(spread.stretch), ball(group.deviations)
    size = ((stretch * m) ** 2 + scene.scale**2 * group.G).sqrt()
    v, b = arb(0), arb(0)
    if bool(size > 0):
        v, b = ((x * sign * SHORT / size).mid() for x in (z * stretch * m, z * scene.scale))
        if not bool(v * v + b * b * group.G <= z * z):
            v, b = arb(0), arb(0)
    factor = ball(scale - 1) + stretch * v
    return [k - c + factor * k + b * p for k, c, p in zip(key, scene.centre, group.pull, strict=True)]


def check_allowed(key: int, scale: Fraction, spread: Spread) -> None:
    """Refuse a scale that the world does not allow."""
    if not spread.low <= scale <= spread.high:
        raise Reject(f"the bound scales key {key} by {float(scale):g}, which its world does not allow")


def _finite(x: Array) -> Array:
    return np.where(np.isfinite(x), x, 0.0)
