"""Heads: from rules to weights, and exported."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from headwright.errors import InputError
from headwright.lab.view import ApiCall, RequestModel, View

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import Float

    from headwright.head_design import HeadsResult, Rules

MOST_CHARACTERS = 20_000
MOST_SEQUENCES, MOST_SHOWN = 8, 32  # in a picture
TOKENS = 64  # in all sequences together, so that the page answers soon


class HeadsRequest(RequestModel):
    """The options of `headwright heads`, with the rules themselves in place of a file.

    >>> HeadsRequest(rules="").minimise
    'size'
    """

    rules: str = Field(max_length=MOST_CHARACTERS, description="The rules, as TOML.")
    minimise: Literal["size", "rank"] = Field(
        default="size", description="The norm of W_K^T W_Q, or the dimension."
    )
    dtype: Literal["float64", "float32", "bfloat16"] = Field(
        default="float64", description="The weights' number type."
    )


class ExportRequest(HeadsRequest):
    """The same, with one of the formats of `--export`.

    >>> ExportRequest(rules="", format="onnx").dtype
    'float64'
    """

    format: Literal["arrays", "torch", "onnx", "huggingface"]


def heads(request: HeadsRequest) -> dict[str, Any]:
    """The output of `headwright heads --json`, with patterns and planes for pictures.

    >>> from headwright.lab import STATIC
    >>> found = heads(HeadsRequest(rules=(STATIC / "rules" / "induction.toml").read_text()))
    >>> found["verdict"], found["head_dim"]
    ('designed', 3)
    """
    found = _built(request)
    return {
        **found.to_json(found.certificate),
        "error": max(found.outputs)
        if found.layer is not None and found.outputs
        else None,
        "shown": _shown(found),
        "reason": _reason(found),
    }


def export(request: ExportRequest) -> dict[str, Any]:
    """The files that `--export` writes, in one archive.

    >>> from headwright.lab import STATIC
    >>> rules = (STATIC / "rules" / "route.toml").read_text()
    >>> export(ExportRequest(rules=rules, format="arrays"))["files"]
    ['README.md', 'weights.json', 'weights.safetensors']
    """
    import base64
    import io
    import tempfile
    import zipfile
    from pathlib import Path

    from headwright.head_design.export import export as write

    found = _built(request)
    held = io.BytesIO()
    with (
        tempfile.TemporaryDirectory() as name,
        zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        write(found, name, formats=[request.format])
        paths = sorted(path for path in Path(name).rglob("*") if path.is_file())
        names = [path.relative_to(name).as_posix() for path in paths]
        for path, inside in zip(paths, names, strict=True):
            archive.write(path, inside)
    return {"files": names, "zip": base64.b64encode(held.getvalue()).decode("ascii")}


def _built(request: HeadsRequest) -> HeadsResult:
    from headwright.head_design import build

    return build(_parsed(request.rules), minimise=request.minimise, dtype=request.dtype)


def _parsed(text: str) -> Rules:
    from headwright.head_design import parse_circuit, parse_rules

    try:
        found = parse_rules(text) if parse_circuit(text) is None else None
    except InputError as error:
        raise InputError(f"rules: {error}", field="rules") from error
    if found is None:
        raise InputError(
            "rules with layers: this page shows one layer; 'headwright heads' designs circuits",
            field="rules",
        )
    if (T := sum(map(len, found.sequences))) > TOKENS:
        raise InputError(
            f"rules about {T} tokens: the lab accepts {TOKENS}, the command line more",
            field="rules",
        )
    return found


def _reason(found: HeadsResult) -> dict[str, Any] | None:
    """Why a rule cannot be met, from the certificate, with the tokens in a plane (floating-point).

    The targets have a mean token that is also a mean of tokens that are seen. It is told for
    tokens that are certain and that have no biases; then scores are linear in the token.
    """
    if found.word != "impossible" or found.certificate is None:
        return None
    document = json.loads(found.certificate)
    statement, reasons = document["statement"], document["evidence"]["attend"]
    is_certain = statement["uncertainty"] == {"ball": "0", "scale": ["1", "1"]}
    if not reasons or not is_certain or statement["bias"]:
        return None
    reason = reasons[0]
    rule = statement["rules"][reason["rule"]]
    targets = _shares(reason["multipliers"])
    others = _shares(reason["distribution"] or {})
    if len(targets) == 1:
        others.pop(next(iter(targets)), None)
    if not others:
        return None
    return {
        "token": rule["token"],
        "labels": found.rules.labels(rule["sequence"]),
        "targets": _normalised(targets),
        "of": _normalised(others),
        "points": _plane(found.rules.sequences[rule["sequence"]]),
    }


def _shares(written: Mapping[str, str]) -> dict[str, float]:
    """The positive shares of tokens, which a certificate writes as hexadecimal fractions."""
    shares = {}
    for token, fraction in written.items():
        numerator, _, denominator = fraction.partition("/")
        share = int(numerator, 16) / int(denominator or "1", 16)
        if share > 0:
            shares[token] = share
    return shares


def _normalised(shares: Mapping[str, float]) -> dict[str, float]:
    total = sum(shares.values())
    return {token: share / total for token, share in shares.items()}


def _plane(tokens: Float[np.ndarray, "T D"]) -> list[list[float]]:
    """Tokens in the plane in which they differ most."""
    import numpy as np

    centred = tokens - tokens.mean(axis=0)
    directions = np.linalg.svd(centred, full_matrices=False)[2][:2]
    places = np.zeros((len(tokens), 2))
    places[:, : len(directions)] = centred @ directions.T
    return places.tolist()


def _shown(found: HeadsResult) -> list[dict[str, Any]]:
    """Each head on each sequence: its pattern, and its queries and keys in a plane; floating-point."""
    from headwright.head_design import patterns
    from headwright.head_design.picture import head_plane

    if found.layer is None:
        return []
    shown = []
    for sequence, X in enumerate(found.rules.sequences[:MOST_SEQUENCES]):
        seen = patterns(found.layer, X)
        for number, head in enumerate(found.layer.heads):
            plane = head_plane(head, X)
            shown.append(
                {
                    "sequence": sequence,
                    "head": number,
                    "labels": found.rules.labels(sequence)[:MOST_SHOWN],
                    "pattern": seen[number][:MOST_SHOWN, :MOST_SHOWN].tolist(),
                    "keys": plane.keys[:MOST_SHOWN].tolist(),
                    "queries": plane.queries[:MOST_SHOWN].tolist(),
                    "share": plane.share,
                }
            )
    return shown


VIEW = View(
    "heads",
    "Heads",
    "Write rules for what tokens should attend to and output. Get the weights of the smallest head, with a proof.",
    (
        ApiCall(
            "heads",
            HeadsRequest,
            heads,
            seconds=60.0,
        ),
        ApiCall(
            "export",
            ExportRequest,
            export,
            seconds=60.0,
        ),
    ),
)
