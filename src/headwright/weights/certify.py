"""Evidence about heads put into words that the checker reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Float

from headwright.design.statement import hex_floats
from headwright.errors import InputError
from headwright.trusted.certificate import FORMAT, VERSION
from headwright.weights.head import HeadLayer
from headwright.weights.rules import Rule, Rules


@dataclass(frozen=True, eq=False)
class Bound:
    """No W_K^T W_Q of this head with a norm below `least` grants the floors: shown at a witness, by multipliers.

    >>> Bound(0, "frobenius", Fraction(1), None, {(0, 1): 1.0}).norm
    'frobenius'
    """

    head: int
    norm: str  # "frobenius" or "nuclear"
    least: Fraction
    witness: tuple[Float[np.ndarray, "r D"], Float[np.ndarray, "r D"]] | None  # W_Q and W_K; None: those deployed
    multipliers: dict[tuple[int, int], float]  # (number of the rule, target) -> multiplier


@dataclass(frozen=True)
class DimensionBound:
    """No W_Q and W_K of this head with fewer rows grant the floors; dimension.py finds the evidence.

    >>> DimensionBound(0, 2, {"walk": []}).norm
    'dimension'
    """

    head: int
    least: int
    evidence: dict[str, Any]
    norm: str = "dimension"


def certificate(
    rules: Rules, claims: Sequence[Rule], layer: HeadLayer, bounds: Sequence[Bound | DimensionBound]
) -> str:
    """A certificate that the layer keeps these rules, and of the bounds.

    The claims are the rules with the floors that are claimed: where a rule wants only an output, they say as well
    what its token attends to.

    >>> from headwright.trusted.verify import verify
    >>> from headwright.weights.head import Head
    >>> X = np.eye(2)
    >>> layer = HeadLayer((Head(3 * X, 3 * X, X),), causal=False, dtype="float32")
    >>> rule = Rule(0, attend={0: Fraction(9, 10)})
    >>> print(verify(certificate(Rules((X,), (rule,)), [rule], layer, [])).words)
    For these 2 tokens in R^2, these W_Q, W_K, W_V of type float32 make sure that token 0 of sequence 0 in head 0 ...
    """
    if layer.causal != rules.causal:
        raise InputError(f"the layer is {'' if layer.causal else 'not '}causal and the rules are otherwise: "
                         "expected both or neither")  # fmt: skip
    statement = {
        "claim": "heads",
        "causal": rules.causal,
        "sequences": [_rows(X) for X in rules.sequences],
        "world": {"ball": str(rules.ball), "scale": [str(end) for end in rules.scale]},
        "rules": [_rule(rule) for rule in claims],
        "dtype": layer.dtype,
        "heads": [{"W_Q": _rows(h.W_Q), "W_K": _rows(h.W_K), "W_V": _rows(h.W_V)} for h in layer.heads],
        "bounds": [{"head": bound.head, "norm": bound.norm, "least": str(bound.least)} for bound in bounds],
    }
    evidence = {"bounds": [_evidence(bound) for bound in bounds]}
    document = {"format": FORMAT, "version": VERSION, "statement": statement, "evidence": evidence}
    return json.dumps(document, indent=1) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "sequence": rule.sequence,
        "token": rule.token,
        "head": rule.head,
        "attend": {str(a): str(p) for a, p in sorted((rule.attend or {}).items())},
        "output": [str(x) for x in rule.output or ()],
        "tolerance": str(rule.tolerance if rule.output is not None else 0),
    }


def _evidence(bound: Bound | DimensionBound) -> dict[str, Any]:
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
    return [["0" if x == 0 else text for x, text in zip(row, hex_floats(row), strict=True)] for row in matrix]
