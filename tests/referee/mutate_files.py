"""Files of keys that are not those of a statement: of other numbers, or read in another way by NumPy."""

from __future__ import annotations

import io
import random
import struct
from collections.abc import Iterator

import numpy as np

HEADER_STARTS = 10  # in version 1: six bytes of magic, two of the version, two of the header's length


def npy(array: np.ndarray) -> bytes:
    """The file that NumPy writes."""
    content = io.BytesIO()
    np.save(content, array)
    return content.getvalue()


def npy_of(
    header: str, body: bytes, length: int | None = None, version: bytes = b"\x01\x00"
) -> bytes:
    """A file with any header; `length` is what the file says of it, by default the truth."""
    written = header.encode() + b"\n"
    said = len(written) if length is None else length
    return b"\x93NUMPY" + version + struct.pack("<H", said) + written + body


def header_of(descr: str, shape: tuple[int, ...], fortran: bool = False) -> str:
    return f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}"


def wrong_files(keys: np.ndarray) -> dict[str, bytes]:
    """Files that must not pass as these n x d keys, though most of them have the same bytes of numbers."""
    n, d = keys.shape
    body = np.ascontiguousarray(keys, "<f8").tobytes()
    good = npy(keys)
    right = header_of("<f8", (n, d))
    return {
        "other shape, same bytes": npy(keys.reshape(d, n)),
        "one row": npy(keys.reshape(1, n * d)),
        "one dimension": npy(keys.reshape(n * d)),
        "three dimensions": npy(keys.reshape(n, d, 1)),
        "Fortran order, same bytes": npy_of(
            header_of("<f8", (n, d), fortran=True), body
        ),
        "Fortran order of the transposed": npy_of(
            header_of("<f8", (d, n), fortran=True), body
        ),
        "Fortran order, same keys": npy(np.asfortranarray(keys)),
        "int64, same bytes": npy(np.frombuffer(body, "<i8").reshape(n, d)),
        "float32, same bytes": npy(np.frombuffer(body, "<f4").reshape(n, 2 * d)),
        "complex, same bytes": npy_of(header_of("<c16", (n, d)), body),
        "big-endian, same keys": npy(keys.astype(">f8")),
        "big-endian, same bytes": npy_of(header_of(">f8", (n, d)), body),
        "native order": npy_of(header_of("=f8", (n, d)), body),
        "header said shorter": npy_of(right + " " * 20, body, length=len(right) + 13),
        "header said longer": npy_of(right + " " * 20, body, length=len(right) + 29),
        "header said empty": npy_of(right, body, length=0),
        "header without an end": npy_of(right, body, length=len(right)),
        "header beyond the file": npy_of(right, body, length=2**16 - 1),
        "header with more behind it": npy_of(right + " # more", body),
        "header twice": npy_of(f"{right}\n{right}", body),
        "another name": npy_of(right.replace(", }", ", 'more': 1, }"), body),
        "descr twice": npy_of(right.replace(", }", ", 'descr': '>f8', }"), body),
        "version 0": npy_of(right, body, version=b"\x00\x00"),
        "version 4": npy_of(right, body, version=b"\x04\x00"),
        "version 1.1": npy_of(right, body, version=b"\x01\x01"),
        "version 2, length of version 1": npy_of(right, body, version=b"\x02\x00"),
        "no magic": b"\x93NUMPX" + good[6:],
        "trailing byte": good + b"\0",
        "trailing number": good + bytes(8),
        "trailing row": good + bytes(8 * d),
        "one byte less": good[:-1],
        "one number less": good[:-8],
        "one row less": good[: -8 * d],
        "header alone": good[: len(good) - len(body)],
        "part of the header": good[:40],
        "magic alone": good[:8],
        "empty": b"",
        "shape that overflows": npy_of(header_of("<f8", (2**43, 2**43)), body),
        "no rows": npy_of(header_of("<f8", (0, d)), body),
        "minus": npy_of(header_of("<f8", (-n, -d)), body),
        "leading zero": npy_of(right.replace(f"({n},", f"(0{n},"), body),
        "underscore": npy_of(right.replace(f"({n},", "(1_0,"), body),
        "other numbers": npy(keys + 1),
        "a bit more": npy(np.nextafter(keys, np.inf)),
        "rows in another order": npy(keys[::-1].copy()),
        "minus zero": npy(np.where(keys == 0, -0.0, keys)),
    }


def changed_headers(keys: np.ndarray, count: int, seed: int) -> Iterator[bytes]:
    """Files of these keys in which one byte before the numbers is another one, or left out, or there twice.

    In half of them the length of the header is set right afterwards: spaces more or less are then the same keys.
    """
    good = npy(keys)
    body = good[-8 * keys.size :]
    before = good[: -8 * keys.size]
    chance = random.Random(seed)
    for _ in range(count):
        place = chance.randrange(len(before))
        instead = chance.choice(
            [b"", before[place : place + 1] * 2, bytes([chance.randrange(256)])]
        )
        changed = before[:place] + instead + before[place + 1 :]
        if chance.random() < 0.5:
            length = len(changed) - HEADER_STARTS
            changed = (
                changed[: HEADER_STARTS - 2]
                + struct.pack("<H", length)
                + changed[HEADER_STARTS:]
            )
        yield changed + body
