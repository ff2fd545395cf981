"""A statement about ranges, as a document that a checker reads: no number of any head exceeds what stands here."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from headwright.certificates.formats import MODEL_NAME, RANGES
from headwright.errors import InputError
from headwright.text_bounds.documents import MOST_SHOWN, read_document

VERSION = 1
DECIMAL = re.compile(r"\d{1,40}(\.\d{1,40})?(e[+-]?\d{1,3})?", re.ASCII)
DIGEST = re.compile(r"[0-9a-f]{64}")
PARTS = ("queries", "keys", "values", "scores")
LATENTS = "latents"  # a part that layers with latent attention have, too
NAMES = {"model", "digest", "arithmetic", "layers"}
MOST_LAYERS = 4096


@dataclass(frozen=True)
class LayerClaims:
    """Bounds on the numbers of each head's queries and keys (after rotation) and values, and on its scores.

    They are decimals, so that they are read as they are written; None claims nothing.
    """

    queries: tuple[str | None, ...]
    keys: tuple[str | None, ...]
    values: tuple[str | None, ...]
    scores: tuple[str | None, ...]
    # With latent attention: on the latent vector, and on the rotated part of keys.
    latents: tuple[str | None, ...] = ()

    @property
    def parts(self) -> dict[str, tuple[str | None, ...]]:
        """The claims by the name of their part; latents where there are any."""
        parts = {part: getattr(self, part) for part in PARTS}
        return parts | {LATENTS: self.latents} if self.latents else parts


@dataclass(frozen=True)
class RangesStatement:
    """What is claimed of a model, whose weights have this digest as numbers of the arithmetic's type."""

    model: str
    digest: str
    arithmetic: str
    layers: tuple[LayerClaims, ...]

    def words(self) -> str:
        """All that is claimed, in a sentence."""
        largest = {}
        for part in (*PARTS, LATENTS):
            claims = [claim for layer in self.layers for claim in getattr(layer, part)]
            largest[part] = _largest_claim(claims) if claims else ""
        latents = ""
        if largest[LATENTS]:
            latents = f"of latent vectors {largest[LATENTS]}, "
        return (
            f"on every text, computed in {self.arithmetic} (and a LayerNorm to within a part in 128), "
            f"the numbers of keys of {self.model} are {largest['keys']}, "
            f"of values {largest['values']}, {latents}of queries {largest['queries']}, and scores {largest['scores']}; "
            f"the certificate has a bound for each head of {len(self.layers)} layers"
        )


def write_statement(statement: RangesStatement) -> str:
    """The document."""
    layers = [layer.parts for layer in statement.layers]
    fields = {**vars(statement), "layers": layers}
    document = {"format": RANGES, "version": VERSION, "statement": fields}
    return json.dumps(document, indent=1, sort_keys=True) + "\n"


def read_statement(text: str) -> RangesStatement:
    """The statement of a document; an InputError says what is wrong with it."""
    return read_document(text, RANGES, _statement_of)


def _statement_of(document: Any) -> RangesStatement:
    fields = document["statement"]
    expected = {"format": RANGES, "version": VERSION, "statement": fields}
    if document != expected or type(document["version"]) is not int:
        raise InputError(f"expected a {RANGES}, version {VERSION}")
    if set(fields) != NAMES:
        raise InputError(
            f"the statement has the names {sorted(fields)}: expected {sorted(NAMES)}"
        )
    _check_text(fields, "model", MODEL_NAME)
    _check_text(fields, "digest", DIGEST)
    _check_text(fields, "arithmetic", MODEL_NAME)
    layers = fields["layers"]
    if type(layers) is not list or not 1 <= len(layers) <= MOST_LAYERS:
        raise InputError(f"layers: expected a list of 1 to {MOST_LAYERS}")
    claims = tuple(_claims_of(layer) for layer in layers)
    return RangesStatement(
        fields["model"], fields["digest"], fields["arithmetic"], claims
    )


def _claims_of(layer: Any) -> LayerClaims:
    if type(layer) is not dict or set(layer) - {LATENTS} != set(PARTS):
        raise InputError(f"a layer has not the names {', '.join(PARTS)}")
    for part in layer:
        if type(layer[part]) is not list or not layer[part]:
            raise InputError(f"{part} of a layer: expected a list of bounds")
        for bound in layer[part]:
            is_decimal = type(bound) is str and DECIMAL.fullmatch(bound) is not None
            if bound is not None and not is_decimal:
                shown = json.dumps(bound)[:MOST_SHOWN]
                raise InputError(
                    f"{part} has {shown}: expected a decimal in quotes, or null"
                )
    return LayerClaims(**{part: tuple(layer[part]) for part in layer})


def _check_text(fields: dict[str, Any], name: str, pattern: re.Pattern[str]) -> None:
    text = fields[name]
    if type(text) is not str or not pattern.fullmatch(text):
        raise InputError(f"{name} is {json.dumps(text)[:MOST_SHOWN]}: not of its form")


def _largest_claim(claims: list[str | None]) -> str:
    bounds = []
    for claim in claims:
        if claim is None:
            return "not bounded"
        bounds.append(claim)
    return f"at most {max(bounds, key=Fraction)}"
