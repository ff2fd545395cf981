"""These queries meet the targets: bounds of the weight of each target where that is least.

Let m_i = s <mu_i, q> be the nominal score of key i, that at its place, and up_i and low_i its highest and lowest
score: the larger and the smaller of low m_i and high m_i, plus and minus off_i, the largest
s <e, q> that its ball or ellipsoid allows. Keys vary independently, so that the least weight of
target a is exactly 1 / (1 + sum over i != a of exp(up_i - low_a)). Random keys are taken at so many
deviations from their places that all are nearer with the probability that is claimed.
"""

from dataclasses import dataclass
from fractions import Fraction

from headwright.certificates.exact.certificate import (
    DeviationGuard,
    KeyStatement,
    Spread,
)
from headwright.certificates.exact.keys import Excluded, KeyMatrix, Reject
from headwright.certificates.exact.numbers import (
    Bounds,
    IntegerBounds,
    exp_between,
    normal_tail,
    sqrt_above,
    sqrt_between,
)
from headwright.certificates.exact.scores import ZERO, Scores, dot, spreads_of
from headwright.certificates.exact.values import Vector, common_denominator
from headwright.certificates.exact.words import number_in_words, six_digits

BITS = 1024  # binary digits after the point, of exponentials: fewer make bounds wider, never wrong
# 1, in units of 2^(-2 BITS): those of the product of two such exponentials.
ONE = 4**BITS
# An entry of the uncertainty and, with a stretch, a nominal score.
Kind = tuple[int, int]


def check_guard(statement: KeyStatement, guard: DeviationGuard) -> None:
    """Reject, unless ways to fail times P(N(0, 1) > z) is at most 1 - confidence, for each query.

    A way to fail is that one score, or the difference of two, is more than z deviations to one
    side. By keys: each random key is too high as a rival, or too low as the only target; a random
    one of several targets may be either. By pairs: each random rival of each target; if the target
    is random, all rivals that are not random are one way together.
    """
    spreads, entry_of_key = spreads_of(statement)
    n = statement.keys[0].n
    random_keys = sum(spreads[entry].random for entry in entry_of_key)
    ways = 0
    if guard.kind == "keys":
        ways = random_keys
        # The only target is never a rival, so that it has one way; of several, each has two.
        if len(statement.targets) > 1:
            ways += sum(spreads[entry_of_key[a]].random for a in statement.targets)
    else:
        for target in statement.targets:
            if spreads[entry_of_key[target]].random:
                certain_rivals = 1 if random_keys < n else 0
                ways += random_keys - 1 + certain_rivals
            else:
                ways += random_keys
    # By the union bound over all ways to fail, of all queries; the tail is rounded up.
    tail = normal_tail(guard.deviations).high
    if statement.heads * ways * tail > 1 - statement.confidence:
        raise Reject(
            "the deviations guarded against do not have the probability that is claimed"
        )


def check_targets_met(
    statement: KeyStatement,
    guard: DeviationGuard | None,
    keys: KeyMatrix,
    scenario: int,
) -> None:
    """Reject, unless the mean of the queries' weights on each target a is at least p_a.

    Excluded, if it is certainly less for some keys that are possible. Several queries may each
    give least for other keys: then nothing is excluded.
    """
    weights_by_query = []
    for query in statement.queries:
        weights_by_query.append(least_weights(statement, guard, keys, query))
    count = len(weights_by_query)
    # The least weights are those for some keys that are possible: of one query, unless chance is
    # guarded against; of several, if there is one choice of keys only.
    if count > 1:
        attained = not statement.uncertainty
    else:
        attained = not statement.has_random_keys()
    for target, least in statement.targets.items():
        sum_below = ZERO
        sum_above = ZERO
        for weights in weights_by_query:
            sum_below += weights[target].low
            sum_above += weights[target].high
        below = sum_below / count
        above = sum_above / count
        if attained and above < least:
            raise Excluded(
                f"key {target} gets a weight of at most {number_in_words(above)}, "
                f"less than {six_digits(least)}, in scenario {scenario}"
            )
        if below < least:
            raise Reject(
                f"key {target} is not certain to get a weight of {six_digits(least)} "
                f"in scenario {scenario}"
            )


@dataclass(frozen=True)
class TargetTerm:
    """A target among the keys of its kind: bounds of 2^BITS exp(its highest score - top)."""

    kind: Kind
    exponential: IntegerBounds


@dataclass(frozen=True)
class Deviation:
    """Of a score from that at the key's place: the square of off_i, or its variance v_i."""

    off_squared: Fraction
    variance: Fraction


