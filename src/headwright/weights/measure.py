"""What weights do with the tokens of rules, in floating point: the checker's formulas, quickly and without proof."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from headwright.trusted.heads.run import PIECES
from headwright.weights.rules import Rule, Rules

Ends = Float[np.ndarray, "pieces 2 2 n"]  # of the scale's range: at both ends, all scores at lowest and highest


def scores_at(rules: Rules, rule: Rule, M: Float[np.ndarray, "D k"]) -> Float[np.ndarray, " n"]:
    """The scores of what is seen, with tokens at their places."""
    x = rules.asking(rules.sequences[rule.sequence][rule.token])
    found: Float[np.ndarray, " n"] = rules.tokens(rule) @ (M @ x) + rules.added(rule)
    return found


def pieces(rules: Rules, rule: Rule, M: Float[np.ndarray, "D k"]) -> Ends:
    """As run.py of the checker has them: for each piece of the range of lengths, the scores of what is seen.

    >>> from fractions import Fraction
    >>> rules = Rules((np.eye(2),), (Rule(0, attend={1: Fraction(1, 2)}),), scale=(Fraction(1, 2), Fraction(1)))
    >>> pieces(rules, rules.rules[0], -np.eye(2)).shape
    (32, 2, 2, 2)
    """
    seen, X, D = np.array(rules.seen(rule)), rules.tokens(rule), rules.dimension
    x = rules.sequences[rule.sequence][rule.token]
    scores, bias = X @ (M[:, :D] @ x), rules.added(rule)
    added = X @ M[:, D] if rules.biases else np.zeros(len(X))
    (low, high), ball = map(float, rules.scale), float(rules.ball)
    if ball or low == high:
        room = ball + max(1 - low, high - 1) * np.linalg.norm(X, axis=1) if ball else np.zeros(len(X))
        own = ball + max(1 - low, high - 1) * float(np.linalg.norm(x)) if ball else 0.0
        back = np.linalg.norm((X - X.mean(axis=0)) @ M[:, :D], axis=1)
        along, size = np.linalg.norm(M @ rules.asking(x)), np.linalg.norm(M[:, :D])
        off, whole = room * along + own * back + own * room * size, scores + added + bias
        return np.array([[[whole - off, whole + off]]])
    itself = seen == rule.token
    own = float(scores[itself].sum())
    bends = any(own > 0 if a == rule.token else own < 0 for a in rule.attend or ())
    parts = PIECES if rule.at_most or bends or (own and rule.output is not None) else 1
    width = (high - low) / parts
    u = low + width * np.arange(parts)[:, None, None]
    c, middle = np.concatenate([u, u + width], axis=1), u + width / 2  # (pieces, 2, 1), (pieces, 1, 1)
    line = 2 * middle * c - middle**2
    one = np.where(itself, scores * line + c * added, low * (c * scores + added)) + bias
    two = np.where(itself, scores * c * c + c * added, high * (c * scores + added)) + bias
    return np.stack([np.minimum(one, two), np.maximum(one, two)], axis=2)


def spent(rules: Rules, rule: Rule, M: Float[np.ndarray, "D k"]) -> Float[np.ndarray, " T"]:
    """By how much the world raises the logarithm of what competes with each token; 0 for those that are not seen."""
    found = np.zeros(len(rules.sequences[rule.sequence]))
    seen = list(rules.seen(rule))
    if rules.certain or len(seen) == 1:
        return found
    scores = scores_at(rules, rule, M)
    ends = pieces(rules, rule, M)
    worst = _rivals(ends[:, :, 0], ends[:, :, 1]).max(axis=(0, 1))
    found[seen] = np.maximum(0.0, worst - _rivals(scores, scores))
    return found


def pattern_below(rules: Rules, rule: Rule, M: Float[np.ndarray, "D k"]) -> Float[np.ndarray, " T"]:
    """The least weight that each token can get; 0 for those that are not seen."""
    found, ends = np.zeros(len(rules.sequences[rule.sequence])), pieces(rules, rule, M)
    top = ends[:, :, 1].max(axis=-1, keepdims=True)
    low, high = (np.exp(np.clip(ends[:, :, k] - top, -700.0, 0.0)) for k in (0, 1))
    found[list(rules.seen(rule))] = (low / (high.sum(axis=-1, keepdims=True) - high + low)).min(axis=(0, 1))
    return found


def weight_above(rules: Rules, rule: Rule, M: Float[np.ndarray, "D k"], token: int) -> float:
    """The largest weight that a token can get."""
    at, ends = rules.seen(rule).index(token), pieces(rules, rule, M)
    others = np.exp(np.clip(ends[:, :, 0] - ends[:, :, 1, at, None], -700.0, 700.0)).min(axis=1)
    return float((1 / (1 + np.delete(others, at, axis=-1).sum(axis=-1))).max())


def moved(rules: Rules, rule: Rule, W_V: Float[np.ndarray, "m k"]) -> float:
    """How far values can be from those of tokens at their places."""
    stretch = float(max(1 - rules.scale[0], rules.scale[1] - 1))
    W = W_V[:, : rules.dimension]
    values = np.linalg.norm(rules.tokens(rule) @ W.T, axis=1)
    return stretch * float(values.max()) + float(rules.ball) * float(np.linalg.norm(W))


def error(rules: Rules, rule: Rule, M: Float[np.ndarray, "D k"], W_V: Float[np.ndarray, "m k"]) -> float:
    """How far the output can be from what the rule wants; 0 where it wants none."""
    if rule.output is None:
        return 0.0
    below = pattern_below(rules, rule, M)[list(rules.seen(rule))]
    u = rules.asking(rules.tokens(rule)) @ W_V.T - np.array([float(x) for x in rule.output])
    rest = max(0.0, 1 - float(below.sum())) * float(np.linalg.norm(u, axis=1).max()) if not rules.certain else 0.0
    return float(np.linalg.norm(below @ u)) + rest + moved(rules, rule, W_V)


def _rivals(low: Float[np.ndarray, "*ends n"], high: Float[np.ndarray, "*ends n"]) -> Float[np.ndarray, "*ends n"]:
    """For each token ln sum over the others of exp(high_l - low_j)."""
    others = np.where(np.eye(high.shape[-1], dtype=bool), -np.inf, high[..., None, :])
    top = others.max(axis=-1)
    found: Float[np.ndarray, "*ends n"] = top + np.log(np.exp(others - top[..., None]).sum(axis=-1)) - low
    return found
