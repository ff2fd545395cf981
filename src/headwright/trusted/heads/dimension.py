"""The head dimension: why no head with fewer rows in W_Q and W_K keeps some rules.

A rule with least weights p_a, P in all, leaves token l at most 1 - P + p_l (p_l = 0 unless l is a
target). So where p_a - p_l > 1 - P, the score of a is above that of l: a *beats* l. A token that
gets more than 1/2 beats all others.

None of dimension 1. There x scores y as (w_Q x)(w_K y), numbers all of them, and 'a beats l for x'
is a fact (w_Q x)(w_K (a - l)) > 0. In a closed walk of facts that share by turns their x and their
a - l, up to factors, the product of all is a product of squares and of these factors: where that is
below 0, the facts contradict each other.

None of dimension r (Radon). Keys k_t of r + 2 tokens in r dimensions have numbers c_t, not all 0,
with sum_t c_t = 0 and sum_t c_t k_t = 0, so sum_t c_t score_t = 0 for every query. But it is above
0 where all tokens with c_t > 0 beat all with c_t < 0, and below 0 the other way round. So of every
r + 2 tokens, some split in two is made by no rule.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from headwright.trusted.certificate import Json, Vector, listed, named, whole
from headwright.trusted.keys import Reject, affordable

HIGHEST = 8  # the bound that is checked at most: there are 2^HIGHEST - 1 splits
MOST = 4096  # rules, and tokens


@dataclass(frozen=True)
class View:
    """One rule: a token, all that it sees by number, and the least weights of some of these.

    >>> one, two = (Fraction(1),), (Fraction(2),)
    >>> View(one, {0: one, 1: two}, {1: Fraction(2, 3)}).beats(1, 0)
    True
    """

    token: Vector
    seen: dict[int, Vector]
    attend: dict[int, Fraction]

    def beats(self, a: int, other: int) -> bool:
        """The score of a is above that of the other, in every head that keeps the rule."""
        p = self.attend
        return p.get(a, 0) - p.get(other, 0) > 1 - sum(p.values())

    def above(self, tokens: Sequence[Vector]) -> list[list[bool]]:
        """For each two of these tokens: equals of both are seen, and the first beats the second."""
        p, left = self.attend, 1 - sum(self.attend.values())
        equal = [[p.get(i, 0) for i, y in self.seen.items() if y == x] for x in tokens]
        return [[bool(x and y) and max(x) - min(y) > left for y in equal] for x in equal]


def check_dimension(least: Fraction, evidence: Json, views: dict[int, View]) -> None:
    """Reject, unless no head of a dimension below `least` keeps the rules with these views."""
    if least == 2:
        walk = named(evidence, "a dimension's evidence", "walk")["walk"]
        _check_walk(listed(walk, "a walk", 2), views)
    elif least.denominator == 1 and 2 < least <= HIGHEST:
        e = named(evidence, "a dimension's evidence", "rules", "tokens")
        using = [views[_chosen(rule, views, "a rule")] for rule in listed(e["rules"], "rules", 1)]
        seen = using[0].seen
        tokens = [seen[_chosen(x, seen, "a token")] for x in listed(e["tokens"], "tokens")]
        if len(tokens) != least + 1 or len(using) >= 2**least:
            raise Reject(f"expected {least + 1} tokens to split, and no more rules than ways to")
        _check_splits(tokens, using)
    else:
        raise Reject(f"expected a head dimension from 2 to {HIGHEST}")


def _check_walk(walk: list[Json], views: dict[int, View]) -> None:
    """Reject, unless the product of the facts' factors along this closed walk is below 0."""
    affordable(len(walk) * sum(len(view.attend) for view in views.values()) << 10)
    facts = []
    for step in walk:
        s = named(step, "a step of a walk", "rule", "target", "rival")
        view = views[_chosen(s["rule"], views, "a rule")]
        a, other = (_chosen(s[x], view.seen, "a token") for x in ("target", "rival"))
        if not view.beats(a, other):
            raise Reject(f"from rule {s['rule']} it does not follow that token {a} beats {other}")
        apart = zip(view.seen[a], view.seen[other], strict=True)
        facts.append((view.token, tuple(x - y for x, y in apart)))
    above = True  # the product of all factors is above 0
    for number, (fact, after) in enumerate(zip(facts, facts[1:] + facts[:1], strict=True)):
        above ^= _opposite(fact[number % 2], after[number % 2])
    if len(facts) % 2 or above:
        raise Reject("the walk is no contradiction")


def _check_splits(tokens: list[Vector], using: Sequence[View]) -> None:
    """Reject, unless in each split of these tokens in two, one part beats the other in a rule."""
    tables, everyone = [view.above(tokens) for view in using], range(len(tokens))
    for one in (one for size in everyone[1:] for one in combinations(everyone, size)):
        two = [i for i in everyone if i not in one]
        if not any(_lifts(t, one, two) or _lifts(t, two, one) for t in tables):
            raise Reject("no rule splits the tokens in one of the ways")


def _lifts(above: list[list[bool]], one: Sequence[int], two: Sequence[int]) -> bool:
    return all(above[a][b] for a in one for b in two)


def _chosen(given: Json, known: Collection[int], what: str) -> int:
    if (number := whole(given, 0, MOST, what)) not in known:
        raise Reject(f"{what} is {number}, which is of another head, or is not seen")
    return number


def _opposite(x: Vector, y: Vector) -> bool:
    """y is a multiple of x, and the factor is below 0; if it is no multiple, Reject."""
    i = next((i for i, a in enumerate(x) if a), None)
    if i is None or not y[i] or any(a * y[i] != b * x[i] for a, b in zip(x, y, strict=True)):
        raise Reject("two steps of a walk have nothing in common")
    return (x[i] < 0) != (y[i] < 0)
