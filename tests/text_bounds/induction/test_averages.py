"""Theorem 1 holds for every choice of tokens, and says little more than the largest average."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.text_bounds.induction.checker.averages import (
    Average,
    bound_by_chords,
    bound_by_tangent,
)

U_TOKENS, V_TOKENS, DIRECTIONS = 2, 3, 2


@st.composite
def averages(draw: st.DrawFn, *, of_pairs: bool) -> Average:
    """Fixed places and up to three free ones; free values depend on u and v, or on directions."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    spread = draw(st.sampled_from([0.1, 1.0, 5.0]))
    size = draw(st.sampled_from([1e-3, 1.0, 100.0]))
    uv = (U_TOKENS, V_TOKENS)
    values_at = uv if of_pairs else (DIRECTIONS, *uv)
    weight = np.exp(-spread * rng.random(uv))
    average = Average(np.zeros(values_at), np.zeros(uv))
    average.add_fixed(weight, rng.standard_normal(values_at) * size)
    for _ in range(draw(st.integers(0, 3))):
        tokens = draw(st.integers(2, 4))
        if of_pairs:
            weights = np.exp(-spread * rng.random((tokens, 1, 1)))
            values = rng.standard_normal((tokens, *uv)) * size
        else:
            weights = np.exp(-spread * rng.random((tokens, V_TOKENS)))
            values = rng.standard_normal((DIRECTIONS, tokens)) * size
        average.add_free(weights, values)
    average.largest = 6 * size
    return average


def largest(average: Average, at: tuple[int, ...]) -> Fraction:
    """Over all choices, exactly, for one u and v (and direction)."""
    u, v = at[-2:]
    best = None
    choices = [range(len(weights)) for weights in average.free_weights]
    if len(at) == 3:
        choices = [range(values.shape[1]) for values in average.free_values]
    for tokens in product(*choices):
        total = Fraction(float(average.fixed_sum[at]))
        total_weight = Fraction(float(average.fixed_weight[u, v]))
        for token, weights, values in zip(
            tokens, average.free_weights, average.free_values, strict=True
        ):
            if len(at) == 3:
                weight, value = weights[token, v], values[at[0], token]
            else:
                weight, value = weights[token, 0, 0], values[token, u, v]
            total += Fraction(float(weight)) * Fraction(float(value))
            total_weight += Fraction(float(weight))
        value_here = total / total_weight
        best = value_here if best is None else max(best, value_here)
    assert best is not None
    return best


@settings(max_examples=100, deadline=None)
@given(averages(of_pairs=True))
def test_the_bound_by_a_tangent_is_not_below_the_largest_average(
    average: Average,
) -> None:
    bound = bound_by_tangent(average)
    error = average.error(4, 0.0, 0.0)
    for at in np.ndindex(U_TOKENS, V_TOKENS):
        exact = largest(average, at)
        assert Fraction(float(bound[at])) + Fraction(error) >= exact
        assert float(bound[at]) <= float(exact) + 0.5 * average.largest


@settings(max_examples=100, deadline=None)
@given(averages(of_pairs=False))
def test_the_bound_by_chords_is_not_below_the_largest_average(average: Average) -> None:
    bound = bound_by_chords(average)
    error = average.error(4, 0.0, 0.0)
    for at in np.ndindex(DIRECTIONS, U_TOKENS, V_TOKENS):
        exact = largest(average, at)
        assert Fraction(float(bound[at])) + Fraction(error) >= exact
        assert float(bound[at]) <= float(exact) + 0.5 * average.largest


@pytest.mark.parametrize("bound_of", [bound_by_tangent, bound_by_chords])
def test_without_a_free_place_it_is_the_average(bound_of: object) -> None:
    average = Average(np.full((1, 1, 1), 3.0), np.full((1, 1), 2.0))
    assert callable(bound_of)
    assert bound_of(average).ravel().tolist() == [1.5]
