"""The keys as a view of the bytes that hold them; their digest is computed meanwhile, in another thread.

The digest is of the numbers as little-endian float64, row after row, whatever type and order they have in the file.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headwright.trusted.certificate import KeysName
from headwright.trusted.keys import Malformed, Reject

SHORT, LONG = np.lib.format.read_array_header_1_0, np.lib.format.read_array_header_2_0
HEADERS = {(1, 0): SHORT, (2, 0): LONG, (3, 0): LONG}  # the third differs in letters that no matrix has
FLOATS, INTEGERS = ("f8", "f4", "f2"), ("b1", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")
ROWS = 2**13  # at once
Numbers = Float[np.ndarray, "n d"]


@dataclass(frozen=True, eq=False)
class Matrix:
    """Keys as they lie in a file; their digest is known when it is asked for."""

    rows: Numbers
    digest: Future[str]

    def is_named(self, name: KeysName) -> bool:
        """These are the keys that a statement names."""
        return self.rows.shape == (name.n, name.d) and self.digest.result() == name.digest


@dataclass(frozen=True, eq=False)
class Given:
    """The keys of each scenario, and all that was given in files; the digests are still to be compared."""

    names: Sequence[KeysName]
    keys: list[Matrix]
    files: list[Matrix]

    def check(self) -> None:
        """Refuse keys that are not those that the statement names, and files that it says nothing about."""
        for name, matrix in zip(self.names, self.keys, strict=True):
            if not matrix.is_named(name):
                raise Reject(f"{_about(name)}, and other keys were given")
        for matrix in self.files:
            if not any(matrix.is_named(name) for name in self.names):
                n, d = matrix.rows.shape
                raise Reject(
                    f"{n} x {d} keys were given with sha256 {matrix.digest.result()[:16]}..., and "
                    + " and ".join(_about(name) for name in self.names)
                )


def bind(names: Sequence[KeysName], files: Sequence[bytes], pool: Executor) -> Given:
    """For each name the matrix that it names; where only one fits in shape, its digest is still to be compared.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> file = io.BytesIO()
    >>> np.save(file, np.eye(2))
    >>> with ThreadPoolExecutor(1) as pool:
    ...     bind([KeysName(2, 2, "no digest", None)], [file.getvalue()], pool).check()
    Traceback (most recent call last):
    headwright.trusted.keys.Reject: the certificate is about 2 x 2 keys with sha256 no digest..., and other ...
    """
    given = [read_npy(content, pool) for content in files]
    return Given(names, [_find(name, names, given, pool) for name in names], given)


def _find(name: KeysName, names: Sequence[KeysName], given: list[Matrix], pool: Executor) -> Matrix:
    if name.rows is not None:
        return _matrix(np.asarray(name.rows.numbers, dtype=np.float64).reshape(name.n, name.d), pool)
    fitting = [matrix for matrix in given if matrix.rows.shape == (name.n, name.d)]
    if len(fitting) > 1 or len(names) > 1:
        fitting = [matrix for matrix in fitting if matrix.is_named(name)]
    if fitting:
        return fitting[0]
    if all(any(matrix.is_named(other) for other in names) for matrix in given):
        raise Malformed(f"{_about(name)}, which were not given: give their file with --keys")
    raise Reject(f"{_about(name)}, and other keys were given")


def read_npy(content: bytes, pool: Executor) -> Matrix:
    """The matrix in a .npy file: floats in row order are not copied; whole numbers that float64 lacks are refused.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> file = io.BytesIO()
    >>> np.save(file, np.asfortranarray([[1, 2], [3, 4]]))
    >>> with ThreadPoolExecutor(1) as pool:
    ...     read_npy(file.getvalue(), pool).rows.tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    stream = io.BytesIO(content)
    try:
        shape, turned, dtype = HEADERS[np.lib.format.read_magic(stream)](stream)
    except Exception as error:
        raise Malformed("the keys' file is not a .npy file of version 1, 2 or 3") from error
    kind, start = dtype.str[1:], stream.tell()
    if kind not in FLOATS + INTEGERS or len(shape) != 2 or not all(type(s) is int and s > 0 for s in shape):
        raise Malformed(f"the keys' file holds {dtype.str} of shape {shape}: expected a matrix of floats or integers")
    if len(content) - start != shape[0] * shape[1] * dtype.itemsize:
        raise Malformed(f"{len(content) - start} bytes are not {shape[0]} x {shape[1]} numbers of type {dtype.str}")
    numbers = np.frombuffer(content, np.uint8 if kind == "b1" else dtype, offset=start)
    if kind in INTEGERS:
        numbers = _as_floats(numbers != 0 if kind == "b1" else numbers)
    rows = np.ascontiguousarray(numbers.reshape(shape[::-1]).T) if turned else numbers.reshape(shape)
    return _matrix(rows, pool)


def _as_floats(numbers: np.ndarray) -> Float[np.ndarray, " m"]:
    found: Float[np.ndarray, " m"] = numbers.astype(np.float64)
    if numbers.dtype.itemsize == 8:
        most = 2.0**63 if numbers.dtype.kind == "i" else 2.0**64  # beyond, the way back is not defined
        if not (bool((found < most).all()) and bool((found.astype(numbers.dtype) == numbers).all())):
            raise Malformed("a key holds a whole number that float64 does not have")
    return found


def _matrix(rows: Numbers, pool: Executor) -> Matrix:
    return Matrix(rows, pool.submit(_digest, rows))


def _digest(rows: Numbers) -> str:
    found = hashlib.sha256()
    for start in range(0, len(rows), ROWS):
        found.update(np.ascontiguousarray(rows[start : start + ROWS], "<f8").data)
    return found.hexdigest()


def _about(name: KeysName) -> str:
    return f"the certificate is about {name.n} x {name.d} keys with sha256 {name.digest[:16]}..."
