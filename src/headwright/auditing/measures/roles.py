"""Roles: words for what a head does, each assigned by one measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headwright.auditing.measures.circuits import OutputShare
from headwright.auditing.measures.measure import Result
from headwright.auditing.measures.summary import Mean, RepeatedTokens
from headwright.auditing.measures.table import BY_NAME

HALF = 0.5  # a role is assigned where its mean is above
# Of the attention of a head, this must be away from the first token for a role that is about what it does there.
ENOUGH_AWAY = 0.1


@dataclass(frozen=True)
class RoleKind:
    """A role, the measure that assigns it, and how it is said of one head and of several."""

    name: str
    measure: str
    meaning: str
    singular: str
    plural: str


ROLES = (
    RoleKind(
        "attention sink",
        "sink",
        "gives the first token more than half of its attention, on average",
        "gives the first token more than half of its attention, on average",
        "give the first token more than half of their attention, on average",
    ),
    RoleKind(
        "previous token",
        "previous_away",
        "attends to the previous token with more than half of its attention away from the first",
        "is a previous-token head",
        "are previous-token heads",
    ),
    RoleKind(
        "induction",
        "induction_away",
        "on repeated random tokens, attends to what followed the same token before with more than half of its "
        "attention away from the first",
        "is an induction head",
        "are induction heads",
    ),
    RoleKind(
        "long induction",
        "induction_long_away",
        "the same on repeated random tokens that fill the longest context",
        "is an induction head over a long context",
        "are induction heads over a long context",
    ),
    RoleKind(
        "duplicate token",
        "duplicate_away",
        "attends to earlier positions of the same token with more than half of its attention away from the first",
        "is a duplicate-token head",
        "are duplicate-token heads",
    ),
    RoleKind(
        "self",
        "self_away",
        "attends to its own token with more than half of its attention away from the first",
        "attends mostly to its own token",
        "attend mostly to their own token",
    ),
    RoleKind(
        "one key",
        "one_key_away",
        "gives one key at least 10/11 in more than half of its attention away from the first",
        "mostly attends to one key",
        "mostly attend to one key",
    ),
    RoleKind(
        "diffuse",
        "diffuse_away",
        "spreads evenly over several keys in more than half of its attention away from the first",
        "is mostly diffuse over several keys",
        "are mostly diffuse over several keys",
    ),
    RoleKind(
        "dead",
        "output_share",
        "writes less than a hundredth of an even share of its layer",
        "is dead (writes next to nothing)",
        "are dead (write next to nothing)",
    ),
)


@dataclass(frozen=True)
class Role:
    """A role of a head; sure if the whole interval lies above one half, None where there is no interval.

    Induction is measured on random tokens that repeat: then `period` says after how many they do, and `context` how
    many tokens a sequence has.
    """

    name: str
    sure: bool | None
    period: int | None = None
    context: int | None = None

    @property
    def label(self) -> str:
        """As it is shown: with what it was measured on, and a question mark if the interval reaches below one half."""
        if self.context is None:
            return self._with_doubt
        return f"{self._with_doubt} (period {self.period}, {self.context} tokens)"

    @property
    def short_label(self) -> str:
        """The same where there is little room: of what it was measured on the length alone."""
        if self.context is None:
            return self._with_doubt
        return f"{self._with_doubt} at {self.context}"

    @property
    def _with_doubt(self) -> str:
        return f"{self.name}?" if self.sure is False else self.name


def assign_roles(
    results: Mapping[str, Result | None], repeated: Mapping[str, RepeatedTokens]
) -> tuple[Role, ...]:
    """The roles of a head with these results; `repeated` says on which tokens induction was measured."""
    sink = results.get("sink")
    little_away = isinstance(sink, Mean) and 1 - sink.value < ENOUGH_AWAY
    roles = []
    for kind in ROLES:
        result = results.get(kind.measure)
        if isinstance(result, OutputShare):
            if result.dead:
                roles.append(Role(kind.name, sure=True))
            continue
        if not isinstance(result, Mean) or not result.value > HALF:
            continue
        if little_away and kind.measure != "sink":
            continue
        sure = None if result.low is None else result.low > HALF
        tokens = repeated.get(BY_NAME[kind.measure].repeated or "")
        if tokens is None:
            roles.append(Role(kind.name, sure))
        else:
            roles.append(Role(kind.name, sure, tokens.period, tokens.context))
    return tuple(roles)
