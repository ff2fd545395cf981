"""Why a head cannot be of a smaller dimension: evidence for trusted/heads/dimension.py, which has the theorems.

* One dimension: 'a beats l for x' is (w_Q x)(w_K (a - l)) > 0. Give w_Q x and w_K (a - l) signs, one after the other;
  where two ways to the same sign disagree, the facts on these ways contradict each other. Where none do, the signs of
  the queries are where a search for a head of one dimension begins.
* More: sets of tokens that rules split in all ways.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, islice

import numpy as np
from jaxtyping import Float

from headwright.certificates.exact.heads.dimension import (
    HIGHEST,
    RuleView,
    check_dimension,
)
from headwright.certificates.exact.keys import Reject
from headwright.head_design.certify import DimensionBound
from headwright.head_design.rules import Rule, Rules

DIGITS = 9  # after which vectors count as multiples of each other; the checker looks at all of them
MOST_SETS = 20_000  # of tokens that might be split in all ways
Node = tuple[
    str, bytes
]  # "query" and a token's direction, or "difference" and that of two


@dataclass(frozen=True)
class Fact:
    """In one rule (its number), one token that is seen beats another."""

    rule: int
    target: int
    rival: int


@dataclass(frozen=True)
class Top:
    """What one rule lifts above all else that it sees; tokens have numbers, equal ones the same, and sets are bits."""

    rule: int
    lifts: int
    seen: int
    ids: dict[int, int]  # of the tokens that it sees


@dataclass
class Signs:
    """Signs of w_Q x and w_K (a - l), as far as facts fix them: relative to one of each connected part."""

    sign: dict[Node, bool] = field(default_factory=dict)
    part: dict[Node, int] = field(default_factory=dict)
    walk: tuple[Fact, ...] = ()  # facts that contradict each other, if any do

    def of(self, x: Float[np.ndarray, " D"]) -> tuple[int, int]:
        """The sign of w_Q x, and the connected part that it belongs to; 0 and -1 where nothing is known."""
        ((direction, above),) = _directions(x[None])
        if (node := ("query", direction)) not in self.part:
            return 0, -1
        return (1 if self.sign[node] == above else -1), self.part[node]


def signs(rules: Rules, claims: Sequence[Rule], head: int = 0) -> Signs:
    """The signs that a head of one dimension must have, up to one for each connected part; or a contradiction."""
    edges: dict[Node, list[tuple[Node, bool, Fact]]] = {}
    for fact, one, other, same in _edges(rules, claims, head):
        edges.setdefault(one, []).append((other, same, fact))
        edges.setdefault(other, []).append((one, same, fact))
    found, parent = Signs(), dict[Node, tuple[Node, Fact]]()
    for number, root in enumerate(edges):
        if root in found.sign:
            continue
        found.sign[root], found.part[root] = True, number
        waiting = deque([root])
        while waiting:
            node = waiting.popleft()
            for other, same, fact in edges[node]:
                sign = found.sign[node] == same
                if other not in found.sign:
                    found.sign[other], found.part[other], parent[other] = (
                        sign,
                        number,
                        (node, fact),
                    )
                    waiting.append(other)
                elif found.sign[other] != sign:
                    found.walk = _closed(node, other, fact, parent)
                    return found
    return found


def dimension_bound(
    rules: Rules, claims: Sequence[Rule], head: int
) -> DimensionBound | None:
    """The highest bound on the dimension of a head that evidence was found for; None where that is 1."""
    found = None
    if rules.bias and any(map(any, rules.bias[head])):
        return None
    if walk := signs(rules, claims, head).walk:
        steps = [{"rule": f.rule, "target": f.target, "rival": f.rival} for f in walk]
        found = _agreed(rules, claims, DimensionBound(head, 2, {"walk": steps}))
    tops = _tops(rules, claims, head)
    for least in range(3, HIGHEST + 1) if found else ():
        evidence = _shattered(tops, least + 1)
        higher = (
            None
            if evidence is None
            else _agreed(rules, claims, DimensionBound(head, least, evidence))
        )
        if higher is None:
            break
        found = higher
    return found


def _agreed(
    rules: Rules, claims: Sequence[Rule], bound: DimensionBound
) -> DimensionBound | None:
    """The bound, if the checker takes it."""
    exact = [[tuple(map(Fraction, x)) for x in X.tolist()] for X in rules.sequences]
    views = {
        number: RuleView(
            tuple(
                map(
                    Fraction,
                    rules.asking(rules.sequences[c.sequence][c.token]).tolist(),
                )
            ),
            {j: exact[c.sequence][j] for j in rules.seen(c)},
            c.attend or {},
        )
        for number, c in enumerate(claims)
        if c.head == bound.head
    }
    try:
        check_dimension(Fraction(bound.least), bound.evidence, views)
    except Reject:
        return None
    return bound


def _edges(
    rules: Rules, claims: Sequence[Rule], head: int
) -> Iterator[tuple[Fact, Node, Node, bool]]:
    """Each fact with what it connects, and whether these two have the same sign."""
    for number, claim in enumerate(claims):
        X = rules.sequences[claim.sequence]
        ((query, above),) = _directions(rules.asking(X[claim.token])[None])
        if claim.head != head or not query:
            continue
        view = _view(rules, claim)
        for a in claim.attend or ():
            beaten = [i for i in view.seen if view.beats(a, i)]
            for i, (difference, more) in zip(
                beaten, _directions(X[a] - X[beaten]), strict=True
            ):
                if difference:
                    yield (
                        Fact(number, a, i),
                        ("query", query),
                        ("difference", difference),
                        above == more,
                    )


def _view(rules: Rules, claim: Rule) -> RuleView:
    """The rule as the checker looks at it; only places matter here, not numbers."""
    return RuleView((), dict.fromkeys(rules.seen(claim), ()), claim.attend or {})


def _directions(vectors: Float[np.ndarray, "n D"]) -> list[tuple[bytes, bool]]:
    """Each vector up to a factor, and whether that is above 0; nothing for the vector 0."""
    largest = vectors[np.arange(len(vectors)), np.abs(vectors).argmax(axis=1)]
    with np.errstate(
        all="ignore"
    ):  # what overflows is found to be no contradiction, by the checker
        unit = (
            np.round(vectors / np.where(largest == 0, 1.0, largest)[:, None], DIGITS)
            + 0.0
        )
    return [
        (x.tobytes() if size else b"", bool(size > 0))
        for x, size in zip(unit, largest, strict=True)
    ]


def _closed(
    one: Node, other: Node, fact: Fact, parent: dict[Node, tuple[Node, Fact]]
) -> tuple[Fact, ...]:
    """The fact that contradicts, then those from its query back to its difference."""
    query, difference = (one, other) if one[0] == "query" else (other, one)
    up, down = _path(query, parent), _path(difference, parent)
    while up and down and up[-1] == down[-1]:
        up, down = up[:-1], down[:-1]
    return (fact, *up, *reversed(down))


def _path(node: Node, parent: dict[Node, tuple[Node, Fact]]) -> list[Fact]:
    """The facts from a node to the root of its part."""
    facts = []
    while node in parent:
        node, fact = parent[node]
        facts.append(fact)
    return facts


def _tops(rules: Rules, claims: Sequence[Rule], head: int) -> list[Top]:
    """All the ways in which rules lift some tokens above all others that they see."""
    names: dict[bytes, int] = {}
    found = []
    for number, claim in enumerate(claims):
        view, p = _view(rules, claim), claim.attend or {}
        X = rules.sequences[claim.sequence] + 0.0
        ids = {j: names.setdefault(X[j].tobytes(), len(names)) for j in view.seen}
        order = sorted(p, key=lambda a: -p[a]) if claim.head == head else []
        for k in range(1, len(order) + 1):
            rest = [i for i in ids if i not in order[:k]]
            if all(view.beats(a, b) for a in order[:k] for b in rest):
                found.append(
                    Top(
                        number,
                        sum({1 << ids[a] for a in order[:k]}),
                        sum({1 << i for i in ids.values()}),
                        ids,
                    )
                )
    return found


def _shattered(tops: Sequence[Top], size: int) -> dict[str, list[int]] | None:
    """So many tokens that rules split in every way; None where none were found."""
    ways = 2 ** (size - 1) - 1
    if (
        sum(top.lifts.bit_count() > 1 for top in tops) < ways - size
    ):  # splits that leave two or more on both sides
        return None
    most = max((top.lifts.bit_length() for top in tops), default=0)
    lifted = [i for i in range(most) if any(top.lifts >> i & 1 for top in tops)]
    for chosen in islice(combinations(lifted, size), MOST_SETS):
        points = sum(1 << i for i in chosen)
        made: dict[int, Top] = {}
        for top in tops:
            if not points & ~top.seen and (part := top.lifts & points) not in (
                0,
                points,
            ):
                made.setdefault(min(part, points & ~part), top)
        if len(made) == ways:
            using = sorted(made.values(), key=lambda top: top.rule)
            numbers = list(dict.fromkeys(top.rule for top in using))
            places = {i: token for token, i in using[0].ids.items()}
            return {"tokens": [places[i] for i in chosen], "rules": numbers}
    return None
