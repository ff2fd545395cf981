"""An audit as data: every number that the page shows, and more, for scripts. Text, numbers and null only."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from functools import singledispatch
from typing import Any

from headwright.auditing.documents import Document, digest_of
from headwright.auditing.explain import HeadExample
from headwright.auditing.head_findings import HeadFindings
from headwright.auditing.measures.circuits import OutputShare, Spectrum
from headwright.auditing.measures.composition import LargestComposition
from headwright.auditing.measures.key_ranges import LargestSize
from headwright.auditing.measures.measure import Measure, Result
from headwright.auditing.measures.roles import ROLES, Role
from headwright.auditing.measures.rounding import RoundingEffect
from headwright.auditing.measures.shuffling import ShuffleEffect
from headwright.auditing.measures.summary import Mean, Quantiles
from headwright.auditing.measures.table import DEFINITIONS, MEASURES
from headwright.auditing.report.columns import is_shown
from headwright.auditing.report.sentences import describe_intervals, sentences
from headwright.auditing.result import AuditResult
from headwright.files import encode_table

SHOWN_SINGULAR_VALUES = (1, 2, 4, 8, 16, 32, 64, 128, 256)

TableRow = dict[str, float | int | str | None]


def audit_to_dict(audit: AuditResult) -> dict[str, Any]:
    """All of it, with what each name means."""
    bounds = audit.every_text
    return {
        "summary": sentences(audit),
        "model": {
            "name": audit.model,
            "title": audit.title,
            "weights_sha256": audit.digest,
            "layers": audit.shape[0],
            "heads": audit.shape[1],
        },
        "measured_on": {
            "text": audit.text,
            "text_sha256": audit.text_digest,
            "tokens_sha256": digest_of(audit.documents),
            "documents": [_document(document) for document in audit.documents],
            "rows": audit.rows,
            "context": audit.context,
            "intervals": describe_intervals(audit),
            "induction": {
                name: asdict(tokens) for name, tokens in audit.induction.items()
            },
        },
        "measures": [_measure(audit, measure) for measure in MEASURES],
        "roles": [{"name": kind.name, "meaning": kind.meaning} for kind in ROLES],
        "definitions": DEFINITIONS,
        "heads": [_head(audit, head) for head in audit.heads],
        "order": {"tokens": audit.order.tokens, "shuffles": audit.order.shuffles},
        "not_measured": audit.not_measured,
        "circuits_leave_out": list(audit.circuits_leave_out),
        "examples": [_example(example) for example in audit.examples],
        "every_text": [asdict(weight) for weight in bounds.weights],
        "every_text_pairs": [asdict(pair) for pair in bounds.pairs],
        "every_text_safe": [asdict(pair) for pair in bounds.safe],
        "every_text_left_out": list(bounds.left_out),
        "no_every_text": bounds.missing or None,
        "reproduce": {
            "command": audit.command,
            "seed": audit.seed,
            "date": audit.date,
            "versions": audit.versions,
        },
    }


def head_table(audit: AuditResult) -> list[TableRow]:
    """A line for each head, each number under a name of its own: for a spreadsheet or a data frame."""
    repeated: TableRow = {}
    for name, tokens in audit.induction.items():
        repeated[f"{name}_period"] = tokens.period
        repeated[f"{name}_context"] = tokens.context
        repeated[f"{name}_sequences"] = tokens.sequences
    lines = []
    for head in audit.heads:
        line: TableRow = {
            "layer": head.layer,
            "head": head.head,
            "roles": "; ".join(role.label for role in head.roles),
        }
        for measure in MEASURES:
            line |= _table_cells(measure, head.results.get(measure.name))
        line |= repeated
        line["context"] = audit.context
        line["rows"] = audit.rows
        line["documents"] = len(audit.measured_documents)
        lines.append(line)
    return lines


def _table_cells(measure: Measure, result: Result | None) -> TableRow:
    """The number of a measure; with a mean its interval, and quantiles as their median."""
    name = measure.name
    if isinstance(result, Mean):
        return {
            name: result.value,
            f"{name}_low": result.low,
            f"{name}_high": result.high,
        }
    if isinstance(result, Quantiles):
        return {f"{name}_median": result.median}
    if result is not None:
        return {name: result.value}
    # Nothing was measured: the same columns, empty.
    suffixes = {"mean": ("", "_low", "_high"), "quantiles": ("_median",)}
    return dict.fromkeys(name + suffix for suffix in suffixes.get(measure.kind, ("",)))


def encode_audit(audit: AuditResult, suffix: str) -> bytes:
    """The content of a file: .json has everything, .csv and .parquet have the table of heads."""
    if suffix == ".json":
        text = json.dumps(audit_to_dict(audit), indent=1, allow_nan=False)
        return f"{text}\n".encode()
    return encode_table(head_table(audit), suffix)


def _document(document: Document) -> dict[str, Any]:
    return {
        "name": document.name,
        "tokens": len(document.tokens),
        "period": document.period or None,
        "repeats": document.repeats or None,
    }


def _measure(audit: AuditResult, measure: Measure) -> dict[str, Any]:
    """What it takes to name and to show its numbers; `heading` and `map` are null where there are none."""
    display = measure.display if is_shown(audit, measure) else None
    return {
        "name": measure.name,
        "title": measure.title,
        "meaning": measure.meaning,
        "kind": measure.kind,
        "unit": measure.unit,
        "heading": display.heading if display else None,
        "map": (display.caption or None) if display else None,
        "full_colour": display.full_colour if display else None,
        "decimals": display.decimals if display else None,
        "percent": display.percent if display else None,
        "repeated": measure.repeated,
    }


def _head(audit: AuditResult, head: HeadFindings) -> dict[str, Any]:
    """Under the name of each measure its result, with the number that is shown as `value`; null where there is none."""
    results = {
        measure.name: _result(audit, measure, head.results.get(measure.name))
        for measure in MEASURES
    }
    return {
        "layer": head.layer,
        "head": head.head,
        "roles": [_role(role) for role in head.roles],
        **results,
    }


def _role(role: Role) -> dict[str, Any]:
    return asdict(role) | {"label": role.label}


def _result(
    audit: AuditResult, measure: Measure, result: Result | None
) -> dict[str, Any] | None:
    """A result, and for induction the tokens that it was measured on."""
    if result is None:
        return None
    content = result_to_dict(result)
    tokens = audit.induction.get(measure.repeated or "")
    if tokens is not None:
        content |= {"period": tokens.period, "context": tokens.context}
    return content


@singledispatch
def result_to_dict(result: Result) -> dict[str, Any]:
    """A result of any kind; `value` is the number that is shown."""
    raise TypeError(f"{type(result).__name__} is no result of a measure")


@result_to_dict.register
def _(result: Mean) -> dict[str, Any]:
    return asdict(result) | {"interval": result.interval}


@result_to_dict.register
def _(result: Quantiles) -> dict[str, Any]:
    values = {
        f"{share:g}": value if math.isfinite(value) else None
        for share, value in result.values.items()
    }
    return {"value": result.value, "rows": result.rows, "quantiles": values}


@result_to_dict.register
def _(result: RoundingEffect) -> dict[str, Any]:
    return {
        "value": result.value,
        "tv": result_to_dict(result.tv),
        "bound": result.bound,
        "worst": result.worst,
        "flips": result.flips,
    }


@result_to_dict.register
def _(result: LargestSize) -> dict[str, Any]:
    bound = result.bound if math.isfinite(result.bound) else None
    return {"value": result.value, "bound": bound, "shown": result.shown}


@result_to_dict.register
def _(result: Spectrum) -> dict[str, Any]:
    count = len(result.lower)
    singular_values = [
        {
            "k": k,
            "lower": float(result.lower[k - 1]),
            "upper": float(result.upper[k - 1]),
            "guarantee": result.frobenius / math.sqrt(k),
        }
        for k in SHOWN_SINGULAR_VALUES
        if k <= count
    ]
    return {
        "value": result.rank,
        "of": count,
        "stable_rank": result.stable_rank,
        "frobenius": result.frobenius,
        "singular_values": singular_values,
    }


@result_to_dict.register
def _(result: OutputShare) -> dict[str, Any]:
    return {"value": result.value, "dead": result.dead}


@result_to_dict.register
def _(result: LargestComposition) -> dict[str, Any]:
    return {"value": result.value, "layer": result.layer, "head": result.head}


@result_to_dict.register
def _(result: ShuffleEffect) -> dict[str, Any]:
    return {"value": result.value}


def _example(example: HeadExample) -> dict[str, Any]:
    """All but the map and the words of the document."""
    return {
        "title": example.title,
        "measure": example.measure,
        "value": example.value,
        "layer": example.layer,
        "head": example.head,
        "document": example.document,
        "rows": [asdict(row) for row in example.rows],
    }
