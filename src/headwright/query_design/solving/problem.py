"""The convex program of a target in an uncertainty, and the result of a solver.

    minimise |q|   subject to   sum_{i != a} exp(up_i - low_a) <= slack_a     for each scenario, each target a

With m_i = s <mu_i, q>, up_i is the largest score key i can have in the uncertainty, low_i the smallest:

    up_i  = max(low_i m_i, high_i m_i) + h_i        h_i = |s| sqrt(r_i^2 |q|^2 + t_i^2 <mu_i, q>^2 + |E_i^T q|^2)
    low_i = min(low_i m_i, high_i m_i) - h_i

where r_i is the radius of a ball, t_i a stretch along the key, E_i a factor of an ellipsoid. Both are m_i if the
key is certain. With `pairs`, the h_i of the keys that are random are deviations of independent scores, and those of a
pair join: up_i - low_a has sqrt(h_i^2 + h_a^2) in place of h_i + h_a (with h = 0 for a key that is not random). The
slack is 1/p - 1 for the floor p of the targets: given apart, because 1/p - 1 cannot be had from
a floor near 1. For the same reason the spare (1 - sum of all floors) / p is given apart: it is the slack less what
the other targets need, and a slack near 1 does not hold one of 1e-12.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from headwright.optimisation.convex_program import Status

Factor = tuple[Int[np.ndarray, " some"], Float[np.ndarray, "d width"]]


@dataclass(frozen=True, eq=False)
class QueryProblem:
    """A target in an uncertainty, as arrays; queries.program makes it of a question that was checked."""

    keys: tuple[Float[np.ndarray, "n d"], ...]  # one matrix for each scenario
    targets: Int[np.ndarray, " m"]
    floors: Float[np.ndarray, " m"]
    slacks: Float[np.ndarray, " m"]
    scale: float = 1.0
    scale_low: Float[np.ndarray, " n"] | None = (
        None  # k_i = c mu_i with c between low and high
    )
    scale_high: Float[np.ndarray, " n"] | None = None
    ball: Float[np.ndarray, " n"] | None = None
    stretch: Float[np.ndarray, " n"] | None = None
    # Keys that share a factor E; a key has at most one.
    factors: tuple[Factor, ...] = ()
    random: Bool[np.ndarray, " n"] | None = (
        None  # whose ball, stretch and factor are deviations, not sets
    )
    pairs: bool = (
        False  # the deviations of random keys are independent, and join in pairs
    )
    spare: Float[np.ndarray, " m"] | None = (
        None  # (1 - sum of the floors) / floor: what the slack leaves to others
    )

    @property
    def shape(self) -> tuple[int, int]:
        """The number of keys, and of numbers in a key."""
        n, d = self.keys[0].shape
        return n, d

    @property
    def certain(self) -> bool:
        """Every key is where it is given, in each scenario."""
        return (
            self.scale_low is None
            and self.ball is None
            and self.stretch is None
            and not self.factors
        )

    def tightened(self, part: float) -> QueryProblem:
        """A little more is asked for: a part of what the targets leave to others."""
        spare = self.slacks if self.spare is None else self.spare
        if self.spare is None and len(self.targets) > 1:
            spare = np.minimum(
                self.slacks, max(0.0, 1 - float(self.floors.sum())) or 1.0
            )
        slacks = np.minimum(
            self.slacks - part * spare, self.slacks * (1 - 4e-16 * (part > 0))
        )
        return replace(
            self,
            slacks=slacks,
            spare=None if self.spare is None else self.spare * (1 - part),
        )


@dataclass(frozen=True, eq=False)
class QuerySolution:
    """What the solver found. Nothing here is proven.

    The bound of `dual_bound` is tight at `witness`, with these multipliers, scales and smoothing; for certain keys
    the witness is the query itself, there are no scales and the smoothing is 0.
    """

    # The shortest query; the best one if the status is not 'solved'.
    query: Float[np.ndarray, " d"]
    multipliers: Float[np.ndarray, "scenarios m"]  # they sum to 1
    status: Status
    iterations: int
    witness: Float[np.ndarray, " d"]
    # Its largest violation is the smallest that was found.
    best: Float[np.ndarray, " d"]
    scales: tuple[Float[np.ndarray, " n"], ...] | None = (
        None  # of each key as a distractor, by scenario
    )
    own_scales: Float[np.ndarray, "scenarios m"] | None = (
        None  # of each target in its own constraint
    )
    smoothing: float = 0.0
