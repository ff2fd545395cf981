"""Estimate the fraction of a search that is done, from its work so far and the usual work of such searches."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from headwright.queries.solving.constraints import Program
from headwright.queries.solving.key_sample import count, enough_keys

PASSES, STEPS = 5, 22  # over many keys, and on few rows that stand for them
FEW_STEPS = 11  # on keys that are few
UNCERTAIN_PASSES, UNCERTAIN_STEPS, UNCERTAIN_FEW_STEPS = 6, 50, 26  # the same where keys are uncertain
UNCERTAIN = 3  # what a number costs then
STEP = 5e5  # what a step costs however few numbers there are: as much as reading so many
EVEN = 0.7  # up to here progress is even; then it slows down, since the rest is unknown


def pass_work(program: Program) -> float:
    """Of one look at all keys, in numbers read."""
    numbers = sum(scenario.keys.size for scenario in program.scenarios)
    return float(numbers) if program.certain else UNCERTAIN * float(numbers)


def step_work(program: Program) -> float:
    """Of one step, with a curvature."""
    d = int(program.scenarios[0].keys.shape[1])
    return pass_work(program) * (1.5 + d / 48) + STEP


@dataclass
class Progress:
    """Tells a number that grows from 0 to 1."""

    tell: Callable[[float], None] | None
    expected: float
    done: float = 0.0

    @classmethod
    def of(cls, program: Program, tell: Callable[[float], None] | None) -> Progress:
        """For a search on a program."""
        n, d = program.scenarios[0].keys.shape
        if not enough_keys(program):
            return cls(tell, step_work(program) * (FEW_STEPS if program.certain else UNCERTAIN_FEW_STEPS))
        steps = STEPS if program.certain else UNCERTAIN_STEPS
        passes = PASSES if program.certain else UNCERTAIN_PASSES
        few = step_work(program) * 2 * count(d) / n + STEP
        return cls(tell, passes * pass_work(program) + steps * few)

    def __call__(self, work: float) -> None:
        """So much more is done."""
        self.done += work
        share = self.done / self.expected
        if self.tell is not None:
            self.tell(share if share <= EVEN else 1 - (1 - EVEN) * math.exp((EVEN - share) / (1 - EVEN)))

    def end(self) -> None:
        """All of it."""
        if self.tell is not None:
            self.tell(1.0)
