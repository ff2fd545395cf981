"""A plan for one head: where each ruled token attends, how much it may leave to others, and what weights then do.

The scores and weights are those of the checker's formulas, in floating point and without proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from headwright.certificates.exact.heads.run import PIECES
from headwright.head_design.rules import Rule, Rules
from headwright.head_design.smallest_matrix import PatternGoal, ScoreCap

# For each piece of the scale's range: at both ends, all scores at lowest and highest
Ends = Float[np.ndarray, "pieces 2 2 n"]
LOST = 300.0  # what is lost to uncertainty is counted up to so much: no slack is then 0
KEPT_WHOLE = 64  # up to this dimension tokens are taken as they are; beyond it, in a basis of their span


def _scores_at(
    rules: Rules, rule: Rule, M: Float[np.ndarray, "D k"]
) -> Float[np.ndarray, " n"]:
    """The scores of what is seen, with tokens at their places."""
    x = rules.asking(rules.sequences[rule.sequence][rule.token])
    scores: Float[np.ndarray, " n"] = rules.tokens(rule) @ (M @ x) + rules.added(rule)
    return scores


def _pieces(rules: Rules, rule: Rule, M: Float[np.ndarray, "D k"]) -> Ends:
    """As run.py of the checker has them: for each piece of the range of lengths, the scores of what is seen."""
    low, high = map(float, rules.scale)
    if rules.ball or low == high:
        nominal = _scores_at(rules, rule, M)
        offsets = _offsets(rules, rule, M)
        return np.array([[[nominal - offsets, nominal + offsets]]])

    # scores x_j^T M x_i of tokens at their places, and what b_Q and the biases of places add
    X = rules.tokens(rule)
    D = rules.dimension
    x = rules.sequences[rule.sequence][rule.token]
    scores = X @ (M[:, :D] @ x)
    of_b_Q = X @ M[:, D] if rules.biases else np.zeros(len(X))
    bias = rules.added(rule)

    itself = np.array(rules.seen(rule)) == rule.token
    own = float(scores[itself].sum())
    parts = PIECES if _bends_the_wrong_way(rule, own) else 1
    width = (high - low) / parts
    left = low + width * np.arange(parts)[:, None, None]
    middle = left + width / 2  # (pieces, 1, 1)
    c = np.concatenate([left, left + width], axis=1)  # (pieces, 2, 1): c_i at both ends
    # the token's own score is c^2 s + c t, or with the tangent of c^2 in the middle of the piece
    tangent = 2 * middle * c - middle**2
    own_by_tangent = scores * tangent + c * of_b_Q
    own_score = scores * c * c + c * of_b_Q
    # the score of another token is linear in its own scale
    by_scale = c * scores + of_b_Q
    first = np.where(itself, own_by_tangent, low * by_scale) + bias
    second = np.where(itself, own_score, high * by_scale) + bias
    return np.stack([np.minimum(first, second), np.maximum(first, second)], axis=2)


def _bends_the_wrong_way(rule: Rule, own: float) -> bool:
    """Whether the token's own score, a square of its scale, is convex where it should be concave, or the other way."""
    if rule.at_most or (own and rule.output is not None):
        return True
    for target in rule.attend or ():
        if (target == rule.token and own > 0) or (target != rule.token and own < 0):
            return True
    return False


def _offsets(
    rules: Rules, rule: Rule, M: Float[np.ndarray, "D k"]
) -> Float[np.ndarray, " n"]:
    """How far each score may be from its place: key and query move within their radii, apart and together."""
    X = rules.tokens(rule)
    if not rules.ball:
        return np.zeros(len(X))
    D = rules.dimension
    x = rules.sequences[rule.sequence][rule.token]
    ball = float(rules.ball)
    stretch = float(max(1 - rules.scale[0], rules.scale[1] - 1))
    radii = ball + stretch * np.linalg.norm(X, axis=1)
    own_radius = ball + stretch * float(np.linalg.norm(x))
    query_length = np.linalg.norm(M @ rules.asking(x))
    key_lengths = np.linalg.norm((X - X.mean(axis=0)) @ M[:, :D], axis=1)
    size = np.linalg.norm(M[:, :D])
    offsets: Float[np.ndarray, " n"] = (
        radii * query_length + own_radius * key_lengths + own_radius * radii * size
    )
    return offsets


def spent(
    rules: Rules, rule: Rule, M: Float[np.ndarray, "D k"]
) -> Float[np.ndarray, " T"]:
    """By how much the uncertainty raises the logarithm of what competes with each token; 0 for those not seen."""
    raised = np.zeros(len(rules.sequences[rule.sequence]))
    seen = list(rules.seen(rule))
    if rules.certain or len(seen) == 1:
        return raised
    scores = _scores_at(rules, rule, M)
    ends = _pieces(rules, rule, M)
    worst = _rivals(ends[:, :, 0], ends[:, :, 1]).max(axis=(0, 1))
    raised[seen] = np.maximum(0.0, worst - _rivals(scores, scores))
    return raised


