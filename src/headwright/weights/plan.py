"""A plan for one head: where each ruled token attends, and how little it may leave to others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from headwright.weights.measure import scores_at, weight_above
from headwright.weights.rules import Rule, Rules
from headwright.weights.smallest import Aim, Cap

LOST = 300.0  # what is lost to an uncertain world is counted up to so much: no slack is then 0
KEPT_WHOLE = 64  # up to this dimension tokens are taken as they are; beyond it, in a basis of their span


@dataclass(frozen=True)
class Task:
    """One rule, with the mixture of tokens that its token attends to, and the share that it leaves to all others.

    >>> task = Task(Rule(token=0, attend={1: Fraction(9, 10)}), {1: Fraction(1)}, Fraction(1, 10))
    >>> task.floors
    {1: Fraction(9, 10)}
    """

    rule: Rule
    mixture: dict[int, Fraction]  # they sum to 1; or it is empty, where the rule only limits weights
    left: Fraction  # to others, at most

    @property
    def floors(self) -> dict[int, Fraction]:
        """The least weights that follow; never less than those that the rule itself asks for."""
        asked = self.rule.attend or {}
        floors = {a: w * (1 - self.left) for a, w in self.mixture.items()}
        return {a: max(p, asked.get(a, p)) for a, p in floors.items()}


@dataclass(frozen=True, eq=False)
class Space:
    """The tokens of all sequences, in a basis of what matters.

    >>> Space.of(Rules((np.eye(3),), (Rule(0, attend={1: Fraction(1, 2)}),))).basis.shape
    (3, 3)
    """

    rules: Rules
    basis: Float[np.ndarray, "D k"]  # orthonormal columns
    tokens: tuple[Float[np.ndarray, "T k"], ...]

    @property
    def asking(self) -> Float[np.ndarray, "D k"]:
        """The basis of what queries are made of: one more where heads have biases, for the 1 after each token."""
        D, k = self.basis.shape
        if not self.rules.biases:
            return self.basis
        return np.block([[self.basis, np.zeros((D, 1))], [np.zeros((1, k)), np.ones((1, 1))]])

    @classmethod
    def of(cls, rules: Rules) -> Space:
        """Only directions inside the span of the tokens matter."""
        X = np.vstack(rules.sequences)
        if rules.dimension <= KEPT_WHOLE:
            return cls(rules, np.eye(rules.dimension), rules.sequences)
        _, sizes, rows = np.linalg.svd(X, full_matrices=False)
        basis = np.ascontiguousarray(rows[: max(1, int((sizes > 1e-14 * sizes[0]).sum()))].T)
        return cls(rules, basis, tuple(X @ basis for X in rules.sequences))

    def aims(
        self,
        tasks: tuple[Task, ...],
        room: float,
        spent: list[Float[np.ndarray, " T"]] | None = None,
        near: Float[np.ndarray, "D D"] | None = None,
    ) -> list[Aim]:
        """What a matrix of scores has to do; `room` asks for a little more, `spent` is lost to an uncertain world.

        The part of the slack that is given away is at most a part of what the floors leave: so that they still fit.
        Largest weights count only beside a matrix `near` which they are linearised.
        """
        found = []
        for number, task in enumerate(tasks):
            floors = task.floors
            over = 1 - sum(floors.values())
            slacks = []
            for a, p in floors.items():
                slack = (1 - p) / p
                less = float(slack) - room * float(min(slack, over or slack))
                loss = 0.0 if spent is None else float(spent[number][a])
                slacks.append(max(less, 1e-150) * float(np.exp(-min(loss, LOST))))
            X, seen = self.tokens[task.rule.sequence], self.rules.seen(task.rule)
            # 1/(1 + slack - r) is about p + p^2 r, so that the room is taken from what is left
            left = float(over) * (1 - room * float(sum(p * p for p in floors.values()))) if spent is None else None
            caps = () if near is None else tuple(self._caps(task.rule, room, near))
            targets = tuple(seen.index(a) for a in floors)
            x, added = self.rules.asking(X[task.rule.token]), self.rules.added(task.rule)
            found.append(Aim(X[list(seen)], x, targets, np.array(slacks), left, caps, added))
        return found

    def _caps(self, rule: Rule, room: float, M: Float[np.ndarray, "D D"]) -> Iterator[Cap]:
        """Largest weights as linear constraints, which are enough, and exact at M.

        alpha_t <= q is ln sum_{l != t} exp(s_l - s_t) >= ln(1/q - 1), and the left side is at least
        sum_l pi_l (s_l - s_t) + H(pi) for any distribution pi over the others, with equality for their pattern.
        """
        scores = scores_at(self.rules, rule, M)
        for token, most in (rule.at_most or {}).items():
            at, q = self.rules.seen(rule).index(token), float(most) * (1 - room)
            others = np.delete(scores, at)
            e = np.exp(others - others.max())
            pi = e / e.sum()
            entropy = -float(pi @ np.log(np.maximum(pi, 1e-300)))
            now, worst = 1 / (1 + float(np.exp(np.clip(others - scores[at], -700, 700)).sum())), 0.0
            if not self.rules.certain:
                above = weight_above(self.rules, rule, M, token)
                worst = float(np.log((1 / now - 1) / max(1 / above - 1, 1e-300))) if now < 1 else 0.0
            yield -np.insert(pi, at, -1.0), entropy - float(np.log(1 / q - 1)) - min(worst, LOST)

    def lifted(self, N: Float[np.ndarray, "k l"]) -> Float[np.ndarray, "D m"]:
        """A matrix of scores, back among the tokens as they were given."""
        M: Float[np.ndarray, "D m"] = self.basis @ N @ self.asking.T
        return M

    def inside(self, M: Float[np.ndarray, "D m"]) -> Float[np.ndarray, "k l"]:
        """The other way round."""
        N: Float[np.ndarray, "k l"] = self.basis.T @ M @ self.asking
        return N
