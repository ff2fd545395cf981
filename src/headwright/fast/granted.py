"""Check that every target gets its weight in every admissible world, with the stated probability.

alpha_a >= p_a, averaged over the heads; alpha_a >= 1 / (1 + sum over i != a of exp(x_i)), where x_i = s_i - s_a with
s_i at its highest and s_a at its lowest, and with what chance may add. Targets are computed in Arb; what the other keys
add up to is bounded in floats relative to the largest of them, so that a wish of 1/(1 + 1e-30) is no harder than any.
"""

from __future__ import annotations

import math
from itertools import accumulate

import numpy as np
from flint import arb

from headwright.fast.exact_numbers import ImprecisionError, above_root, ball, to_balls
from headwright.fast.exponential import exp_above, total_above
from headwright.fast.score_bounds import View, World
from headwright.trusted.certificate import Guard, Statement
from headwright.trusted.keys import Reject
from headwright.trusted.words import shown


def tail(deviations: arb) -> arb:
    """P(N(0, 1) > z)."""
    return (deviations / arb(2).sqrt()).erfc() / 2


def check_guard(statement: Statement, world: World, guard: Guard | None) -> None:
    """Refuse unless all ways in which chance may fail are together as rare as the confidence asks for."""
    if guard is None:
        return
    n, targets = statement.keys[0].n, [world.spread(a).random for a in statement.wish]
    random = len(world.random(n))
    if guard.kind == "keys":  # a target competes with the other targets, too
        ways = random + (sum(targets) if len(targets) > 1 else 0)
    else:  # for each target: its random rivals, and, if it is random, all the others together
        ways = sum(random - own + int(own and random < n) for own in targets)
    if not ways * statement.heads * tail(ball(guard.deviations)) <= 1 - ball(statement.confidence):
        raise Reject("the deviations guarded against do not have the probability that is claimed")


def check_granted(statement: Statement, views: list[View], guard: Guard | None, scenario: int) -> None:
    """Refuse unless the heads certainly give every target its weight in this scenario; a view for each head."""
    even = not any(view.query.any() for view in views)  # all scores are 0, wherever the keys are: compared exactly
    rivals = [] if even else [_rivals_above(view, guard) for view in views]
    for target, least in statement.wish.items():
        found = [r[target] for r in rivals]
        if even:
            certain = least * statement.keys[scenario].n <= 1
        elif len(found) == 1:
            certain = found[0] <= ball(1 / least - 1)
        else:
            certain = sum((1 / (1 + r) for r in found), arb(0)) >= len(found) * ball(least)
        if not bool(certain):
            raise ImprecisionError(
                f"key {target} is not certain to get a weight of {shown(least)} in scenario {scenario}"
            )


def _rivals_above(view: View, guard: Guard | None) -> dict[int, arb]:
    """For each target, not below the sum over the other keys of exp(x_i) at worst."""
    targets = list(view.statement.wish)
    if not view.query.any():
        return dict.fromkeys(targets, arb(len(view.keys) - 1))
    ends = {a: view.ends(a) for a in targets}
    z = arb(0) if guard is None else ball(guard.deviations)
    if guard is not None and guard.kind == "pairs":
        return _by_pairs(view, ends, z)
    others = _others(view, z, arb(0))
    powers = [(high + z * above_root(v)).exp() for _, high, v in ends.values()]
    # Nothing is subtracted: what comes before a target, and what comes after it.
    before = [arb(0), *accumulate(powers)][:-1]
    after = [arb(0), *accumulate(reversed(powers))][-2::-1]
    return {
        a: (others + b + c) * (z * above_root(v) - low).exp()
        for (a, (low, _, v)), b, c in zip(ends.items(), before, after, strict=True)
    }


def _by_pairs(view: View, ends: dict[int, tuple[arb, arb, arb]], z: arb) -> dict[int, arb]:
    alike, found = dict[int, arb](), dict[int, arb]()
    for a, (low, _, v) in ends.items():
        entry = view.world.entry(a)
        others = alike[entry] if entry in alike else _others(view, z, v)
        if not view.world.spread(a).stretch:  # then all targets of this entry have the same variance
            alike[entry] = others
        powers = [(high + z * above_root(v + w)).exp() for b, (_, high, w) in ends.items() if b != a]
        found[a] = sum(powers, others) * (-low).exp()
    return found


def _others(view: View, z: arb, own: arb) -> arb:
    """Not below the sum over all keys that are no targets of exp(s_i + z sqrt(v_i + own)), s_i at its highest."""
    wish, n = view.statement.wish, len(view.keys)
    if view.closely:
        ends = (view.ends(key) for key in range(n) if key not in wish)
        return sum(((high + z * above_root(v + own)).exp() for _, high, v in ends), arb(0))
    if len(wish) == n:
        return arb(0)
    scores, deviations, more = np.empty(n), to_balls([z]), to_balls([own])
    for part in view.blocks():
        highest = view.highest(part)
        chance = deviations * (view.variance(part) + more).sqrt() if view.world.chance else None
        scores[part] = (highest if chance is None else highest + chance).upper()
    scores[list(wish)] = -np.inf
    top = float(scores.max())
    if not math.isfinite(top):
        raise ImprecisionError("scores are not known well enough")
    return arb(total_above(exp_above(scores, top))) * arb(top).exp()
