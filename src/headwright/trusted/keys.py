"""The keys as exact integers: every float is a whole multiple of some power of two.

Keys come as a .npy file or written out in the certificate; either way they are bound to the statement by the digest of
the numbers themselves, as little-endian float64, row after row: whatever file they were in, it is the same.
"""

from __future__ import annotations

import ast
import hashlib
import math
import struct
import sys
from array import array
from dataclasses import dataclass
from operator import ne

# The types that .npy files have, all of whose numbers float64 has (of the last two, some), as struct calls them.
CODES = {"f8": "d", "f4": "f", "f2": "e", "b1": "?", "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I",
         "i8": "q", "u8": "Q"}  # fmt: skip
BLOCK = 2**16


class Reject(Exception):  # noqa: N818  (it is a verdict, not an accident)
    """The certificate is not accepted, and why."""


class Malformed(Reject):
    """It is not even of the format."""


class Excluded(Reject):
    """The enclosure excludes the claim: it is certainly false, not only unproved."""


@dataclass(frozen=True)
class Keys:
    """n keys in R^d: the entry in row i and column j is numbers[i * d + j], exactly."""

    n: int
    d: int
    digest: str
    numbers: memoryview[float]  # of float64
    bits: int  # every entry times 2^bits is a whole number

    @classmethod
    def of_numbers(cls, numbers: memoryview[float], n: int, d: int) -> Keys:
        """From n d numbers, row after row; refused if one is not finite."""
        if sys.byteorder != "little":
            raise Malformed("keys are little-endian, and this machine is not: check elsewhere")
        content = numbers.cast("B")
        # The sign and seven bits of the exponent; if an end of the range occurs, the numbers themselves are looked at.
        tops = content[7::8].tobytes()
        lowest, *_, highest = [top for top in range(128) if top in tops or top + 128 in tops] * 2
        if highest == 127 and not all(map(math.isfinite, numbers)):
            raise Malformed("a key holds a number that is not finite")
        if lowest == 0:
            bits = 53 - math.frexp(min(map(abs, filter(None, numbers)), default=2.0**53))[1]
        else:
            bits = 1075 - 16 * lowest
        return cls(n, d, hashlib.sha256(content).hexdigest(), numbers, min(max(bits, 0), 1074))

    @classmethod
    def of_rows(cls, rows: list[list[float]]) -> Keys:
        """From rows of floats; refused if they are ragged."""
        if not rows or not rows[0] or len({len(row) for row in rows}) != 1:
            raise Malformed("keys are not rows of equal length")
        return cls.of_numbers(memoryview(array("d", [x for row in rows for x in row])), len(rows), len(rows[0]))

    @classmethod
    def of_npy(cls, content: bytes) -> Keys:
        """From a .npy file with two axes, in any order; refused if float64 lacks one of its numbers."""
        if content[:6] != b"\x93NUMPY" or content[6:8] not in (b"\x01\x00", b"\x02\x00", b"\x03\x00"):
            raise Malformed("the keys' file is not a .npy file of version 1, 2 or 3")
        start = 10 if content[6] == 1 else 12
        end = start + int.from_bytes(content[8:start], "little")
        try:
            header = ast.literal_eval(content[start:end].decode("utf-8" if content[6] == 3 else "latin-1"))
            (n, d), turned, descr = header["shape"], header["fortran_order"], str(header["descr"])
        except (ValueError, SyntaxError, TypeError, KeyError, MemoryError, RecursionError) as error:
            raise Malformed("the keys' file has no header of a matrix") from error
        order, code = descr[:1].replace("|", "<"), CODES.get(descr[1:])
        if order not in ("<", ">") or code is None or type(n) is not int or type(d) is not int:
            raise Malformed(f"the keys' file holds {descr[:40]}: expected floats of 16 to 64 bits, integers or bools")
        body = memoryview(content)[end:]
        if n < 1 or d < 1 or len(body) != n * d * struct.calcsize(order + code):
            raise Malformed(f"{len(body)} bytes are not {n} x {d} numbers of type {descr}")
        numbers: memoryview[float] = body.cast("d") if descr == "<f8" else memoryview(_float64(body, order, code))
        if turned:
            rows = array("d", bytes(8 * n * d))
            for j in range(d):
                rows[j::d] = array("d", numbers[j * n : (j + 1) * n].tobytes())
            numbers = memoryview(rows)
        return cls.of_numbers(numbers, n, d)

    def whole(self, start: int, stop: int) -> list[int]:
        """The entries of these rows, one after the other, times 2^bits."""
        numbers = self.numbers[start * self.d : stop * self.d]
        try:
            return list(map(int, map((2.0**self.bits).__mul__, numbers)))  # exact: only the exponent changes
        except OverflowError:  # numbers of very different sizes
            return [top * 2**self.bits // bottom for top, bottom in (x.as_integer_ratio() for x in numbers)]


def _float64(body: memoryview, order: str, code: str) -> array[float]:
    size, numbers = struct.calcsize(order + code), array("d")
    for start in range(0, len(body), size * BLOCK):
        block = body[start : start + size * BLOCK]
        values = struct.unpack(f"{order}{len(block) // size}{code}", block)
        numbers.extend(values)
        if code in "qQ" and any(map(ne, numbers[-len(values) :], values)):
            raise Malformed("the keys' file holds an integer above 2^53 that float64 does not have")
    return numbers