def pattern_below(
    rules: Rules, rule: Rule, M: Float[np.ndarray, "D k"]
) -> Float[np.ndarray, " T"]:
    """The least weight that each token can get; 0 for those that are not seen."""
    ends = _pieces(rules, rule, M)
    top = ends[:, :, 1].max(axis=-1, keepdims=True)
    low = np.exp(np.clip(ends[:, :, 0] - top, -700.0, 0.0))
    high = np.exp(np.clip(ends[:, :, 1] - top, -700.0, 0.0))
    # the token itself at its lowest, all others at their highest
    weights = low / (high.sum(axis=-1, keepdims=True) - high + low)
    below = np.zeros(len(rules.sequences[rule.sequence]))
    below[list(rules.seen(rule))] = weights.min(axis=(0, 1))
    return below


def weight_above(
    rules: Rules, rule: Rule, M: Float[np.ndarray, "D k"], token: int
) -> float:
    """The largest weight that a token can get."""
    at = rules.seen(rule).index(token)
    ends = _pieces(rules, rule, M)
    differences = ends[:, :, 0] - ends[:, :, 1, at, None]
    # on a piece the lower of both ends
    others = np.exp(np.clip(differences, -700.0, 700.0)).min(axis=1)
    rivals = np.delete(others, at, axis=-1).sum(axis=-1)
    return float((1 / (1 + rivals)).max())


def value_error(rules: Rules, rule: Rule, W_V: Float[np.ndarray, "m k"]) -> float:
    """How far values can be from those of tokens at their places."""
    stretch = float(max(1 - rules.scale[0], rules.scale[1] - 1))
    W = W_V[:, : rules.dimension]
    values = np.linalg.norm(rules.tokens(rule) @ W.T, axis=1)
    return stretch * float(values.max()) + float(rules.ball) * float(np.linalg.norm(W))


def error(
    rules: Rules, rule: Rule, M: Float[np.ndarray, "D k"], W_V: Float[np.ndarray, "m k"]
) -> float:
    """How far the output can be from what the rule wants; 0 where it wants none."""
    if rule.output is None:
        return 0.0
    below = pattern_below(rules, rule, M)[list(rules.seen(rule))]
    wanted = np.array([float(x) for x in rule.output])
    u = rules.asking(rules.tokens(rule)) @ W_V.T - wanted
    rest = 0.0
    if not rules.certain:
        # what the least weights leave open is at the value that is furthest off
        open_weight = max(0.0, 1 - float(below.sum()))
        rest = open_weight * float(np.linalg.norm(u, axis=1).max())
    return float(np.linalg.norm(below @ u)) + rest + value_error(rules, rule, W_V)


def _slacks(
    floors: dict[int, Fraction], room: float, loss: Float[np.ndarray, " T"] | None
) -> Float[np.ndarray, " m"]:
    """1/p - 1 of each floor p, less the room, and less what is lost to uncertainty."""
    over = 1 - sum(floors.values())
    slacks = []
    for a, p in floors.items():
        slack = (1 - p) / p
        # the room is a part of what the floors leave, so that they still fit
        shared = min(slack, over) if over else slack
        less_room = float(slack) - room * float(shared)
        lost = 0.0 if loss is None else float(loss[a])
        slacks.append(max(less_room, 1e-150) * float(np.exp(-min(lost, LOST))))
    return np.array(slacks)


def _left_to_others(floors: dict[int, Fraction], room: float) -> float:
    """What the floors leave, less the room: 1/(1 + slack - r) is about p + p^2 r."""
    over = 1 - sum(floors.values())
    return float(over) * (1 - room * float(sum(p * p for p in floors.values())))


def _rivals(
    low: Float[np.ndarray, "*ends n"], high: Float[np.ndarray, "*ends n"]
) -> Float[np.ndarray, "*ends n"]:
    """For each token ln sum over the others of exp(high_l - low_j)."""
    # others[..., j, l] = high_l, and nothing for l = j
    is_itself = np.eye(high.shape[-1], dtype=bool)
    others = np.where(is_itself, -np.inf, high[..., None, :])
    top = others.max(axis=-1)
    powers = np.exp(others - top[..., None])
    log_odds: Float[np.ndarray, "*ends n"] = top + np.log(powers.sum(axis=-1)) - low
    return log_odds


