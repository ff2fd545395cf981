"""Each operation's ball holds the exact result for numbers anywhere in the balls it is given, and is hardly larger."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.numerics.balls import (
    SMALLEST_SQUARE,
    Array,
    Balls,
    concatenate,
    gamma,
)

SIZES = st.sampled_from(
    [0.0, 5e-324, 1e-310, 1e-160, 1e-42, 3e-20, 1e-3, 1.0, 7.5, 1e12, 1e60, 1e150]
)
RADII = st.sampled_from([0.0, 1e-320, 1e-16, 1e-9, 1e-3, 2.0])  # relative to the size


@st.composite
def known(draw: st.DrawFn, *shape: int) -> tuple[Balls, Array]:
    """Balls, and a float in each of them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    mid = rng.standard_normal(shape) * draw(SIZES)
    mid *= rng.choice([1.0, 1.0, 0.0, 1e-8], shape)  # some cancel, some are lost
    rad = np.abs(mid) * draw(RADII) + draw(st.sampled_from([0.0, 0.0, 1e-310, 1e-5]))
    true = mid + rad * rng.choice([-1.0, -0.5, 0.0, 1.0], shape)
    # The sum may be rounded out of the ball: then one float back towards the middle.
    outside = [
        abs(Fraction(t) - Fraction(m)) > Fraction(r)
        for t, m, r in zip(true.flat, mid.flat, rad.flat, strict=True)
    ]
    back = np.where(np.array(outside).reshape(shape), mid, true)
    return Balls(mid, rad), back


def fractions(numbers: Array) -> list[list[Fraction]]:
    return [[Fraction(number) for number in row] for row in numbers.tolist()]


def holds(ball: Balls, exact: list[list[Fraction]]) -> bool:
    """Whether each exact number is within its ball, and between the ends that are stated."""
    rows, columns = ball.mid.shape
    assert (len(exact), len(exact[0])) == (rows, columns)
    for i, j in product(range(rows), range(columns)):
        true = exact[i][j]
        if not np.isfinite(ball.rad[i, j]):
            continue
        if abs(Fraction(float(ball.mid[i, j])) - true) > Fraction(
            float(ball.rad[i, j])
        ):
            return False
        if not ball.lower()[i, j] <= true <= ball.upper()[i, j]:
            return False
    return True


def inner(left: list[Fraction], right: list[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True)), Fraction(0))


@settings(max_examples=300, deadline=None)
@given(known(2, 5), known(2, 5))
def test_entry_by_entry(one: tuple[Balls, Array], other: tuple[Balls, Array]) -> None:
    x, y = one[0], other[0]
    pairs = [
        list(zip(a, b, strict=True))
        for a, b in zip(fractions(one[1]), fractions(other[1]), strict=True)
    ]
    assert holds(x + y, [[a + b for a, b in row] for row in pairs])
    assert holds(x - y, [[a - b for a, b in row] for row in pairs])
    assert holds(x * y, [[a * b for a, b in row] for row in pairs])
    assert holds(x.max(y), [[max(a, b) for a, b in row] for row in pairs])
    assert holds(-x, [[-a for a, _ in row] for row in pairs])


@settings(max_examples=300, deadline=None)
@given(st.data(), st.integers(1, 9))
def test_sums_and_products(data: st.DataObject, n: int) -> None:
    x, left = data.draw(known(3, n))
    y, right = data.draw(known(3, n))
    a, b = fractions(left), fractions(right)
    assert holds(x.sum(keepdims=True), [[sum(row, Fraction(0))] for row in a])
    assert holds(x.mean(), [[sum(row, Fraction(0)) / n] for row in a])
    assert holds(x.products(y), [[inner(row, column) for column in b] for row in a])
    assert holds(
        x.row_products(y)[:, None], [[inner(p, q)] for p, q in zip(a, b, strict=True)]
    )
    matrix = [[inner(row, column) for column in b] for row in a]
    assert holds(x.matmul(right.T), matrix)
    assert holds(Balls.of(left).matmul(right.T), matrix)


@settings(max_examples=300, deadline=None)
@given(known(1, 6))
def test_one_over_a_root(one: tuple[Balls, Array]) -> None:
    ball, true = one
    found = ball.inverse_sqrt()
    with ctx.workprec(300):
        for at, number in enumerate(true[0].tolist()):
            rad = float(found.rad[0, at])
            if not np.isfinite(rad):
                continue
            assert number > SMALLEST_SQUARE
            exact = 1 / arb(number).sqrt()
            assert abs(arb(float(found.mid[0, at])) - exact) <= arb(rad)


def test_what_may_be_all_but_0_has_no_inverse_root() -> None:
    near = Balls(np.array([0.0, 1.0, -1.0, 1e-190, 1.0]), np.array([0, 1, 0, 0, 1e-3]))
    found = near.inverse_sqrt()
    assert np.isinf(found.rad[:4]).all() and found.rad[4] < 1e-3


def test_long_sums_are_held_whatever_cancels() -> None:
    rng = np.random.default_rng(0)
    numbers = rng.standard_normal((1, 4000)) * 10.0 ** rng.integers(-8, 9, (1, 4000))
    numbers = np.hstack([numbers, -numbers[:, ::-1], [[1e-12]]])
    found = Balls.of(numbers).sum(keepdims=True)
    assert holds(found, [[sum(row, Fraction(0))] for row in fractions(numbers)])
    assert found.rad[0, 0] < 8001 * 2.0**-52 * np.abs(numbers).sum()


def test_radii_are_as_small_as_the_theorems_say() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((40, 64)), rng.standard_normal((50, 64))
    found = Balls.of(x).products(Balls.of(y))
    size = np.abs(x) @ np.abs(y).T
    assert (found.rad <= 1.001 * gamma(66) * size).all()
    assert (Balls.of(x).matmul(y.T).rad <= 1.001 * gamma(66) * size).all()


@pytest.mark.parametrize("operation", ["sum", "mean", "products", "matmul", "square"])
def test_a_result_beyond_all_floats_says_nothing(operation: str) -> None:
    large = Balls.of(np.array([[1e308, 1e308, -1e308]]))
    compute: Callable[[], Balls] = {
        "sum": lambda: large.sum(keepdims=True),
        "mean": large.mean,
        "products": lambda: large.products(large),
        "matmul": lambda: large.matmul(np.full((3, 1), 10.0)),
        "square": lambda: large * large,
    }[operation]
    found = compute()
    assert (found.upper() == np.inf).all()
    if operation in ("sum", "mean", "matmul"):
        assert (found.lower() == -np.inf).all()


def test_parts_of_balls_and_balls_of_parts() -> None:
    ball = Balls(np.arange(6.0).reshape(2, 3), np.ones((2, 3)))
    joined = concatenate([ball[:, :1], ball[:, 1:]], axis=1)
    assert (joined.mid == ball.mid).all() and (joined.rad == ball.rad).all()
    assert ball.transposed.mid.shape == (3, 2)
