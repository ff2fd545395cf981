"""Evidence for bounds on the head dimension: found wherever it is, and signs where there is none."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from headwright.head_design.dimension import dimension_bound, signs
from headwright.head_design.rules import Rule, Rules

MOST, PAIR = Fraction(2, 3), Fraction(45, 100)


def least(rules: Rules, head: int = 0) -> int:
    found = dimension_bound(rules, rules.rules, head)
    return 1 if found is None else found.least


def test_where_nothing_contradicts_there_are_signs() -> None:
    claims = [Rule(i, attend={i - 1: MOST}) for i in range(1, 6)]
    found = signs(Rules((np.eye(6),), tuple(claims), causal=True), claims)
    assert not found.walk
    assert [found.of(x)[0] for x in np.eye(6)[1:]] in (
        [1, -1, 1, -1, 1],
        [-1, 1, -1, 1, -1],
    )
    assert found.of(np.eye(6)[0]) == (0, -1)
    assert found.of(-np.eye(6)[1])[0] == -found.of(np.eye(6)[1])[0]


def test_a_contradiction_is_found_across_sequences() -> None:
    """Each sequence copies one of the same three tokens."""
    x, asks = np.eye(6)[:3], np.eye(6)[3:]
    sequences = tuple(np.vstack([np.roll(x, i, axis=0), asks[i]]) for i in range(3))
    copies = tuple(Rule(3, sequence=i, attend={0: MOST}) for i in range(3))
    assert least(Rules(sequences, copies)) == 2
    assert least(Rules(sequences, copies[:2])) == 1


def test_a_contradiction_is_found_in_differences_that_are_multiples() -> None:
    """Steps 1, 2, ... along one direction: what is ahead of one pair is ahead of all."""
    X = np.array(
        [[0.0, 1.0], [1.0, 1.0], [2.0, 1.0], [3.0, 1.0], [5.0, 2.0], [7.0, -1.0]]
    )
    first = Rule(4, attend={1: MOST})
    seen = ("111111", "111111", "111111", "111111", "110000", "001100")
    there = Rules((X,), (first, Rule(5, attend={2: MOST})), mask=seen)
    assert least(there) == 1  # forward for one query, back for the other
    tied = Rules(
        (np.vstack([X, 2 * X[4:5]]),),
        (first, Rule(6, attend={2: MOST})),
        mask=("1111110",) * 4 + ("1100000", "1111110", "0011000"),
    )
    assert (
        least(tied) == 2
    )  # the query is twice the first one, and must look the other way


def test_heads_are_looked_at_one_by_one() -> None:
    copies = tuple(
        Rule(i, head=h, attend={(i if h else 0): MOST})
        for h in (0, 1)
        for i in range(3)
    )
    rules = Rules((np.eye(3),), copies)
    assert (least(rules, 0), least(rules, 1)) == (1, 2)


def test_biases_of_queries_change_nothing_and_biases_of_places_all() -> None:
    copies = tuple(Rule(i, attend={i: MOST}) for i in range(3))
    table = tuple(tuple(Fraction(int(i == j)) for j in range(3)) for i in range(3))
    assert least(Rules((np.eye(3),), copies, biases=True)) == 2
    assert least(Rules((np.eye(3),), copies, bias=(table,))) == 1


@pytest.mark.parametrize(("size", "bound"), [(3, 2), (4, 3), (5, 4)])
def test_tokens_that_are_split_in_all_ways_are_found(size: int, bound: int) -> None:
    """Among two more tokens, each subset of up to half of them is averaged."""
    subsets = [s for k in range(1, size // 2 + 1) for s in combinations(range(size), k)]
    X = np.eye(len(subsets) + size + 2)
    rules = [
        Rule(size + 2 + i, attend=dict.fromkeys(s, Fraction(9, 10) / len(s)))
        for i, s in enumerate(subsets)
    ]
    assert least(Rules((X,), tuple(rules))) == bound
