"""An output that all heads make together, shared out among them.

Rules say where the token attends in each head: a mixture y_h of tokens. Then sum_h W_V^h y_h = wanted is one linear
equation for all W_V side by side, and the smallest of these say what each head has to output on its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from headwright.trusted.numbers import sqrt_above
from headwright.weights.rules import Rule, Rules
from headwright.weights.values import smallest_values


def shared_out(rules: Rules) -> Rules | None:
    """The rules with an output for each head in place of those for the sum; None where no shares were found.

    >>> heads = tuple(Rule(0, head=h, attend={h: Fraction(9, 10)}) for h in (0, 1))
    >>> rules = Rules((np.eye(2),), (*heads, Rule(0, head=None, output=(Fraction(4), Fraction(0)))))
    >>> [[float(x) for x in rule.output] for rule in shared_out(rules).rules]
    [[2.0, 0.0], [2.0, 0.0]]
    """
    together = [rule for rule in rules.rules if rule.head is None]
    if not together:
        return rules
    alone = {rule.place: rule for rule in rules.rules if rule.head is not None}
    told = [*together, *(rule for rule in alone.values() if rule.output is not None and rule.attend)]
    Y = np.array([_side_by_side(rules, rule, alone) for rule in told])
    wanted = np.array([[float(x) for x in rule.output or ()] for rule in told])
    W = smallest_values(Y, wanted)
    for rule in together:
        shares = _shares(rules, rule, alone, W)
        off = [sum(column, -w) for w, column in zip(rule.output or (), zip(*shares, strict=True), strict=True)]
        each = (rule.tolerance - sqrt_above(sum((x * x for x in off), Fraction(0)))) / rules.heads
        if each <= 0:
            return None
        for h, share in enumerate(shares):
            mine = alone[(rule.sequence, rule.token, h)]
            if mine.output is None:
                alone[mine.place] = replace(mine, output=share, tolerance=each)
            else:
                alone[mine.place] = replace(mine, tolerance=min(mine.tolerance, each))
    return replace(rules, rules=tuple(alone.values()))


def _mixture(rules: Rules, rule: Rule) -> Float[np.ndarray, " D"]:
    """What a token attends to in a head, with weights in the ratio of their floors."""
    attend = rule.attend or {}
    total = sum(attend.values())
    X = rules.asking(rules.sequences[rule.sequence])
    found: Float[np.ndarray, " D"] = sum(
        (float(p / total) * X[a] for a, p in attend.items()), np.zeros(rules.dimension + rules.biases)
    )
    return found


def _side_by_side(rules: Rules, rule: Rule, alone: dict[tuple[int, int, int | None], Rule]) -> Float[np.ndarray, " HD"]:
    """The mixtures of all heads that the rule is about, 0 for the others."""
    heads = range(rules.heads)
    parts = [
        _mixture(rules, alone[(rule.sequence, rule.token, h)])
        if rule.head in (None, h)
        else np.zeros(rules.dimension + rules.biases)
        for h in heads
    ]
    return np.concatenate(parts)


def _shares(
    rules: Rules, rule: Rule, alone: dict[tuple[int, int, int | None], Rule], W: Float[np.ndarray, "m HD"]
) -> Sequence[tuple[Fraction, ...]]:
    """What each head outputs: what its own rule wants, or what the smallest W_V make of its mixture."""
    found = []
    for h in range(rules.heads):
        mine = alone[(rule.sequence, rule.token, h)]
        part = np.split(W, rules.heads, axis=1)[h] @ _mixture(rules, mine)
        found.append(mine.output if mine.output is not None else tuple(Fraction(float(f"{x:.15g}")) for x in part))
    return found
