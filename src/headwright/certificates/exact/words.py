"""What was proved, in words: all that the statement says, and no more.

Short numbers are told exactly; of others the first digits are, followed by dots, or they are
rounded to the safe side. Matrices and long lists are told by size and digest, and the last word is
the digest of the whole statement.
"""

import hashlib
from array import array
from collections.abc import Collection, Iterable
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from itertools import chain

from headwright.certificates.exact.certificate import KeyStatement, Spread
from headwright.certificates.exact.values import Vector

MOST_LISTED = 12  # entries of a list that are told one by one
SHORT_BITS = 40  # a ratio of fewer binary digits is told beside its decimals


def in_words(statement: KeyStatement) -> str:
    """What a statement says, as a sentence."""
    about = _keys_in_words(statement)
    claim = _claim_in_words(statement)
    return f"{about}, {claim}. Statement sha256 {statement.digest}."


def _keys_in_words(statement: KeyStatement) -> str:
    """For which keys, scale of scores and uncertainty."""
    n = statement.keys[0].n
    d = statement.keys[0].d
    scenarios = len(statement.keys)
    if scenarios > 1:
        these = f"these {scenarios} scenarios of"
    else:
        these = "these" if n > 1 else "this"
    count = f"{n} keys" if n > 1 else "one key"
    digests = ", ".join(f"sha256 {name.digest[:16]}..." for name in statement.keys)
    about = f"For {these} {count} in R^{d} ({digests})"
    if statement.scale != 1:
        about += f" and scores scaled by {number_in_words(statement.scale)}"
    entries = []
    for spread in statement.uncertainty:
        which = _indices_in_words(spread.keys, statement)
        entries.append(f"{which} is {_spread_in_words(spread)}")
    if entries:
        about += f", where {' and '.join(entries)}"
    return about


def _claim_in_words(statement: KeyStatement) -> str:
    """What is claimed of queries."""
    one_head = statement.heads == 1
    meets = _targets_in_words(statement)
    query = "query" if one_head else f"{statement.heads} queries"
    shorter = f"shorter than {number_in_words(statement.none_shorter, '')}"
    if statement.claim == "impossible":
        return f"no {query} whatever {meets}"
    if statement.claim == "longer":
        if one_head:
            return f"a query that {meets}, if there is one, is not {shorter}"
        return f"{query} that {meets}, if there are such, are not all {shorter}"
    claim = f"{_queries_in_words(statement.queries)} {meets}"
    if statement.none_shorter:
        none = f"{shorter} does" if one_head else f"all {shorter} do"
        claim += f"; no {query} {none}"
    return claim


def _targets_in_words(statement: KeyStatement) -> str:
    """What queries do that meet the targets: weights, in which scenarios and with what chance."""
    targets_by_least: dict[Fraction, list[int]] = {}
    for target, least in statement.targets.items():
        targets_by_least.setdefault(least, []).append(target)
    weights = []
    for least, targets in targets_by_least.items():
        which = _indices_in_words(targets, statement)
        weights.append(f"{which} a weight of at least {number_in_words(least)}")
    give = "gives" if statement.heads == 1 else "give, on average over the heads,"
    sentence = f"{give} {' and '.join(weights)}"
    if len(statement.keys) > 1:
        sentence += " in every scenario"
    if any(
        spread.low < spread.high or not spread.random
        for spread in statement.uncertainty
    ):
        sentence += " wherever they are"
    if statement.has_random_keys():
        confidence = number_in_words(statement.confidence)
        sentence += f" with probability at least {confidence}"
        sentence += " over the independent Gaussian keys"
    return sentence


def number_in_words(x: Fraction, rest: str = "...") -> str:
    """A number exactly if it is short, else its first digits.

    >>> number_in_words(Fraction(1, 8)), number_in_words(Fraction(100, 101))
    ('0.125', '0.990099 (100/101)')
    >>> number_in_words(Fraction(10**9, 10**9 + 7))
    '0.999999...'
    """
    twelve_digits = _decimal(x, 12, ROUND_DOWN)
    if Fraction(twelve_digits) == x:
        return f"{twelve_digits.normalize(Context(12)):g}"
    digits = f"{_decimal(x, 6, ROUND_DOWN):g}"
    if x.numerator.bit_length() + x.denominator.bit_length() < SHORT_BITS:
        return f"{digits} ({x})"
    return f"{digits}{rest}"


