"""Why a head cannot be of a smaller dimension: evidence for `certificates/exact/heads/dimension.py`, which has
the theorems.

* One dimension: 'a beats l for x' is (w_Q x)(w_K (a - l)) > 0. Give w_Q x and w_K (a - l) signs, one after the other;
  where two ways to the same sign disagree, the facts on these ways contradict each other. Where none do, the signs of
  the queries are where a search for a head of one dimension begins.
* More: sets of tokens that rules split in all ways.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
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
# "query" and a token's direction, or "difference" and that of two.
Node = tuple[str, bytes]
Parents = dict[Node, tuple[Node, "Fact"]]  # from where a sign was found, by which fact


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
        ((direction, is_above),) = _directions(x[None])
        node = ("query", direction)
        if node not in self.part:
            return 0, -1
        sign = 1 if self.sign[node] == is_above else -1
        return sign, self.part[node]


def signs(rules: Rules, claims: Sequence[Rule], head: int = 0) -> Signs:
    """The signs that a head of one dimension must have, up to one for each connected part; or a contradiction."""
    edges: dict[Node, list[tuple[Node, bool, Fact]]] = {}
    for fact, query, difference, same in _edges(rules, claims, head):
        edges.setdefault(query, []).append((difference, same, fact))
        edges.setdefault(difference, []).append((query, same, fact))
    result = Signs()
    parents: Parents = {}
    for number, root in enumerate(edges):
        if root in result.sign:
            continue
        result.sign[root] = True
        result.part[root] = number
        # Breadth first: from each node to its neighbours, whose signs follow.
        waiting = deque([root])
        while waiting:
            node = waiting.popleft()
            for other, same, fact in edges[node]:
                sign = result.sign[node] == same
                if other not in result.sign:
                    result.sign[other] = sign
                    result.part[other] = number
                    parents[other] = (node, fact)
                    waiting.append(other)
                elif result.sign[other] != sign:
                    result.walk = _closed_walk(node, other, fact, parents)
                    return result
    return result


def dimension_bound(
    rules: Rules, claims: Sequence[Rule], head: int
) -> DimensionBound | None:
    """The highest bound on the dimension of a head that evidence was found for; None where that is 1."""
    if rules.bias and any(map(any, rules.bias[head])):
        return None
    walk = signs(rules, claims, head).walk
    if not walk:
        return None
    steps = [{"rule": f.rule, "target": f.target, "rival": f.rival} for f in walk]
    bound = DimensionBound(head, 2, {"walk": steps})
    if not _is_accepted(rules, claims, bound):
        return None
    tops = _tops(rules, claims, head)
    for least in range(3, HIGHEST + 1):
        evidence = _shattered(tops, least + 1)
        if evidence is None:
            break
        higher = DimensionBound(head, least, evidence)
        if not _is_accepted(rules, claims, higher):
            break
        bound = higher
    return bound


def _is_accepted(rules: Rules, claims: Sequence[Rule], bound: DimensionBound) -> bool:
    """The checker takes the bound."""
    views = {}
    for number, claim in enumerate(claims):
        if claim.head == bound.head:
            X = rules.sequences[claim.sequence]
            seen = {token: _exactly(X[token]) for token in rules.seen(claim)}
            query = _exactly(rules.asking(X[claim.token]))
            views[number] = RuleView(query, seen, claim.attend or {})
    try:
        check_dimension(Fraction(bound.least), bound.evidence, views)
    except Reject:
        return False
    return True


def _exactly(x: Float[np.ndarray, " D"]) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, x.tolist()))


def _edges(
    rules: Rules, claims: Sequence[Rule], head: int
) -> Iterator[tuple[Fact, Node, Node, bool]]:
    """Each fact with what it connects, and whether these two have the same sign."""
    for number, claim in enumerate(claims):
        X = rules.sequences[claim.sequence]
        ((query, query_above),) = _directions(rules.asking(X[claim.token])[None])
        if claim.head != head or not query:
            continue
        view = _view(rules, claim)
        for target in claim.attend or ():
            beaten = [rival for rival in view.seen if view.beats(target, rival)]
            directions = _directions(X[target] - X[beaten])
            for rival, (difference, above) in zip(beaten, directions, strict=True):
                if difference:
                    fact = Fact(number, target, rival)
                    same = query_above == above
                    yield fact, ("query", query), ("difference", difference), same


def _view(rules: Rules, claim: Rule) -> RuleView:
    """The rule as the checker looks at it; only places matter here, not numbers."""
    return RuleView((), dict.fromkeys(rules.seen(claim), ()), claim.attend or {})


def _directions(vectors: Float[np.ndarray, "n D"]) -> list[tuple[bytes, bool]]:
    """Each vector up to a factor, and whether that is above 0; nothing for the vector 0."""
    largest = vectors[np.arange(len(vectors)), np.abs(vectors).argmax(axis=1)]
    divisors = np.where(largest == 0, 1.0, largest)
    # What overflows is found to be no contradiction, by the checker.
    with np.errstate(all="ignore"):
        units = np.round(vectors / divisors[:, None], DIGITS) + 0.0
    directions = []
    for unit, size in zip(units, largest, strict=True):
        name = unit.tobytes() if size else b""
        directions.append((name, bool(size > 0)))
    return directions


def _closed_walk(
    node: Node, other: Node, fact: Fact, parents: Parents
) -> tuple[Fact, ...]:
    """The fact that contradicts, then those from its query back to its difference."""
    query = node
    difference = other
    if node[0] != "query":
        query = other
        difference = node
    up = _path_to_root(query, parents)
    down = _path_to_root(difference, parents)
    while up and down and up[-1] == down[-1]:
        up.pop()
        down.pop()
    return (fact, *up, *reversed(down))


def _path_to_root(node: Node, parents: Parents) -> list[Fact]:
    """The facts from a node to the root of its part."""
    facts = []
    while node in parents:
        node, fact = parents[node]
        facts.append(fact)
    return facts


def _tops(rules: Rules, claims: Sequence[Rule], head: int) -> list[Top]:
    """All the ways in which rules lift some tokens above all others that they see."""
    id_of_token: dict[bytes, int] = {}
    tops = []
    for number, claim in enumerate(claims):
        view = _view(rules, claim)
        X = rules.sequences[claim.sequence] + 0.0
        ids = {}
        for token in view.seen:
            ids[token] = id_of_token.setdefault(X[token].tobytes(), len(id_of_token))
        if claim.head != head:
            continue
        attend = claim.attend or {}
        order = sorted(attend, key=lambda token: -attend[token])
        for count in range(1, len(order) + 1):
            first = order[:count]
            rest = [token for token in ids if token not in first]
            if _all_beat(view, first, rest):
                lifts = _bits(ids[token] for token in first)
                tops.append(Top(number, lifts, _bits(ids.values()), ids))
    return tops


def _all_beat(view: RuleView, winners: Sequence[int], losers: Sequence[int]) -> bool:
    for winner in winners:
        for loser in losers:
            if not view.beats(winner, loser):
                return False
    return True


def _bits(numbers: Iterable[int]) -> int:
    """A set of numbers as the bits of one."""
    bits = 0
    for number in numbers:
        bits |= 1 << number
    return bits


def _shattered(tops: Sequence[Top], size: int) -> dict[str, list[int]] | None:
    """So many tokens that rules split in every way; None where none were found."""
    ways = 2 ** (size - 1) - 1
    # Splits that leave two or more on both sides need tops of two tokens or more.
    if sum(top.lifts.bit_count() > 1 for top in tops) < ways - size:
        return None
    all_lifted = 0
    for top in tops:
        all_lifted |= top.lifts
    lifted = [i for i in range(all_lifted.bit_length()) if all_lifted >> i & 1]
    for chosen in islice(combinations(lifted, size), MOST_SETS):
        top_of_split = _splits(tops, _bits(chosen))
        if len(top_of_split) == ways:
            using = sorted(top_of_split.values(), key=lambda top: top.rule)
            numbers = list(dict.fromkeys(top.rule for top in using))
            token_of_id = {i: token for token, i in using[0].ids.items()}
            return {"tokens": [token_of_id[i] for i in chosen], "rules": numbers}
    return None


def _splits(tops: Sequence[Top], points: int) -> dict[int, Top]:
    """The splits of these tokens that rules make, by one of their two sides."""
    top_of_split: dict[int, Top] = {}
    for top in tops:
        lifted = top.lifts & points
        sees_all = not points & ~top.seen
        if sees_all and lifted not in (0, points):
            side = min(lifted, points & ~lifted)
            top_of_split.setdefault(side, top)
    return top_of_split
