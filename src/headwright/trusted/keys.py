"""The keys as exact integers: every float is a whole multiple of some power of two.

Keys come as bytes (row after row, little-endian, as in a .npy file) or written out in the certificate; either way their
digest, shape and number type are those that the statement names.
"""

from __future__ import annotations

import ast
import hashlib
import math
import sys
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat

from headwright.trusted.numbers import Reject

TYPES = {"float64": ("d", "<f8"), "float32": ("f", "<f4")}  # the codes of array and of .npy


@dataclass(frozen=True)
class Keys:
    """n keys in R^d: the entry in row i and column j is numbers[i * d + j], exactly."""

    n: int
    d: int
    dtype: str
    digest: str
    numbers: array[float]
    bits: int  # every entry times 2^bits is a whole number

    @classmethod
    def of_bytes(cls, content: bytes, n: int, d: int, dtype: str) -> Keys:
        """From the bytes of the rows; refused if they are not n d finite numbers."""
        if dtype not in TYPES:
            raise Reject(f"keys of type {dtype}: expected one of {', '.join(TYPES)}")
        numbers: array[float] = array(TYPES[dtype][0])
        if n < 1 or d < 1 or len(content) != n * d * numbers.itemsize:
            raise Reject(f"{len(content)} bytes are not {n} x {d} numbers of type {dtype}")
        if sys.byteorder != "little":
            raise Reject("keys are little-endian, and this machine is not: check elsewhere")
        numbers.frombytes(content)
        if not all(map(math.isfinite, numbers)):
            raise Reject("a key holds a number that is not finite")
        smallest = min(map(abs, filter(None, numbers)), default=1.0)
        bits = max(0, 53 - math.frexp(smallest)[1])
        return cls(n, d, dtype, hashlib.sha256(content).hexdigest(), numbers, bits)

    @classmethod
    def of_rows(cls, rows: list[list[float]], dtype: str) -> Keys:
        """From rows of floats; refused if they are ragged, or not exactly of that type."""
        if dtype not in TYPES or not rows or len({len(row) for row in rows}) != 1:
            raise Reject(f"keys are not rows of equal length of a type in {', '.join(TYPES)}")
        numbers = array(TYPES[dtype][0], [x for row in rows for x in row])
        if numbers.tolist() != [x for row in rows for x in row]:
            raise Reject(f"a key holds a number that is not of type {dtype}")
        return cls.of_bytes(numbers.tobytes(), len(rows), len(rows[0]), dtype)

    @classmethod
    def of_npy(cls, content: bytes) -> Keys:
        """From the content of a .npy file: two axes, C order, little-endian float32 or float64."""
        if content[:6] != b"\x93NUMPY" or content[6:8] not in (b"\x01\x00", b"\x02\x00"):
            raise Reject("the keys' file is not a .npy file of version 1 or 2")
        start = 10 if content[6] == 1 else 12
        end = start + int.from_bytes(content[8:start], "little")
        try:
            header = ast.literal_eval(content[start:end].decode("latin-1"))
            shape, order, descr = header["shape"], header["fortran_order"], header["descr"]
            n, d = shape
        except (ValueError, SyntaxError, TypeError, KeyError, MemoryError, RecursionError) as error:
            raise Reject("the keys' file has no header of a matrix") from error
        dtype = next((name for name, (_, code) in TYPES.items() if code == descr), None)
        if dtype is None or order is not False or type(n) is not int or type(d) is not int:
            raise Reject(f"the keys' file holds {descr} in another order than expected: <f4 or <f8, row by row")
        return cls.of_bytes(content[end:], n, d, dtype)

    def row(self, i: int) -> list[int]:
        """Row i, times 2^bits."""
        return _whole(self.numbers[i * self.d : (i + 1) * self.d], self.bits)

    def rows(self) -> Iterator[list[int]]:
        """All rows, times 2^bits."""
        return map(self.row, range(self.n))


def _whole(numbers: array[float], bits: int) -> list[int]:
    try:
        return list(map(int, map(math.ldexp, numbers, repeat(bits))))  # exact: only the exponent changes
    except OverflowError:  # numbers of very different sizes
        return [top * 2**bits // bottom for top, bottom in (x.as_integer_ratio() for x in numbers)]