def six_digits(x: Fraction) -> str:
    """Six digits, rounded down."""
    return f"{_decimal(x, 6, ROUND_FLOOR):g}"


def _decimal(x: Fraction, precision: int, rounding: str) -> Decimal:
    context = Context(precision, rounding)
    return context.divide(Decimal(x.numerator), Decimal(x.denominator))


def _indices_in_words(keys: Collection[int] | None, statement: KeyStatement) -> str:
    """Which keys these are; None is every key that no other entry of the uncertainty names."""
    if keys is None:
        return "every other key" if len(statement.uncertainty) > 1 else "every key"
    indices = sorted(keys)
    if len(indices) > MOST_LISTED:
        return f"each of {len(indices)} keys ({digest_of(repr(indices).encode())})"
    noun = "key" if len(indices) == 1 else "each of keys"
    return f"{noun} {', '.join(map(str, indices))}"


def _spread_in_words(spread: Spread) -> str:
    """Where a key is: its scale, unless that is 1 and something else is said, and its noise."""
    noise = _noise_in_words(spread)
    if noise and spread.low == spread.high == 1:
        return noise
    scale = number_in_words(spread.low)
    if spread.low < spread.high:
        scale = f"any from {scale} to {number_in_words(spread.high)}"
    if noise:
        return f"scaled by {scale} and {noise}"
    return f"scaled by {scale}"


def _noise_in_words(spread: Spread) -> str:
    """The ball, the ellipsoid or the Gaussian about a key's place; nothing if there is none."""
    if spread.random:
        deviations = []
        if spread.ball:
            deviations.append(f"{number_in_words(spread.ball)} in every direction")
        if spread.stretch:
            stretch = number_in_words(spread.stretch)
            deviations.append(f"{stretch} times its length along itself")
        if spread.factor:
            deviations.append(_factor_in_words(spread.factor))
        sizes = " and ".join(deviations) or "0"
        return f"Gaussian about its place, with deviations of {sizes}"
    if spread.ball:
        return f"within {number_in_words(spread.ball)} of its place"
    if spread.factor:
        return f"off its place by E u, |u| <= 1, {_factor_in_words(spread.factor)}"
    return ""


def _factor_in_words(factor: tuple[Vector, ...]) -> str:
    entries = list(chain.from_iterable(factor))
    text = ",".join(f"{x.numerator:x}/{x.denominator:x}" for x in entries)
    digest = digest_of(text.encode())
    return f"E of {len(factor)} columns and size {_length_in_words(entries)} ({digest})"


def _queries_in_words(queries: tuple[Vector, ...]) -> str:
    lengths = ", ".join(map(_length_in_words, queries[:MOST_LISTED]))
    if len(queries) > MOST_LISTED:
        lengths += ", ..."
    numbers = array("d")
    for query in queries:
        numbers.extend(map(float, query))
    nouns = "queries of lengths" if len(queries) > 1 else "query of length"
    return f"the {nouns} {lengths} ({digest_of(numbers.tobytes())})"


def _length_in_words(numbers: Iterable[Fraction]) -> str:
    """The length of a vector, rounded up to six digits."""
    square = sum((x * x for x in numbers), Fraction(0))
    six = Context(prec=6)
    # Decimal's root is to nearest: where it is below, the next number up is above.
    root = six.sqrt(_decimal(square, 30, ROUND_CEILING))
    if Fraction(root) ** 2 < square:
        root = root.next_plus(six)
    return f"{root:g}"


def digest_of(content: bytes) -> str:
    """The beginning of a digest."""
    return f"sha256 {hashlib.sha256(content).hexdigest()[:16]}..."
