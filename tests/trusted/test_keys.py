"""Keys as exact integers, and the only files that are read."""

from __future__ import annotations

import hashlib
import io
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from headwright.trusted.keys import Keys
from headwright.trusted.numbers import Reject

matrices = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, max_side=4),
    elements=st.floats(allow_nan=False, allow_infinity=False),
)


def _npy(array: np.ndarray, **keywords: object) -> bytes:
    content = io.BytesIO()
    np.save(content, array, **keywords)  # type: ignore[arg-type]
    return content.getvalue()


@given(matrices)
def test_integers_are_the_floats_exactly_whatever_their_sizes(K: np.ndarray) -> None:
    keys = Keys.of_npy(_npy(np.ascontiguousarray(K)))
    found = [[Fraction(x, 1) / Fraction(2) ** keys.bits for x in row] for row in keys.rows()]
    assert found == [[Fraction(x) for x in row] for row in K.tolist()]


def test_rows_and_bytes_have_the_same_digest() -> None:
    K = np.array([[1.5, -2.0], [0.0, 1e-3]])
    keys = Keys.of_rows(K.tolist(), "float64")
    assert keys.digest == Keys.of_npy(_npy(K)).digest == hashlib.sha256(K.tobytes()).hexdigest()


def test_float32_is_read_and_told_from_float64() -> None:
    K = np.array([[0.1]], dtype=np.float32)
    keys = Keys.of_npy(_npy(K))
    assert keys.dtype == "float32"
    assert Fraction(next(keys.rows())[0], 2**keys.bits) == Fraction(float(K[0, 0]))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not a .npy file"),
        (b"\x93NUMPY\x03\x00", "not a .npy file of version 1 or 2"),
        (b"\x93NUMPY\x01\x00\x05\x00{]", "no header"),
        (_npy(np.zeros(3)), "no header of a matrix"),
        (_npy(np.zeros((2, 2), dtype=int)), "holds <i8"),
        (_npy(np.asfortranarray(np.arange(6.0).reshape(2, 3))), "another order"),
        (_npy(np.zeros((2, 2)))[:-1], "31 bytes are not 2 x 2 numbers"),
        (_npy(np.zeros((0, 2))), "0 bytes are not 0 x 2"),
        (_npy(np.array([[np.nan]])), "not finite"),
        (_npy(np.array([[np.inf]])), "not finite"),
        (
            b"\x93NUMPY\x01\x00\x40\x00"
            + b"{'descr': '<f8', 'fortran_order': False, 'shape': (True, 1)}   \n"
            + b"\0" * 8,
            "order",
        ),
    ],
)
def test_other_files_are_refused(content: bytes, words: str) -> None:
    with pytest.raises(Reject, match=words):
        Keys.of_npy(content)


@pytest.mark.parametrize(
    ("rows", "dtype", "words"),
    [
        ([], "float64", "rows of equal length"),
        ([[1.0], [1.0, 2.0]], "float64", "rows of equal length"),
        ([[1.0]], "float16", "type"),
        ([[0.1]], "float32", "not of type float32"),
        ([[]], "float64", "0 bytes"),
    ],
)
def test_other_rows_are_refused(rows: list[list[float]], dtype: str, words: str) -> None:
    with pytest.raises(Reject, match=words):
        Keys.of_rows(rows, dtype)


def test_unknown_type_is_refused() -> None:
    with pytest.raises(Reject, match="keys of type int8"):
        Keys.of_bytes(b"", 1, 1, "int8")
