"""What weights do with the tokens of rules, in floating point: the checker's formulas, quickly and without proof."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from headwright.weights.rules import Rule, Rules


def rooms(rules: Rules, sequence: int) -> Float[np.ndarray, " T"]:
    """How far from its place each token of a sequence may be.

    >>> from fractions import Fraction
    >>> rooms(Rules((np.eye(2),), (Rule(0, attend={1: Fraction(1, 2)}),), ball=Fraction(1, 4)), 0)
    array([0.25, 0.25])
    """
    stretch = float(max(1 - rules.scale[0], rules.scale[1] - 1))
    found: Float[np.ndarray, " T"] = float(rules.ball) + stretch * np.linalg.norm(rules.sequences[sequence], axis=1)
    return found


def spent(rules: Rules, rule: Rule, M: Float[np.ndarray, "D D"]) -> Float[np.ndarray, " n"]:
    """How far each score may be from its place, once a common number is taken off."""
    n, X = rules.visible(rule), rules.tokens(rule)
    if rules.certain:
        return np.zeros(n)
    room = rooms(rules, rule.sequence)
    x, own = rules.sequences[rule.sequence][rule.token], room[rule.token]
    back = np.linalg.norm((X - X.mean(axis=0)) @ M, axis=1)
    found: Float[np.ndarray, " n"] = (
        room[:n] * np.linalg.norm(M @ x) + own * back + own * room[:n] * np.linalg.norm(M)
    )  # fmt: skip
    return found


def pattern_below(rules: Rules, rule: Rule, M: Float[np.ndarray, "D D"]) -> Float[np.ndarray, " n"]:
    """The least weight that each token can get."""
    x = rules.sequences[rule.sequence][rule.token]
    scores, off = rules.tokens(rule) @ (M @ x), spent(rules, rule, M)
    low, high = (np.exp(np.clip(scores + sign * off - scores.max(), -700.0, 600.0)) for sign in (-1, 1))
    found: Float[np.ndarray, " n"] = low / (high.sum() - high + low)
    return found


def error(rules: Rules, rule: Rule, M: Float[np.ndarray, "D D"], W_V: Float[np.ndarray, "m D"]) -> float:
    """How far the output can be from what the rule wants; 0 where it wants none."""
    if rule.output is None:
        return 0.0
    below = pattern_below(rules, rule, M)
    u = rules.tokens(rule) @ W_V.T - np.array([float(x) for x in rule.output])
    moved = float(rooms(rules, rule.sequence).max() * np.linalg.norm(W_V)) if not rules.certain else 0.0
    rest = max(0.0, 1 - float(below.sum())) * float(np.linalg.norm(u, axis=1).max()) if not rules.certain else 0.0
    return float(np.linalg.norm(below @ u)) + rest + moved
