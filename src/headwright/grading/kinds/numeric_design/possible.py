"""What queries there are: the shortest that meets the goals, or that there is none. Both are certificates, checked.

A goal alpha_i >= p is a target, |q| <= l a limit of the length. Other goals are about outputs; nothing is said then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from headwright.formulas import tree as t
from headwright.grading import answer as an
from headwright.grading.exact_arrays import ExactArray


@dataclass(frozen=True)
class WeightTargets:
    """Lower bounds on weights, by the number of the key from 0; and the longest query that is allowed."""

    least: dict[int, Fraction]
    longest: Fraction | None = None


def targets_in(
    goals: Sequence[t.Node], weights: str, query: str
) -> WeightTargets | None:
    """The goals as targets; None where one of them is about something else."""
    least: dict[int, Fraction] = {}
    longest: Fraction | None = None
    for goal in goals:
        match goal:
            case t.Relation((t.Name(base, t.Number(place), 0), bound), (">=",)) if (
                base == weights
            ):
                number = t.number_of(bound)
                if number is None:
                    return None
                least[int(place) - 1] = number
            case t.Relation((t.Norm(t.Name() as name), bound), ("<=",)) if (
                an.full_name(name) == query
            ):
                longest = t.number_of(bound)
            case _:
                return None
    return WeightTargets(least, longest) if least else None


@dataclass(frozen=True)
class Possible:
    """Whether some query meets the targets, where that is proved; and what is known of the shortest one."""

    is_possible: bool | None
    words: str = ""


def what_is_possible(keys: ExactArray, targets: WeightTargets) -> Possible:
    """What query_design proves: its certificates are accepted by the checkers, or nothing is said."""
    import numpy as np

    from headwright.query_design import Targets, design

    rows = [[entry.rational for entry in row] for row in keys.rows]
    for row in rows:
        for entry in row:
            if entry is None or entry != Fraction(float(entry)):
                return Possible(None)  # the designer would see other keys
    numbers = np.array([[float(entry or 0) for entry in row] for row in rows])
    found = design(numbers, Targets(targets.least))
    if found.word == "impossible":
        return Possible(False, "no query does, however long it is (proved)")
    if found.word != "designed":
        return Possible(None)
    below, above = found.norm_lower_bound, found.norm
    if targets.longest is None:
        return Possible(True, f"a query of length {above:.4g} does (proved)")
    longest = float(targets.longest)
    if below > longest:
        words = (
            f"no query of length {longest:g} does: every one that does is longer than "
            f"{below:.4g}, and one of length {above:.4g} does (proved)"
        )
        return Possible(False, words)
    if above <= longest:
        words = f"the shortest query that does has length {above:.4g} (proved)"
        return Possible(True, words)
    return Possible(None)
