"""Values: projections and cut OV matrices, with errors that hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.errors import InputError
from headwright.weights import cut_values, take_apart
from headwright.weights.round_weights import nearest_values, rounded
from headwright.weights.values import smallest_values


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_a_sum_is_taken_apart_within_the_certified_error(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    whole = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    A, B = whole[:, :k], whole[:, k:]
    apart = take_apart(A)
    a, b = A @ rng.normal(size=k), B @ rng.normal(size=6 - k)
    assert apart.error < 1e-14
    assert np.linalg.norm(apart.M @ (a + b) - a) <= 1e-14 * np.linalg.norm(a + b) + apart.error * np.linalg.norm(a + b)


def test_a_basis_that_is_not_orthonormal_is_refused_or_its_error_told() -> None:
    with pytest.raises(InputError, match="far from orthonormal"):
        take_apart(np.array([[2.0], [0.0]]))
    with pytest.raises(InputError, match="expected its vectors in columns"):
        take_apart(np.ones((1, 2)))
    assert 2e-3 < take_apart(np.array([[1.001], [0.0]])).error < 2.1e-3


def test_an_ov_matrix_is_cut_with_a_certified_error() -> None:
    OV = np.diag([3.0, 2.0, 0.01])
    cut = cut_values(OV, rank=2)
    x = np.array([1.0, -1.0, 5.0])
    assert np.linalg.norm(OV @ x - cut.W_O @ (cut.W_V @ x)) <= cut.error * np.linalg.norm(x)
    assert cut.W_V.shape == (2, 3) and 0.01 <= cut.error < 0.0101


@given(st.integers(0, 10**6))
def test_rounded_values_come_no_farther_than_the_nearest_numbers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    Y, wanted = rng.integers(-2, 3, size=(2, 5)).astype(float), rng.normal(size=(2, 3))
    W = smallest_values(Y, wanted)
    found = nearest_values(W, Y, wanted, "bfloat16")
    np.testing.assert_array_equal(rounded(found, "bfloat16"), found)
    assert np.linalg.norm(Y @ found.T - wanted) <= np.linalg.norm(Y @ rounded(W, "bfloat16").T - wanted) + 1e-12
