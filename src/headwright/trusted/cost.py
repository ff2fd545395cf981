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

from headwright.trusted.certificate import Certificate, Part, common_denominator
from headwright.trusted.keys import Reject

BUDGET = 600.0  # seconds, unless another budget is given
BYTES_A_SECOND = 2**23  # of memory that may be held, for each second of the budget

# Seconds for one of each; what depends on the lengths of numbers is added by the functions below.
EXPONENTIAL = 5e-6
LOGARITHM = 30e-6
SQUARE_ROOT = 5e-6
ENTRY = 0.3e-6  # a number of a key or of a matrix that is read and multiplied

KEY_BITS = 64  # of a number of a key, as a whole number: of keys of about one size
SHARE_BITS = 448 + 128  # of the shares that follow from scores
LONG_BITS = 2**17  # beyond it a common multiple is not computed, but taken to be the product
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
    takes = f"about {_in_words(cost.seconds)} and {cost.memory / 2**30:.1f} GiB of memory"
    allowed = f"{budget:g} s and {budget * BYTES_A_SECOND / 2**30:.1f} GiB"
    remedy = "raise --budget" if isinf(needed) else f"raise --budget to {needed * 1.01:.0f}"
    raise Reject(f"too expensive: checking it takes {takes}, and the budget is {allowed}; {remedy}")


