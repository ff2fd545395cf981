"""Does every target get its weight, wherever in the world the keys are?

alpha_a >= p_a, averaged over the heads; alpha_a >= 1 / (1 + sum over i != a of exp(s_i - s_a)) with every s_i at its
highest and s_a at its lowest. Targets are computed in Arb; what the other keys add up to is bounded in floats relative
to the largest of them, so that a wish of 1/(1 + 1e-30) is no harder than another.
"""

from __future__ import annotations

from itertools import accumulate

from flint import arb

from headwright.fast.exactly import ball
from headwright.fast.exponential import exp_above, total_above
from headwright.fast.scene import Scene
from headwright.trusted.certificate import Statement
from headwright.trusted.numbers import Reject


def check_granted(statement: Statement, scenes: list[Scene], number: int) -> None:
    """Refuse unless the heads certainly give every target its weight in this scenario."""
    rivals = [rivals_above(scene) for scene in scenes]
    for target, least in statement.wish.items():
        found = [r[target] for r in rivals]
        if len(found) == 1:
            certain = found[0] <= ball(1 / least - 1)
        else:
            certain = sum((1 / (1 + r) for r in found), arb(0)) >= len(found) * ball(least)
        if not bool(certain):
            raise Reject(f"key {target} is not certain to get a weight of {float(least):.6g} in scenario {number}")


def rivals_above(scene: Scene) -> dict[int, arb]:
    """For each target, not below the sum over the other keys of exp(s_i - s_a) at worst."""
    targets = scene.targets
    if not scene.query.any():  # all scores are 0, exactly, wherever the keys are: a wish for an even share is granted
        return dict.fromkeys(targets.tolist(), arb(len(scene.centred.keys) - 1))
    high, low = scene.exactly_highest(targets), scene.exactly_lowest(targets)
    others, top = arb(0), 0.0
    if len(targets) < len(scene.centred.keys):
        scores = scene.highest().upper()
        top = float(scores.max())
        others = arb(total_above(exp_above(scores, top))) * arb(top).exp()
    powers = [x.exp() for x in high]
    # Nothing is subtracted: what comes before a target, and what comes after it.
    before = [arb(0), *accumulate(powers)][:-1]
    after = [arb(0), *accumulate(reversed(powers))][-2::-1]
    return {a: (others + b + c) * (-x).exp() for a, b, c, x in zip(targets.tolist(), before, after, low, strict=True)}
