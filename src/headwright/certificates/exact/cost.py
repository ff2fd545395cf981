"""What checking a certificate will take, estimated from sizes alone, before any of it is checked.

Nothing here decides what is true: an estimate that is wrong refuses too much, or lets a check run
for long. It is in seconds on one core of an ordinary processor. The constants were measured on
CPython 3.13; sums over all heads, parts, scenarios and targets of the document are taken as they
are, so that there is one budget for all of it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import isinf, lcm

from headwright.certificates.exact.certificate import BoundPart, Certificate
from headwright.certificates.exact.keys import Reject
from headwright.certificates.exact.values import Vector, common_denominator

BUDGET = 600.0  # seconds, unless another budget is given
BYTES_A_SECOND = 2**23  # of memory that may be held, for each second of the budget

# Seconds for one of each; what depends on the lengths of numbers is added by the functions below.
EXPONENTIAL = 5e-6
LOGARITHM = 30e-6
SQUARE_ROOT = 5e-6
ENTRY = 0.3e-6  # a number of a key or of a matrix that is read and multiplied

KEY_BITS = 64  # of a number of a key, as a whole number: of keys of about one size
SHARE_BITS = 448 + 128  # of the shares that follow from scores
LONG_BITS = 2**17  # beyond it a common multiple is taken to be the product
KEY_BYTES = 1000  # held for each key, beside its numbers


@dataclass(frozen=True)
class Cost:
    """Seconds, and bytes of memory.

    >>> Cost(1.0, 10.0) + Cost(2.0, 5.0)
    Cost(seconds=3.0, memory=15.0)
    """

    seconds: float = 0.0
    memory: float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.seconds + other.seconds, self.memory + other.memory)


def check_cost(cost: Cost, budget: float) -> None:
    """Reject what costs more than the budget; a budget is in seconds and has its memory with it."""
    needed = max(cost.seconds, cost.memory / BYTES_A_SECOND)
    if needed <= budget:
        return
    estimate = (
        f"about {_time_in_words(cost.seconds)} and {_gibibytes(cost.memory)} of memory"
    )
    allowed = f"{budget:g} s and {_gibibytes(budget * BYTES_A_SECOND)}"
    remedy = "raise --budget"
    if not isinf(needed):
        remedy += f" to {needed * 1.01:.0f}"
    raise Reject(
        f"too expensive: checking it takes {estimate}, and the budget is {allowed}; {remedy}"
    )


def _gibibytes(memory: float) -> str:
    return f"{memory / 2**30:.1f} GiB"


def _time_in_words(seconds: float) -> str:
    """A time, for people.

    >>> _time_in_words(90), _time_in_words(7200)
    ('90 s', '2.0 hours')
    """
    if seconds < 3600:
        return f"{seconds:.0f} s"
    return f"{seconds / 3600:.1f} hours"


def product_seconds(bits: int, other_bits: int) -> float:
    """Two whole numbers of so many binary digits multiplied."""
    return 0.05e-6 + 4e-13 * bits * other_bits


def fraction_seconds(bits: int) -> float:
    """Two fractions added or multiplied: the greatest common divisor takes most of it."""
    return 2e-6 + 6e-9 * bits + 2e-12 * bits**2


def bits_of(numbers: Iterable[Fraction]) -> int:
    """The binary digits of these numbers, as whole numbers over a common denominator; the most."""
    fractions = list(numbers)
    denominator_bits = common_denominator(fractions).bit_length()
    most = denominator_bits
    for x in fractions:
        factor_bits = denominator_bits - x.denominator.bit_length() + 1
        most = max(most, x.numerator.bit_length() + factor_bits)
    return most


@dataclass(frozen=True)
class CertificateSizes:
    """What the cost of a certificate about keys depends on, for all of its queries and parts."""

    n: int
    d: int
    scenarios: int
    targets: int
    kinds: int  # of keys; those of one kind have the same deviation of their scores
    columns: int  # of all factors in the uncertainty
    random: bool
    scale_bits: int  # of the scale of scores and of the ends of what keys are scaled by
    factor_bits: int
    named_bits: int  # of the scales that a bound names
    stretch_bits: int

    @classmethod
    def of(cls, certificate: Certificate) -> "CertificateSizes":
        """The sizes of a certificate."""
        statement = certificate.statement
        bound = certificate.bound
        n = statement.keys[0].n
        columns: list[Vector] = []
        ends: list[Fraction] = []
        for spread in statement.uncertainty:
            columns += spread.factor
            ends += [spread.low, spread.high]
        named_scales: list[Fraction] = []
        if bound:
            named_scales = [*bound.scales.values(), *bound.own_scales.values()]
        # With a stretch the deviation depends on the score, and each key is a kind of its own.
        stretched = any(spread.stretch for spread in statement.uncertainty)
        return cls(
            n=n,
            d=statement.keys[0].d,
            scenarios=len(statement.keys),
            targets=len(statement.targets),
            kinds=n if stretched else len(statement.uncertainty) + 1,
            columns=len(columns),
            random=statement.has_random_keys(),
            scale_bits=bits_of([statement.scale]) + bits_of(ends),
            factor_bits=max(map(bits_of, columns), default=0),
            named_bits=bits_of(named_scales),
            stretch_bits=bits_of(spread.stretch for spread in statement.uncertainty),
        )


def keys_cost(certificate: Certificate) -> Cost:
    """Of a certificate about keys: its queries in each scenario, and each part of a bound."""
    statement = certificate.statement
    sizes = CertificateSizes.of(certificate)
    seconds = 0.0
    for query in statement.queries:
        seconds += sizes.scenarios * _query_seconds(sizes, bits_of(query))
    key_bytes = KEY_BYTES
    parts = certificate.bound.parts if certificate.bound else ()
    for part in parts:
        weight_bits = _weight_bits(part)
        seconds += _part_seconds(sizes, part, weight_bits)
        # Weights are held for one part at a time.
        key_bytes = max(key_bytes, KEY_BYTES + weight_bits // 4)
    number_bytes = 8 * sizes.n * sizes.d * sizes.scenarios
    return Cost(seconds, float(number_bytes + key_bytes * sizes.n))


def _pass_seconds(sizes: CertificateSizes, query_bits: int) -> float:
    """The scores of all keys of a scenario for one query, and their exponentials."""
    unit_bits = KEY_BITS + query_bits + sizes.scale_bits
    entry_seconds = ENTRY + product_seconds(KEY_BITS, query_bits)
    key_seconds = sizes.d * entry_seconds + EXPONENTIAL + 3e-10 * unit_bits
    return sizes.n * key_seconds


def _query_seconds(sizes: CertificateSizes, query_bits: int) -> float:
    """One query in one scenario: `least_weights`."""
    deviation_bits = sizes.factor_bits + sizes.stretch_bits
    bits = 2 * (KEY_BITS + query_bits + sizes.scale_bits + deviation_bits)
    # Each target is compared with each kind: two exponentials, some square roots and sums.
    pair_seconds = 2 * EXPONENTIAL + 4 * SQUARE_ROOT + 6 * fraction_seconds(bits)
    pairs = sizes.targets * sizes.kinds
    # The variance of each kind is that of an inner product with the query.
    kind_seconds = sizes.d * (1 + sizes.columns) * 2 * fraction_seconds(bits)
    return (
        _pass_seconds(sizes, query_bits)
        + pairs * pair_seconds
        + sizes.kinds * kind_seconds
    )


def _weight_bits(part: BoundPart) -> int:
    """The binary digits of the weights that a part gives keys.

    Shares that are written out are divided by their sum. The weight of a key is a sum over the
    constraints, so that its denominator divides the common multiple of all of these sums.
    """
    if part.constraints[0].distribution is None:
        return SHARE_BITS + max(bits_of([c.multiplier]) for c in part.constraints)
    multiple = 1
    product_bits = 0
    numerator_bits = 0
    for c in part.constraints:
        shares = list((c.distribution or {}).values())
        denominator = common_denominator(shares)
        mass = sum(x.numerator * (denominator // x.denominator) for x in shares)
        divisor = max(mass, 1) * c.multiplier.denominator
        numerator_bits = max(numerator_bits, c.multiplier.numerator.bit_length())
        product_bits += divisor.bit_length() + c.multiplier.numerator.bit_length()
        if multiple.bit_length() <= LONG_BITS:
            multiple = lcm(multiple, divisor)
    if multiple.bit_length() <= LONG_BITS:
        return multiple.bit_length() + numerator_bits
    return product_bits


def _part_seconds(sizes: CertificateSizes, part: BoundPart, weight_bits: int) -> float:
    """One part of a bound: an `ConstraintSums`."""
    query_bits = bits_of(part.query) + bits_of(part.lifts) + sizes.named_bits
    scenarios = len({c.scenario for c in part.constraints})
    entries = sum(len(c.distribution or ()) for c in part.constraints)
    if entries:
        # Each share has a logarithm, and is divided and added.
        share_bits = 0
        for c in part.constraints:
            share_bits = max(share_bits, bits_of((c.distribution or {}).values()))
        share_seconds = LOGARITHM
        share_seconds += 4 * fraction_seconds(share_bits)
        share_seconds += 2 * fraction_seconds(weight_bits)
        seconds = entries * share_seconds
        keys = min(entries, sizes.n * scenarios)
    else:
        # A pass for the scores, and a few numbers for each constraint.
        constraint_seconds = LOGARITHM + 8 * fraction_seconds(weight_bits)
        seconds = scenarios * _pass_seconds(sizes, query_bits)
        seconds += len(part.constraints) * constraint_seconds
        keys = sizes.n * scenarios
    # V is a sum of keys times their weights.
    entry_seconds = 2 * ENTRY + product_seconds(KEY_BITS, weight_bits + query_bits)
    if sizes.random:
        # Of random keys there are squares and the push besides.
        push_bits = bits_of(part.push or ()) + sizes.stretch_bits
        square_bits = 2 * weight_bits + 2 * push_bits
        entry_seconds += 2 * product_seconds(KEY_BITS + push_bits, square_bits)
    seconds += keys * sizes.d * entry_seconds
    # Keys are moved by the columns of factors, as fractions.
    move_seconds = 3 * fraction_seconds(2 * weight_bits + query_bits)
    seconds += (scenarios + sizes.columns) * sizes.d * move_seconds
    return seconds + 1e-6 * sizes.n
