"""The table [keys] of an exercise: n keys, some of them named; queries, patterns and outputs follow."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from headwright.grading.fields import Label, Ratio, Source, Strict


class NormalLaw(Strict):
    """A normal distribution."""

    mean: Ratio
    variance: Ratio


class KeyScale(Strict):
    """A key is a random multiple of its direction: one of several values, or normal."""

    name: str
    one_of: tuple[Ratio, ...] = ()
    normal: NormalLaw | None = None


class Front(Strict):
    """The first keys, as many as a parameter says, play one part: sums to m, sums over S, 'for all i <= m'."""

    size: str
    set: str = ""  # a name for their indices: S


class Keys(Strict):
    """n keys, some of them named, or the first m of them; queries, patterns and outputs follow."""

    are: Literal["orthonormal", "separated", "any"]
    named: tuple[Label, ...] = ()
    first: Front | None = None  # instead of names
    also: tuple[str, ...] = ()  # letters for the directions of the keys besides k: mu_a
    directions: dict[str, Label] = Field(
        {}
    )  # names for single directions: u = the direction of k_1
    scales: dict[Label, KeyScale] = Field(default_factory=dict)
    noise: Literal["none", "vanishing"] = "none"
    given: tuple[Source, ...] = ()  # conditions under which the goals are asked
    otherwise: tuple[
        Literal["scaled", "signed"], ...
    ] = ()  # numbers that do not sum to 1, or of which one is
    # negative: what an answer says of the weights must hold for none of these
