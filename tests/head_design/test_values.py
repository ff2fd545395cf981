"""Values, rounded."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from headwright.head_design.assignment import smallest_values
from headwright.head_design.round_weights import nearest_values, rounded


@given(st.integers(0, 10**6))
def test_rounded_values_come_no_farther_than_the_nearest_numbers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    Y, wanted = rng.integers(-2, 3, size=(2, 5)).astype(float), rng.normal(size=(2, 3))
    W = smallest_values(Y, wanted)
    found = nearest_values(W, Y, wanted, "bfloat16")
    np.testing.assert_array_equal(rounded(found, "bfloat16"), found)
    assert (
        np.linalg.norm(Y @ found.T - wanted)
        <= np.linalg.norm(Y @ rounded(W, "bfloat16").T - wanted) + 1e-12
    )
