"""How far apart two positions are, and which are closest: against mpmath, brute force and number theory."""

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import ctx
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from headwright.errors import InputError
from headwright.positions import (
    Alibi,
    Learned,
    Rotary,
    Sinusoidal,
    closest_pair,
    distances,
    separation,
)
from headwright.positions.distances import Shortlist, squared_separations

even = st.integers(1, 10).map(lambda half: 2 * half)
bases = st.one_of(st.just(10000.0), st.just(1.0), st.floats(1.0, 1e6))


def _distance(dim: int, base: float, difference: int) -> mpmath.mpf:
    w = [mpmath.mpf(base) ** (-2 * mpmath.mpf(i) / dim) for i in range(dim // 2)]
    return mpmath.sqrt(sum(4 * mpmath.sin(x * difference / 2) ** 2 for x in w))


def _fraction(number: mpmath.mpf) -> Fraction:
    sign, mantissa, exponent, _ = number._mpf_
    return Fraction(-int(mantissa) if sign else int(mantissa)) * Fraction(2) ** int(
        exponent
    )


@given(dim=even, base=bases, difference=st.integers(-(10**9), 10**9))
@example(dim=2, base=10000.0, difference=710)
@example(dim=2, base=10000.0, difference=411557987)
@example(dim=2, base=10000.0, difference=0)
def test_the_enclosure_holds_the_true_distance_and_is_tight(
    dim: int, base: float, difference: int
) -> None:
    with mpmath.workprec(400):
        true = _fraction(_distance(dim, base, difference))
    found = separation(Sinusoidal(dim, base), difference)
    assert Fraction(found.lower) <= true <= Fraction(found.upper)
    assert found.upper <= math.nextafter(math.nextafter(found.lower, 9.0), 9.0)
    assert separation(Rotary(dim, base), -difference) == found


@given(dim=even, t=st.integers(0, 5000), s=st.integers(0, 5000))
def test_the_distance_of_rows_depends_on_the_difference_alone(
    dim: int, t: int, s: int
) -> None:
    rows = Sinusoidal(dim).rows(np.array([t, s], dtype=float))
    assert_allclose(
        np.linalg.norm(rows[0] - rows[1]),
        separation(Sinusoidal(dim), t - s).upper,
        atol=1e-9,
    )


@given(
    dim=even,
    base=bases,
    length=st.integers(2, 10**6),
    places=st.lists(st.floats(0, 1), min_size=1, max_size=5),
)
@settings(max_examples=30, deadline=None)
def test_the_error_bound_of_the_float_filter_holds(
    dim: int, base: float, length: int, places: list[float]
) -> None:
    blocks = list(squared_separations(Sinusoidal(dim, base), length))
    names, lower, upper = (np.concatenate(part) for part in zip(*blocks, strict=True))
    assert np.array_equal(names, np.arange(1, length))
    assert (upper - lower).max() < 1e-9
    with mpmath.workprec(300):
        for k in {int(place * (length - 2)) for place in places}:
            true = _distance(dim, base, k + 1) ** 2
            assert mpmath.mpf(float(lower[k])) <= true <= mpmath.mpf(float(upper[k]))


@given(dim=even, base=bases, length=st.integers(2, 60))
@settings(max_examples=60, deadline=None)
def test_the_closest_pair_is_that_of_brute_force(
    dim: int, base: float, length: int
) -> None:
    rows = Sinusoidal(dim, base).rows(np.arange(float(length)))
    every = np.linalg.norm(rows[:, None] - rows[None], axis=-1)
    every[np.diag_indices(length)] = np.inf
    found = closest_pair(Sinusoidal(dim, base), length)
    assert_allclose(found.distance.lower, every.min(), atol=1e-12)
    assert_allclose(every[found.pair], every.min(), atol=1e-12)
    assert found.certain
    with mpmath.workprec(200):
        assert found.difference == min(
            range(1, length), key=lambda k: _distance(dim, base, k)
        )


def _best_approximations(most: int) -> list[int]:
    """The denominators of the convergents of 1 / (2 pi): the whole numbers nearest to a multiple of 2 pi."""
    with mpmath.workprec(400):
        x, before, now, found = 1 / (2 * mpmath.pi), 0, 1, [1]
        while now <= most:
            x = 1 / (x - mpmath.floor(x))
            before, now = now, int(mpmath.floor(x)) * now + before
            found.append(now)
    return found


@pytest.mark.parametrize(
    "length", [2, 7, 20, 26, 45, 334, 356, 711, 712, 5000, 103_994, 10**6, 2**22 + 1]
)
def test_two_dimensions_find_the_best_approximations_of_two_pi(length: int) -> None:
    expected = max(q for q in _best_approximations(length) if q < length)
    found = closest_pair(Sinusoidal(2), length)
    assert found.difference == expected
    assert found.certain
    assert found.distance.lower > 0


def test_a_million_positions_of_a_large_model() -> None:
    found = closest_pair(Sinusoidal(512), 10**6)
    assert (found.pair, found.certain) == ((0, 1), True)
    with mpmath.workprec(200):
        assert (
            found.distance.lower <= _distance(512, 10000.0, 1) <= found.distance.upper
        )


def test_the_precision_of_flint_is_left_as_it_was() -> None:
    before = ctx.prec
    closest_pair(Sinusoidal(2), 1000)
    separation(Sinusoidal(4), 10**6)
    assert ctx.prec == before


def test_with_no_effort_allowed_the_bounds_still_hold_and_nothing_is_called_certain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    true = closest_pair(Sinusoidal(2), 2 * 10**7)
    assert true.certain
    assert true.compared > 2
    monkeypatch.setattr(distances, "EFFORT", 2)
    hasty = closest_pair(Sinusoidal(2), 2 * 10**7)
    assert hasty.compared == 1
    assert not hasty.certain
    assert (
        hasty.distance.lower
        <= true.distance.lower
        <= true.distance.upper
        <= hasty.distance.upper
    )


def test_too_little_precision_is_not_called_certain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    true = closest_pair(Sinusoidal(2), 2 * 10**7)
    monkeypatch.setattr(distances, "MOST_BITS", 0)
    hasty = closest_pair(Sinusoidal(2), 2 * 10**7)
    assert not hasty.certain
    assert (
        hasty.distance.lower
        <= true.distance.lower
        <= true.distance.upper
        <= hasty.distance.upper
    )


def test_the_precision_grows_until_one_candidate_is_nearest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    true = closest_pair(Sinusoidal(2), 2 * 10**7)
    monkeypatch.setattr(distances, "FEWEST_BITS", 20)
    assert closest_pair(Sinusoidal(2), 2 * 10**7) == true


@pytest.mark.parametrize("heads", [1, 2, 12, 16])
def test_alibi_neighbours_are_closest(heads: int) -> None:
    found = closest_pair(Alibi(heads), 50)
    rows = Alibi(heads).rows(np.arange(2.0))
    assert found.difference == 1
    assert_allclose(found.distance.upper, np.linalg.norm(rows[1]), rtol=1e-14)
    assert_allclose(
        separation(Alibi(heads), -7).upper, 7 * np.linalg.norm(rows[1]), rtol=1e-14
    )


@given(
    length=st.integers(2, 40),
    dim=st.integers(1, 5),
    seed=st.integers(0, 999),
    offset=st.sampled_from([0.0, 1e3, 1e8]),
    grid=st.sampled_from([0.0, 0.25]),
)
@settings(deadline=None)
def test_the_closest_rows_of_a_table_are_those_of_exact_brute_force(
    length: int, dim: int, seed: int, offset: float, grid: float
) -> None:
    table = offset + np.random.default_rng(seed).normal(size=(length, dim))
    if grid:
        table = np.round(table / grid) * grid  # ties, and rows that coincide
    exact = [[Fraction(x) for x in row] for row in table.tolist()]
    square, difference, t = min(
        (sum((a - b) ** 2 for a, b in zip(exact[i], exact[j], strict=True)), j - i, i)
        for i in range(length)
        for j in range(i + 1, length)
    )
    found = closest_pair(Learned(table), length)
    assert found.pair == (t, t + difference)
    assert found.certain
    assert (
        Fraction(found.distance.lower) ** 2
        <= square
        <= Fraction(found.distance.upper) ** 2
    )


def test_rows_so_close_that_their_squares_underflow_are_told_apart() -> None:
    table = np.array([[1.0, 3e-200], [1.0, 1e-200], [1.0, 0.0], [2.0, 0.0]])
    found = closest_pair(Learned(table), 4)
    assert found.pair == (1, 2)
    assert found.distance.lower == found.distance.upper == 1e-200


def test_squares_that_lose_digits_near_zero_decide_nothing() -> None:
    # In floats the squares are 1 and 2 units of the smallest number; in truth 5.29e-324 and 5.12e-324.
    found = closest_pair(
        Learned(np.array([[0.0, 0.0], [2.3e-162, 0.0], [-1.6e-162, -1.6e-162]])), 3
    )
    assert found.pair == (0, 2)


def test_differences_that_only_look_equal_are_told_apart() -> None:
    table = np.array([[1.0, 0.0], [2.0, 0.0], [1.0, 100.0], [2.0**-55, 100.0]])
    assert table[2, 0] - table[3, 0] == table[1, 0] - table[0, 0]  # in floats
    assert closest_pair(Learned(table), 4).pair == (2, 3)


def test_a_table_larger_than_a_block_is_compared_across_blocks() -> None:
    table = np.random.default_rng(0).normal(size=(2500, 8))
    table[2400] = table[100] + 1e-9
    found = closest_pair(Learned(table), 2500)
    assert found.pair == (100, 2400)
    assert closest_pair(Learned(table), 2400).pair != (100, 2400)


def test_more_ties_than_can_be_compared_give_bounds_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(distances, "EFFORT", 16)
    found = closest_pair(Learned(np.eye(20)), 20)
    assert not found.certain
    assert found.distance.lower <= math.sqrt(2) <= found.distance.upper


@given(
    st.lists(st.tuples(st.floats(0, 10), st.floats(0, 1)), min_size=1, max_size=60),
    st.integers(1, 8),
)
def test_a_shortlist_never_loses_the_smallest_without_saying_so(
    intervals: list[tuple[float, float]], limit: int
) -> None:
    few = Shortlist(limit)
    lower = np.array([low for low, _ in intervals])
    upper = np.array([low + width for low, width in intervals])
    for k in range(0, len(intervals), 7):
        names = np.arange(k, min(k + 7, len(intervals)))[:, None]
        few.add(lower[k : k + 7], upper[k : k + 7], names)
    kept = {int(name) for (name,) in few.names}
    assert len(kept) <= limit
    for k in range(len(intervals)):
        assert k in kept or lower[k] > upper.min() or lower[k] >= few.missed


@pytest.mark.parametrize(
    "scheme", [Sinusoidal(4), Learned(np.random.default_rng(0).normal(size=(3000, 4)))]
)
def test_progress_rises_to_one(scheme: Sinusoidal | Learned) -> None:
    told: list[float] = []
    closest_pair(scheme, 3000, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0


WRONG: dict[str, Callable[[], object]] = {
    "length is 1: expected a whole number from 2 (a pair takes two) to 4294967296": lambda: (
        closest_pair(Sinusoidal(4), 1)
    ),
    "length is 2.5: expected a whole number from 2 (a pair takes two) to 4294967296": lambda: (
        closest_pair(
            Sinusoidal(4),
            2.5,  # type: ignore[arg-type]
        )
    ),
    "difference is 0.5: expected a whole number": lambda: separation(
        Sinusoidal(4),
        0.5,  # type: ignore[arg-type]
    ),
    "the scheme is Learned: its distances do not depend on the difference alone, expected Sinusoidal, Rotary or "
    "Alibi": lambda: separation(Learned(np.eye(2)), 1),
    "the index holds 2: expected whole numbers from 0 to 1, the rows of the table": lambda: (
        closest_pair(Learned(np.eye(2)), 3)
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_what_has_no_answer_is_refused_in_plain_words(message: str) -> None:
    with pytest.raises(InputError) as refusal:
        WRONG[message]()
    assert str(refusal.value) == message
