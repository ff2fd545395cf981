"""Random numbers: normal forms keep values, proofs are never contradicted, thresholds separate."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from flint import arb
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from headwright.errors import InputError
from headwright.formulas.evaluate import precision
from headwright.grading.scalars import (
    COMPARISONS,
    POSITIVE,
    Comparison,
    Range,
    Scalar,
    Where,
    absolute,
    counterexample,
    eventually,
    exp,
    ln,
    never,
    number,
    parameter,
    prove,
    sqrt,
)
from headwright.grading.scalars.forms import interval
from headwright.grading.scalars.instances import certain, compared
from headwright.grading.scalars.numbers import ball_of, exactly
from tests.effort import tried
from tests.grading.scalars.names import UNIT

WHERE = Where({"n": Range(2, integer=True), "e": UNIT, "x": POSITIVE})
LEAVES = {name: WHERE.name(name) for name in ("n", "e", "x", "g")}
BITS = 200


values = st.fixed_dictionaries(
    {
        "n": st.integers(2, 12).map(Fraction),
        "e": st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50),
        "x": st.fractions(Fraction(1, 50), 8, max_denominator=50),
        "g": st.fractions(-8, 8, max_denominator=50),
    }
)
rationals = st.fractions(-4, 4, max_denominator=6)
exponents = st.sampled_from(
    [Fraction(-2), Fraction(2), Fraction(-1, 2), Fraction(2, 3), Fraction(3)]
)
trees = st.recursive(
    st.one_of(st.sampled_from(sorted(LEAVES)), rationals),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from("+-*/"), inner, inner),
        st.tuples(st.sampled_from(["exp", "ln", "sqrt", "abs"]), inner),
        st.tuples(
            st.just("power"),
            inner,
            st.sampled_from(
                [
                    Fraction(-2),
                    Fraction(2),
                    Fraction(-1, 2),
                    Fraction(2, 3),
                    Fraction(3),
                ]
            ),
        ),
    ),
    max_leaves=7,
)


def scalar_of(tree: object) -> Scalar:
    if isinstance(tree, str):
        return LEAVES[tree]
    if isinstance(tree, Fraction):
        return number(tree)
    assert isinstance(tree, tuple)
    operation, first, *rest = tree
    left = scalar_of(first)
    if operation == "power":
        return left ** rest[0]
    if rest:
        right = scalar_of(rest[0])
        return {
            "+": left.__add__,
            "-": left.__sub__,
            "*": left.__mul__,
            "/": left.__truediv__,
        }[operation](right)
    return {"exp": exp, "ln": ln, "sqrt": sqrt, "abs": absolute}[operation](left)


def ball_of_tree(tree: object, at: dict[str, Fraction]) -> arb:
    if isinstance(tree, str):
        return ball_of(at[tree])
    if isinstance(tree, Fraction):
        return ball_of(tree)
    assert isinstance(tree, tuple)
    operation, first, *rest = tree
    left = ball_of_tree(first, at)
    if operation == "power":
        exponent = rest[0]
        if exponent.denominator > 1 and not left > 0:
            return arb("nan")
        return (
            left**exponent.numerator
            if exponent.denominator == 1
            else left ** ball_of(exponent)
        )
    if rest:
        right = ball_of_tree(rest[0], at)
        if operation == "/":
            return left / right
        return {"+": left.__add__, "-": left.__sub__, "*": left.__mul__}[operation](
            right
        )
    if operation == "abs":
        return abs(left)
    return {"exp": left.exp, "ln": left.log, "sqrt": left.sqrt}[operation]()


def built(tree: object) -> Scalar | None:
    try:
        return scalar_of(tree)
    except InputError:
        return None


@settings(max_examples=tried(250))
@given(trees, values)
def test_arithmetic_agrees_with_balls(tree: object, at: dict[str, Fraction]) -> None:
    value = built(tree)
    assume(value is not None)
    assert value is not None
    with precision(BITS):
        expected = ball_of_tree(tree, at)
    assume(expected.is_finite())
    found = value.value(at, bits=BITS)
    if found.is_finite():
        assert found.overlaps(expected), (str(value), found, expected)


@settings(max_examples=tried(200))
@given(trees, values)
def test_interval_contains_the_value(tree: object, at: dict[str, Fraction]) -> None:
    value = built(tree)
    assume(value is not None)
    assert value is not None
    with precision(BITS):
        expected = ball_of_tree(tree, at)
    assume(expected.is_finite())
    place = interval(value)
    with precision(BITS):
        assert not (isinstance(place.low, Fraction) and expected < ball_of(place.low))
        assert not (isinstance(place.high, Fraction) and expected > ball_of(place.high))
        assert not (place.low == 0 and place.low_open and expected == 0)


@settings(max_examples=tried(150))
@given(trees, values, st.sampled_from(sorted(LEAVES)))
def test_put_agrees_with_values(
    tree: object, at: dict[str, Fraction], name: str
) -> None:
    value = built(tree)
    assume(value is not None)
    assert value is not None
    try:
        put = value.put({name: at[name]})
    except InputError:
        return
    before, after = value.value(at, bits=BITS), put.value(at, bits=BITS)
    if before.is_finite() and after.is_finite():
        assert before.overlaps(after)


@settings(max_examples=tried(120))
@given(
    trees, trees, st.sampled_from(COMPARISONS), st.lists(values, min_size=3, max_size=3)
)
def test_proofs_are_never_contradicted(
    left_tree: object,
    right_tree: object,
    comparison: Comparison,
    places: list[dict[str, Fraction]],
) -> None:
    left, right = built(left_tree), built(right_tree)
    assume(left is not None and right is not None)
    assert left is not None
    assert right is not None
    if prove(left, comparison, right, WHERE, seconds=0.2) is None:
        return
    assert counterexample(left, comparison, right, WHERE) is None
    for at in places:
        sign = compared(left, right, at)
        if sign is not None:
            assert certain(left, comparison, right, at), (
                str(left),
                comparison,
                str(right),
                at,
            )


small = st.fractions(Fraction(1, 4), 4, max_denominator=4)


@settings(max_examples=tried(60))
@given(
    st.sampled_from(["exp", "square", "power", "ln"]),
    small,
    st.fractions(-3, 3, max_denominator=3),
    values,
)
def test_thresholds_separate(
    kind: str, front: Fraction, shift: Fraction, at: dict[str, Fraction]
) -> None:
    lam = parameter("lam", POSITIVE)
    grows = {
        "exp": exp(lam * 2),
        "square": exp(lam**2),
        "power": lam ** Fraction(3, 2),
        "ln": ln(lam),
    }[kind]
    where = replace(WHERE, ranges={**WHERE.ranges, "lam": POSITIVE})
    left, right = front * grows + shift, WHERE.name("n") / WHERE.name("e")
    found = eventually(left, ">=", right, where, ("lam",))
    assert found is not None
    if found.condition is not None and not certain(*found.condition, at):
        assert certain(left, ">=", right, {**at, "lam": Fraction(1, 10**6)})
        return
    border = found.threshold["lam"].value(at)
    above = Fraction(math.ceil(exactly(border.upper())) + 1)
    assert certain(left, ">=", right, {**at, "lam": above})
    below = Fraction(math.floor(exactly(border.lower())))
    if 0 < below < above - 1:
        assert certain(left, "<", right, {**at, "lam": below})


growing = st.lists(
    st.tuples(
        st.sampled_from(
            [
                Fraction(1),
                Fraction(-1),
                Fraction(2),
                Fraction(-2),
                Fraction(1, 2),
                Fraction(-1, 2),
            ]
        ),
        st.sampled_from(
            [Fraction(0), Fraction(1), Fraction(1, 2), Fraction(-1), Fraction(2)]
        ),  # of x
        st.integers(-1, 2),  # of ln(x)
        st.sampled_from(
            [Fraction(0), Fraction(0), Fraction(1), Fraction(-1), Fraction(1, 2)]
        ),  # of e^x
        st.sampled_from(
            [Fraction(0), Fraction(0), Fraction(1), Fraction(-2)]
        ),  # of e^sqrt(x)
    ),
    min_size=1,
    max_size=4,
)


def sum_of(rows: list[tuple[Fraction, Fraction, int, Fraction, Fraction]]) -> Scalar:
    x = LEAVES["x"]
    total = number(0)
    for front, power, log, fast, slow in rows:
        total = total + front * x**power * ln(x) ** log * exp(fast * x + slow * sqrt(x))
    return total


@settings(max_examples=tried(40))
@given(growing, growing, st.sampled_from(COMPARISONS))
def test_what_is_said_of_large_values_is_seen_at_large_values(
    left_rows: list[tuple[Fraction, Fraction, int, Fraction, Fraction]],
    right_rows: list[tuple[Fraction, Fraction, int, Fraction, Fraction]],
    comparison: Comparison,
) -> None:
    where = replace(
        WHERE, ranges={**WHERE.ranges, "x": Range(1, lower_open=True)}
    )  # ln(x) is not 0
    left, right = where.settled(sum_of(left_rows)), where.settled(sum_of(right_rows))
    # ln(10^20) outweighs all the coefficients together.
    far = {"x": Fraction(10**20)}
    seen = compared(left, right, far)
    if (
        eventually(left, comparison, right, where, ("x",)) is not None
        and seen is not None
    ):
        assert certain(left, comparison, right, far)
    if never(left, comparison, right, where, ("x",)) and seen is not None:
        assert not certain(left, comparison, right, far)
