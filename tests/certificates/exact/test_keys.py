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

from headwright.certificates.exact.keys import (
    KeyMatrix,
    Malformed,
    Reject,
    require_affordable,
)

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
    return hashlib.sha256(
        np.ascontiguousarray(array, dtype="<f8").tobytes()
    ).hexdigest()


def _exact(keys: KeyMatrix) -> list[Fraction]:
    return [
        Fraction(x, 2**keys.bits)
        for x in (x for key in range(keys.n) for x in keys.row(key))
    ]


@given(matrices)
def test_integers_are_the_floats_exactly_whatever_their_sizes(
    array: np.ndarray,
) -> None:
    keys = KeyMatrix.of_npy(_npy(np.ascontiguousarray(array)))
    assert _exact(keys) == [Fraction(x) for x in array.ravel().tolist()]


@pytest.mark.parametrize(
    "array",
    [
        [[0.0, -0.0]],
        [[5e-324, 0.0]],
        [[5e-324, 1.7e308]],
        [[1.7e308]],
        [[2.0**1009]],
        [[2.0**-1008, 2.0**-1006]],
    ],
)
def test_the_ends_of_the_range_are_exact(array: Any) -> None:
    assert _exact(KeyMatrix.of_npy(_npy(np.array(array)))) == [
        Fraction(x) for x in array[0]
    ]


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_rows_of_float64_are_read_from_every_version_of_npy(version: Any) -> None:
    keys = KeyMatrix.of_npy(_npy(K, version))
    assert (keys.n, keys.d, keys.digest) == (*K.shape, _digest(K))
    assert _exact(keys) == [Fraction(x) for x in K.ravel().tolist()]


def test_rows_and_bytes_have_the_same_digest() -> None:
    array = np.array([[1.5, -2.0], [0.0, 1e-3]])
    assert (
        KeyMatrix.of_rows(array.tolist()).digest
        == KeyMatrix.of_npy(_npy(array)).digest
        == _digest(array)
    )


def test_float64_rows_are_not_copied() -> None:
    content = _npy(K)
    assert KeyMatrix.of_npy(content).numbers.obj is content


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not a .npy file"),
        (b"\x93NUMPY\x04\x00", "not a .npy file"),
        (b"\x93NUMPY\x01\x00\x05\x00{]", "not a .npy file"),
        (_npy(np.zeros(3)), "not a .npy file"),
        (_npy(np.zeros((2, 2, 2))), "not a .npy file"),
        (_npy(np.zeros((2, 2), dtype=complex)), "not a .npy file of float64"),
        (_npy(K.astype("<f4")), "not a .npy file of float64"),
        (_npy(K.astype(">f8")), "not a .npy file of float64"),
        (_npy(np.asfortranarray(K)), "not a .npy file of float64"),
        (_npy(np.array([[2**53 + 1]])), "not a .npy file of float64"),
        (
            _npy(np.array([[1.0]])).replace(b"'<f8'", b"'<f16'").replace(b" \n", b"\n"),
            "not a .npy file of float64",
        ),
        (_npy(np.zeros((2, 2)))[:-1], "31 bytes are not 2 x 2 numbers"),
        (_npy(np.zeros((2, 2))) + b"\0", "33 bytes are not 2 x 2 numbers"),
        (_npy(np.zeros((0, 2))), "not a .npy file"),
        (_npy(np.zeros((2, 0))), "not a .npy file"),
        (_npy(np.array([[np.nan]])), "not finite"),
        (_npy(np.array([[1.0, np.inf]])), "not finite"),
        (_npy(np.array([[1.0, -np.inf]])), "not finite"),
    ],
)
def test_other_files_are_refused(content: bytes, words: str) -> None:
    with pytest.raises(Malformed, match=words):
        KeyMatrix.of_npy(content)


@pytest.mark.parametrize("rows", [[], [[]], [[1.0], [1.0, 2.0]]])
def test_other_rows_are_refused(rows: list[list[float]]) -> None:
    with pytest.raises(Malformed, match="rows of equal length"):
        KeyMatrix.of_rows(rows)


def test_another_byte_order_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.byteorder", "big")
    with pytest.raises(Malformed, match="little-endian"):
        KeyMatrix.of_rows([[1.0]])


def test_work_is_done_up_to_a_limit() -> None:
    require_affordable(2**33)
    with pytest.raises(Reject):
        require_affordable(2**33 + 1)
