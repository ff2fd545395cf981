"""No exact score is above what `highest` says, however it looks; and it says little more."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.models.texts.checker.error_bounds import Array, Known
from headwright.models.texts.checker.max_scores import HOWS, How, Keys, highest

SIZES = st.sampled_from([0.0, 1e-310, 1e-42, 1e-38, 3e-20, 1e-3, 1.0, 7.5, 1e12, 1e25, 1e60])


@st.composite
def known(draw: st.DrawFn, count: int, d: int) -> Known:
    """Vectors known up to something."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    mid = rng.standard_normal((count, d)) * draw(SIZES)
    return Known(mid, np.abs(mid) * draw(st.sampled_from([0.0, 1e-15, 1e-9, 1e-3])))


def furthest(vectors: Known, towards: Array) -> Array:
    """Floats that are no further off than is known, to the side where products with these are largest."""
    moved = vectors.mid + vectors.off * np.sign(towards)
    rounded_beyond = np.abs(moved - vectors.mid) > vectors.off  # the difference of two floats so near is exact
    return np.where(rounded_beyond, np.nextafter(moved, vectors.mid), moved)


def exact_best(query: Array, keys: Array) -> Fraction:
    mine = [Fraction(number) for number in query.tolist()]
    products = [[a * Fraction(b) for a, b in zip(mine, key, strict=True)] for key in keys.tolist()]
    return max(sum(each, Fraction(0)) for each in products)


@settings(max_examples=150, deadline=None)
@given(st.data(), st.integers(1, 9), st.sampled_from(HOWS))
def test_no_exact_score_is_above_it(data: st.DataObject, d: int, how: How) -> None:
    queries, keys = data.draw(known(3, d)), data.draw(known(5, d))
    for row, bound in enumerate(highest(queries, Keys(keys), how)):
        best = int((keys.mid @ queries.mid[row]).argmax())
        query, key = furthest(queries, keys.mid[best])[row], furthest(keys, queries.mid[row])
        assert Fraction(float(np.nextafter(bound, np.inf))) >= exact_best(query, key)


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
