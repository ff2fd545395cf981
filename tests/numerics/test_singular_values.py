"""Singular values are enclosed whatever the decomposition says: against exact rationals and mpmath."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.errors import InputError
from headwright.numerics.singular_values import decompose, product_singular_values
from tests.lowrank.exactly import (
    bounds_norm,
    nasty_matrices,
    remainder,
    true_singular_values,
)

WRONG: dict[str, Callable[[Any, Any, Any], tuple[Any, Any, Any]]] = {
    "noise": lambda u, s, vt: (np.cos(np.arange(u.size)).reshape(u.shape), s, vt),
    "zeros": lambda u, s, vt: (0 * u, 0 * s, 0 * vt),
    "order reversed": lambda u, s, vt: (u[:, ::-1], s[::-1], vt[::-1]),
    "values too small": lambda u, s, vt: (u, s / 1e6, vt),
    "values too large": lambda u, s, vt: (u, s * 1e250, vt),
    "negative values": lambda u, s, vt: (-u, -s, vt),
    "a sign lost": lambda u, s, vt: (np.abs(u), s, vt),
    "not a number": lambda u, s, vt: (u * np.nan, s, vt),
    "long columns": lambda u, s, vt: (u * 1e200, s / 1e200, vt),
}


@given(nasty_matrices())
@settings(deadline=None, max_examples=100)
def test_every_singular_value_is_enclosed_at_any_scale(A: np.ndarray) -> None:
    found = decompose(A)
    # The judge rounds at 60 digits.
    room = 1 + mpmath.mpf(10) ** -40
    for low, value, high in zip(
        found.enclosed.lower, true_singular_values(A), found.enclosed.upper, strict=True
    ):
        assert mpmath.mpf(float(low)) <= abs(value) * room
        assert abs(value) <= mpmath.mpf(float(high)) * room


@given(nasty_matrices(), st.data())
@settings(deadline=None, max_examples=100)
def test_the_next_upper_bound_covers_what_the_first_terms_miss(
    A: np.ndarray, data: st.DataObject
) -> None:
    found = decompose(A)
    rank = data.draw(st.integers(0, min(A.shape) - 1))
    first_terms = found.left * (np.arange(found.left.shape[1]) < rank)
    missed = remainder(A, first_terms, found.right)
    assert bounds_norm(float(found.enclosed.upper[rank]), missed)


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("scale", [1.0, 2.0**-1000, 2.0**900])
def test_a_wrong_decomposition_still_gets_valid_bounds(
    monkeypatch: pytest.MonkeyPatch, wrong: str, scale: float
) -> None:
    svd = np.linalg.svd
    A = np.random.default_rng(0).standard_normal((6, 5)) * scale
    true = true_singular_values(A)
    monkeypatch.setattr(np.linalg, "svd", lambda X, **kw: WRONG[wrong](*svd(X, **kw)))
    found = decompose(A)
    for low, value, high in zip(
        found.enclosed.lower, true, found.enclosed.upper, strict=True
    ):
        assert mpmath.mpf(float(low)) <= value <= mpmath.mpf(float(high))
    for rank in range(1, 5):
        missed = remainder(A, found.left[:, :rank], found.right[:rank])
        assert bounds_norm(float(found.enclosed.upper[rank]), missed)


@given(st.integers(0, 2**32), st.sampled_from([-900, -3, 0, 400]))
@settings(deadline=None, max_examples=30)
def test_the_singular_values_of_a_product_are_enclosed(seed: int, scale: int) -> None:
    rng = np.random.default_rng(seed)
    n, d, m = (int(size) for size in rng.integers(1, 6, 3))
    left = rng.normal(size=(n, d)) * 2.0**scale
    right = rng.normal(size=(d, m))
    found = product_singular_values(left, right)
    with mpmath.workdps(60):
        product = mpmath.matrix(left.tolist()) * mpmath.matrix(right.tolist())
        tall = product if n >= m else product.T
        true = sorted(mpmath.svd_r(tall, compute_uv=False), reverse=True)
    for low, value, high in zip(found.lower, true, found.upper, strict=False):
        assert mpmath.mpf(float(low)) <= value * (1 + mpmath.mpf(10) ** -40)
        assert value <= mpmath.mpf(float(high))
        assert high - low <= 1e-12 * found.upper[0]


def test_a_matrix_whose_norm_is_no_double_is_refused() -> None:
    with pytest.raises(InputError, match="too large"):
        decompose(np.full((3, 3), 1.7e308))
