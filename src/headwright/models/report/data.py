"""An audit as data: every number that the page shows, and more, for scripts. Text, numbers and null only."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import asdict
from importlib import import_module
from typing import TYPE_CHECKING, Any

from headwright.errors import InputError
from headwright.models.documents import digest_of
from headwright.models.explain import Example
from headwright.models.findings.circuits import Spectrum
from headwright.models.findings.definitions import AWAY, INTERVAL, MEANINGS, ROLES
from headwright.models.findings.heads import Head, Quantiles
from headwright.models.findings.summary import Mean
from headwright.models.report.sentences import sentences

if TYPE_CHECKING:
    from headwright.models.auditor import Audit


def data(found: Audit) -> dict[str, Any]:
    """All of it, with what each name means."""
    return {
        "summary": sentences(found),
        "model": {
            "name": found.model, "title": found.title, "weights_sha256": found.digest, "layers": found.shape[0],
            "heads": found.shape[1],
        },
        "measured_on": {
            "text": found.text, "text_sha256": found.text_digest, "tokens_sha256": digest_of(found.documents),
            "documents": [
                {"name": d.name, "tokens": len(d.tokens), "period": d.period or None, "repeats": d.repeats or None}
                for d in found.documents
            ],
            "rows": found.rows, "context": found.context, "intervals": found.intervals,
            "induction": {name: asdict(tokens) for name, tokens in found.induction.items()},
        },
        "heads": [_head(found, head) | {"order": _order(found, head)} for head in found.heads],
        "order": {"tokens": found.order.tokens, "shuffles": found.order.shuffles},
        "not_measured": found.not_measured,
        "circuits_leave_out": list(found.circuits_leave_out),
        "examples": [_example(example) for example in found.examples],
        "every_text": [asdict(one) for one in found.every_text.places],
        "every_text_pairs": [asdict(one) for one in found.every_text.pairs],
        "every_text_safe": [asdict(one) for one in found.every_text.safe],
        "every_text_left_out": list(found.every_text.left_out),
        "no_every_text": found.every_text.missing or None,
        "meanings": MEANINGS | {"away": AWAY, "intervals": INTERVAL} | {f"role {k}": v for k, v in ROLES.items()},
        "reproduce": {
            "command": found.command, "seed": found.seed, "date": found.date, "versions": found.versions,
        },
    }  # fmt: skip


def table(found: Audit) -> list[dict[str, float | int | str | None]]:
    """A line for each head, each number under a name of its own: for a spreadsheet or a data frame."""
    lines: list[dict[str, float | int | str | None]] = []
    for head in found.heads:
        line: dict[str, float | int | str | None] = {
            "layer": head.layer, "head": head.head,
            "roles": "; ".join(role.label for role in head.roles),
        }  # fmt: skip
        for name, mean in head.means.items():
            for suffix, part in (("", "value"), ("_low", "low"), ("_high", "high")):
                line[name + suffix] = None if mean is None else getattr(mean, part)
        for name, tokens in found.induction.items():
            line[f"{name}_period"] = tokens.period
            line[f"{name}_context"] = tokens.context
            line[f"{name}_sequences"] = tokens.sequences
        for name, held in head.quantiles.items():
            line[f"{name}_median"] = None if held is None else held.values[0.5]
        for name, one in head.rounding.items():
            line[f"tv_{name.replace(' ', '_')}"] = one.tv.value
        line |= {f"{name}_rank": spectrum.rank for name, spectrum in head.spectra.items()}
        line |= {
            "share": head.share,
            "context": found.context,
            "rows": found.rows,
            "documents": found.measured_documents,
        }
        lines.append(line)
    return lines


def written(found: Audit, suffix: str) -> bytes:
    """The content of a file: .json has everything, .csv and .parquet have the table of heads."""
    if suffix == ".json":
        return (json.dumps(data(found), indent=1, allow_nan=False) + "\n").encode()
    lines = table(found)
    names = list(dict.fromkeys(name for line in lines for name in line))
    if suffix == ".csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
        return text.getvalue().encode()
    try:
        pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ModuleNotFoundError as error:
        raise no_parquet() from error
    content = io.BytesIO()
    parquet.write_table(pyarrow.table({name: [line.get(name) for line in lines] for name in names}), content)
    return content.getvalue()


def no_parquet() -> InputError:
    """Said where the library for it is missing."""
    return InputError("a .parquet file needs pyarrow, which is not installed: pip install pyarrow, or write .csv")


def _order(found: Audit, head: Head) -> float:
    return float(found.order.moved[found.layers.index(head.layer), head.head])


def _head(found: Audit, head: Head) -> dict[str, Any]:
    return {
        "layer": head.layer,
        "head": head.head,
        "roles": [asdict(role) | {"label": role.label} for role in head.roles],
        **{name: _mean(found, name, mean) for name, mean in head.means.items()},
        **{name: None if held is None else _quantiles(held) for name, held in head.quantiles.items()},
        "rounding": {name: asdict(one) | {"tv": _mean(found, "tv", one.tv)} for name, one in head.rounding.items()},
        "share": head.share,
        "rank": {name: _spectrum(one) for name, one in head.spectra.items()},
    }


def _mean(found: Audit, name: str, mean: Mean | None) -> dict[str, Any] | None:
    """A mean, what its interval is over, and for induction the tokens that it was measured on."""
    if mean is None:
        return None
    told = asdict(mean) | {"interval": mean.interval}
    tokens = found.induction.get(name.removesuffix("_away"))
    if tokens is not None:
        told |= {"period": tokens.period, "context": tokens.context}
    return told


def _example(example: Example) -> dict[str, Any]:
    """All but the map and the words of the document."""
    plain = {name: value for name, value in vars(example).items() if name not in ("map", "words", "rows")}
    return plain | {"rows": [asdict(row) for row in example.rows]}


def _quantiles(held: Quantiles) -> dict[str, Any]:
    values = {f"{share:g}": value if math.isfinite(value) else None for share, value in held.values.items()}
    return {"rows": held.rows, "quantiles": values}


def _spectrum(one: Spectrum) -> dict[str, Any]:
    ks = [k for k in (1, 2, 4, 8, 16, 32, 64, 128, 256) if k <= len(one.lower)]
    return {
        "of": len(one.lower),
        "rank": one.rank,
        "stable_rank": one.stable_rank,
        "frobenius": one.frobenius,
        "singular_values": [
            {"k": k, "lower": float(one.lower[k - 1]), "upper": float(one.upper[k - 1]),
             "guarantee": one.frobenius / math.sqrt(k)}
            for k in ks
        ],
    }  # fmt: skip
