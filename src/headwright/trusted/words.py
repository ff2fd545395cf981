"""What was proved, in words: all that the statement says, and no more.

Short numbers are told exactly; of others the first digits are, followed by dots, or they are rounded to the safe side.
Matrices and long lists are told by size and digest, and the last word is the digest of the whole statement.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Collection, Iterable
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from headwright.trusted.certificate import Spread, Statement, Vector

MOST = 12  # entries of a list that are told one by one


def in_words(s: Statement) -> str:
    """What a statement says, as a sentence."""
    these, n = ("these", f"{s.keys[0].n} keys") if s.keys[0].n > 1 else ("this", "one key")
    about = f"{n} in R^{s.keys[0].d} ({', '.join(f'sha256 {k.digest[:16]}...' for k in s.keys)})"
    about = f"For {these} {about}" if len(s.keys) == 1 else f"For these {len(s.keys)} scenarios of {about}"
    about += f" and scores scaled by {told(s.scale)}" if s.scale != 1 else ""
    about += ", where " * bool(s.world) + " and ".join(f"{_who(w.keys, s)} is {_where(w)}" for w in s.world)
    targets: dict[Fraction, list[int]] = {}
    for target, least in s.wish.items():
        targets.setdefault(least, []).append(target)
    wish = " and ".join(f"{_who(keys, s)} a weight of at least {told(p)}" for p, keys in targets.items())
    wish = f"gives {wish}" if s.heads == 1 else f"give, on average over the heads, {wish}"
    wish += " in every scenario" if len(s.keys) > 1 else ""
    wish += " wherever they are" if any(w.low < w.high or not w.random for w in s.world) else ""
    if any(w.random for w in s.world):
        wish += f" with probability at least {told(s.confidence)} over the independent Gaussian keys"
    one, length = s.heads == 1, told(s.none_shorter, "")
    none = f"no query shorter than {length} does" if one else f"no {s.heads} queries all shorter than {length} do"
    said = {
        "designed": f"{_queries(s.queries)} {wish}{'; ' + none if s.none_shorter else ''}",
        "impossible": f"no {'query' if one else f'{s.heads} queries'} whatever {wish}",
        "longer": f"a query that {wish}, if there is one, is not shorter than {length}" if one else
        f"{s.heads} queries that {wish}, if there are such, are not all shorter than {length}",
    }[s.claim]  # fmt: skip
    return f"{about}, {said}. Statement sha256 {s.digest}."


def told(x: Fraction, rest: str = "...") -> str:
    """A number exactly if it is short, else its first digits.

    >>> told(Fraction(1, 8)), told(Fraction(100, 101)), told(Fraction(10**9, 10**9 + 7))
    ('0.125', '0.990099 (100/101)', '0.999999...')
    """
    exact, digits = (Context(prec, ROUND_DOWN).divide(Decimal(x.numerator), Decimal(x.denominator)) for prec in (12, 6))
    if Fraction(exact) == x:
        return f"{exact.normalize():g}"
    short = x.numerator.bit_length() + x.denominator.bit_length() < 40
    return f"{digits:g} ({x})" if short else f"{digits:g}{rest}"


def shown(x: Fraction) -> str:
    """For words: six digits, rounded down."""
    return f"{Context(prec=6, rounding=ROUND_FLOOR).divide(Decimal(x.numerator), Decimal(x.denominator)):g}"


def _who(keys: Collection[int] | None, s: Statement) -> str:
    if keys is None:
        return "every other key" if len(s.world) > 1 else "every key"
    if len(keys) > MOST:
        return f"each of {len(keys)} keys ({_digest(repr(sorted(keys)).encode())})"
    return f"{'key' if len(keys) == 1 else 'each of keys'} {', '.join(map(str, sorted(keys)))}"


def _where(w: Spread) -> str:
    scaled = f"scaled by {told(w.low)}" if w.low == w.high else f"scaled by any from {told(w.low)} to {told(w.high)}"
    written = ",".join(f"{x.numerator:x}/{x.denominator:x}" for column in w.factor for x in column).encode()
    E = f"E of {len(w.factor)} columns and size {_size(x for column in w.factor for x in column)} ({_digest(written)})"
    if w.random:
        parts = [f"{told(w.ball)} in every direction"] * bool(w.ball)
        parts += [f"{told(w.stretch)} times its length along itself"] * bool(w.stretch)
        noise = f"Gaussian about its place, with deviations of {' and '.join(parts + [E] * bool(w.factor)) or '0'}"
    elif w.ball:
        noise = f"within {told(w.ball)} of its place"
    else:
        noise = f"off its place by E u, |u| <= 1, {E}" if w.factor else ""
    return " and ".join([scaled] * (not noise or not w.low == w.high == 1) + [noise] * bool(noise))


def _queries(queries: tuple[Vector, ...]) -> str:
    lengths = ", ".join(map(_size, queries[:MOST])) + ", ..." * (len(queries) > MOST)
    digest = _digest(array("d", (float(x) for query in queries for x in query)).tobytes())
    return f"the {'query of length' if len(queries) == 1 else 'queries of lengths'} {lengths} ({digest})"


def _size(numbers: Iterable[Fraction]) -> str:
    """The length of a vector, rounded up."""
    square, six = sum((x * x for x in numbers), Fraction(0)), Context(prec=6)
    above = Context(30, ROUND_CEILING).divide(Decimal(square.numerator), Decimal(square.denominator))
    near = six.sqrt(above)  # to nearest: the next number of six digits is above the root
    return f"{near if Fraction(near) ** 2 >= square else near.next_plus(six):g}"


def _digest(content: bytes) -> str:
    return f"sha256 {hashlib.sha256(content).hexdigest()[:16]}..."
