"""Designed heads as JSON, as the command line prints them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headwright.weights.builder import Built

COARSE = (
    "The certificate is about these bfloat16 weights in exact arithmetic. Sums that are themselves rounded to bfloat16 "
    "may miss tight tolerances; exports run these weights in float32."
)


def to_json(found: Built, certificate: str | None = None, exported: Sequence[str] = ()) -> dict[str, Any]:
    """What was found; the caller says where the certificate and the exports are.

    >>> from headwright.weights import build, parse_rules
    >>> to_json(build(parse_rules("tokens = [[1.0, 0.0], [0.0, 1.0]]\\n[[rule]]\\ntoken = 0\\ncopy = 1")))["head_dim"]
    1
    """
    designed = found.layer is not None
    return {
        "verdict": found.word,
        "head_dim": found.head_dim if designed else None,
        "head_dim_lower_bound": found.head_dim_lower_bound if designed else None,
        "frobenius": found.frobenius if designed else None,
        "nuclear": found.nuclear if designed else None,
        "minimised": found.minimise,
        "lower_bound": found.lower_bound if designed else None,
        "outputs": [
            {"sequence": rule.sequence, "token": rule.token, "head": rule.head, "error": error}
            for rule, error in zip(found.claims, found.outputs, strict=True)
            if rule.output is not None
        ],
        "patterns": [
            {
                "sequence": rule.sequence,
                "token": rule.token,
                "head": rule.head,
                "least": {str(key): least for key, least in pattern.items()},
            }
            for rule, pattern in zip(found.claims, found.patterns, strict=True)
        ],
        "assignment": list(found.assignment),
        "dtype": found.layer.dtype if found.layer else None,
        "heads": [
            {name: W.tolist() for name in ("W_Q", "W_K", "W_V", "b_Q", "b_V") if (W := getattr(head, name)) is not None}
            for head in (found.layer.heads if found.layer else ())
        ],
        "checkers": list(found.checkers),
        "certificate": certificate,
        "exported": list(exported),
        "note": COARSE if found.layer and found.layer.dtype == "bfloat16" else None,
        "words": found.words,
        "kinds": {
            "frobenius": "proven", "nuclear": "proven", "lower_bound": "proven", "outputs": "proven",
            "patterns": "proven", "heads": "exact",
        },
    }  # fmt: skip
