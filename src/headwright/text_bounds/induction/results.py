"""What is known of a group, and the statement of what is proved."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from headwright.models.model import Model
from headwright.text_bounds.induction.groups import InductionGoal, TextGroup
from headwright.text_bounds.induction.statement import (
    InductionClaim,
    InductionStatement,
)
from headwright.text_bounds.induction.weights import weights_digest, weights_of

GroupVerdict = Literal["proved", "false", "open"]


@dataclass(frozen=True)
class GroupResult:
    """What is known of a group: proved with a bound, or false with a text, or open; and the worst text found."""

    a: int
    b: int
    c: int | None
    j: int
    # Of the second layer, whose weight on j it is about; None: the margin of b.
    head: int | None
    least: str | None  # proved: it is not less
    cuts: Any
    text: tuple[int, ...]
    run: float  # the model's own, on that text, in float64

    @property
    def verdict(self) -> GroupVerdict:
        """Proved, false or open."""
        if self.least is not None:
            return "proved"
        if self.run <= InductionGoal(self.head).target:
            return "false"
        return "open"

    @property
    def group(self) -> TextGroup:
        """Of texts."""
        return TextGroup(self.a, self.b, self.j, self.c)

    def __str__(self) -> str:
        """What was run, for messages."""
        return describe_run(self.b, self.head, self.text)


def describe_run(b: int, head: int | None, text: Iterable[int]) -> str:
    """The quantity that a run has, for messages."""
    margin = f"the margin of token {b}"
    weight = f"the weight that head 1.{head} gives to token {b}"
    return f"{margin if head is None else weight} on {list(text)}, run in float64"


def opening_of(model: Model) -> int | None:
    """The token that every text begins with, if there is one."""
    opening = model.bos_tokens()
    return int(opening[0]) if len(opening) else None


def statement_of(
    model: Model, length: int, results: Iterable[GroupResult]
) -> InductionStatement | None:
    """What is proved, as a statement; None if nothing is."""
    claims = []
    for result in results:
        if result.least is not None:
            claims.append(
                InductionClaim(
                    result.a,
                    result.b,
                    result.c,
                    result.j,
                    result.head,
                    result.least,
                    result.cuts,
                )
            )
    if not claims:
        return None
    weights = weights_of(model)
    return InductionStatement(
        model.name,
        weights_digest(weights),
        length,
        len(weights["embed"]),
        opening_of(model),
        tuple(claims),
    )
