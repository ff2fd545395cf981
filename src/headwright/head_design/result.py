"""What was found: heads from rules, and layers of them, with what was proved of them, as data."""

from __future__ import annotations

import math
from dataclasses import dataclass

from headwright.head_design.head import HeadLayer
from headwright.head_design.rules import Rule, Rules


@dataclass(frozen=True, eq=False)
class DesignedHeads:
    """The fields of a `HeadsResult`. All numbers are proven by the certificate or in exact arithmetic.

    With several heads, frobenius^2 is the sum of their squares, nuclear and head_dim the sum and the largest.
    """

    rules: Rules
    word: str  # "designed", "impossible" or "undecided"
    words: str  # what was proved, or why nothing was
    layer: HeadLayer | None = None  # the weights as deployed; None unless designed
    certificate: str | None = None  # JSON, as the checker accepted it
    minimise: str = "size"
    head_dim: int = 0
    # No smaller head gives the claimed weights; looked for where the dimension matters.
    head_dim_lower_bound: int = 1
    frobenius: float = math.inf  # |W_K^T W_Q|_F, rounded up
    # (|W_Q|_F^2 + |W_K|_F^2) / 2, rounded up: at least the nuclear norm of W_K^T W_Q.
    nuclear: float = math.inf
    # For the norm that is minimised: none smaller gives the claimed weights; 0 if not proven.
    lower_bound: float = 0.0
    # For each claim, how far its output is from what is wanted at most; 0 if no output.
    outputs: tuple[float, ...] = ()
    # For each claim, what each target gets at least.
    patterns: tuple[dict[int, float], ...] = ()
    claims: tuple[Rule, ...] = ()  # the rules, with all floors that are claimed
    assignment: tuple[str, ...] = ()  # who attends to whom, in words

    @property
    def checkers(self) -> tuple[str, ...]:
        """Who verified the certificate: the exact checker, which is the one that whole heads have."""
        return () if self.certificate is None else ("exact",)


@dataclass(frozen=True, eq=False)
class DesignedCircuit:
    """The fields of a `Circuit`."""

    word: str  # "designed", "impossible" (a layer's rules are) or "undecided"
    words: str  # what was proved, or why nothing was
    certificate: str | None = None  # JSON, as the checker accepted it
    layers: tuple[DesignedHeads, ...] = ()
    # Between two layers: how far tokens may be from where the second expects them.
    errors: tuple[float, ...] = ()

    @property
    def checkers(self) -> tuple[str, ...]:
        """Who verified the certificate: the exact checker, which is the one that circuits have."""
        return () if self.certificate is None else ("exact",)