def _in_words(seconds: float) -> str:
    """A time, for people.

    >>> _in_words(90), _in_words(7200)
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
    them = list(numbers)
    below = common_denominator(them).bit_length()
    most = below
    for x in them:
        most = max(most, x.numerator.bit_length() + below - x.denominator.bit_length() + 1)
    return most


@dataclass(frozen=True)
class Sizes:
    """What the cost of a certificate about keys depends on, for all of its queries and parts."""

    n: int
    d: int
    scenarios: int
    targets: int
    kinds: int  # of keys; those of one kind have the same deviation of their scores
    columns: int  # of all factors in the world
    random: bool
    scale_bits: int  # of the scale of scores and of the ends of what keys are scaled by
    factor_bits: int
    named_bits: int  # of the scales that a bound names
    stretch_bits: int

    @classmethod
    def of(cls, certificate: Certificate) -> "Sizes":
        """The sizes of a certificate."""
        statement, bound = certificate.statement, certificate.bound
        n, world = statement.keys[0].n, statement.world
        columns = [column for spread in world for column in spread.factor]
        ends = [end for spread in world for end in (spread.low, spread.high)]
        named = [*bound.scales.values(), *bound.own_scales.values()] if bound else []
        # With a stretch the deviation depends on the score, and each key is a kind of its own.
        stretched = any(spread.stretch for spread in world)
        return cls(
            n=n,
            d=statement.keys[0].d,
            scenarios=len(statement.keys),
            targets=len(statement.wish),
            kinds=n if stretched else len(world) + 1,
            columns=len(columns),
            random=any(spread.random for spread in world),
            scale_bits=bits_of([statement.scale]) + bits_of(ends),
            factor_bits=max(map(bits_of, columns), default=0),
            named_bits=bits_of(named),
            stretch_bits=bits_of(spread.stretch for spread in world),
        )


def keys_cost(certificate: Certificate) -> Cost:
    """Of a certificate about keys: granting the wish in each scenario, and each part of a bound."""
    statement, bound = certificate.statement, certificate.bound
    sizes = Sizes.of(certificate)
    n, d, scenarios = sizes.n, sizes.d, sizes.scenarios
    seconds = 0.0
    for query in statement.queries:
        seconds += scenarios * _granting_seconds(sizes, bits_of(query))
    key_bytes = KEY_BYTES
    for part in bound.parts if bound else ():
        bits = _part_bits(part)
        seconds += _part_seconds(sizes, part, bits)
        key_bytes = max(key_bytes, KEY_BYTES + bits // 4)  # held for one part at a time
    return Cost(seconds, float(8 * n * d * scenarios + key_bytes * n))


def _pass_seconds(sizes: Sizes, query_bits: int) -> float:
    """The scores of all keys of a scenario for one query, and their exponentials."""
    unit_bits = KEY_BITS + query_bits + sizes.scale_bits
    each_entry = ENTRY + product_seconds(KEY_BITS, query_bits)
    each_key = sizes.d * each_entry + EXPONENTIAL + 3e-10 * unit_bits
    return sizes.n * each_key


def _granting_seconds(sizes: Sizes, query_bits: int) -> float:
    """One query in one scenario: `least_weights`."""
    bits = 2 * (KEY_BITS + query_bits + sizes.scale_bits + sizes.factor_bits + sizes.stretch_bits)
    # Each target is compared with each kind: two exponentials, some square roots and sums.
    each_pair = 2 * EXPONENTIAL + 4 * SQUARE_ROOT + 6 * fraction_seconds(bits)
    # The variance of each kind is that of an inner product with the query.
    each_kind = sizes.d * (1 + sizes.columns) * 2 * fraction_seconds(bits)
    pairs = sizes.targets * sizes.kinds
    return _pass_seconds(sizes, query_bits) + pairs * each_pair + sizes.kinds * each_kind


def _part_bits(part: Part) -> int:
    """The binary digits of the weights that a part gives keys.

    Shares that are written out are divided by their sum. The weight of a key is a sum over the
    constraints, so that its denominator divides the common multiple of all of these sums.
    """
    if part.constraints[0].distribution is None:
        return SHARE_BITS + max(bits_of([c.multiplier]) for c in part.constraints)
    below, total_bits = 1, 0
    for c in part.constraints:
        shares = list((c.distribution or {}).values())
        fine = common_denominator(shares)
        mass = sum(x.numerator * (fine // x.denominator) for x in shares)
        divisor = max(mass, 1) * c.multiplier.denominator
        total_bits += divisor.bit_length() + c.multiplier.numerator.bit_length()
        if below.bit_length() <= LONG_BITS:
            below = lcm(below, divisor)
    numerators = max(c.multiplier.numerator.bit_length() for c in part.constraints)
    common_bits = below.bit_length() + numerators
    return common_bits if below.bit_length() <= LONG_BITS else total_bits


def _part_seconds(sizes: Sizes, part: Part, bits: int) -> float:
    """One part of a bound: an `Inequality`."""
    n, d = sizes.n, sizes.d
    query_bits = bits_of(part.query) + bits_of(part.lifts) + sizes.named_bits
    scenarios = len({c.scenario for c in part.constraints})
    entries = sum(len(c.distribution or ()) for c in part.constraints)
    if entries:  # each share has a logarithm, and is divided and added
        own_bits = max(bits_of((c.distribution or {}).values()) for c in part.constraints)
        each = LOGARITHM + 4 * fraction_seconds(own_bits) + 2 * fraction_seconds(bits)
        seconds = entries * each
        keys = min(entries, n * scenarios)
    else:  # a pass for the scores, and a few numbers for each constraint
        seconds = scenarios * _pass_seconds(sizes, query_bits)
        seconds += len(part.constraints) * (LOGARITHM + 8 * fraction_seconds(bits))
        keys = n * scenarios
    # V is a sum of keys times their weights. Of random keys there are squares and the push besides.
    each_entry = 2 * ENTRY + product_seconds(KEY_BITS, bits + query_bits)
    if sizes.random:
        push_bits = bits_of(part.push or ()) + sizes.stretch_bits
        each_entry += 2 * product_seconds(KEY_BITS + push_bits, 2 * bits + 2 * push_bits)
    seconds += keys * d * each_entry
    # Keys are moved by the columns of factors, as fractions.
    seconds += (scenarios + sizes.columns) * d * 3 * fraction_seconds(2 * bits + query_bits)
    return seconds + 1e-6 * n
