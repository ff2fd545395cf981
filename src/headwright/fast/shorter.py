"""Is no shorter query possible? For multipliers lambda_c of sum 1 and distributions pi^c over admissible places,

    |q| |scale| |V| >= sum_c lambda_c (H(pi^c) + ln p_c),    V = sum_c lambda_c (sum_i pi^c_i k_i - k_c)

for every query q that grants the wish. Here pi_i = e_i / Z with floats 0 <= e_i <= exp(x_i - R), x_i the score of key i
at the bound's query q'; so H(pi) >= ln Z + R - sum_i pi_i x_i, and sum_i pi_i x_i = scale <q', sum_i pi_i k_i>. Targets
are computed in Arb and the other keys in floats, all of them relative to one target: at the optimum nearly all weight
is on the targets, and what is left must not be lost in rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb

from headwright.fast.balls import Array, Balls
from headwright.fast.exactly import Beyond, ball, dot
from headwright.fast.exponential import exp_below, total, total_above
from headwright.fast.passes import weighted_sum
from headwright.fast.places import Places, rivals, target_place
from headwright.fast.scene import Scene, sharpen
from headwright.trusted.certificate import Certificate, Constraint
from headwright.trusted.numbers import Reject


@dataclass(frozen=True, eq=False)
class Vector:
    """A vector known up to an error of some length."""

    entries: list[arb]
    error: arb

    def plus(self, factor: arb, other: Sequence[arb]) -> Vector:
        """This vector and a multiple of an exact one."""
        return Vector([x + factor * y for x, y in zip(self.entries, other, strict=True)], self.error)


@dataclass(frozen=True, eq=False)
class Crowd:
    """The keys that are no targets: sum_i e_i, sum_i e_i (k_i - c), and the reference R of the exponents."""

    mass: arb
    moment: Vector
    top: arb


def used_constraints(certificate: Certificate) -> list[Constraint]:
    """The constraints with positive multipliers; refused if they cannot make a bound."""
    found = [c for c in certificate.constraints if c.multiplier > 0]
    if not found:
        raise Reject("a bound needs a positive multiplier")
    if len(certificate.queries) > 1 and len(found) > 1:
        raise Reject("with several heads the bound must rest on one target: that one needs one head to attend to it")
    return found


def check_none_shorter(certificate: Certificate, scenes: dict[int, Scene]) -> None:
    """Refuse unless no query shorter than stated certainly grants the wish; scenes are by scenario."""
    statement, constraints = certificate.statement, used_constraints(certificate)
    whole = sum((c.multiplier for c in constraints), Fraction(0))
    V = Vector([arb(0)] * statement.keys[0].d, arb(0))
    right = arb(0)
    for number, scene in scenes.items():
        for c, direction, value in _bounds(scene, [c for c in constraints if c.scenario == number], certificate):
            share = ball(c.multiplier / whole)
            V = Vector(V.plus(share, direction.entries).entries, V.error + share * direction.error)
            right += share * value
    length = dot(V.entries, V.entries).abs_upper().sqrt() + V.error
    least = ball(statement.none_shorter)
    if not (bool(right > 0) and bool(least * abs(ball(statement.scale)) * length <= right)):
        raise Reject(f"it is not certain that no query is shorter than {float(statement.none_shorter):.6g}")


def _bounds(
    scene: Scene, constraints: list[Constraint], certificate: Certificate
) -> list[tuple[Constraint, Vector, arb]]:
    """For each constraint: sum_i pi_i k_i - k_a, and a lower bound of H(pi) + ln p_a."""
    scales, own_scales = certificate.scales or {}, certificate.own_scales or {}
    crowd = _crowd(scene, scales)

    def share(place: list[arb]) -> arb:
        """An exact number, not above exp(x - R)."""
        return (scene.scale * dot(place, scene.q) - crowd.top).exp().lower()

    mass, moment, up = crowd.mass, crowd.moment, {}
    for b in scene.statement.wish:
        place = target_place(scene, b, scales.get(b), 1)
        up[b] = (place, share(place))
        mass, moment = mass + up[b][1], moment.plus(up[b][1], place)
    found = []
    for c in constraints:
        Z, M = mass, moment
        down = target_place(scene, c.target, own_scales.get(c.target), -1)
        if scene.statement.world:  # in its own constraint a target is at its lowest
            place, e = up[c.target]
            own = share(down)
            Z, M = mass - e + own, moment.plus(-e, place).plus(own, down)
        if not bool(Z > 0):
            raise Reject("a distribution has no mass")
        reach = abs(scene.scale) * dot(scene.q, scene.q).sqrt() * M.error
        entropy = Z.log() + crowd.top - (scene.scale * dot(scene.q, M.entries) + reach) / Z
        mean = Vector([x / Z for x in M.entries], M.error / Z)
        value = entropy + ball(scene.statement.wish[c.target]).log()
        found.append((c, mean.plus(arb(-1), down), value.lower()))
    return found


def _crowd(scene: Scene, scales: dict[int, Fraction]) -> Crowd:
    if len(scene.targets) == len(scene.centred.keys):
        return Crowd(arb(0), Vector([arb(0)] * len(scene.q), arb(0)), arb(0))
    places = rivals(scene, scales) if scene.statement.world else None
    scores = sharpen(scene.hide(scene.x), scene.exact) if places is None else (
        sharpen(scene.hide(places.scores()), places.exact)
    )  # fmt: skip
    below = scores.lower()
    top = float(below.max())
    e = exp_below(below, top)
    weights = Balls.of(e) if places is None else Balls.of(e) * (Balls.of(np.ones_like(e)) + places.alpha)
    if not np.isfinite(weights.mid).all():
        raise Beyond("weights are beyond the range of doubles")
    sums, error = weighted_sum(scene.centred, weights.mid)
    unit = arb(2) ** scene.centred.exponent
    slip = total_above(weights.rad * scene.centred.norms) if places is not None else 0.0
    moment = Vector([unit * arb(x) for x in sums.tolist()], unit * (arb(error) + arb(slip)))
    if places is not None:
        moment = _moved(moment, scene, places, e)
    return Crowd(total(e), moment, arb(top))


def _moved(moment: Vector, scene: Scene, places: Places, e: Array) -> Vector:
    """e_i (alpha_i k_i + b_i p_i) is e_i alpha_i (k_i - c), already there, and e_i alpha_i c + e_i b_i p_i."""
    stretched = Balls.of(e) * places.alpha
    moment = moment.plus(total(stretched.mid) + arb(0, total_above(stretched.rad)), scene.centre)
    pulled = Balls.of(e) * Balls.of(places.b)
    for number, group in enumerate(scene.groups.groups):
        rows = scene.groups.index == number
        if bool((pulled.mid[rows] != 0).any()):
            share = total(pulled.mid[rows]) + arb(0, total_above(pulled.rad[rows]))
            moment = moment.plus(share, group.pull)
    return moment
