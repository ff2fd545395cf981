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

from headwright.certificates.exact.keys import Reject, require_affordable
from headwright.certificates.exact.values import (
    Json,
    Vector,
    read_integer,
    read_list,
    read_object,
)

HIGHEST = 8  # the bound that is checked at most: there are 2^HIGHEST - 1 splits
MOST = 4096  # rules, and tokens
Table = list[list[bool]]


@dataclass(frozen=True)
class RuleView:
    """One rule: a token, all that it sees by number, and the least weights of some of these.

    >>> first, second = (Fraction(1),), (Fraction(2),)
    >>> RuleView(first, {0: first, 1: second}, {1: Fraction(2, 3)}).beats(1, 0)
    True
    """

    token: Vector
    seen: dict[int, Vector]
    attend: dict[int, Fraction]

    def open_weight(self) -> Fraction:
        """1 - P: the weight that the rule leaves open."""
        return 1 - sum(self.attend.values(), Fraction(0))

    def beats(self, target: int, rival: int) -> bool:
        """The score of the target is above that of the rival, in every head that keeps the rule."""
        least = self.attend.get(target, Fraction(0))
        least_of_rival = self.attend.get(rival, Fraction(0))
        return least - least_of_rival > self.open_weight()

    def beats_by_equals(self, tokens: Sequence[Vector]) -> Table:
        """For each two of these tokens: equals of both are seen, and the first beats the second.

        Equal tokens have equal scores, so that the best of the first and the worst of the second
        decide.
        """
        least_weights: list[list[Fraction]] = []
        for token in tokens:
            of_equals = []
            for number, other in self.seen.items():
                if other == token:
                    of_equals.append(self.attend.get(number, Fraction(0)))
            least_weights.append(of_equals)
        open_weight = self.open_weight()
        table = []
        for first in least_weights:
            row = []
            for second in least_weights:
                both_seen = bool(first and second)
                row.append(both_seen and max(first) - min(second) > open_weight)
            table.append(row)
        return table


@dataclass(frozen=True)
class WalkStep:
    """A fact (w_Q x)(w_K (a - l)) > 0: x, and a - l."""

    token: Vector
    difference: Vector


def check_dimension(
    least: Fraction, evidence: Json, views: dict[int, RuleView]
) -> None:
    """Reject, unless no head of a dimension below `least` keeps the rules with these views."""
    if least == 2:
        fields = read_object(evidence, "a dimension's evidence", "walk")
        _check_walk(read_list(fields["walk"], "a walk", 2), views)
    elif least.denominator == 1 and 2 < least <= HIGHEST:
        fields = read_object(evidence, "a dimension's evidence", "rules", "tokens")
        using = []
        for number in read_list(fields["rules"], "rules", 1):
            using.append(views[_read_choice(number, views, "a rule")])
        # By Radon's theorem, r + 2 points in r = least - 1 dimensions have a split in two parts
        # whose convex hulls meet: no query scores all of one part above all of the other.
        seen = using[0].seen
        tokens = []
        for number in read_list(fields["tokens"], "tokens"):
            tokens.append(seen[_read_choice(number, seen, "a token")])
        if len(tokens) != least + 1 or len(using) >= 2**least:
            raise Reject(
                f"expected {least + 1} tokens to split, and no more rules than ways to"
            )
        _check_splits(tokens, using)
    else:
        raise Reject(f"expected a head dimension from 2 to {HIGHEST}")


def _check_walk(entries: list[Json], views: dict[int, RuleView]) -> None:
    """Reject, unless the product of the facts' factors along this closed walk is below 0."""
    # Each fact looks at the weights of its rule, which are fewer than those of all rules.
    targets = sum(len(view.attend) for view in views.values())
    require_affordable(len(entries) * targets << 10)
    steps = [_read_step(entry, views) for entry in entries]
    # By turns two steps share their x, and two their a - l, up to a factor; the last step and the
    # first are a turn, too. So each x and each a - l comes in twice, and the product of all facts,
    # which is above 0, is a product of squares and of these factors.
    negative_factors = 0
    for number, step in enumerate(steps):
        following = steps[(number + 1) % len(steps)]
        if number % 2 == 0:
            negative = _is_negative_multiple(step.token, following.token)
        else:
            negative = _is_negative_multiple(step.difference, following.difference)
        negative_factors += negative  # True counts as 1
    if len(steps) % 2 == 1 or negative_factors % 2 == 0:
        raise Reject("the walk is no contradiction")


def _read_step(entry: Json, views: dict[int, RuleView]) -> WalkStep:
    fields = read_object(entry, "a step of a walk", "rule", "target", "rival")
    view = views[_read_choice(fields["rule"], views, "a rule")]
    target = _read_choice(fields["target"], view.seen, "a token")
    rival = _read_choice(fields["rival"], view.seen, "a token")
    if not view.beats(target, rival):
        raise Reject(
            f"from rule {fields['rule']} it does not follow that token {target} beats {rival}"
        )
    pairs = zip(view.seen[target], view.seen[rival], strict=True)
    return WalkStep(view.token, tuple(x - y for x, y in pairs))


def _check_splits(tokens: list[Vector], using: Sequence[RuleView]) -> None:
    """Reject, unless in each split of these tokens in two, one part beats the other in a rule."""
    tables = [view.beats_by_equals(tokens) for view in using]
    everyone = range(len(tokens))
    # Neither part is empty. A split comes twice, once for each of its parts.
    for size in range(1, len(tokens)):
        for part in combinations(everyone, size):
            others = [token for token in everyone if token not in part]
            if not any(_splits(table, part, others) for table in tables):
                raise Reject("no rule splits the tokens in one of the ways")


def _splits(table: Table, part: Sequence[int], others: Sequence[int]) -> bool:
    """In this rule all in one part beat all in the other."""
    return _all_beat(table, part, others) or _all_beat(table, others, part)


def _all_beat(table: Table, winners: Sequence[int], losers: Sequence[int]) -> bool:
    for winner in winners:
        for loser in losers:
            if not table[winner][loser]:
                return False
    return True


def _read_choice(value: Json, known: Collection[int], what: str) -> int:
    """A number that is known here."""
    number = read_integer(value, 0, MOST, what)
    if number not in known:
        raise Reject(f"{what} is {number}, which is of another head, or is not seen")
    return number


def _is_negative_multiple(x: Vector, y: Vector) -> bool:
    """y is a multiple of x, and the factor is below 0; if it is no multiple but 0 times, Reject."""
    at = None  # the first entry of x that is not 0
    for i, entry in enumerate(x):
        if entry:
            at = i
            break
    if at is None or not y[at] or not _are_parallel(x, y, at):
        raise Reject("two steps of a walk have nothing in common")
    return (x[at] < 0) != (y[at] < 0)


def _are_parallel(x: Vector, y: Vector, at: int) -> bool:
    """x y[at] = y x[at]."""
    for a, b in zip(x, y, strict=True):
        if a * y[at] != b * x[at]:
            return False
    return True
