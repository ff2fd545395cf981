"""Which tokens each token attends to, and what each head outputs of a sum.

A token that should output w must attend to a mixture y of tokens with W_V y = w. Candidates are single tokens, then
even mixtures of two, or of all that it sees, then of three. Equal tokens are one candidate, since they always get
the same weight.

For an output that all heads make together, rules say where the token attends in each head: a mixture y_h of tokens.
Then sum_h W_V^h y_h = wanted is one linear equation for all W_V side by side, and its smallest solution gives each
head's part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

import numpy as np
from jaxtyping import Float

from headwright.certificates.exact.numbers import sqrt_above
from headwright.head_design.rules import Rule, Rules

BEAM = 48  # how many unfinished ways are kept: those with the smallest W_V
MIXED = {
    1: 4096,
    2: 16,
    3: 9,
}  # mixtures of so many are tried if so many different tokens are seen, at most
Mixture = dict[int, Fraction]


@dataclass(frozen=True, eq=False)
class MixtureAssignment:
    """A mixture for each rule of a head, in their order, and the W_V that then makes the outputs."""

    mixtures: tuple[Mixture, ...]
    W_V: Float[np.ndarray, "m D"]


def smallest_values(
    Y: Float[np.ndarray, "k D"], wanted: Float[np.ndarray, "k m"]
) -> Float[np.ndarray, "m D"]:
    """The matrix of smallest Frobenius norm with W y = wanted for each pair of rows, in floating point.

    Where no matrix does that exactly it is the nearest in the sense of least squares.
    """
    W: Float[np.ndarray, "m D"] = np.linalg.lstsq(Y, wanted, rcond=1e-13)[0].T
    return np.where(np.abs(W) > 1e-15 * np.abs(W).max(initial=0.0), W, 0.0)


def assignments(
    rules: Rules, mine: tuple[Rule, ...], options: Sequence[Sequence[Mixture]]
) -> list[MixtureAssignment]:
    """The ways that were found to choose one of its options for each rule, those with the smallest W_V first."""
    ways: list[tuple[Mixture, ...]] = [()]
    for number, rule in enumerate(mine):
        longer = [(*way, mixture) for way in ways for mixture in options[number]]
        if rule.output is None:
            ways = longer
            continue
        rated = [
            (way, W)
            for way in longer
            if (W := _values_for(rules, mine[: number + 1], way)) is not None
        ]
        rated.sort(
            key=lambda pair: (
                round(float(np.linalg.norm(pair[1])), 9),
                sum(map(len, pair[0])),
            )
        )
        ways = [way for way, _ in rated[:BEAM]]
    found = [(way, _values_for(rules, mine, way)) for way in ways]
    return [MixtureAssignment(way, W) for way, W in found if W is not None]


def candidates(rules: Rules, rule: Rule, most: int) -> list[Mixture]:
    """The mixtures that a rule's token may attend to: the one it is told, or those of up to so many tokens."""
    if rule.output is None and rule.attend is None:
        return [{}]  # it only limits weights
    if rule.attend is not None:
        total = sum(rule.attend.values())
        return [{a: p / total for a, p in rule.attend.items()}]
    twins: dict[bytes, list[int]] = {}
    for i, x in zip(rules.seen(rule), rules.tokens(rule) + 0.0, strict=True):
        twins.setdefault(x.tobytes(), []).append(i)
    found = []
    for k in range(1, most + 1):
        if len(twins) <= MIXED[k]:
            found += [
                [i for group in chosen for i in group]
                for chosen in combinations(twins.values(), k)
            ]
    if (
        len(twins) > most > 1
    ):  # everything alike needs no scores at all; a token that is 0 can do nothing else
        found.append(list(rules.seen(rule)))
    return [dict.fromkeys(tokens, Fraction(1, len(tokens))) for tokens in found]


