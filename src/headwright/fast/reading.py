"""The keys as a view of the bytes that hold them; their digest is computed meanwhile, in another thread."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headwright.trusted.certificate import KeysName
from headwright.trusted.numbers import Reject

TYPES = {"float64": "<f8", "float32": "<f4"}


@dataclass(frozen=True, eq=False)
class Matrix:
    """Keys as they lie in a file; their digest is known when it is asked for."""

    rows: Float[np.ndarray, "n d"]
    digest: Callable[[], str]

    def fits(self, name: KeysName) -> bool:
        """Of the shape and type that a statement names; says nothing of the digest."""
        return self.rows.shape == (name.n, name.d) and self.rows.dtype == np.dtype(TYPES.get(name.dtype, "V1"))


def read_npy(content: bytes, pool: Executor) -> Matrix:
    """The matrix in a .npy file: two axes, C order, little-endian float32 or float64; no copy is made.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> file = io.BytesIO()
    >>> np.save(file, np.eye(2))
    >>> with ThreadPoolExecutor(1) as pool:
    ...     read_npy(file.getvalue(), pool).rows.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    stream = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(stream)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, fortran, dtype = read(stream)
    except Exception as error:
        raise Reject("the keys' file is not a .npy file of version 1 or 2") from error
    start = stream.tell()
    if (
        fortran
        or dtype.str not in TYPES.values()
        or len(shape) != 2
        or not all(type(s) is int and s > 0 for s in shape)
    ):
        raise Reject(f"the keys' file holds {dtype.str} of shape {shape}: expected a matrix of <f4 or <f8, row by row")
    if len(content) - start != shape[0] * shape[1] * dtype.itemsize:
        raise Reject(f"{len(content) - start} bytes are not {shape[0]} x {shape[1]} numbers of {dtype.itemsize} bytes")
    rows = np.frombuffer(content, dtype, offset=start).reshape(shape)
    digest = pool.submit(lambda: hashlib.sha256(memoryview(content)[start:]).hexdigest())
    return Matrix(rows, digest.result)


def match(names: Sequence[KeysName], files: Sequence[bytes], pool: Executor) -> list[Matrix]:
    """For each name the matrix that it names; where only one fits in shape, its digest is still to be compared."""
    given = [read_npy(content, pool) for content in files] if any(name.rows is None for name in names) else []
    return [_find(name, given) for name in names]


def _find(name: KeysName, given: list[Matrix]) -> Matrix:
    if name.rows is not None:
        keys = name.rows
        if (keys.n, keys.d, keys.dtype, keys.digest) != (name.n, name.d, name.dtype, name.digest):
            raise Reject("the rows written out are not the keys that the statement names")
        written = np.array(keys.numbers, dtype=TYPES[keys.dtype]).reshape(keys.n, keys.d)
        return Matrix(written, lambda: hashlib.sha256(written.tobytes()).hexdigest())
    fitting = [matrix for matrix in given if matrix.fits(name)]
    if len(fitting) > 1:
        fitting = [matrix for matrix in fitting if matrix.digest() == name.digest]
    if not fitting:
        raise _other_keys(name, files=bool(given))
    return fitting[0]


def check_digests(names: Sequence[KeysName], keys: Sequence[Matrix]) -> None:
    """Refuse keys that are not those that the statement names."""
    for name, matrix in zip(names, keys, strict=True):
        if not matrix.fits(name) or matrix.digest() != name.digest:
            raise _other_keys(name, files=True)


def _other_keys(name: KeysName, *, files: bool) -> Reject:
    return Reject(
        f"the certificate is about {name.n} x {name.d} keys of type {name.dtype} with sha256 {name.digest[:16]}..., "
        + ("and other keys were given" if files else "which were not given")
    )
