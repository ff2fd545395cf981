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

from headwright.trusted.certificate import Spread, Statement, Vector

MOST = 12  # entries of a list that are told one by one


def in_words(s: Statement) -> str:
    """What a statement says, as a sentence."""
    n, one, several = s.keys[0].n, s.heads == 1, len(s.keys) > 1
    these = f"these {len(s.keys)} scenarios of" if several else "these" if n > 1 else "this"
    digests = ", ".join(f"sha256 {k.digest[:16]}..." for k in s.keys)
    about = f"For {these} {f'{n} keys' if n > 1 else 'one key'} in R^{s.keys[0].d} ({digests})"
    about += f" and scores scaled by {told(s.scale)}" if s.scale != 1 else ""
    about += ", where " if s.world else ""
    about += " and ".join(f"{_who(w.keys, s)} is {_where(w)}" for w in s.world)
    by_least: dict[Fraction, list[int]] = {}
    for target, least in s.wish.items():
        by_least.setdefault(least, []).append(target)
    wishes = (f"{_who(keys, s)} a weight of at least {told(p)}" for p, keys in by_least.items())
    wish = f"give{'s' if one else ', on average over the heads,'} {' and '.join(wishes)}"
    wish += " in every scenario" if several else ""
    wish += " wherever they are" if any(w.low < w.high or not w.random for w in s.world) else ""
    sure = f" with probability at least {told(s.confidence)} over the independent Gaussian keys"
    wish += sure if any(w.random for w in s.world) else ""
    shorter = f"shorter than {told(s.none_shorter, '')}"
    queries = "query" if one else f"{s.heads} queries"
    said = f"{_queries(s.queries)} {wish}"
    if s.claim == "impossible":
        said = f"no {queries} whatever {wish}"
    elif s.claim == "longer":
        said = f"{queries} that {wish}, if there are such, are not all {shorter}"
        said = f"a query that {wish}, if there is one, is not {shorter}" if one else said
    elif s.none_shorter:
        said += f"; no {queries} {f'{shorter} does' if one else f'all {shorter} do'}"
    return f"{about}, {said}. Statement sha256 {s.digest}."


def told(x: Fraction, rest: str = "...") -> str:
    """A number exactly if it is short, else its first digits.

    >>> told(Fraction(1, 8)), told(Fraction(100, 101)), told(Fraction(10**9, 10**9 + 7))
    ('0.125', '0.990099 (100/101)', '0.999999...')
    """
    exact, digits = (_decimal(x, precision, ROUND_DOWN) for precision in (12, 6))
    if Fraction(exact) == x:
        return f"{exact.normalize(Context(12)):g}"
    short = x.numerator.bit_length() + x.denominator.bit_length() < 40
    return f"{digits:g} ({x})" if short else f"{digits:g}{rest}"


def shown(x: Fraction) -> str:
    """Six digits, rounded down."""
    return f"{_decimal(x, 6, ROUND_FLOOR):g}"


def _decimal(x: Fraction, precision: int, rounding: str) -> Decimal:
    return Context(precision, rounding).divide(Decimal(x.numerator), Decimal(x.denominator))


def _who(keys: Collection[int] | None, s: Statement) -> str:
    if keys is None:
        return "every other key" if len(s.world) > 1 else "every key"
    if len(keys) > MOST:
        return f"each of {len(keys)} keys ({digest_of(repr(sorted(keys)).encode())})"
    return f"{'key' if len(keys) == 1 else 'each of keys'} {', '.join(map(str, sorted(keys)))}"


def _where(w: Spread) -> str:
    fixed = w.low == w.high
    scaled = f"scaled by {told(w.low) if fixed else f'any from {told(w.low)} to {told(w.high)}'}"
    entries = [x for column in w.factor for x in column]
    written = ",".join(f"{x.numerator:x}/{x.denominator:x}" for x in entries).encode()
    E = f"E of {len(w.factor)} columns and size {_size(entries)} ({digest_of(written)})"
    if w.random:
        parts = [f"{told(w.ball)} in every direction"] * bool(w.ball)
        parts += [f"{told(w.stretch)} times its length along itself"] * bool(w.stretch)
        parts += [E] * bool(w.factor)
        noise = f"Gaussian about its place, with deviations of {' and '.join(parts) or '0'}"
    elif w.ball:
        noise = f"within {told(w.ball)} of its place"
    else:
        noise = f"off its place by E u, |u| <= 1, {E}" if w.factor else ""
    return " and ".join([scaled] * (not noise or not w.low == w.high == 1) + [noise] * bool(noise))


def _queries(queries: tuple[Vector, ...]) -> str:
    lengths = ", ".join(map(_size, queries[:MOST])) + ", ..." * (len(queries) > MOST)
    digest = digest_of(array("d", (float(x) for query in queries for x in query)).tobytes())
    several = "ies of lengths" if len(queries) > 1 else "y of length"
    return f"the quer{several} {lengths} ({digest})"


def _size(numbers: Iterable[Fraction]) -> str:
    """The length of a vector, rounded up to six digits."""
    square, six = sum((x * x for x in numbers), Fraction(0)), Context(prec=6)
    near = six.sqrt(_decimal(square, 30, ROUND_CEILING))  # to nearest; the next one up is above
    return f"{near if Fraction(near) ** 2 >= square else near.next_plus(six):g}"


def digest_of(content: bytes) -> str:
    """The beginning of a digest."""
    return f"sha256 {hashlib.sha256(content).hexdigest()[:16]}..."
