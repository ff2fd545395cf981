"""A plan for one head: where each ruled token attends, and how little it may leave to others."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from headwright.weights.rules import Rule, Rules
from headwright.weights.smallest import Aim

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
    mixture: dict[int, Fraction]  # they sum to 1
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
        self, tasks: tuple[Task, ...], room: float, spent: list[Float[np.ndarray, " n"]] | None = None
    ) -> list[Aim]:
        """What a matrix of scores has to do; `room` asks for a little more, `spent` is lost to an uncertain world.

        The part of the slack that is given away is at most a part of what the floors leave: so that they still fit.
        """
        found = []
        for number, task in enumerate(tasks):
            floors = task.floors
            over = 1 - sum(floors.values())
            slacks = []
            for a, p in floors.items():
                slack = (1 - p) / p
                less = float(slack) - room * float(min(slack, over or slack))
                loss = 0.0 if spent is None else float(spent[number][a] + spent[number].max())
                slacks.append(max(less, 1e-150) * float(np.exp(-min(loss, LOST))))
            X = self.tokens[task.rule.sequence]
            keys = X[: self.rules.visible(task.rule)]
            # 1/(1 + slack - r) is about p + p^2 r, so that the room is taken from what is left
            left = float(over) * (1 - room * float(sum(p * p for p in floors.values()))) if spent is None else None
            found.append(Aim(keys, X[task.rule.token], tuple(floors), np.array(slacks), left))
        return found

    def lifted(self, N: Float[np.ndarray, "k k"]) -> Float[np.ndarray, "D D"]:
        """A matrix of scores, back among the tokens as they were given."""
        M: Float[np.ndarray, "D D"] = self.basis @ N @ self.basis.T
        return M
