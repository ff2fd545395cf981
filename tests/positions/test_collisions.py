"""Which positions coincide after rounding: against exact rationals, dictionaries and brute force."""

import itertools
import math
from fractions import Fraction
from itertools import pairwise
from typing import get_args

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from headwright.errors import InputError
from headwright.positions import (
    Alibi,
    Learned,
    Precision,
    Rotary,
    Scheme,
    Sinusoidal,
    closest_pair,
    collisions,
    equal_rows,
    preview,
    report,
    round_to,
)
from headwright.positions.rounding import DType, RoundedRows

DTYPES: tuple[DType, ...] = get_args(DType)
SHAPES = {
    "float32": (24, -126, 128),
    "float16": (11, -14, 16),
    "bfloat16": (8, -126, 128),
}


def _rounded(number: float, dtype: str) -> float:
    """To nearest even by exact rationals: digits, the smallest exponent, and where infinity begins."""
    digits, least, most = SHAPES[dtype]
    if number == 0 or not math.isfinite(number):
        return number
    unit = Fraction(2) ** (max(math.frexp(number)[1] - 1, least) - digits + 1)
    result = (
        round(Fraction(number) / unit) * unit
    )  # Python rounds a Fraction to nearest even
    return math.copysign(math.inf if abs(result) >= 2**most else float(result), number)


@pytest.mark.parametrize("dtype", SHAPES)
@given(
    number=st.floats(allow_nan=False),
    near=st.integers(0, 2**16 - 1),
    step=st.sampled_from([-1, 0, 1]),
)
@settings(max_examples=300)
@example(
    number=1 + 2.0**-8 + 2.0**-40, near=0, step=0
)  # by way of float32 this is a tie, and becomes 1
@example(number=2.0**-134, near=0, step=0)
@example(number=math.nextafter(2.0**-134, 1), near=0, step=0)
@example(number=3.3961775292304606e38, near=0, step=0)
@example(number=65519.99999, near=0, step=0)
@example(number=65520.0, near=0, step=0)
@example(number=-5.9e-8, near=0, step=0)
def test_rounding_is_to_nearest_even_and_only_once(
    dtype: DType, number: float, near: int, step: int
) -> None:
    # Ties are rare among random floats: half-way between two bfloat16 numbers, and a step beside it.
    halfway = float(
        np.array([(near << 16) + 2**15], dtype=np.uint32).view(np.float32)[0]
    )
    beside = (
        np.nextafter(halfway, step * np.inf)
        if step and math.isfinite(halfway)
        else halfway
    )
    numbers = np.array([number, beside if math.isfinite(halfway) else 0.0, 1.0])
    expected = [_rounded(x, dtype) for x in numbers.tolist()]
    assert round_to(numbers, dtype).tolist() == expected


def test_rounding_keeps_what_is_not_finite_and_the_signs_of_zero() -> None:
    odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300, -1e300, 1e-300])
    for dtype in SHAPES:
        rounded = round_to(odd, dtype)  # type: ignore[arg-type]
        assert_array_equal(
            rounded, [np.nan, np.inf, -np.inf, 0.0, -0.0, np.inf, -np.inf, 0.0]
        )
        assert_array_equal(np.signbit(rounded[1:]), np.signbit(odd[1:]))
    assert round_to(odd, "exact") is odd


def _by_hand(scheme: Scheme, length: int, precision: Precision) -> np.ndarray:
    """The rounded rows, one position after the other."""
    table = []
    for t in range(length):
        index = round_to(np.array([float(t)]), precision.index)
        if isinstance(scheme, Sinusoidal | Rotary):
            angles = round_to(
                index * round_to(scheme.frequencies, precision.angle), precision.angle
            )
            row = np.stack((np.sin(angles), np.cos(angles)), axis=1).ravel()
        else:
            row = scheme.rows(index)[0]
        table.append(round_to(row, precision.rows))
    return np.array(table)