@dataclass(frozen=True)
class AttentionPlan:
    """One rule, with the mixture of tokens that its token attends to, and the share that it leaves to all others."""

    rule: Rule
    # they sum to 1; or it is empty, where the rule only limits weights
    mixture: dict[int, Fraction]
    left: Fraction  # to others, at most

    @property
    def floors(self) -> dict[int, Fraction]:
        """The least weights that follow; never less than those that the rule itself asks for."""
        asked = self.rule.attend or {}
        floors = {a: w * (1 - self.left) for a, w in self.mixture.items()}
        return {a: max(p, asked.get(a, p)) for a, p in floors.items()}


@dataclass(frozen=True, eq=False)
class TokenSpace:
    """The tokens of all sequences, in a basis of what matters."""

    rules: Rules
    basis: Float[np.ndarray, "D k"]  # orthonormal columns
    tokens: tuple[Float[np.ndarray, "T k"], ...]

    @property
    def asking(self) -> Float[np.ndarray, "D k"]:
        """The basis of what queries are made of: one more where heads have biases, for the 1 after each token."""
        D, k = self.basis.shape
        if not self.rules.biases:
            return self.basis
        return np.block(
            [[self.basis, np.zeros((D, 1))], [np.zeros((1, k)), np.ones((1, 1))]]
        )

    @classmethod
    def of(cls, rules: Rules) -> TokenSpace:
        """Only directions inside the span of the tokens matter."""
        X = np.vstack(rules.sequences)
        if rules.dimension <= KEPT_WHOLE:
            return cls(rules, np.eye(rules.dimension), rules.sequences)
        _, sizes, rows = np.linalg.svd(X, full_matrices=False)
        rank = max(1, int((sizes > 1e-14 * sizes[0]).sum()))
        basis = np.ascontiguousarray(rows[:rank].T)
        return cls(rules, basis, tuple(X @ basis for X in rules.sequences))

    def goals(
        self,
        plans: tuple[AttentionPlan, ...],
        room: float,
        spent: list[Float[np.ndarray, " T"]] | None = None,
        near: Float[np.ndarray, "D D"] | None = None,
    ) -> list[PatternGoal]:
        """What a matrix of scores has to do; `room` asks for a little more, `spent` is lost to uncertainty.

        The part of the slack that is given away is at most a part of what the floors leave: so that they still fit.
        Largest weights count only beside a matrix `near` which they are linearised.
        """
        goals = []
        for number, plan in enumerate(plans):
            rule = plan.rule
            loss = None if spent is None else spent[number]
            X = self.tokens[rule.sequence]
            seen = self.rules.seen(rule)
            goals.append(
                PatternGoal(
                    keys=X[list(seen)],
                    query=self.rules.asking(X[rule.token]),
                    targets=tuple(seen.index(a) for a in plan.floors),
                    slacks=_slacks(plan.floors, room, loss),
                    left=_left_to_others(plan.floors, room) if loss is None else None,
                    caps=() if near is None else tuple(self._caps(rule, room, near)),
                    added=self.rules.added(rule),
                )
            )
        return goals

    def _caps(
        self, rule: Rule, room: float, M: Float[np.ndarray, "D D"]
    ) -> Iterator[ScoreCap]:
        """Largest weights as linear constraints, which are enough, and exact at M.

        alpha_t <= q is ln sum_{l != t} exp(s_l - s_t) >= ln(1/q - 1), and the left side is at least
        sum_l pi_l (s_l - s_t) + H(pi) for any distribution pi over the others, with equality for their pattern.
        """
        scores = _scores_at(self.rules, rule, M)
        for token, most in (rule.at_most or {}).items():
            at = self.rules.seen(rule).index(token)
            q = float(most) * (1 - room)
            others = np.delete(scores, at)
            e = np.exp(others - others.max())
            pi = e / e.sum()
            entropy = -float(pi @ np.log(np.maximum(pi, 1e-300)))

            # by how much the uncertainty raises the log-odds of the weight at M
            rivals = np.exp(np.clip(others - scores[at], -700, 700)).sum()
            weight = 1 / (1 + float(rivals))
            raised = 0.0
            if not self.rules.certain and weight < 1:
                above = weight_above(self.rules, rule, M, token)
                raised = float(np.log((1 / weight - 1) / max(1 / above - 1, 1e-300)))
            bound = entropy - float(np.log(1 / q - 1)) - min(raised, LOST)
            yield -np.insert(pi, at, -1.0), bound

    def lifted(self, N: Float[np.ndarray, "k l"]) -> Float[np.ndarray, "D m"]:
        """A matrix of scores, back among the tokens as they were given."""
        M: Float[np.ndarray, "D m"] = self.basis @ N @ self.asking.T
        return M

    def inside(self, M: Float[np.ndarray, "D m"]) -> Float[np.ndarray, "k l"]:
        """The other way round."""
        N: Float[np.ndarray, "k l"] = self.basis.T @ M @ self.asking
        return N