def _values_for(
    rules: Rules, mine: tuple[Rule, ...], way: tuple[Mixture, ...]
) -> Float[np.ndarray, "m D"] | None:
    """The smallest W_V for these mixtures; None where none comes near enough to all that is wanted."""
    told = [
        (rule, mixture)
        for rule, mixture in zip(mine, way, strict=True)
        if rule.output is not None
    ]
    if not told:
        return np.zeros((rules.width, rules.dimension + rules.biases))
    Y = np.array(
        [
            sum(
                float(w) * rules.asking(rules.sequences[rule.sequence][a])
                for a, w in mixture.items()
            )
            for rule, mixture in told
        ]
    )
    wanted = np.array([[float(x) for x in rule.output or ()] for rule, _ in told])
    W = smallest_values(Y, wanted)
    miss = np.linalg.norm(Y @ W.T - wanted, axis=1)
    return (
        W
        if all(miss[i] <= float(rule.tolerance) / 4 for i, (rule, _) in enumerate(told))
        else None
    )


def divide_sum_outputs(rules: Rules) -> Rules | None:
    """The rules with an output for each head in place of those for the sum; None where no shares were found."""
    together = [rule for rule in rules.rules if rule.head is None]
    if not together:
        return rules
    alone = {rule.place: rule for rule in rules.rules if rule.head is not None}
    told = [
        *together,
        *(rule for rule in alone.values() if rule.output is not None and rule.attend),
    ]
    Y = np.array([_side_by_side(rules, rule, alone) for rule in told])
    wanted = np.array([[float(x) for x in rule.output or ()] for rule in told])
    W = smallest_values(Y, wanted)
    for rule in together:
        shares = _outputs_of_heads(rules, rule, alone, W)
        off = [
            sum(column, -w)
            for w, column in zip(
                rule.output or (), zip(*shares, strict=True), strict=True
            )
        ]
        each = (
            rule.tolerance - sqrt_above(sum((x * x for x in off), Fraction(0)))
        ) / rules.heads
        if each <= 0:
            return None
        for h, share in enumerate(shares):
            mine = alone[(rule.sequence, rule.token, h)]
            if mine.output is None:
                alone[mine.place] = replace(mine, output=share, tolerance=each)
            else:
                alone[mine.place] = replace(mine, tolerance=min(mine.tolerance, each))
    return replace(rules, rules=tuple(alone.values()))


def _mixture(rules: Rules, rule: Rule) -> Float[np.ndarray, " D"]:
    """What a token attends to in a head, with weights in the ratio of their floors."""
    attend = rule.attend or {}
    total = sum(attend.values())
    X = rules.asking(rules.sequences[rule.sequence])
    found: Float[np.ndarray, " D"] = sum(
        (float(p / total) * X[a] for a, p in attend.items()),
        np.zeros(rules.dimension + rules.biases),
    )
    return found


def _side_by_side(
    rules: Rules, rule: Rule, alone: dict[tuple[int, int, int | None], Rule]
) -> Float[np.ndarray, " HD"]:
    """The mixtures of all heads that the rule is about, 0 for the others."""
    heads = range(rules.heads)
    parts = [
        _mixture(rules, alone[(rule.sequence, rule.token, h)])
        if rule.head in (None, h)
        else np.zeros(rules.dimension + rules.biases)
        for h in heads
    ]
    return np.concatenate(parts)


def _outputs_of_heads(
    rules: Rules,
    rule: Rule,
    alone: dict[tuple[int, int, int | None], Rule],
    W: Float[np.ndarray, "m HD"],
) -> Sequence[tuple[Fraction, ...]]:
    """What each head outputs: what its own rule wants, or what the smallest W_V make of its mixture."""
    found = []
    for h in range(rules.heads):
        mine = alone[(rule.sequence, rule.token, h)]
        part = np.split(W, rules.heads, axis=1)[h] @ _mixture(rules, mine)
        found.append(
            mine.output
            if mine.output is not None
            else tuple(Fraction(float(f"{x:.15g}")) for x in part)
        )
    return found
