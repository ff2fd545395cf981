"""Proven numbers about rounded weights: exact arithmetic, rounded to the safe side."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from headwright.certificates.exact.heads.matrices import (
    dot,
    inner_products,
    trace_of_product,
)
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

ExactRows = list[tuple[Fraction, ...]]


class ClaimFacts(NamedTuple):
    """Of a claim: how far its output is off at most, and what each target gets at least."""

    error: float  # 0 where no output is wanted
    least: dict[int, float]


def frobenius_above(head: Head) -> float:
    """|W_K^T W_Q|_F, rounded up; with biases |W_K^T (W_Q | b_Q)|_F."""
    Q = _asking(head)
    K = exact(head.W_K)
    return float_above(sqrt_above(trace_of_product(_gram(K), _gram(Q))))


def nuclear_above(head: Head) -> float:
    """(|W_Q|_F^2 + |W_K|_F^2) / 2, rounded up: the nuclear norm of W_K^T W_Q is not larger; b_Q counts with W_Q."""
    squares = Fraction(0)
    for row in (*_asking(head), *exact(head.W_K)):
        squares += dot(row, row)
    return float_above(squares / 2)


def proven_facts(
    rules: Rules, claims: Sequence[Rule], layer: HeadLayer
) -> list[ClaimFacts]:
    """What is proved of each claim."""
    runs = _runs(rules, layer)
    facts = []
    for rule in claims:
        head_rule = _head_rule(rules, rule)
        of_rule = runs if rule.head is None else [runs[rule.head]]
        least = {}
        if rule.attend:
            pattern = of_rule[0].pattern_below(head_rule)
            weights = dict(zip(head_rule.seen, pattern, strict=True))
            least = {target: float_below(weights[target]) for target in rule.attend}
        error = 0.0
        if rule.output:
            error = float_above(error_above(head_rule, of_rule))
        facts.append(ClaimFacts(error, least))
    return facts


def check_against_run(
    rules: Rules,
    claims: Sequence[Rule],
    layer: HeadLayer,
    facts: Sequence[ClaimFacts],
) -> None:
    """Raise a ContradictionError unless the layer, run in float64 on the tokens as given, does what was proved."""
    if not rules.scale[0] <= 1 <= rules.scale[1]:
        return  # tokens are never at their places
    for number, X in enumerate(rules.sequences):
        with np.errstate(over="ignore", invalid="ignore"):
            pattern = patterns(layer, X)
            output = outputs(layer, X)
            largest_square = np.abs(X).max() ** 2
            sizes = [float(np.abs(h.M).sum() * largest_square) for h in layer.heads]
        room = TOLERANCE + 2.0**-45 * max(sizes)  # scores are known up to their size
        if not room < 1:
            continue
        for rule, of_rule in zip(claims, facts, strict=True):
            if rule.sequence == number:
                _check_weights(rule, of_rule, pattern, room)
                if rule.head is None or len(layer.heads) == 1:
                    _check_output(rule, of_rule, output, room)


def _check_weights(
    rule: Rule, facts: ClaimFacts, pattern: Float[np.ndarray, "h T T"], room: float
) -> None:
    """In a single head."""
    if rule.head is None:
        return
    for target, weight in facts.least.items():
        assert_within(
            float(pattern[rule.head, rule.token, target]),
            f"head {rule.head}, the weight from token {rule.token} to {target}",
            least=weight,
            tolerance=room,
        )


def _check_output(
    rule: Rule, facts: ClaimFacts, output: Float[np.ndarray, "T m"], room: float
) -> None:
    """Of all heads together."""
    if rule.output is None:
        return
    wanted = np.array([float(x) for x in rule.output])
    assert_within(
        float(np.linalg.norm(output[rule.token] - wanted)),
        f"the error of the output of token {rule.token}",
        most=facts.error,
        tolerance=room * (1 + float(np.abs(output).max())),
    )


def exact(matrix: Float[np.ndarray, "n d"]) -> ExactRows:
    """The same numbers as fractions."""
    return [tuple(map(Fraction, row)) for row in matrix.tolist()]


def _runs(rules: Rules, layer: HeadLayer) -> list[HeadRun]:
    sequences = [exact(X) for X in rules.sequences]
    uncertainty = TokenRange(rules.ball, *rules.scale)
    runs = []
    for number in range(len(layer.heads)):
        head = _exact_head(layer, number)
        runs.append(HeadRun(sequences, uncertainty, head))
    return runs


def _exact_head(layer: HeadLayer, number: int) -> ExactHead:
    head = layer.heads[number]
    return ExactHead(
        Q=exact(head.W_Q),
        K=exact(head.W_K),
        V=exact(head.W_V),
        b_Q=() if head.b_Q is None else exact(head.b_Q[None])[0],
        b_V=() if head.b_V is None else exact(head.b_V[None])[0],
        bias=layer.bias[number] if layer.bias else (),
    )


def _asking(head: Head) -> ExactRows:
    """(W_Q | b_Q)."""
    if head.b_Q is None:
        return exact(head.W_Q)
    return exact(np.column_stack([head.W_Q, head.b_Q]))


def _gram(rows: ExactRows) -> list[list[Fraction]]:
    return inner_products(rows, rows)


def _head_rule(rules: Rules, rule: Rule) -> HeadRule:
    return HeadRule(
        sequence=rule.sequence,
        token=rule.token,
        head=rule.head,
        attend=rule.attend or {},
        at_most=rule.at_most or {},
        output=rule.output or (),
        tolerance=rule.tolerance,
        seen=rules.seen(rule),
    )
