"""What is accepted, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from headwright.errors import InputError
from headwright.lowrank import (
    error_upper_bound,
    singular_values,
    spectral_norm_upper_bound,
    truncate,
)


@pytest.mark.parametrize(
    "dtype",
    [
        np.float64,
        np.float32,
        np.float16,
        np.int64,
        np.uint8,
        np.bool_,
        ml_dtypes.bfloat16,
    ],
)
def test_numbers_of_other_types_are_converted_exactly(dtype: type) -> None:
    given: np.ndarray = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0], [1, 0, 0]]).astype(
        dtype
    )
    result = truncate(given, rank=3)
    assert result.left.dtype == np.float64
    assert np.array_equal(result.left, given.astype(np.float64))


def test_lists_and_arrays_in_any_order_of_memory_are_accepted() -> None:
    A = np.random.default_rng(0).standard_normal((6, 4))
    plain = truncate(A, rank=2).error_upper_bound
    for same in (A.tolist(), np.asfortranarray(A), np.repeat(A, 2, axis=1)[:, ::2]):
        assert truncate(same, rank=2).error_upper_bound == pytest.approx(
            plain, rel=1e-12
        )


def test_large_integers_are_accepted_where_doubles_hold_them() -> None:
    A = np.array([[2**62, -(2**63)], [2**53, 1]])
    assert np.array_equal(truncate(A, rank=2).left, A.astype(np.float64))
    with pytest.raises(
        InputError,
        match=r"entry \(0, 1\) is -9007199254740993, a number .* that float64 rounds",
    ):
        truncate(np.array([[1, -(2**53) - 1]]), rank=1)
    with pytest.raises(InputError, match="entry \\(0, 0\\) is 18446744073709551615"):
        truncate(np.array([[2**64 - 1]], dtype=np.uint64), rank=1)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones(3), r"has shape \(3,\), expected 2 axes"),
        (np.ones((2, 2, 2)), r"has shape \(2, 2, 2\), expected 2 axes"),
        (np.ones((0, 3)), r"has shape \(0, 3\), which is empty"),
        (5.0, r"has shape \(\), expected 2 axes"),
        ([[1.0, np.nan]], r"entry \(0, 1\) is nan, expected a finite"),
        ([[1.0], [-np.inf]], r"entry \(1, 0\) is -inf, expected a finite"),
        ([[1j]], "holds complex128, expected real"),
        ([["a"]], "holds str32, expected real"),
        ([[2**70]], "holds object, expected real"),
        ([[1.0], [1.0, 2.0]], "list that is no array"),
        (np.full((3, 3), 1.7e308), "too large: its norm is no double"),
    ],
)
def test_what_is_no_finite_real_matrix_is_refused(matrix: Any, message: str) -> None:
    for refuse in (
        lambda: truncate(matrix, rank=1),
        lambda: spectral_norm_upper_bound(matrix),
    ):
        with pytest.raises(InputError, match=message):
            refuse()
    with pytest.raises(InputError, match=message):
        singular_values(matrix)


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({}, "rank is None and tolerance is None: expected exactly one"),
        (
            {"rank": 1, "tolerance": 0.5},
            "rank is 1 and tolerance is 0.5: expected exactly one",
        ),
        ({"rank": 0}, "rank is 0, expected a whole number from 1 to 3"),
        ({"rank": -1}, "rank is -1, expected"),
        ({"rank": 4}, "rank is 4, expected a whole number from 1 to 3"),
        ({"rank": 1.5}, "rank is 1.5, expected a whole number"),
        ({"rank": True}, "rank is True, expected a whole number"),
        ({"rank": "2"}, "rank is '2', expected a whole number"),
        (
            {"tolerance": -0.1},
            "tolerance is -0.1, expected a finite number, 0 or larger",
        ),
        ({"tolerance": float("nan")}, "tolerance is nan, expected a finite number"),
        ({"tolerance": float("inf")}, "tolerance is inf, expected a finite number"),
        ({"tolerance": "0.1"}, "tolerance is '0.1', expected a finite number"),
    ],
)
def test_what_is_no_request_is_refused(request_: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        truncate(np.eye(4, 3), **request_)


def test_a_rank_and_a_tolerance_may_be_numpy_numbers() -> None:
    assert truncate(np.eye(3), rank=np.int64(2)).rank == 2  # type: ignore[arg-type]
    assert truncate(np.eye(3), tolerance=np.float32(1.5)).rank == 1  # type: ignore[arg-type]


def test_factors_that_do_not_fit_the_matrix_are_refused() -> None:
    with pytest.raises(InputError, match=r"left \(3, 1\) and right \(2, 3\): expected"):
        error_upper_bound(np.eye(3), np.ones((3, 1)), np.ones((2, 3)))
    with pytest.raises(InputError, match=r"shape \(3, 3\), left \(2, 1\)"):
        error_upper_bound(np.eye(3), np.ones((2, 1)), np.ones((1, 3)))
    with pytest.raises(InputError, match=r"left: entry \(0, 0\) is nan"):
        error_upper_bound(np.eye(1), np.full((1, 1), np.nan), np.ones((1, 1)))


def test_importing_it_does_not_import_scipy() -> None:
    code = "import sys, headwright.lowrank; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
