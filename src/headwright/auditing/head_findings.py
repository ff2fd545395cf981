"""What was found about each head: the results of all measures, and the roles that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

from headwright.auditing.measures.measure import Result
from headwright.auditing.measures.roles import Role, assign_roles
from headwright.auditing.measures.rounding import RoundingEffect
from headwright.auditing.measures.summary import Draws, RepeatedTokens, Summary
from headwright.auditing.measures.table import MEASURES

R = TypeVar("R", bound=Result)


@dataclass(frozen=True, eq=False)
class HeadFindings:
    """All results of one head, by the name of the measure; None where there was nothing to measure it on."""

    layer: int
    head: int
    results: Mapping[str, Result | None]
    roles: tuple[Role, ...]

    @property
    def name(self) -> str:
        """layer.head."""
        return f"{self.layer}.{self.head}"

    def value(self, measure: str) -> float | None:
        """The number that stands for a result; None if there is none, or if it is infinite."""
        result = self.results.get(measure)
        return None if result is None else result.value

    def result(self, measure: str, kind: type[R]) -> R | None:
        """The result of a measure of that kind; None if there is none."""
        result = self.results.get(measure)
        return result if isinstance(result, kind) else None


def conclude_heads(
    totals: Summary,
    layers: Sequence[int],
    heads: Sequence[int],
    draws: Draws,
    repeated: Mapping[str, RepeatedTokens],
) -> tuple[HeadFindings, ...]:
    """The findings of these heads, layer by layer, from the totals of all layers.

    `draws` and `repeated` say what they were measured on.
    """
    findings = []
    for index, layer in enumerate(layers):
        of_layer = totals.layer(index)
        for head in heads:
            results = {
                measure.name: measure.conclude(of_layer, head, draws)
                for measure in MEASURES
            }
            roles = assign_roles(results, repeated)
            findings.append(HeadFindings(layer, head, results, roles))
    return tuple(findings)


@dataclass(frozen=True)
class RoundingOfHeads:
    """What one format of the keys does to all heads: medians over them, and the worst one."""

    tv: float
    bound: float
    flips: float
    worst_tv: float
    worst_head: str


def summarise_rounding(
    heads: Sequence[HeadFindings], measure: str
) -> RoundingOfHeads | None:
    """The summary of a measure of rounding; None where it was not measured."""
    effects = []
    for head in heads:
        effect = head.result(measure, RoundingEffect)
        if effect is not None:
            effects.append((effect, head.name))
    if not effects:
        return None
    worst, worst_head = max(effects, key=lambda item: item[0].value)
    return RoundingOfHeads(
        tv=median(effect.value for effect, _ in effects),
        bound=median(effect.bound for effect, _ in effects),
        flips=median(effect.flips for effect, _ in effects),
        worst_tv=worst.value,
        worst_head=worst_head,
    )
