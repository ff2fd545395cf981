"""No exact score is above what `highest` says, however it looks; and it says little more."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.audit.texts.checker.highest import HOWS, How, Keys, highest
from headwright.audit.texts.checker.known import Array, Known

SIZES = st.sampled_from([0.0, 1e-310, 1e-42, 1e-38, 3e-20, 1e-3, 1.0, 7.5, 1e12, 1e25, 1e60])


@st.composite
def known(draw: st.DrawFn, count: int, d: int) -> tuple[Known, Array]:
    """Vectors known up to something, and exact ones that are no further off."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    mid = rng.standard_normal((count, d)) * draw(SIZES)
    off = np.abs(mid) * draw(st.sampled_from([0.0, 1e-15, 1e-9, 1e-3]))
    side = rng.choice([-1.0, 1.0, 0.0], size=mid.shape)
    return Known(mid, off * (1 + 1e-12)), mid + off * side  # the exact one is a float, and rounded no further out


def exact_best(query: Array, keys: Array) -> Fraction:
    return max(
        sum((Fraction(a) * Fraction(b) for a, b in zip(query.tolist(), key, strict=True)), Fraction(0))
        for key in keys.tolist()
    )


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 9), st.sampled_from(HOWS))
def test_no_exact_score_is_above_it(data: st.DataObject, d: int, how: How) -> None:
    queries, exact = data.draw(known(3, d))
    keys, exact_keys = data.draw(known(5, d))
    found = highest(queries, Keys(keys), how)
    for row, bound in enumerate(found):
        assert Fraction(float(np.nextafter(bound, np.inf))) >= exact_best(exact[row], exact_keys)


@pytest.mark.parametrize(("how", "within"), [("float32", 1e-3), ("float64", 1e-12), ("entries", 1e-12)])
def test_it_says_little_more(how: How, within: float) -> None:
    rng = np.random.default_rng(1)
    queries, keys = rng.standard_normal((40, 64)), rng.standard_normal((5000, 64))
    found = highest(Known.exactly(queries), Keys(Known.exactly(keys)), how)
    assert np.abs(found - (queries @ keys.T).max(axis=1)).max() < within


def test_keys_in_many_chunks_and_the_last_of_them_the_highest() -> None:
    keys = np.zeros((4097, 3))
    keys[-1] = 2.0
    for how in HOWS:
        assert 6 <= highest(Known.exactly(np.ones((1, 3))), Keys(Known.exactly(keys)), how)[0] < 6 + 1e-4


def test_numbers_beyond_float32_are_looked_at_in_float64() -> None:
    large = Known.exactly(np.full((1, 2), 1e45))
    found = highest(large, Keys(large), "float32")
    assert 2e90 <= found[0] < 2e90 * (1 + 1e-12)
