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
from itertools import chain, combinations

import numpy as np
from jaxtyping import Float

from headwright.certificates.exact.numbers import sqrt_above
from headwright.head_design.head import Vector
from headwright.head_design.rules import Rule, Rules

BEAM = 48  # how many unfinished ways are kept: those with the smallest W_V
# Mixtures of so many tokens are tried if so many different tokens are seen, at most.
MIXED = {1: 4096, 2: 16, 3: 9}
NEAR_ENOUGH = 1 / 4  # of a tolerance: how far W_V may miss an output in floating point
Mixture = dict[int, Fraction]
Place = tuple[int, int, int | None]  # sequence, token and head of a rule


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
    rules: Rules, of_head: tuple[Rule, ...], options: Sequence[Sequence[Mixture]]
) -> list[MixtureAssignment]:
    """The ways that were found to choose one of its options for each rule, those with the smallest W_V first.

    Rule by rule, and after each rule with an output the ways with the largest W_V are given up.
    """
    ways: list[tuple[Mixture, ...]] = [()]
    for number, rule in enumerate(of_head):
        longer = [(*way, mixture) for way in ways for mixture in options[number]]
        if rule.output is None:
            ways = longer
            continue
        possible = _with_values(rules, of_head[: number + 1], longer)
        possible.sort(key=_size)
        ways = [assignment.mixtures for assignment in possible[:BEAM]]
    return _with_values(rules, of_head, ways)


def _with_values(
    rules: Rules, of_head: tuple[Rule, ...], ways: Sequence[tuple[Mixture, ...]]
) -> list[MixtureAssignment]:
    """The ways for which there is a W_V."""
    possible = []
    for way in ways:
        W_V = _values_for(rules, of_head, way)
        if W_V is not None:
            possible.append(MixtureAssignment(way, W_V))
    return possible


def _size(assignment: MixtureAssignment) -> tuple[float, int]:
    """The norm of W_V, and then how many tokens are attended to."""
    norm = round(float(np.linalg.norm(assignment.W_V)), 9)
    return norm, sum(map(len, assignment.mixtures))


def candidates(rules: Rules, rule: Rule, most: int) -> list[Mixture]:
    """The mixtures that a rule's token may attend to: the one it is told, or those of up to so many tokens."""
    if rule.output is None and rule.attend is None:
        return [{}]  # it only limits weights
    if rule.attend is not None:
        total = sum(rule.attend.values())
        return [{token: p / total for token, p in rule.attend.items()}]
    twins: dict[bytes, list[int]] = {}
    for token, x in zip(rules.seen(rule), rules.tokens(rule) + 0.0, strict=True):
        twins.setdefault(x.tobytes(), []).append(token)
    chosen_tokens = []
    for count in range(1, most + 1):
        if len(twins) > MIXED[count]:
            continue
        for groups in combinations(twins.values(), count):
            chosen_tokens.append(list(chain.from_iterable(groups)))
    # Everything alike needs no scores at all; a token that is 0 can do nothing else.
    if len(twins) > most > 1:
        chosen_tokens.append(list(rules.seen(rule)))
    return [_even_mixture(tokens) for tokens in chosen_tokens]


def _even_mixture(tokens: Sequence[int]) -> Mixture:
    return dict.fromkeys(tokens, Fraction(1, len(tokens)))


def _values_for(
    rules: Rules, of_head: tuple[Rule, ...], way: tuple[Mixture, ...]
) -> Float[np.ndarray, "m D"] | None:
    """The smallest W_V for these mixtures; None where none comes near enough to all that is wanted."""
    mixed_tokens = []
    with_output = []
    for rule, mixture in zip(of_head, way, strict=True):
        if rule.output is not None:
            X = rules.asking(rules.sequences[rule.sequence])
            mixed_tokens.append(_mixed(X, mixture))
            with_output.append(rule)
    if not with_output:
        return np.zeros((rules.width, rules.dimension + rules.biases))
    Y = np.array(mixed_tokens)
    wanted = _wanted_outputs(with_output)
    W = smallest_values(Y, wanted)
    misses = np.linalg.norm(Y @ W.T - wanted, axis=1)
    for miss, rule in zip(misses.tolist(), with_output, strict=True):
        if miss > NEAR_ENOUGH * float(rule.tolerance):
            return None
    return W


