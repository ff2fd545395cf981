"""Certificates about heads: evidence in the format that the checker reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Float

from headwright.certificates.exact.certificate import FORMAT, VERSION
from headwright.errors import InputError
from headwright.head_design.head import Head, HeadLayer
from headwright.head_design.rules import Rule, Rules
from headwright.query_design.statement import hex_floats


@dataclass(frozen=True, eq=False)
class NormBound:
    """No W_K^T W_Q of this head with a norm below `least` meets the floors: shown at a witness, by multipliers."""

    head: int
    norm: str  # "frobenius" or "nuclear"
    least: Fraction
    witness: (
        tuple[Float[np.ndarray, "r D"], Float[np.ndarray, "r D"]] | None
    )  # (W_Q | b_Q) and W_K; None: those deployed
    multipliers: dict[
        tuple[int, int], float
    ]  # (number of the rule, target) -> multiplier


@dataclass(frozen=True)
class DimensionBound:
    """No W_Q and W_K of this head with fewer rows meet the floors; dimension.py finds the evidence."""

    head: int
    least: int
    evidence: dict[str, Any]
    norm: str = "dimension"


def certificate(
    rules: Rules,
    claims: Sequence[Rule],
    layer: HeadLayer,
    bounds: Sequence[NormBound | DimensionBound],
) -> str:
    """A certificate that the layer keeps these rules, and of the bounds.

    The claims are the rules with the floors that are claimed: where a rule wants only an output, they say as well
    what its token attends to.

    >>> from headwright.head_design import Head, Rule
    >>> copies = Rules((np.eye(2),), (Rule(0, attend={1: Fraction(1, 2)}),))
    >>> head = Head(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]), np.eye(2))
    >>> layer = HeadLayer((head,), causal=False, dtype="float64")
    >>> from headwright import verify
    >>> verify(certificate(copies, copies.rules, layer, [])).word
    'verified'
    """
    if (layer.causal, layer.mask) != (rules.causal, rules.mask):
        raise InputError(
            "the layer and the rules have different masks: expected the same (causal or not, or rows)"
        )
    if (layer.biases, layer.bias) != (rules.biases, rules.bias):
        raise InputError(
            "the layer and the rules have different biases: expected the same kinds, and the same tables"
        )
    statement = {
        **about("heads", rules, claims),
        "dtype": layer.dtype,
        "heads": [_head(head) for head in layer.heads],
        "bounds": [
            {"head": bound.head, "norm": bound.norm, "least": str(bound.least)}
            for bound in bounds
        ],
    }
    return _document(statement, {"bounds": [_evidence(bound) for bound in bounds]})


def none_at_all(rules: Rules, claims: Sequence[Rule], evidence: dict[str, Any]) -> str:
    """A certificate that no head keeps these rules: with shares that cancel, or outputs that do; none.py finds them."""
    return _document(about("no heads", rules, claims), evidence)


def about(claim: str, rules: Rules, claims: Sequence[Rule]) -> dict[str, Any]:
    """The part of a statement that the rules say, whatever the weights are."""
    return {
        "claim": claim,
        "mask": list(rules.mask) or ("causal" if rules.causal else "none"),
        "sequences": [_rows(X) for X in rules.sequences],
        "uncertainty": {
            "ball": str(rules.ball),
            "scale": [str(end) for end in rules.scale],
        },
        "biases": rules.biases,
        "bias": [[[str(x) for x in row] for row in table] for table in rules.bias],
        "rules": [_rule(rule) for rule in claims],
    }


def _head(head: Head) -> dict[str, Any]:
    matrices = {name: _rows(getattr(head, name)) for name in ("W_Q", "W_K", "W_V")}
    vectors = {
        name: [] if (b := getattr(head, name)) is None else _rows(b[None])[0]
        for name in ("b_Q", "b_V")
    }
    return {**matrices, **vectors}


def _document(statement: dict[str, Any], evidence: dict[str, Any]) -> str:
    document = {
        "format": FORMAT,
        "version": VERSION,
        "statement": statement,
        "evidence": evidence,
    }
    return json.dumps(document, indent=1) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "sequence": rule.sequence,
        "token": rule.token,
        "head": "sum" if rule.head is None else rule.head,
        "attend": {str(a): str(p) for a, p in sorted((rule.attend or {}).items())},
        "at_most": {str(a): str(p) for a, p in sorted((rule.at_most or {}).items())},
        "output": [str(x) for x in rule.output or ()],
        "tolerance": str(rule.tolerance if rule.output is not None else 0),
    }


def _evidence(bound: NormBound | DimensionBound) -> dict[str, Any]:
    if isinstance(bound, DimensionBound):
        return bound.evidence
    W_Q, W_K = (None, None) if bound.witness is None else map(_rows, bound.witness)
    constraints = [
        {"rule": rule, "target": target, "multiplier": float(x).hex()}
        for (rule, target), x in bound.multipliers.items()
        if x > 0
    ]
    return {"W_Q": W_Q, "W_K": W_K, "constraints": constraints}


def _rows(matrix: Float[np.ndarray, "n d"]) -> list[list[str]]:
    return [
        ["0" if x == 0 else text for x, text in zip(row, hex_floats(row), strict=True)]
        for row in matrix
    ]
