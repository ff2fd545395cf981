"""Proven numbers about rounded weights: exact arithmetic, rounded to the safe side."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from headwright.certificates.exact.heads.run import (
    ExactHead,
    HeadRule,
    HeadRun,
    TokenRange,
    error_above,
)
from headwright.certificates.exact.numbers import sqrt_above
from headwright.head_design.head import Head, HeadLayer, outputs, patterns
from headwright.head_design.rules import Rule, Rules
from headwright.numerics.enclosure import (
    TOLERANCE,
    assert_within,
    float_above,
    float_below,
)

Exact = list[tuple[Fraction, ...]]


def frobenius_above(head: Head) -> float:
    """|W_K^T W_Q|_F, rounded up; with biases |W_K^T (W_Q | b_Q)|_F."""
    Q, K = _asking(head), exact(head.W_K)
    total = sum(
        (
            _dot(K[a], K[b]) * _dot(Q[a], Q[b])
            for a in range(len(Q))
            for b in range(len(Q))
        ),
        Fraction(0),
    )
    return float_above(sqrt_above(total))


def nuclear_above(head: Head) -> float:
    """(|W_Q|_F^2 + |W_K|_F^2) / 2, rounded up: the nuclear norm of W_K^T W_Q is not larger; b_Q counts with W_Q."""
    return float_above(
        sum((_dot(row, row) for row in (*_asking(head), *exact(head.W_K))), Fraction(0))
        / 2
    )


def proven_facts(
    rules: Rules, claims: Sequence[Rule], layer: HeadLayer
) -> list[tuple[float, dict[int, float]]]:
    """For each claim, how far its output is off at most, and what each target gets at least."""
    runs = _runs(rules, layer)
    found = []
    for rule in claims:
        claim, mine = (
            _claim(rules, rule),
            runs if rule.head is None else [runs[rule.head]],
        )
        below = (
            dict(zip(claim.seen, mine[0].pattern_below(claim), strict=True))
            if rule.attend
            else {}
        )
        error = float_above(error_above(claim, mine)) if rule.output else 0.0
        found.append((error, {a: float_below(below[a]) for a in rule.attend or {}}))
    return found


def check_against_run(
    rules: Rules,
    claims: Sequence[Rule],
    layer: HeadLayer,
    facts: Sequence[tuple[float, dict[int, float]]],
) -> None:
    """Raise a ContradictionError unless the layer, run in float64 on the tokens as given, does what was proved."""
    if not rules.scale[0] <= 1 <= rules.scale[1]:
        return  # tokens are never at their places
    for X, number in zip(rules.sequences, range(len(rules.sequences)), strict=True):
        with np.errstate(over="ignore", invalid="ignore"):
            pattern, output = patterns(layer, X), outputs(layer, X)
            sizes = [
                float(np.abs(head.M).sum() * np.abs(X).max() ** 2)
                for head in layer.heads
            ]
        room = TOLERANCE + 2.0**-45 * max(sizes)  # scores are known up to their size
        if not room < 1:
            continue
        for rule, (error, least) in zip(claims, facts, strict=True):
            if rule.sequence != number:
                continue
            for target, weight in least.items() if rule.head is not None else ():
                what = (
                    f"head {rule.head}, the weight from token {rule.token} to {target}"
                )
                assert_within(
                    float(pattern[rule.head, rule.token, target]),
                    what,
                    least=weight,
                    tolerance=room,
                )
            if rule.output is not None and (rule.head is None or len(layer.heads) == 1):
                off = float(
                    np.linalg.norm(
                        output[rule.token] - np.array([float(x) for x in rule.output])
                    )
                )
                allowed = room * (1 + float(np.abs(output).max()))
                assert_within(
                    off,
                    f"the error of the output of token {rule.token}",
                    most=error,
                    tolerance=allowed,
                )


def exact(matrix: Float[np.ndarray, "n d"]) -> Exact:
    """The same numbers as fractions."""
    return [tuple(map(Fraction, row)) for row in matrix.tolist()]


def _runs(rules: Rules, layer: HeadLayer) -> list[HeadRun]:
    sequences = [exact(X) for X in rules.sequences]
    uncertainty = TokenRange(rules.ball, *rules.scale)
    return [
        HeadRun(sequences, uncertainty, _exact_head(layer, h))
        for h in range(len(layer.heads))
    ]


def _exact_head(layer: HeadLayer, number: int) -> ExactHead:
    head = layer.heads[number]
    b_Q, b_V = (() if b is None else exact(b[None])[0] for b in (head.b_Q, head.b_V))
    bias = layer.bias[number] if layer.bias else ()
    return ExactHead(exact(head.W_Q), exact(head.W_K), exact(head.W_V), b_Q, b_V, bias)


def _asking(head: Head) -> Exact:
    """(W_Q | b_Q)."""
    return exact(
        head.W_Q if head.b_Q is None else np.column_stack([head.W_Q, head.b_Q])
    )


def _claim(rules: Rules, rule: Rule) -> HeadRule:
    return HeadRule(
        rule.sequence,
        rule.token,
        rule.head,
        rule.attend or {},
        rule.at_most or {},
        rule.output or (),
        rule.tolerance,
        rules.seen(rule),
    )


def _dot(x: tuple[Fraction, ...], y: tuple[Fraction, ...]) -> Fraction:
    return sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0))