def _check(scheme: Scheme, length: int, precision: Precision) -> None:
    """A report against a dictionary of rows and the distances of all pairs."""
    table = _by_hand(scheme, length, precision)
    places: dict[bytes, list[int]] = {}
    for t, row in enumerate(table):
        places.setdefault((row + 0.0).tobytes(), []).append(t)
    groups = [group for group in places.values() if len(group) > 1]
    found = report(scheme, length, precision)
    assert found.collisions == length - len(places)
    assert found.first_pair == min(
        ((g[0], g[1]) for g in groups), key=lambda pair: pair[1], default=None
    )
    assert found.overflow_from is None
    t, s = found.closest_pair
    assert 0 <= t < s < length
    assert found.min_difference == s - t
    every = np.array([np.linalg.norm(table - row, axis=1) for row in table])
    assert_array_equal(every, every.T)
    every[np.tril_indices(length)] = np.inf
    if groups:
        assert found.min_distance == found.distance.lower == 0.0
        assert (s - t, t) == min(
            (b - a, a) for g in groups for a, b in itertools.pairwise(g)
        )
    else:
        assert found.distance.lower <= found.min_distance == found.distance.upper
        assert_allclose(found.min_distance, every.min(), rtol=1e-9, atol=1e-12)
        assert_allclose(every[t, s], every.min(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "precision",
    [Precision(*chosen) for chosen in itertools.product(DTYPES, DTYPES, DTYPES)],
    ids=str,
)
def test_reports_agree_with_a_dictionary_and_all_pairs_for_every_choice_of_types(
    precision: Precision,
) -> None:
    for scheme, length in (
        (Sinusoidal(2), 380),
        (Rotary(4), 300),
        (Sinusoidal(8), 270),
        (Alibi(3), 290),
    ):
        _check(scheme, length, precision)


@given(
    half=st.integers(1, 5),
    base=st.sampled_from([1.0, 2.0, 100.0, 10000.0, 500000.0]),
    length=st.integers(2, 120),
    index=st.sampled_from(DTYPES),
    angle=st.sampled_from(DTYPES),
    rows=st.sampled_from(DTYPES),
)
@settings(max_examples=60, deadline=None)
def test_reports_agree_with_brute_force_for_waves_of_any_kind(
    half: int, base: float, length: int, index: DType, angle: DType, rows: DType
) -> None:
    _check(Sinusoidal(2 * half, base), length, Precision(index, angle, rows))


@given(
    seed=st.integers(0, 999),
    length=st.integers(2, 50),
    dim=st.integers(1, 4),
    rows=st.sampled_from(DTYPES),
)
@settings(deadline=None)
def test_reports_agree_with_brute_force_for_learned_tables(
    seed: int, length: int, dim: int, rows: DType
) -> None:
    table = np.random.default_rng(seed).normal(size=(length, dim)) * 10.0 ** (
        seed % 5 - 2
    )
    _check(Learned(table), length, Precision(rows=rows))


@pytest.mark.parametrize(
    "precision",
    [Precision(angle="float16"), Precision("float16", "float16", "float16")],
    ids=str,
)
def test_reports_agree_with_brute_force_where_float16_indices_collide(
    precision: Precision,
) -> None:
    _check(Sinusoidal(6), 2100, precision)


@pytest.mark.parametrize(
    ("index", "first"), [("bfloat16", 256), ("float16", 2048), ("float32", 2**24)]
)
def test_the_first_whole_number_that_a_type_lacks_is_the_first_collision(
    index: DType, first: int
) -> None:
    if first < 10**6:  # once is enough for the longest
        assert (
            report(Sinusoidal(2), first + 1, Precision(index=index)).first_pair is None
        )
    found = report(Sinusoidal(2), first + 2, Precision(index=index))
    assert (found.first_pair, found.collisions, found.min_difference) == (
        (first, first + 1),
        1,
        1,
    )


def test_a_float16_index_overflows_and_those_positions_are_lost() -> None:
    found = report(Sinusoidal(4), 65_600, Precision(index="float16"))
    assert (found.overflow_from, found.lost) == (65_520, 80)
    distinct = len(np.unique(np.arange(65_520).astype(np.float16))) + 1
    assert found.collisions == 65_600 - distinct
    assert (
        report(Sinusoidal(4), 65_520, Precision(index="float16")).overflow_from is None
    )
    assert (
        report(Sinusoidal(4), 65_600, Precision(angle="float16")).overflow_from
        == 65_520
    )


def test_rows_that_overflow_are_lost_wherever_they_are() -> None:
    table = np.array([[1.0], [1e6], [5.0], [2.0], [-1e6]])
    found = report(Learned(table), 5, Precision(rows="float16"))
    assert (found.collisions, found.first_pair, found.overflow_from, found.lost) == (
        1,
        (1, 4),
        1,
        2,
    )
    single = report(Learned(table), 4, Precision(rows="float16"))
    assert (single.collisions, single.overflow_from) == (0, 1)
    assert (single.closest_pair, single.min_distance) == ((0, 3), 1.0)
    alone = report(Learned(table), 2, Precision(rows="float16"))
    assert alone.min_distance == math.inf
    assert "not finite" in alone.how_distance


def test_exact_rows_are_enclosed_rigorously() -> None:
    found = report(Sinusoidal(2), 1000)
    assert found.distance == closest_pair(Sinusoidal(2), 1000).distance
    assert (found.closest_pair, found.collisions) == ((0, 710), 0)
    assert found.how_collisions.startswith("proven")
    assert found.how_distance.startswith("a rigorous enclosure")


def test_large_models_are_proven_free_of_collisions_without_looking_at_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("headwright.positions.collisions.first_equal", None)
    found = report(Rotary(128), 20_000, Precision("float32", "float32", "bfloat16"))
    assert found.collisions == 0
    assert found.how_collisions.startswith(
        "proven: rows of different index lie at least 1.95"
    )


@given(
    half=st.integers(1, 6),
    base=st.sampled_from([1.0, 10000.0, 500000.0]),
    angle=st.sampled_from(DTYPES),
    rows=st.sampled_from(DTYPES),
    last=st.integers(1, 3000),
)
@settings(deadline=None)
def test_rounding_moves_no_row_further_than_its_bound(
    half: int, base: float, angle: DType, rows: DType, last: int
) -> None:
    scheme = Sinusoidal(2 * half, base)
    rounded = RoundedRows(scheme, last + 1, Precision(angle=angle, rows=rows))
    moved = np.linalg.norm(
        rounded(np.arange(last + 1)) - scheme.rows(np.arange(last + 1.0)), axis=1
    )
    bound = rounded.rounding_bound(last)
    assert bound is not None
    assert (
        moved.max() <= bound + 1e-11
    )  # the float64 rows to compare with are off themselves


@pytest.mark.parametrize(
    "precision",
    [Precision(rows="bfloat16"), Precision(angle="float16"), Precision("float32")],
    ids=str,
)
@pytest.mark.parametrize("scheme", [Sinusoidal(64), Rotary(8), Alibi(4)], ids=str)
def test_too_many_pairs_to_compare_give_bounds_that_hold(
    scheme: Scheme, precision: Precision, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = report(scheme, 2000, precision)
    monkeypatch.setattr(collisions, "MOST_MULTIPLICATIONS", 0)
    bounded = report(scheme, 2000, precision)
    assert (bounded.collisions, bounded.first_pair) == (
        compared.collisions,
        compared.first_pair,
    )
    assert bounded.distance.lower <= compared.distance.upper
    assert compared.distance.lower <= bounded.distance.upper == bounded.min_distance
    rows = RoundedRows(scheme, 2000, precision)(np.array(bounded.closest_pair))
    assert_allclose(bounded.min_distance, np.linalg.norm(rows[0] - rows[1]), rtol=1e-12)


def test_bounds_say_that_they_are_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collisions, "MOST_MULTIPLICATIONS", 0)
    found = report(Sinusoidal(64), 4000, Precision(rows="bfloat16"))
    assert found.how_distance.startswith("bounds only")
    assert 0 < found.distance.lower < found.distance.upper


@given(
    table=st.lists(
        st.tuples(*[st.sampled_from([0.0, -0.0, 1.0, 2.0])] * 3),
        min_size=1,
        max_size=60,
    ),
    stupid=st.booleans(),
)
@settings(deadline=None)
def test_equal_rows_are_found_even_when_all_hashes_are_equal(
    table: list[tuple[float, float, float]], stupid: bool
) -> None:
    first: dict[tuple[float, ...], int] = {}
    expected = [
        first.setdefault(row, t) for t, row in enumerate(table)
    ]  # -0.0 == 0.0 as a key
    rows = np.array(table)
    with pytest.MonkeyPatch.context() as patch:
        if stupid:
            patch.setattr(
                equal_rows,
                "_hashes",
                lambda rows, at, *_: np.zeros(len(at), dtype=np.uint64),
            )
        firsts = equal_rows.first_equal(
            lambda at, part: rows[at, part], np.arange(len(rows)), 3
        )
    assert firsts.tolist() == expected
    together = [
        (s - t, t)
        for t, s in itertools.combinations(range(len(table)), 2)
        if expected[t] == expected[s]
    ]
    nearest_pair = min(together, default=None)
    assert equal_rows.closest_equal_pair(firsts) == (
        nearest_pair and (nearest_pair[1], sum(nearest_pair))
    )


def test_hashes_of_rounded_rows_hardly_ever_agree_by_accident() -> None:
    for scheme in (
        Alibi(8),
        Sinusoidal(8),
    ):  # columns that are multiples of one another, and rounded ones
        rows = RoundedRows(scheme, 40_000, Precision(rows="float16"))
        hashes = equal_rows._hashes(
            rows,
            np.arange(40_000),
            slice(0, rows.units),
            np.random.default_rng(0),
        )
        distinct = len(np.unique(rows(np.arange(40_000)) + 0.0, axis=0))
        assert len(np.unique(hashes)) == distinct


@pytest.mark.parametrize(
    "scheme", [Sinusoidal(2), Rotary(6), Alibi(1), Learned(np.eye(2))]
)
def test_two_positions_are_enough_and_one_is_not(scheme: Scheme) -> None:
    for precision in (Precision(), Precision("bfloat16", "float16", "bfloat16")):
        found = report(scheme, 2, precision)
        assert (found.collisions, found.closest_pair, found.min_difference) == (
            0,
            (0, 1),
            1,
        )
    with pytest.raises(InputError, match="length is 1: expected a whole number from 2"):
        report(scheme, 1)


@pytest.mark.parametrize("dim", [2, 8])
@pytest.mark.parametrize("rows", DTYPES)
def test_a_million_positions_in_few_dimensions(dim: int, rows: DType) -> None:
    found = report(Sinusoidal(dim), 10**6, Precision(rows=rows))
    t, s = found.closest_pair
    exact = np.linalg.norm(
        np.subtract(
            *round_to(Sinusoidal(dim).rows(np.array([t, s], dtype=float)), rows)
        )
    )
    assert_allclose(found.min_distance, exact, rtol=1e-3, atol=1e-9)
    assert (found.collisions > 0) == (
        rows in ("float16", "bfloat16") and (dim, rows) != (8, "float16")
    )


@pytest.mark.parametrize(
    ("dim", "precision"),
    [
        *(
            (32, precision)
            for precision in (Precision(rows="bfloat16"), Precision(angle="bfloat16"))
        ),
        (32, Precision(angle="float16")),
        *(
            (8, precision)
            for precision in (
                Precision(),
                Precision(index="bfloat16"),
                Precision(rows="float16"),
            )
        ),
    ],
    ids=str,
)
def test_progress_rises_to_one(dim: int, precision: Precision) -> None:
    told: list[float] = []
    report(Sinusoidal(dim), 3000, precision, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0


@pytest.mark.parametrize("place", ["index", "angle", "rows"])
def test_unknown_types_are_refused(place: str) -> None:
    with pytest.raises(InputError) as refusal:
        Precision(**{place: "float8"})  # type: ignore[arg-type]
    assert (
        str(refusal.value)
        == f"{place} is 'float8': expected one of exact, float32, float16, bfloat16"
    )


def test_a_preview_shows_rows_from_a_start_and_distances_from_position_0() -> None:
    found = preview(Sinusoidal(4), 300, Precision(index="bfloat16"), start=250)
    assert found.rows.shape == (49, 4)
    assert_array_equal(found.rows[6], found.rows[7])  # 256 and 257
    assert found.neighbours[6] == 0
    assert found.distances.shape == (299,)
    assert_allclose(found.distances[0], closest_pair(Sinusoidal(4), 2).distance.lower)


def test_a_preview_counts_the_neighbours_that_coincide() -> None:
    scheme, coarse = Sinusoidal(4), Precision(index="bfloat16")
    found = preview(scheme, 4096, coarse)
    counted = sum(
        share * (high - low)
        for share, (low, high) in zip(
            found.coinciding, pairwise(found.ends), strict=True
        )
    )
    assert (
        round(counted) == report(scheme, 4096, coarse).collisions
    )  # here all that coincide are neighbours
