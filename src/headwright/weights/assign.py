"""Which token attends where: the ways in which one W_V can serve all wanted outputs of a head.

A token that should output w must attend to a mixture y of tokens with W_V y = w. Candidates are single tokens, then
even mixtures of two, or of all that it sees, then of three. Copies of a token are one candidate, since they always get
the same weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from jaxtyping import Float

from headwright.weights.rules import Rule, Rules
from headwright.weights.values import smallest_values

BEAM = 48  # how many unfinished ways are kept: those with the smallest W_V
MIXED = {1: 4096, 2: 16, 3: 9}  # mixtures of so many are tried if so many different tokens are seen, at most
Mixture = dict[int, Fraction]


@dataclass(frozen=True, eq=False)
class Assignment:
    """A mixture for each rule of a head, in their order, and the W_V that then makes the outputs.

    >>> rules = Rules((np.eye(2),), (Rule(0, output=(Fraction(1), Fraction(0))),))
    >>> found = assignments(rules, rules.rules, [candidates(rules, rule, 1) for rule in rules.rules])
    >>> [(dict(way.mixtures[0]), way.W_V.tolist()) for way in found][0]
    ({0: Fraction(1, 1)}, [[1.0, 0.0], [0.0, 0.0]])
    """

    mixtures: tuple[Mixture, ...]
    W_V: Float[np.ndarray, "m D"]


def assignments(rules: Rules, mine: tuple[Rule, ...], options: Sequence[Sequence[Mixture]]) -> list[Assignment]:
    """The ways that were found to choose one of its options for each rule, those with the smallest W_V first."""
    ways: list[tuple[Mixture, ...]] = [()]
    for number, rule in enumerate(mine):
        longer = [(*way, mixture) for way in ways for mixture in options[number]]
        if rule.output is None:
            ways = longer
            continue
        rated = [(way, W) for way in longer if (W := _values(rules, mine[: number + 1], way)) is not None]
        rated.sort(key=lambda pair: (round(float(np.linalg.norm(pair[1])), 9), sum(map(len, pair[0]))))
        ways = [way for way, _ in rated[:BEAM]]
    found = [(way, _values(rules, mine, way)) for way in ways]
    return [Assignment(way, W) for way, W in found if W is not None]


def candidates(rules: Rules, rule: Rule, most: int) -> list[Mixture]:
    """The mixtures that a rule's token may attend to: the one it is told, or those of up to so many tokens.

    >>> X = np.array([[1.0], [2.0], [1.0]])
    >>> rules = Rules((X,), (Rule(0, output=(Fraction(1),)),))
    >>> [sorted(mixture) for mixture in candidates(rules, rules.rules[0], 2)]
    [[0, 2], [1], [0, 1, 2]]
    """
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
            found += [[i for group in chosen for i in group] for chosen in combinations(twins.values(), k)]
    if len(twins) > most > 1:  # everything alike needs no scores at all; a token that is 0 can do nothing else
        found.append(list(rules.seen(rule)))
    return [dict.fromkeys(tokens, Fraction(1, len(tokens))) for tokens in found]


def _values(rules: Rules, mine: tuple[Rule, ...], way: tuple[Mixture, ...]) -> Float[np.ndarray, "m D"] | None:
    """The smallest W_V for these mixtures; None where none comes near enough to all that is wanted."""
    told = [(rule, mixture) for rule, mixture in zip(mine, way, strict=True) if rule.output is not None]
    if not told:
        return np.zeros((rules.width, rules.dimension + rules.biases))
    Y = np.array([
        sum(float(w) * rules.asking(rules.sequences[rule.sequence][a]) for a, w in mixture.items())
        for rule, mixture in told
    ])  # fmt: skip
    wanted = np.array([[float(x) for x in rule.output or ()] for rule, _ in told])
    W = smallest_values(Y, wanted)
    miss = np.linalg.norm(Y @ W.T - wanted, axis=1)
    return W if all(miss[i] <= float(rule.tolerance) / 4 for i, (rule, _) in enumerate(told)) else None
