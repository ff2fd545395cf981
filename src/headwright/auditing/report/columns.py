"""The measures of one audit as columns and maps: with what induction was measured on in titles and units."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from headwright.auditing.head_findings import HeadFindings
from headwright.auditing.measures.measure import Display, Measure
from headwright.auditing.measures.roles import ENOUGH_AWAY
from headwright.auditing.measures.table import BY_NAME, MEASURES
from headwright.auditing.result import AuditResult


@dataclass(frozen=True)
class Column:
    """A measure that is shown, with its title and unit in this audit."""

    measure: Measure
    display: Display
    title: str
    unit: str

    def value(self, head: HeadFindings) -> float | None:
        """The number of a head."""
        return head.value(self.measure.name)

    def text(self, head: HeadFindings, missing: str) -> str:
        """The number as it is shown."""
        value = self.value(head)
        return missing if value is None else self.display.text(value)


@dataclass(frozen=True)
class HeadMap:
    """A column as a map: its values by layer and head, and the value with the full colour."""

    column: Column
    values: list[list[float | None]]
    full_colour: float


def is_shown(audit: AuditResult, measure: Measure) -> bool:
    """Not where it is left out because no head has a result."""
    if not measure.is_left_out_if_missing:
        return True
    return any(head.value(measure.name) is not None for head in audit.heads)


def table_columns(audit: AuditResult) -> list[Column]:
    """The columns of the table of heads, but for those of random tokens that there were none of."""
    columns = []
    for measure in MEASURES:
        there = measure.repeated is None or measure.repeated in audit.induction
        if measure.display is not None and there and is_shown(audit, measure):
            title = f"{measure.title}{measured_on(audit, measure.name)}"
            columns.append(
                Column(measure, measure.display, title, unit(audit, measure))
            )
    return columns


def measured_on(audit: AuditResult, measure: str) -> str:
    """On which random tokens, in brackets, of a measure of such; else nothing."""
    tokens = audit.induction.get(BY_NAME[measure].repeated or "")
    if tokens is None:
        return ""
    return f" (period {tokens.period}, {tokens.context} tokens)"


def unit(audit: AuditResult, measure: Measure) -> str:
    """The unit; where there is a length that belongs to it, this."""
    tokens = audit.induction.get(measure.repeated or "")
    return measure.unit if tokens is None else f"at {tokens.context}"


def head_numbers(audit: AuditResult) -> list[int]:
    """The numbers of the heads that were measured, of any layer."""
    return sorted({head.head for head in audit.heads})


def head_maps(audit: AuditResult) -> Iterator[HeadMap]:
    """The maps of all measures that have one and were measured."""
    heads = {(head.layer, head.head): head for head in audit.heads}
    numbers = head_numbers(audit)
    for column in table_columns(audit):
        values = [
            [_map_value(column, heads[layer, number]) for number in numbers]
            for layer in audit.layers
        ]
        known = [value for line in values for value in line if value is not None]
        if column.display.caption and known:
            yield HeadMap(column, values, _full_colour(column.display, max(known)))


def _full_colour(display: Display, largest: float) -> float:
    """The value with the full colour, where this is the largest there is."""
    if display.full_colour is not None:
        return display.full_colour
    return max(largest, display.least_full_colour) or 1.0


def _map_value(column: Column, head: HeadFindings) -> float | None:
    """A number for a map; none where it would be about the little that a head does away from the first token."""
    sink = head.value("sink")
    if column.measure.blind_to_sinks and sink is not None and 1 - sink < ENOUGH_AWAY:
        return None
    return column.value(head)
