"""Certificates for tests: a query from the solver, made a hair longer, and its bound, made a hair smaller."""

from __future__ import annotations

import io
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from headwright.design.certify import designed
from headwright.design.problem import Solution
from headwright.design.program import program
from headwright.design.solver import dual_bound, solve
from headwright.design.statement import Question
from headwright.design.wish import Wish
from headwright.noise.world import World


@dataclass(frozen=True, eq=False)
class Made:
    """A query that grants a wish, and a bound; all in floats."""

    question: Question
    solution: Solution
    bound: float

    def certificate(self, stretch: float = 1e-9, raised: float = -1e-9) -> str:
        bound, s = self.bound * (1 + raised), self.solution
        none_shorter = Fraction(f"{bound:.15g}") if bound > 0 else Fraction(0)
        targets, problem = self.question.wish.targets, program(self.question)
        scales: dict[int, float] = {}
        own: dict[int, float] = {}
        if s.scales is not None and s.own_scales is not None:
            assert problem.scale_low is not None
            assert problem.scale_high is not None
            low, high = problem.scale_low + 1e-9, problem.scale_high - 1e-9  # the ends are found without being named
            scales = {i: c for i, c in enumerate(s.scales[0].tolist()) if low[i] < c < high[i]}
            own = {a: c for a, c in zip(targets, s.own_scales[0].tolist(), strict=True) if low[a] < c < high[a]}
        query = s.query[None] * (1 + stretch)
        return designed(
            self.question, query, s.witness, s.multipliers, none_shorter, scales=scales, own_scales=own
        )  # fmt: skip


def npy(keys: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, keys)
    return file.getvalue()


def question(*keys: np.ndarray, wish: Wish, world: World | None = None, scale: Fraction = Fraction(1)) -> Question:
    return Question(keys, wish, world or World(), scale, Fraction(9, 10))


def make(asked: Question) -> Made | None:
    """A certificate in the making, or None where the solver finds no query."""
    problem = program(asked)
    solution = solve(problem)
    return Made(asked, solution, dual_bound(problem, solution)) if solution.status == "solved" else None
