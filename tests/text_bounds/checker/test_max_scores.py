"""No exact score is above what `highest_scores` says, however it looks; and it says little more."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.numerics.balls import Array, Balls
from headwright.text_bounds.checker.max_scores import (
    PRECISIONS,
    Precision,
    RoundedKeys,
    highest_scores,
)

SIZES = st.sampled_from(
    [0.0, 1e-310, 1e-42, 1e-38, 3e-20, 1e-3, 1.0, 7.5, 1e12, 1e25, 1e60]
)


@st.composite
def known(draw: st.DrawFn, count: int, d: int) -> Balls:
    """TokenVectors known up to something."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    mid = rng.standard_normal((count, d)) * draw(SIZES)
    return Balls(mid, np.abs(mid) * draw(st.sampled_from([0.0, 1e-15, 1e-9, 1e-3])))


def furthest(vectors: Balls, towards: Array) -> Array:
    """Floats that are no further off than is known, to the side where products with these are largest."""
    moved = vectors.mid + vectors.rad * np.sign(towards)
    rounded_beyond = (
        np.abs(moved - vectors.mid) > vectors.rad
    )  # the difference of two floats so near is exact
    return np.where(rounded_beyond, np.nextafter(moved, vectors.mid), moved)


def exact_best(query: Array, keys: Array) -> Fraction:
    mine = [Fraction(number) for number in query.tolist()]
    products = [
        [a * Fraction(b) for a, b in zip(mine, key, strict=True)]
        for key in keys.tolist()
    ]
    return max(sum(each, Fraction(0)) for each in products)


@settings(max_examples=150, deadline=None)
@given(st.data(), st.integers(1, 9), st.sampled_from(PRECISIONS))
def test_no_exact_score_is_above_it(
    data: st.DataObject, d: int, precision: Precision
) -> None:
    queries, keys = data.draw(known(3, d)), data.draw(known(5, d))
    for row, bound in enumerate(highest_scores(queries, RoundedKeys(keys), precision)):
        best = int((keys.mid @ queries.mid[row]).argmax())
        query, key = (
            furthest(queries, keys.mid[best])[row],
            furthest(keys, queries.mid[row]),
        )
        assert Fraction(float(np.nextafter(bound, np.inf))) >= exact_best(query, key)


@pytest.mark.parametrize(
    ("precision", "within"), [("float32", 1e-3), ("float64", 1e-12), ("entries", 1e-12)]
)
def test_it_says_little_more(precision: Precision, within: float) -> None:
    rng = np.random.default_rng(1)
    queries, keys = rng.standard_normal((40, 64)), rng.standard_normal((5000, 64))
    found = highest_scores(Balls.of(queries), RoundedKeys(Balls.of(keys)), precision)
    assert np.abs(found - (queries @ keys.T).max(axis=1)).max() < within


def test_keys_in_many_chunks_and_the_last_of_them_the_highest() -> None:
    keys = np.zeros((4097, 3))
    keys[-1] = 2.0
    for precision in PRECISIONS:
        assert (
            6
            <= highest_scores(
                Balls.of(np.ones((1, 3))), RoundedKeys(Balls.of(keys)), precision
            )[0]
            < 6 + 1e-4
        )


def test_numbers_beyond_float32_are_looked_at_in_float64() -> None:
    large = Balls.of(np.full((1, 2), 1e45))
    found = highest_scores(large, RoundedKeys(large), "float32")
    assert 2e90 <= found[0] < 2e90 * (1 + 1e-12)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_radii_whose_squares_are_below_all_floats_count(precision: Precision) -> None:
    query = Balls(np.zeros((1, 2)), np.full((1, 2), 1e-170))
    keys = RoundedKeys(Balls.of(np.ones((1, 2))))
    assert highest_scores(query, keys, precision)[0] >= 2e-170


def test_the_rounding_of_a_sum_of_many_products_is_allowed_for_in_full() -> None:
    """By the theorem: gamma |q'| |k'| above a sum that is computed exactly."""
    d = 2**14
    ones = Balls.of(np.ones((1, d)))
    found = highest_scores(ones, RoundedKeys(ones), "float32")
    gamma = Fraction(d, 2**24) / (1 - Fraction(d, 2**24))
    assert d * (1 + gamma) <= Fraction(float(found[0])) < d * (1 + gamma) + 1


def test_sums_of_too_many_products_for_float32_are_looked_at_in_float64() -> None:
    d = 2**15
    ones = Balls.of(np.ones((1, d)))
    found = highest_scores(ones, RoundedKeys(ones), "float32")
    assert d <= found[0] < d + 1e-6


@pytest.mark.parametrize("float_type", [np.float32, np.float64])
def test_what_each_step_may_lose_below_the_normal_numbers_is_allowed_for(
    float_type: type[np.floating],
) -> None:
    """2 d steps, where a library takes results below the smallest normal number for 0."""
    d = 9
    zeros = Balls.of(np.zeros((1, d)))
    precision: Precision = "float32" if float_type is np.float32 else "float64"
    found = highest_scores(zeros, RoundedKeys(zeros), precision)
    assert found[0] >= 2 * d * float(np.finfo(float_type).tiny)