def least_weights(
    statement: KeyStatement,
    guard: DeviationGuard | None,
    keys: KeyMatrix,
    query: Vector,
) -> dict[int, Bounds]:
    """For each target a, low <= w_a <= high: w_a = 1 / (1 + sum over i != a of exp(x_i)).

    x_i = up_i - low_a, plus z sqrt(v_i) + z sqrt(v_a), or z sqrt(v_i + v_a) for pairs, where v are
    the variances of scores: then only low is a bound. Keys of one kind have the same off_i and v_i,
    so that sums of exp(highest score - top), one for each kind, are enough for all targets.
    """
    spreads, entry_of_key = spreads_of(statement)
    # Scales of keys are whole numbers over `key_scale_unit`, and scores are over `scores.unit`.
    all_ends = []
    for spread in spreads:
        all_ends += [spread.low, spread.high]
    key_scale_unit = common_denominator(all_ends)
    ends = []
    for spread in spreads:
        low_end = int(spread.low * key_scale_unit)
        high_end = int(spread.high * key_scale_unit)
        ends.append((low_end, high_end))
    scores = Scores(statement.scale, keys, query, key_scale_unit)

    # A score is linear in the key's scale: it is lowest and highest at the ends.
    lowest: dict[int, int] = {}
    for target in statement.targets:
        nominal = scores.nominal(keys.row(target))
        low_end, high_end = ends[entry_of_key[target]]
        lowest[target] = nominal * (high_end if nominal < 0 else low_end)
    top = max(lowest.values())

    # For each kind the sum of 2^BITS exp(highest score - top) over its keys, from both sides.
    sums: dict[Kind, IntegerBounds] = {}
    target_terms: dict[int, TargetTerm] = {}
    for key, entry in enumerate(entry_of_key):
        nominal = scores.nominal(keys.row(key))
        low_end, high_end = ends[entry]
        highest = nominal * (high_end if nominal > 0 else low_end)
        exponential = exp_between(highest - top, scores.unit, BITS)
        # With a stretch the deviation of a score depends on the score itself.
        kind = (entry, nominal if spreads[entry].stretch else 0)
        sum_low, sum_high = sums.get(kind, (0, 0))
        sums[kind] = IntegerBounds(
            sum_low + exponential.low, sum_high + exponential.high
        )
        if key in statement.targets:
            target_terms[key] = TargetTerm(kind, exponential)

    # Keys of one kind deviate alike, so that one number for each kind is enough.
    deviations: dict[Kind, Deviation] = {}
    for entry, nominal in sums:
        score = Fraction(nominal, scores.nominal_unit)
        deviations[entry, nominal] = _deviation(statement, spreads[entry], query, score)

    weights = {}
    for target, own in target_terms.items():
        lead = Fraction(top - lowest[target], scores.unit)
        weights[target] = _weight_between(own, lead, sums, deviations, guard)
    return weights


def _weight_between(
    target: TargetTerm,
    lead: Fraction,
    sums: dict[Kind, IntegerBounds],
    deviations: dict[Kind, Deviation],
    guard: DeviationGuard | None,
) -> Bounds:
    """low <= 1 / (1 + sum over i != a of exp(x_i)) <= high, where `lead` is top - low_a."""
    # The sum times 4^BITS, from both sides: exp(x_i) = exp(up_i - top) exp(lead + offsets), where
    # here up_i and low_a are the ends of scales alone, and offsets are what else may happen.
    rivals_low = 0
    rivals_high = 0
    for kind, (sum_low, sum_high) in sums.items():
        if kind == target.kind:
            # a is no rival of itself: what was added for it is taken out, exactly.
            sum_low -= target.exponential.low
            sum_high -= target.exponential.high
        if sum_high == 0:
            continue
        offsets = _sum_of_offsets(deviations[target.kind], deviations[kind], guard)
        least = lead + offsets.low
        most = lead + offsets.high
        exp_low = exp_between(least.numerator, least.denominator, BITS).low
        exp_high = exp_between(most.numerator, most.denominator, BITS).high
        rivals_low += sum_low * exp_low
        rivals_high += sum_high * exp_high
    # 1 / (1 + x) falls with x.
    return Bounds(
        low=Fraction(ONE, ONE + rivals_high), high=Fraction(ONE, ONE + rivals_low)
    )


def _deviation(
    statement: KeyStatement, spread: Spread, query: Vector, score: Fraction
) -> Deviation:
    """s^2 q^T C q with C = r^2 I + t^2 mu mu^T + E E^T: a variance, or without chance off_i^2.

    Without chance t = 0, and by Cauchy-Schwarz the largest <e, q> is r |q| or |E^T q|.
    """
    square = spread.ball**2 * dot(query, query)
    for column in spread.factor:
        square += dot(column, query) ** 2
    square = statement.scale**2 * square + (spread.stretch * score) ** 2
    if spread.random:
        return Deviation(off_squared=ZERO, variance=square)
    return Deviation(off_squared=square, variance=ZERO)


def _sum_of_offsets(
    target: Deviation, rival: Deviation, guard: DeviationGuard | None
) -> Bounds:
    """low <= off_i + off_a <= high; where keys are random, high includes the guard's deviations."""
    target_low, target_high = sqrt_between(target.off_squared)
    rival_low, rival_high = sqrt_between(rival.off_squared)
    low = target_low + rival_low
    high = target_high + rival_high
    if guard is None:
        return Bounds(low, high)
    if guard.kind == "pairs":
        # The difference of two independent scores has the sum of their variances.
        deviation = sqrt_above(target.variance + rival.variance)
    else:
        deviation = sqrt_above(target.variance) + sqrt_above(rival.variance)
    return Bounds(low, high + guard.deviations * deviation)
