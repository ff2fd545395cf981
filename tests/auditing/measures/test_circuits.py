"""Singular values of a circuit lie within their enclosures, and below what the Frobenius norm allows."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.auditing.measures.circuits import Spectrum, circuit_spectra
from headwright.models.model import Circuits
from headwright.numerics.singular_values import product_singular_values


def spectrum(left: np.ndarray, right: np.ndarray) -> Spectrum:
    enclosed = product_singular_values(left, right)
    return Spectrum(enclosed.lower, enclosed.upper)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=6), st.integers(0, 2**32))
def test_known_singular_values_are_enclosed(powers: list[int], seed: int) -> None:
    """A permutation, powers of two and a Hadamard matrix are exact in floats, and so are the singular values."""
    rng = np.random.default_rng(seed)
    k = len(powers)
    sigma = np.sort(2.0 ** -np.array(powers, dtype=float))[::-1]
    hadamard = np.array([[1.0]])
    while len(hadamard) < 8:
        hadamard = np.block([[hadamard, hadamard], [hadamard, -hadamard]])
    left = np.eye(10)[rng.permutation(10)][:, :k] * sigma
    right = hadamard[:k]  # rows of length sqrt 8
    found = spectrum(left, right)
    assert len(found.lower) == k
    for low, value, high in zip(found.lower, sigma, found.upper, strict=True):
        square = 8 * Fraction(float(value)) ** 2
        assert Fraction(float(low)) ** 2 <= square <= Fraction(float(high)) ** 2
        assert high - low < 1e-12 * sigma[0] * 8


@given(st.integers(0, 2**32))
def test_no_singular_value_is_above_the_guarantee(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = spectrum(rng.normal(size=(12, 4)), rng.normal(size=(4, 9)))
    assert (found.lower <= found.frobenius / np.sqrt(np.arange(1, 5))).all()


def test_the_rank_keeps_nine_tenths_of_the_energy() -> None:
    assert (
        spectrum(np.diag([3.0, 1.0, 0.0]), np.eye(3)).rank == 2
    )  # 9 of 10 is not certainly nine tenths
    assert spectrum(np.diag([3.1, 1.0, 0.0]), np.eye(3)).rank == 1
    assert spectrum(np.eye(5), np.eye(5)).stable_rank == pytest.approx(5.0)
    assert spectrum(np.zeros((3, 2)), np.zeros((2, 3))).stable_rank == 0.0


def test_heads_that_share_keys_have_their_own_circuits() -> None:
    rng = np.random.default_rng(0)
    query, key, value, output = (
        rng.normal(size=shape) for shape in ((4, 6, 3), (2, 6, 3), (2, 6, 3), (4, 3, 6))
    )
    circuits = Circuits(query, key, value, output)
    bounds = circuit_spectra(circuits, "qk")
    truth = np.linalg.svd(circuits.query[3] @ circuits.key[1].T, compute_uv=False)[:3]
    np.testing.assert_allclose(bounds[3].mean(axis=0), truth, rtol=1e-12)
