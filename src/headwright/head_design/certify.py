"""Certificates about heads: evidence in the format that the checker reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Float

from headwright.certificates.formats import certificate_text
from headwright.errors import InputError
from headwright.head_design.head import Head, HeadLayer
from headwright.head_design.rules import Rule, Rules


@dataclass(frozen=True, eq=False)
class NormBound:
    """No W_K^T W_Q of this head with a norm below `least` meets the floors: shown at a witness, by multipliers."""

    head: int
    norm: str  # "frobenius" or "nuclear"
    least: Fraction
    # (W_Q | b_Q) and W_K; None: those deployed
    witness: tuple[Float[np.ndarray, "r D"], Float[np.ndarray, "r D"]] | None
    # (number of the rule, target) -> multiplier
    multipliers: dict[tuple[int, int], float]


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
    claimed_bounds = []
    for bound in bounds:
        claimed_bounds.append(
            {"head": bound.head, "norm": bound.norm, "least": str(bound.least)}
        )
    statement = {
        **about("heads", rules, claims),
        "dtype": layer.dtype,
        "heads": list(map(_head_entry, layer.heads)),
        "bounds": claimed_bounds,
    }
    return certificate_text(statement, {"bounds": list(map(_bound_evidence, bounds))})


def none_at_all(rules: Rules, claims: Sequence[Rule], evidence: dict[str, Any]) -> str:
    """A certificate that no head keeps these rules: with shares that cancel, or outputs that do (`impossible.py`)."""
    return certificate_text(about("no heads", rules, claims), evidence)


def about(claim: str, rules: Rules, claims: Sequence[Rule]) -> dict[str, Any]:
    """The part of a statement that the rules say, whatever the weights are."""
    mask: list[str] | str = "causal" if rules.causal else "none"
    if rules.mask:
        mask = list(rules.mask)
    tables = []
    for table in rules.bias:
        tables.append([list(map(str, row)) for row in table])
    return {
        "claim": claim,
        "mask": mask,
        "sequences": list(map(_rows, rules.sequences)),
        "uncertainty": {
            "ball": str(rules.ball),
            "scale": list(map(str, rules.scale)),
        },
        "biases": rules.biases,
        "bias": tables,
        "rules": list(map(_rule_entry, claims)),
    }


def _head_entry(head: Head) -> dict[str, Any]:
    return {
        "W_Q": _rows(head.W_Q),
        "W_K": _rows(head.W_K),
        "W_V": _rows(head.W_V),
        "b_Q": [] if head.b_Q is None else _row(head.b_Q),
        "b_V": [] if head.b_V is None else _row(head.b_V),
    }


def _rule_entry(rule: Rule) -> dict[str, Any]:
    return {
        "sequence": rule.sequence,
        "token": rule.token,
        "head": "sum" if rule.head is None else rule.head,
        "attend": _weights(rule.attend),
        "at_most": _weights(rule.at_most),
        "output": list(map(str, rule.output or ())),
        "tolerance": str(rule.tolerance if rule.output is not None else 0),
    }


def _weights(weights: dict[int, Fraction] | None) -> dict[str, str]:
    """By token, in order."""
    return {str(token): str(p) for token, p in sorted((weights or {}).items())}


def _bound_evidence(bound: NormBound | DimensionBound) -> dict[str, Any]:
    if isinstance(bound, DimensionBound):
        return bound.evidence
    W_Q = None
    W_K = None
    if bound.witness is not None:
        W_Q, W_K = map(_rows, bound.witness)
    constraints = []
    for (rule, target), multiplier in bound.multipliers.items():
        if multiplier > 0:
            text = float(multiplier).hex()
            constraints.append({"rule": rule, "target": target, "multiplier": text})
    return {"W_Q": W_Q, "W_K": W_K, "constraints": constraints}


def _rows(matrix: Float[np.ndarray, "n d"]) -> list[list[str]]:
    return list(map(_row, matrix))


def _row(numbers: Float[np.ndarray, " d"]) -> list[str]:
    """Floats written exactly; both zeros as '0'."""
    return ["0" if float(x) == 0 else float(x).hex() for x in numbers]
