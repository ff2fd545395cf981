"""How the constraints of a part weigh keys: multipliers times distributions, as whole numbers.

A constraint c about target a has a multiplier lambda_c and a distribution pi^c over the keys. Key j
has the weight lambda_c pi^c_j in it as a rival, and the target lambda_c (1 - pi^c_a). By Gibbs'
inequality any distribution will do, and so will any multiplier that is not negative. So it is these
that are rounded, before they are used: all that `bound` makes of them is exact.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul

from headwright.certificates.exact.certificate import (
    BoundConstraint,
    BoundPart,
    KeyStatement,
    LengthBound,
    Spread,
)
from headwright.certificates.exact.keys import Reject, require_affordable
from headwright.certificates.exact.numbers import exp_between, ln_below
from headwright.certificates.exact.scores import ONE, ZERO, Scores, spreads_of
from headwright.certificates.exact.values import common_denominator
from headwright.certificates.exact.words import six_digits

BITS = 448  # binary digits after the point, of shares: fewer make bounds weaker, never wrong
MULTIPLIER_BITS = 128  # digits of a multiplier that are kept
NO_SHARE = "a distribution has no mass, or gives some to a key that has no part in it"


class KeyScales:
    """The scale of each key in a part's constraints, in whole units of 1 / `unit`.

    `scales` names it for rivals and `own_scales` for targets. Where it is not named, a rival's
    score is to be high and a target's low: a score is linear in the scale, so that is at an end.
    Where one key must stand at one place in all constraints, it is the scale nearest to 1.
    """

    def __init__(
        self,
        spreads: Sequence[Spread],
        entry_of_key: Sequence[int],
        bound: LengthBound,
        part: BoundPart,
        one_place: bool,
    ) -> None:
        """Refused if the uncertainty does not allow a scale that is named."""
        for named_scales in (bound.scales, bound.own_scales):
            for key, scale in named_scales.items():
                spread = spreads[entry_of_key[key]]
                if not spread.low <= scale <= spread.high:
                    raise Reject(
                        f"the uncertainty does not allow to scale key {key} by {six_digits(scale)}"
                    )
        rival_scales = bound.scales
        target_scales = bound.scales if one_place else bound.own_scales
        ends = []
        numbers = [*rival_scales.values(), *target_scales.values(), *part.lifts]
        for spread in spreads:
            if one_place:
                nearest = min(max(ONE, spread.low), spread.high)
                ends.append((nearest, nearest))
            else:
                ends.append((spread.low, spread.high))
            numbers += ends[-1]
        # Over this denominator all scales and lifts are whole numbers.
        self.unit = common_denominator(numbers)
        self.entry_of_key = entry_of_key
        self.ends = [(self.whole(low), self.whole(high)) for low, high in ends]
        self.rivals = {key: self.whole(c) for key, c in rival_scales.items()}
        self.targets = {key: self.whole(c) for key, c in target_scales.items()}

    def whole(self, x: Fraction) -> int:
        """A scale or a lift in units of 1 / `unit`."""
        return int(x * self.unit)

    def depend_on_scores(self) -> bool:
        """Some key has a range of scales."""
        return any(low < high for low, high in self.ends)

    def of_rival(self, key: int, nominal: int) -> int:
        """The scale of a rival with this nominal score: the end at which its score is highest."""
        if key in self.rivals:
            return self.rivals[key]
        low, high = self.ends[self.entry_of_key[key]]
        return high if nominal > 0 else low

    def of_target(self, key: int, nominal: int) -> int:
        """The scale of a target in its own constraint: the end at which its score is lowest."""
        if key in self.targets:
            return self.targets[key]
        low, high = self.ends[self.entry_of_key[key]]
        return low if nominal > 0 else high


class PartSetting:
    """What a part is about: where keys stand, and the weight of each target among which keys."""

    def __init__(
        self, statement: KeyStatement, bound: LengthBound, part: BoundPart
    ) -> None:
        """Reject, if the part moves or scales keys as it may not."""
        self.statement = statement
        self.part = part
        self.spreads, self.entry_of_key = spreads_of(statement)
        # 'One uncertainty' of docs/reference/certificate.md: every key stands at one place.
        several_constraints = len(part.constraints) > 1
        several_heads = bound.among is not None
        self.one_place = several_heads or (
            several_constraints and statement.has_random_keys()
        )
        if self.one_place and (bound.own_scales or any(map(any, part.moves))):
            raise Reject(
                "a bound about one realization has scales of targets of their own, or moves"
            )
        self.scales = KeyScales(
            self.spreads, self.entry_of_key, bound, part, self.one_place
        )
        # What is added to the scores of each entry of the uncertainty; nothing for certain keys.
        self.lifts = [self.scales.whole(lift) for lift in (*part.lifts, ZERO)]
        self.least_weights = statement.targets
        self.no_rivals: set[int] = set()  # keys without a share, but as the target
        if bound.among:
            self._leave_out(bound.among)

    def _leave_out(self, among: Sequence[int]) -> None:
        """With several heads, the rivals are the keys outside of `among` that are not random.

        The heads give the targets of `among` P in all, on average, so one of them gives P or more.
        In that one the highest of these targets has the weight P / (P + |among| (1 - P)) among
        itself and the keys outside.
        """
        random_keys = set()
        for key, entry in enumerate(self.entry_of_key):
            if self.spreads[entry].random:
                random_keys.add(key)
        if random_keys & set(among):
            raise Reject(NO_SHARE)
        self.no_rivals = random_keys | set(among)
        P = sum((self.statement.targets[target] for target in among), ZERO)
        share_of_highest = P / (P + len(among) * (1 - P))
        self.least_weights = dict.fromkeys(among, share_of_highest)

    def rival_exponent(self, scores: Scores, key: int) -> int:
        """x_j of a rival: its score at its scale plus its lift, in units of 1 / scores.unit."""
        nominal = scores.nominal(scores.keys.row(key))
        lift = self.lifts[self.entry_of_key[key]] * scores.nominal_unit
        return nominal * self.scales.of_rival(key, nominal) + lift

    def target_exponent(self, scores: Scores, key: int) -> int:
        """The same for a target in its own constraint: less its lift."""
        nominal = scores.nominal(scores.keys.row(key))
        lift = self.lifts[self.entry_of_key[key]] * scores.nominal_unit
        return nominal * self.scales.of_target(key, nominal) - lift


@dataclass(frozen=True)
class KeyWeights:
    """Of constraints in one scenario: the weights of keys, times `denominator`, and two sums."""

    as_rival: dict[int, int]  # sum_c lambda_c pi^c_j over constraints of other targets
    as_target: dict[int, int]  # lambda_c (1 - pi^c_a)
    denominator: int
    multipliers: Fraction  # sum_c lambda_c
    right: Fraction  # at most sum_c lambda_c (H(pi^c) + ln p_c)

    def weighted_keys(self) -> list[int]:
        """All keys that have a weight."""
        return list({**self.as_rival, **self.as_target})  # each once, in this order


def weigh_keys(
    setting: PartSetting, scores: Scores, constraints: Sequence[BoundConstraint]
) -> KeyWeights:
    """The weights that these constraints give keys; all have a table, or none has."""
    if constraints[0].distribution is not None:
        return _weigh_by_tables(setting, constraints)
    return _weigh_by_scores(setting, scores, constraints)


def _weigh_by_tables(
    setting: PartSetting, constraints: Sequence[BoundConstraint]
) -> KeyWeights:
    """For distributions that are written out: pi = shares / their sum."""
    as_rival: dict[int, Fraction] = defaultdict(Fraction)
    as_target: dict[int, Fraction] = {}
    right = ZERO
    for constraint in constraints:
        target = constraint.target
        multiplier = constraint.multiplier
        shares = {}
        for key, share in (constraint.distribution or {}).items():
            if share:
                shares[key] = share
        rivals = shares.keys() - {target}
        if not shares or setting.no_rivals & rivals:
            raise Reject(NO_SHARE)
        mass = sum(shares.values(), ZERO)
        # H(pi) = sum_j pi_j ln(1 / pi_j), each logarithm rounded down: the bound stays a bound.
        entropy_below = ZERO
        for share in shares.values():
            entropy_below += share * ln_below(mass / share)
        entropy_below /= mass
        ln_least_below = ln_below(setting.least_weights[target])
        right += multiplier * (entropy_below + ln_least_below)
        own_share = shares.get(target, ZERO)
        as_target[target] = multiplier * (1 - own_share / mass)
        for key in rivals:
            as_rival[key] += multiplier * shares[key] / mass
    denominator = common_denominator((*as_rival.values(), *as_target.values()))
    return KeyWeights(
        as_rival={key: int(x * denominator) for key, x in as_rival.items()},
        as_target={key: int(x * denominator) for key, x in as_target.items()},
        denominator=denominator,
        multipliers=sum((c.multiplier for c in constraints), ZERO),
        right=right,
    )


def _weigh_by_scores(
    setting: PartSetting, scores: Scores, constraints: Sequence[BoundConstraint]
) -> KeyWeights:
    """For pi^c_j = e_j / Z_c, e_j <= 2^BITS exp(x_j), where x_j are scores and lifts.

    H(pi^c) = sum_j pi_j (ln Z_c - ln e_j) >= ln(Z_c / 2^BITS) - sum_j e_j x_j / Z_c, since
    ln e_j <= ln 2^BITS + x_j.
    """
    # Exponents x_j are taken less the highest of a target, and in units of 1 / scores.unit.
    target_exponents = {}
    for constraint in constraints:
        target = constraint.target
        target_exponents[target] = setting.target_exponent(scores, target)
    top = max(target_exponents.values())

    # As a rival a key has the same share e_j in all constraints.
    shares: dict[int, int] = {}
    exponents: dict[int, int] = {}
    for key in range(scores.keys.n):
        if key in setting.no_rivals:
            continue
        exponent = setting.rival_exponent(scores, key) - top
        exponents[key] = exponent
        shares[key] = exp_between(exponent, scores.unit, BITS).low
    all_shares = sum(shares.values())
    all_energy = sum(map(mul, shares.values(), exponents.values()))  # sum_j e_j x_j

    # lambda_c / Z_c is cut to a multiple of 1 / denominator, and lambda_c with it. No Z_c is above
    # all shares and one of 1, so that even the smallest quotient keeps MULTIPLIER_BITS digits.
    highest_Z = all_shares + (1 << BITS)
    largest_inverse = max(highest_Z / c.multiplier for c in constraints)
    denominator = 1 << (MULTIPLIER_BITS + int(largest_inverse).bit_length())
    require_affordable(denominator.bit_length() * scores.keys.n)
    cuts: dict[int, int] = {}
    as_target: dict[int, int] = {}
    multipliers = ZERO
    right = ZERO
    for constraint in constraints:
        target = constraint.target
        # In its own constraint the target has another scale and lift than as a rival.
        own_exponent = target_exponents[target] - top
        own_share = exp_between(own_exponent, scores.unit, BITS).low
        rival_share = shares.get(target, 0)
        rival_exponent = exponents.get(target, 0)
        # Z_c = sum_j e_j, where the target comes in by its own share.
        Z = all_shares - rival_share + own_share
        energy = all_energy - rival_share * rival_exponent + own_share * own_exponent
        # H(pi^c) >= ln(Z_c / 2^BITS) - sum_j e_j x_j / Z_c
        mean_exponent = Fraction(energy, scores.unit * Z)
        entropy_below = ln_below(Fraction(Z, 1 << BITS)) - mean_exponent
        # From here on lambda_c is the number that is left after the cut.
        cut = int(constraint.multiplier * denominator / Z)
        multiplier = Fraction(cut * Z, denominator)
        cuts[target] = cut
        # lambda_c (1 - pi^c_a) = cut (Z_c - e_a) / denominator
        as_target[target] = cut * (Z - own_share)
        multipliers += multiplier
        ln_least_below = ln_below(setting.least_weights[target])
        right += multiplier * (entropy_below + ln_least_below)

    # A key is a rival in all constraints but its own: sum_c lambda_c e_j / Z_c over the others.
    all_cuts = sum(cuts.values())
    as_rival = {}
    for key, share in shares.items():
        if share:
            as_rival[key] = share * (all_cuts - cuts.get(key, 0))
    return KeyWeights(as_rival, as_target, denominator, multipliers, right)