def _mixed(X: Float[np.ndarray, "T D"], mixture: Mixture) -> Float[np.ndarray, " D"]:
    """The mixture of tokens, in floating point."""
    mixed = np.zeros(X.shape[1])
    for token, weight in mixture.items():
        mixed = mixed + float(weight) * X[token]
    return mixed


def _wanted_outputs(rules: Sequence[Rule]) -> Float[np.ndarray, "k m"]:
    """The outputs that rules want, a row each."""
    return np.array([[float(x) for x in rule.output or ()] for rule in rules])


def divide_sum_outputs(rules: Rules) -> Rules | None:
    """The rules with an output for each head in place of those for the sum; None where no shares were found."""
    of_sum = [rule for rule in rules.rules if rule.head is None]
    if not of_sum:
        return rules
    by_place = {rule.place: rule for rule in rules.rules if rule.head is not None}
    with_output = list(of_sum)
    for rule in by_place.values():
        if rule.output is not None and rule.attend:
            with_output.append(rule)
    # One linear equation for all W_V side by side, for each output.
    Y = np.array([_side_by_side(rules, rule, by_place) for rule in with_output])
    W = smallest_values(Y, _wanted_outputs(with_output))
    for rule in of_sum:
        shares = _outputs_of_heads(rules, rule, by_place, W)
        # The heads have in common what rounding the shares leaves of the tolerance.
        left = rule.tolerance - _distance_above(rule.output or (), shares)
        tolerance = left / rules.heads
        if tolerance <= 0:
            return None
        for head, share in enumerate(shares):
            place = (rule.sequence, rule.token, head)
            of_head = by_place[place]
            if of_head.output is None:
                by_place[place] = replace(of_head, output=share, tolerance=tolerance)
            else:
                least = min(of_head.tolerance, tolerance)
                by_place[place] = replace(of_head, tolerance=least)
    return replace(rules, rules=tuple(by_place.values()))


def _distance_above(wanted: Vector, shares: Sequence[Vector]) -> Fraction:
    """At least how far the sum of the shares is from what is wanted."""
    square = Fraction(0)
    for w, column in zip(wanted, zip(*shares, strict=True), strict=True):
        square += (sum(column) - w) ** 2
    return sqrt_above(square)


def _mixture(rules: Rules, rule: Rule) -> Float[np.ndarray, " D"]:
    """What a token attends to in a head, with weights in the ratio of their floors."""
    attend = rule.attend or {}
    total = sum(attend.values())
    mixture = {token: p / total for token, p in attend.items()}
    return _mixed(rules.asking(rules.sequences[rule.sequence]), mixture)


def _side_by_side(
    rules: Rules, rule: Rule, by_place: dict[Place, Rule]
) -> Float[np.ndarray, " HD"]:
    """The mixtures of all heads that the rule is about, 0 for the others."""
    mixtures = []
    for head in range(rules.heads):
        if rule.head in (None, head):
            of_head = by_place[rule.sequence, rule.token, head]
            mixtures.append(_mixture(rules, of_head))
        else:
            mixtures.append(np.zeros(rules.dimension + rules.biases))
    return np.concatenate(mixtures)


def _outputs_of_heads(
    rules: Rules,
    rule: Rule,
    by_place: dict[Place, Rule],
    W: Float[np.ndarray, "m HD"],
) -> list[Vector]:
    """What each head outputs: what its own rule wants, or what the smallest W_V make of its mixture."""
    outputs = []
    W_of_heads = np.split(W, rules.heads, axis=1)
    for head in range(rules.heads):
        of_head = by_place[rule.sequence, rule.token, head]
        if of_head.output is not None:
            outputs.append(of_head.output)
            continue
        output = W_of_heads[head] @ _mixture(rules, of_head)
        outputs.append(tuple(_short_number(x) for x in output.tolist()))
    return outputs


def _short_number(x: float) -> Fraction:
    """A float as a decimal of 15 digits, exactly."""
    return Fraction(float(f"{x:.15g}"))
