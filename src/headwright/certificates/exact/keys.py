"""The keys, exactly: every float is a whole multiple of some power of two.

Keys come as a .npy file or written out in the certificate. The digest in the statement is that of
the numbers as little-endian float64, row after row, whatever file they were in.
"""

from __future__ import annotations

import hashlib
import math
import re
import sys
from array import array
from dataclasses import dataclass

MAGIC = b"\x93NUMPY"
LENGTH_BYTES = {  # of the header's length, by version
    b"\x01\0": 2,
    b"\x02\0": 4,
    b"\x03\0": 4,
}
HEADER = re.compile(
    rb"{'descr': '<f8', 'fortran_order': False, "
    rb"'shape': \(([1-9]\d{0,12}), ([1-9]\d{0,12})\), } *\n"
)
NOT_NPY = "the keys' file is not a .npy file of float64 rows, as NumPy writes it"
MOST_WORK = 2**33  # bits that are held, or steps of about that size


class Reject(Exception):  # noqa: N818  (it is a verdict, not an accident)
    """The certificate is not accepted, and why."""


class Malformed(Reject):
    """It is not even of the format."""


class Excluded(Reject):
    """The claim is certainly false, not only unproved."""


def require_affordable(work: int) -> None:
    """Reject too long numbers, and the like, whatever the budget: a bit that is held counts 1."""
    if work > MOST_WORK:
        raise Reject(
            "checking it would take too much time or memory, whatever the budget is"
        )


@dataclass(frozen=True)
class KeyMatrix:
    """n keys in R^d: the entry in row i and column j is numbers[i * d + j], exactly."""

    n: int
    d: int
    digest: str
    numbers: memoryview[float]  # of float64
    bits: int  # every entry times 2^bits is a whole number

    @classmethod
    def of_numbers(cls, numbers: memoryview[float], n: int, d: int) -> KeyMatrix:
        """From n d numbers, row after row; refused if one is not finite."""
        if sys.byteorder != "little":
            raise Malformed(
                "keys are little-endian, and this machine is not: check elsewhere"
            )
        if not all(map(math.isfinite, numbers)):
            raise Malformed("a key holds a number that is not finite")
        # A float x with |x| = m 2^e, 1/2 <= m < 1, is a multiple of 2^(e - 53), and of 2^-1074.
        sizes = map(abs, filter(None, numbers))
        exponent = math.frexp(min(sizes, default=1.0))[1]
        bits = min(max(53 - exponent, 0), 1074)
        digest = hashlib.sha256(numbers).hexdigest()
        return cls(n, d, digest, numbers, bits)

    @classmethod
    def of_rows(cls, rows: list[list[float]]) -> KeyMatrix:
        """From rows of floats; refused if they are ragged."""
        if not rows or not rows[0] or len({len(row) for row in rows}) != 1:
            raise Malformed("keys are not rows of equal length")
        numbers = array("d")
        for row in rows:
            numbers.extend(row)
        return cls.of_numbers(memoryview(numbers), len(rows), len(rows[0]))

    @classmethod
    def of_npy(cls, content: bytes) -> KeyMatrix:
        """From a .npy file with n rows of d numbers of type float64, one after the other."""
        magic = content[:6]
        version = content[6:8]
        if magic != MAGIC or version not in LENGTH_BYTES:
            raise Malformed(NOT_NPY)
        # The header begins after its length, and has exactly that length: NumPy goes by it.
        start = 8 + LENGTH_BYTES[version]
        length = int.from_bytes(content[8:start], "little")
        stop = start + length
        header = HEADER.fullmatch(content[start:stop])
        if header is None or len(header[0]) != length:
            raise Malformed(NOT_NPY)
        n = int(header[1])
        d = int(header[2])
        body = memoryview(content)[stop:]
        if len(body) != 8 * n * d:
            raise Malformed(
                f"{len(body)} bytes are not {n} x {d} numbers of type float64"
            )
        return cls.of_numbers(body.cast("d"), n, d)

    def row(self, key: int) -> list[int]:
        """The entries of a key times 2^bits, exactly."""
        numbers = self.numbers[key * self.d : (key + 1) * self.d]
        try:
            power = 2.0**self.bits
            return [int(x * power) for x in numbers]  # exact: only exponents change
        except OverflowError:  # numbers of very different sizes
            ratios = (x.as_integer_ratio() for x in numbers)
            return [(top << self.bits) // bottom for top, bottom in ratios]
