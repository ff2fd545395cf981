"""What answers earn. Points are for the object (what was asked for) and for the formulas, separately:

object     all of them if every part of what was asked for is proved, else the share of the parts that are
formulas   the share of true ones among those that are true or false; a formula that does not count is left out

A right object earns its points whatever else is said. What is not decided earns nothing by machine: a person decides.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from headwright.grading.assignment import (
    Assignment,
    parse_assignment,
    with_known_ids,
)
from headwright.grading.verdict import Verdict


@dataclass(frozen=True)
class Award:
    """Points for the object or for the formulas; and why not all of them."""

    part: str
    points: float
    most: float
    why: str = ""

    def __str__(self) -> str:
        """For the student."""
        return f"{self.part}: {self.points:.4g} of {self.most:g} points" + (
            f" ({self.why})" if self.why else ""
        )


def awards(
    verdicts: Sequence[Verdict], exercise: str, assignment: Assignment
) -> list[Award]:
    """What the answers to one exercise earn, worth 1 where no points are given: for the object, and for the formulas.

    Of several answers the worst counts, so that guessing does not pay.
    """
    worth = assignment.worth(exercise)
    most = (worth * (1 - assignment.formulas), worth * assignment.formulas)
    found = [
        (_object(verdict, most[0]), _formulas(verdict, most[1])) for verdict in verdicts
    ]
    return [
        min(same, key=lambda award: award.points) for same in zip(*found, strict=True)
    ]


def _object(verdict: Verdict, points: float) -> Award:
    parts = [one.word for one in verdict.asked if not one.optional] or [verdict.word]
    proved = len(parts) if verdict.word == "proved" else parts.count("proved")
    why = (
        f"{proved} of {len(parts)} parts proved" if proved else f"it is {verdict.word}"
    )
    return Award(
        "object",
        points * proved / len(parts),
        points,
        why if proved < len(parts) else "",
    )


def _formulas(verdict: Verdict, points: float) -> Award:
    false, right = len(verdict.false_formulas), verdict.word == "proved"
    true = sum(
        one.status == "true" and (right or one.role != "definition")
        for one in verdict.formulas
    )
    if not true + false:  # nothing but the object, or nothing
        return Award(
            "formulas",
            points if right else 0.0,
            points,
            "" if right else "none was found true",
        )
    why = (
        f"{false} of {true + false} {'is' if false == 1 else 'are'} false"
        if false
        else ""
    )
    return Award("formulas", points * true / (true + false), points, why)


def read_points(text: str, known: Collection[str]) -> dict[str, float]:
    """Points as given on the command line."""
    points = {
        name.strip(): worth or 1
        for name, _, worth in (part.partition("=") for part in text.split(","))
    }
    return with_known_ids(
        parse_assignment({"points": points}, "--points"), known
    ).points
