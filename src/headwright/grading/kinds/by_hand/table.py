"""The table [by_hand]: numbers that are given, and the steps that lead from them to what is asked for."""

from __future__ import annotations

from pydantic import Field

from headwright.grading.fields import Ratio, Source, Strict


class ByHand(Strict):
    """Given arrays and the steps of a computation, in order: names with their formulas."""

    given: dict[str, Source]
    steps: dict[str, Source] = Field(default_factory=dict)
    within: Ratio | None = None  # how far an entry may be off; none: exactly
