"""The values of a certificate: JSON that is read strictly, and numbers that are read exactly.

docs/reference/certificate.md, 'Numbers', says how numbers are written. Whatever is not of that
form is Malformed. Every function takes `what`, the words for the value in the reason of a refusal.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from fractions import Fraction
from math import lcm
from typing import NoReturn

from headwright.certificates.exact.keys import Malformed, require_affordable

Json = dict[str, "Json"] | list["Json"] | str | int | bool | None
Vector = tuple[Fraction, ...]

LONGEST_NUMBER = 50_000  # characters
_DECIMAL_OR_RATIO = re.compile(
    r"-?[0-9]{1,400}(/[1-9][0-9]{0,400}|(\.[0-9]{1,400})?(e-?[0-9]{1,3})?)"
)
_HEX_RATIO = re.compile(r"(-?0x[0-9a-f]{1,20000})/(0x[1-9a-f][0-9a-f]{0,20000})")
# 13 hexadecimal digits after the point are the 52 bits of a float64.
_HEX_FLOAT = re.compile(r"(-?0x[01]\.?[0-9a-f]{0,13})p([+-]?[0-9]{1,4})")
_INDEX = re.compile("0|[1-9][0-9]{0,14}")  # one spelling for each index


def require(holds: bool, otherwise: str) -> None:
    """Malformed, with this reason, unless it holds."""
    if not holds:
        raise Malformed(otherwise)


def parse_json(text: str) -> Json:
    """A JSON document, read strictly: no name twice, no bare float, no NaN; or Malformed.

    >>> parse_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    headwright.certificates.exact.keys.Malformed: a name is given twice
    """
    try:
        value: Json = json.loads(
            text,
            object_pairs_hook=_object_without_repeats,
            parse_float=_refuse_bare_number,
            parse_constant=_refuse_bare_number,
        )
    except (ValueError, TypeError, RecursionError) as error:
        raise Malformed(f"the document is not JSON: {error}") from error
    return value


def _object_without_repeats(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    entries = dict(pairs)
    require(len(entries) == len(pairs), "a name is given twice")
    return entries


def _refuse_bare_number(text: str) -> NoReturn:
    raise Malformed(
        f"{text[:40]} is a bare number: expected a string that is read exactly"
    )


def digest_of_json(value: Json) -> str:
    """SHA-256 of a value written with sorted names, no spaces and ASCII only."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def read_object(value: Json, what: str, *names: str) -> dict[str, Json]:
    """An object with exactly these names."""
    if not isinstance(value, dict):
        present = [type(value).__name__]
    elif set(value) == set(names):
        return value
    else:
        present = sorted(value)
    has = ", ".join(map(ascii, present))[:200]
    raise Malformed(f"{what} has the names {has}, expected {', '.join(sorted(names))}")


def read_list(value: Json, what: str, least: int = 0) -> list[Json]:
    """A list of at least so many entries."""
    if isinstance(value, list) and len(value) >= least:
        return value
    size = " that is not empty" if least else ""
    raise Malformed(f"{what}: expected a list{size}")


def read_integer(value: Json, least: int, most: int, what: str) -> int:
    """A whole number in a range. True and False are no numbers."""
    if type(value) is int and least <= value <= most:
        return value
    text = ascii(value)[:40]
    raise Malformed(f"{what} is {text}: no whole number from {least} to {most}")


def read_fraction(text: object) -> Fraction:
    """An exact number: '3', '100/101', '0.05', '1e-30', in hexadecimal '0x1.8p+1' or '0x3/0x2'."""
    if isinstance(text, str) and len(text) <= LONGEST_NUMBER:
        if _DECIMAL_OR_RATIO.fullmatch(text):
            return Fraction(text)
        hex_float = _HEX_FLOAT.fullmatch(text)
        if hex_float:
            # The power of 2 is multiplied apart: in a float a tiny number would be rounded.
            mantissa = Fraction(float.fromhex(hex_float[1]))
            return mantissa * Fraction(2) ** int(hex_float[2])
        hex_ratio = _HEX_RATIO.fullmatch(text)
        if hex_ratio:
            return Fraction(int(hex_ratio[1], 16), int(hex_ratio[2], 16))
    raise Malformed(f"{str(text)[:40]!r} is not a number of the format")


def is_float(x: Fraction) -> bool:
    """A float64 has this value."""
    in_range = abs(x) < 2**1024  # float() of a larger number is an exception
    return in_range and float(x) == x


def read_vector(value: Json, length: int, what: str) -> Vector:
    """So many exact numbers, with a common denominator that is not too long."""
    entries = read_list(value, what)
    require(len(entries) == length, f"{what} has {len(entries)} numbers, not {length}")
    numbers = tuple(map(read_fraction, entries))
    common_denominator(numbers)
    return numbers


def read_table(value: Json, n: int, what: str) -> dict[int, Fraction]:
    """Numbers by index below n; as a name an index is written in decimal digits, in one way."""
    if not isinstance(value, dict):
        raise Malformed(f"{what}: expected indices and numbers")
    for name in value:
        # The names are different, and so are the indices: each has one spelling.
        is_index = _INDEX.fullmatch(name) is not None and int(name) < n
        require(is_index, f"{what}: {name[:40]!r} is not an index from 0 to {n - 1}")
    numbers = read_vector(list(value.values()), len(value), what)
    return dict(zip(map(int, value), numbers, strict=True))


def common_denominator(numbers: Iterable[Fraction]) -> int:
    """The least whole number whose products with all of these are whole; Reject if it is long."""
    fractions = list(numbers)
    count = max(len(fractions), 2**16)
    denominator = 1
    for x in fractions:
        denominator = lcm(denominator, x.denominator)
        # Each of the numbers will be held over this denominator.
        require_affordable(denominator.bit_length() * count)
    return denominator
