"""The table [numeric_design]: keys and values that are numbers, and what an answer chooses."""

from __future__ import annotations

from pydantic import Field

from headwright.grading.fields import Ratio, Source, Strict


class NumericDesign(Strict):
    """Arrays of numbers, what is computed from them and from the answer, and how near it must come."""

    given: dict[str, Source]
    steps: dict[str, Source] = Field(default_factory=dict)
    keys: str = ""  # the name of the keys, where queries are designed for weights
    within: Ratio | None = None  # how far an entry may be from what a goal says
