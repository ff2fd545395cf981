"""Keys as exact integers, and the only files that are read."""

from __future__ import annotations

import hashlib
import io
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from headwright.trusted.keys import Keys, Malformed

matrices = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, max_side=4),
    elements=st.floats(allow_nan=False, allow_infinity=False),
)
K = np.random.default_rng(0).normal(size=(5, 3))


def _npy(array: np.ndarray, version: Any = None) -> bytes:
    content = io.BytesIO()
    np.lib.format.write_array(content, array, version=version)
    return content.getvalue()


def _digest(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array, dtype="<f8").tobytes()).hexdigest()


def _exact(keys: Keys) -> list[Fraction]:
    return [Fraction(x, 2**keys.bits) for x in keys.whole(0, keys.n)]


@given(matrices)
def test_integers_are_the_floats_exactly_whatever_their_sizes(array: np.ndarray) -> None:
    keys = Keys.of_npy(_npy(np.ascontiguousarray(array)))
    assert _exact(keys) == [Fraction(x) for x in array.ravel().tolist()]
    assert keys.whole(keys.n - 1, keys.n) == keys.whole(0, keys.n)[-keys.d :]


@pytest.mark.parametrize(
    "array",
    [[[0.0, -0.0]], [[5e-324, 0.0]], [[5e-324, 1.7e308]], [[1.7e308]], [[2.0**1009]], [[2.0**-1008, 2.0**-1006]]],
)
def test_the_ends_of_the_range_are_exact(array: Any) -> None:
    assert _exact(Keys.of_npy(_npy(np.array(array)))) == [Fraction(x) for x in array[0]]


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize(
    "array",
    [
        K, K.astype(">f8"), K.astype("<f4"), K.astype(">f4"), K.astype("<f2"), K.astype(">f2"), np.asfortranarray(K),
        np.asfortranarray(K.astype(">f4")), K > 0, (100 * K).astype("i1"), (100 * K + 500).astype("u2"),
        (1e6 * K).astype(">i4"), (1e9 * K).astype("<i8"), np.array([[2**53, -(2**53)], [2**60, 0]]),
        np.array([[2**63]], dtype=np.uint64),
    ],
    ids=lambda a: f"{a.dtype.str}{'F' * (not a.flags.c_contiguous)}",
)  # fmt: skip
def test_every_file_whose_numbers_float64_has_is_read_and_has_one_digest(array: np.ndarray, version: Any) -> None:
    keys = Keys.of_npy(_npy(array, version))
    assert (keys.n, keys.d, keys.digest) == (*array.shape, _digest(array))
    assert _exact(keys) == [Fraction(x) for x in array.ravel().tolist()]


def test_long_files_are_read_block_by_block() -> None:
    array = np.arange(3 * 2**16, dtype=np.int64).reshape(-1, 3)
    assert Keys.of_npy(_npy(array)).digest == _digest(array)
    array[-1, -1] = 2**53 + 1
    with pytest.raises(Malformed, match="above 2\\^53"):
        Keys.of_npy(_npy(array))


def test_rows_and_bytes_have_the_same_digest() -> None:
    array = np.array([[1.5, -2.0], [0.0, 1e-3]])
    assert Keys.of_rows(array.tolist()).digest == Keys.of_npy(_npy(array)).digest == _digest(array)


def test_float64_rows_are_not_copied() -> None:
    content = _npy(K)
    assert Keys.of_npy(content).numbers.obj is content


HEADER = b"{'descr': '<f8', 'fortran_order': False, 'shape': (True, 1)}   \n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not a .npy file"),
        (b"\x93NUMPY\x04\x00", "not a .npy file of version 1, 2 or 3"),
        (b"\x93NUMPY\x01\x00\x05\x00{]", "no header"),
        (b"\x93NUMPY\x03\x00\x01\x00\x00\x00\xff", "no header"),
        (_npy(np.zeros(3)), "no header of a matrix"),
        (_npy(np.zeros((2, 2), dtype=complex)), "holds <c16: expected"),
        (_npy(np.zeros((2, 2), dtype="S3")), "holds .S3: expected"),
        (_npy(np.zeros((2, 2), dtype=[("x", "<f8")])), "expected floats"),
        (_npy(np.array([[2**53 + 1]])), "an integer above 2\\^53 that float64 does not have"),
        (_npy(np.array([[2**64 - 1]], dtype=np.uint64)), "an integer above 2\\^53"),
        (_npy(np.zeros((2, 2)))[:-1], "31 bytes are not 2 x 2 numbers"),
        (_npy(np.zeros((2, 2), dtype=">f2"))[:-1], "7 bytes are not 2 x 2 numbers of type >f2"),
        (_npy(np.zeros((0, 2))), "0 bytes are not 0 x 2"),
        (_npy(np.zeros((2, 0))), "0 bytes are not 2 x 0"),
        (_npy(np.array([[np.nan]])), "not finite"),
        (_npy(np.array([[1.0, np.inf]])), "not finite"),
        (_npy(np.array([[1.0, -np.inf]], dtype=np.float16)), "not finite"),
        (b"\x93NUMPY\x01\x00\x40\x00" + HEADER + b"\0" * 8, "expected floats"),
    ],
)
def test_other_files_are_refused(content: bytes, words: str) -> None:
    with pytest.raises(Malformed, match=words):
        Keys.of_npy(content)


def test_a_long_double_is_refused_and_not_rounded() -> None:
    content = _npy(np.array([[1.0]])).replace(b"'<f8'", b"'<f16'").replace(b" \n", b"\n")
    with pytest.raises(Malformed, match="holds <f16: expected floats of 16 to 64 bits"):
        Keys.of_npy(content)


@pytest.mark.parametrize("rows", [[], [[]], [[1.0], [1.0, 2.0]]])
def test_other_rows_are_refused(rows: list[list[float]]) -> None:
    with pytest.raises(Malformed, match="rows of equal length"):
        Keys.of_rows(rows)


def test_another_byte_order_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.byteorder", "big")
    with pytest.raises(Malformed, match="little-endian"):
        Keys.of_rows([[1.0]])
