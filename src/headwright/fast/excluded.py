"""Is the claim certainly false? One admissible world decides: no key moved, every scale the one nearest to 1.

The weight of target a there is exp(x_a) / sum_j exp(x_j). The sum is taken from below: targets in Arb, and the other
keys as in a bound, which never overrates them.
"""

from __future__ import annotations

from flint import arb

from headwright.fast.crowd import Places, crowd
from headwright.fast.exactly import ball
from headwright.fast.view import NOTHING, View
from headwright.trusted.certificate import Statement


def excluded(statement: Statement, views: list[View]) -> bool:
    """The heads certainly give some target less than its weight in this scenario; a view for each head, none random."""
    weights = [_weights_above(view) for view in views]
    return any(
        bool(sum((of_head[target] for of_head in weights), arb(0)) < statement.heads * ball(least))
        for target, least in statement.wish.items()
    )


def _weights_above(view: View) -> dict[int, arb]:
    """For each target, not below its weight."""
    statement, places = view.statement, Places(view, {}, {}, one=True)
    others = crowd(places, [NOTHING] * len(statement.world), set(statement.wish), None)
    scores = {a: view.score(a) for a in statement.wish}
    moved = {a: x + ball(places.of_rival(a) - 1) * (x + view.reference) for a, x in scores.items()}
    powers = {a: (x - others.top).exp() for a, x in moved.items()}
    everything = others.mass + sum(powers.values(), arb(0))
    return {a: power / everything for a, power in powers.items()}
