"""Check that every target gets its weight for all keys that are possible, with the stated probability.

alpha_a >= p_a, averaged over the heads; alpha_a >= 1 / (1 + sum over i != a of exp(x_i)), where x_i = s_i - s_a with
s_i at its highest and s_a at its lowest, and with what chance may add. Targets are computed in Arb; what the other keys
add up to is bounded in floats relative to the largest of them, so that a least weight of 1/(1 + 1e-30) is no harder
than any.
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb

from headwright.certificates.exact.certificate import DeviationGuard, KeyStatement
from headwright.certificates.exact.keys import Reject
from headwright.certificates.exact.words import six_digits
from headwright.certificates.floating.exact_numbers import (
    above_root,
    ball,
    sums_of_others,
    to_balls,
)
from headwright.certificates.floating.score_bounds import (
    KeyScoreEnds,
    KeySpreads,
    ScoreView,
)
from headwright.numerics.balls import ImprecisionError
from headwright.numerics.exponential import exp_above, total_above


def tail(deviations: arb) -> arb:
    """P(N(0, 1) > z)."""
    return (deviations / arb(2).sqrt()).erfc() / 2


def check_guard(
    statement: KeyStatement, uncertainty: KeySpreads, guard: DeviationGuard | None
) -> None:
    """Refuse unless all ways in which chance may fail are together as rare as the confidence asks for."""
    if guard is None:
        return
    n = statement.keys[0].n
    random_targets = [uncertainty.spread(target).random for target in statement.targets]
    random_keys = len(uncertainty.random(n))
    ways = 0
    if guard.kind == "keys":
        ways = random_keys
        # A random target competes with the other targets, too.
        if len(random_targets) > 1:
            ways += sum(random_targets)
    else:
        for is_random in random_targets:
            if is_random:
                # Its random rivals, and all the others together.
                ways += random_keys - 1 + int(random_keys < n)
            else:
                ways += random_keys
    failing = ways * statement.heads * tail(ball(guard.deviations))
    if not failing <= 1 - ball(statement.confidence):
        raise Reject(
            "the deviations guarded against do not have the probability that is claimed"
        )


def check_targets_met(
    statement: KeyStatement,
    views: list[ScoreView],
    guard: DeviationGuard | None,
    scenario: int,
) -> None:
    """Refuse unless the heads certainly give every target its weight in this scenario; a view for each head."""
    n = statement.keys[scenario].n
    # If all queries are 0, so are all scores, wherever the keys are: each key gets 1/n, exactly.
    is_even = not any(view.query.any() for view in views)
    rivals_of_heads = []
    if not is_even:
        rivals_of_heads = [_rivals_above(view, guard) for view in views]
    for target, least in statement.targets.items():
        if is_even:
            certain = least * n <= 1
        else:
            rivals = [of_head[target] for of_head in rivals_of_heads]
            certain = _reach(rivals, ball(least), ball(1 / least - 1))
        if not certain:
            raise ImprecisionError(
                f"key {target} is not certain to get a weight of {six_digits(least)} in scenario {scenario}"
            )


def _reach(rivals: list[arb], least: arb, most_rivals: arb) -> bool:
    """The mean of 1 / (1 + rivals) over the heads is at least `least`."""
    if len(rivals) == 1:
        return bool(rivals[0] <= most_rivals)
    weights = sum((1 / (1 + of_head) for of_head in rivals), arb(0))
    return bool(weights >= len(rivals) * least)


def _rivals_above(view: ScoreView, guard: DeviationGuard | None) -> dict[int, arb]:
    """For each target, not below the sum over the other keys of exp(x_i) at worst."""
    targets = list(view.statement.targets)
    if not view.query.any():
        return dict.fromkeys(targets, arb(len(view.keys) - 1))
    ends = {target: view.ends(target) for target in targets}
    deviations = arb(0) if guard is None else ball(guard.deviations)
    if guard is not None and guard.kind == "pairs":
        return _rivals_by_pairs(view, ends, deviations)
    others = _others_above(view, deviations, arb(0))
    powers = []
    for of_target in ends.values():
        chance = deviations * above_root(of_target.variance)
        powers.append((of_target.highest + chance).exp())
    rivals = {}
    of_other_targets = dict(zip(ends, sums_of_others(powers), strict=True))
    for target, of_target in ends.items():
        chance = deviations * above_root(of_target.variance)
        sum_of_powers = others + of_other_targets[target]
        rivals[target] = sum_of_powers * (chance - of_target.lowest).exp()
    return rivals


def _rivals_by_pairs(
    view: ScoreView, ends: dict[int, KeyScoreEnds], deviations: arb
) -> dict[int, arb]:
    """The same where each difference of two scores is at most so many of its own deviations off."""
    others_of_entry: dict[int, arb] = {}
    rivals = {}
    for target, own in ends.items():
        entry = view.uncertainty.entry(target)
        if entry in others_of_entry:
            others = others_of_entry[entry]
        else:
            others = _others_above(view, deviations, own.variance)
        if not view.uncertainty.spread(target).stretch:
            # All targets of this entry have the same variance.
            others_of_entry[entry] = others
        powers = others
        for rival, of_rival in ends.items():
            if rival != target:
                chance = deviations * above_root(of_rival.variance + own.variance)
                powers += (of_rival.highest + chance).exp()
        rivals[target] = powers * (-own.lowest).exp()
    return rivals


def _others_above(view: ScoreView, deviations: arb, own_variance: arb) -> arb:
    """Not below the sum over all keys that are no targets of exp(s_i + z sqrt(v_i + own)), s_i at its highest."""
    targets = view.statement.targets
    n = len(view.keys)
    if view.closely:
        powers = arb(0)
        for key in range(n):
            if key not in targets:
                ends = view.ends(key)
                chance = deviations * above_root(ends.variance + own_variance)
                powers += (ends.highest + chance).exp()
        return powers
    if len(targets) == n:
        return arb(0)
    scores = np.empty(n)
    deviation_ball = to_balls([deviations])
    own_ball = to_balls([own_variance])
    for part in view.blocks():
        highest = view.highest(part)
        if view.uncertainty.chance:
            deviation = (view.variance(part) + own_ball).sqrt()
            highest = highest + deviation_ball * deviation
        scores[part] = highest.upper()
    scores[list(targets)] = -np.inf  # targets are no rivals here
    top = float(scores.max())
    if not math.isfinite(top):
        raise ImprecisionError("scores are not known well enough")
    # sum exp(s) = exp(top) sum exp(s - top), and no exponent on the right is above 0.
    return arb(total_above(exp_above(scores, top))) * arb(top).exp()
