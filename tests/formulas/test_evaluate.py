"""Values: enclosures of the truth, and what is refused."""

from __future__ import annotations

import math
import time
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, arb_mat, ctx
from hypothesis import given
from hypothesis import strategies as st

from headwright.formulas.evaluate import (
    Budget,
    NoValue,
    TooMuch,
    Undefined,
    compare,
    evaluate,
    precision,
    scalar,
    spectral,
)
from headwright.formulas.shapes import spelt
from headwright.formulas.tree import (
    BigCall,
    BigSum,
    Call,
    Comparison,
    Inner,
    Listing,
    Name,
    Negative,
    Node,
    Norm,
    Number,
    Power,
    Product,
    Quotient,
    Relation,
    Sum,
    Transpose,
)

VALUES = {
    "x": scalar(3),
    "v": arb_mat([[3], [4]]),
    "A": arb_mat([[1, 2], [3, 4]]),
    "k": scalar(2),
    "wide": scalar(arb(0, 1)),
    "sigma_1": scalar(5),
    "sigma_2": scalar(7),
    "alpha_{1,2}": scalar(11),
    "n": scalar(4),
    "B": arb_mat([[3, 0, 0], [0, -4, 0]]),
}
x, v, A, wide, n, i = (Name(letter) for letter in ("x", "v", "A", "wide", "n", "i"))


def num(value: Fraction | int | str) -> Number:
    return Number(Fraction(value))


def of(name: Name) -> arb_mat | None:
    return VALUES.get(spelt(name))


def value(node: Node) -> arb:
    result = evaluate(node, of)
    assert (result.nrows(), result.ncols()) == (1, 1)
    return result[0, 0]


def sigma(index: Node) -> Name:
    return Name("sigma", index)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (Sum((x, Negative(num("1/10")))), 2.9),
        (Product((num(2), x, x)), 18),
        (Quotient(x, num(4)), 0.75),
        (Power(x, num(-2)), 1 / 9),
        (Power(x, num("1/2")), math.sqrt(3)),
        (Power(num(2), num("1/3")), 2 ** (1 / 3)),
        (Power(num(0), num(0)), 1),
        (Power(num(0), num("1/3")), 0),
        (Power(Negative(num(2)), num(3)), -8),
        (Inner(v, Transpose(v)), 25),
        (Product((Transpose(v), v)), 25),
        (Product((Transpose(v), A, v)), 9 + 16 * 4 + 12 * 5),
        (Norm(v), 5),
        (Norm(Negative(x)), 3),
        (Norm(A, "F"), math.sqrt(30)),
        (Norm(Name("B"), "2"), 4),
        (Call("trace", (A,)), 5),
        (Call("trace", (Power(A, num(2)),)), 29),
        (Call("trace", (Power(A, num(0)),)), 2),
        (Call("exp", (x,)), math.exp(3)),
        (Call("ln", (x,)), math.log(3)),
        (Call("sin", (Name("pi"),)), 0),
        (Call("cos", (x,)), math.cos(3)),
        (Call("abs", (Negative(x),)), 3),
        (Call("max", (x, num(5), num(-1))), 5),
        (Call("min", (v,)), 3),
        (Name("e"), math.e),
        (Call("trace", (Call("diag", (v,)),)), 7),
        (Call("trace", (Call("diag", (x, x, x)),)), 9),
        (Call("trace", (Name("I", n),)), 4),
        (Call("trace", (Name("I", num(3)),)), 3),
        (BigSum("i", Power(i, num(2)), num(1), n), 30),
        (BigSum("i", sigma(i), num(1), num(2)), 12),
        (BigSum("i", i, num(1), n, (Relation((i, num(2)), ("!=",)),)), 8),
        (
            BigSum("i", i, num(1), n, (Relation((num(1), i, Name("k")), ("<", "<=")),)),
            2,
        ),
        (BigSum("i", i, num(3), num(2)), 0),
        (
            BigSum(
                "i",
                BigSum("j", Name("alpha", Listing((num(1), Name("j")))), num(2), i),
                num(2),
                num(2),
            ),
            11,
        ),
        (sigma(Name("k")), 7),
        (sigma(Sum((Name("k"), Negative(num(1))))), 5),
        (Sum((Product((num(0), A)), num(2))), 2),
        (Norm(Sum((A, BigSum("i", A, num(2), num(1)))), "F"), math.sqrt(30)),
        (Call("trace", (num(0),)), 0),
        (Call("relu", (Negative(x),)), 0),
        (BigCall("max", "i", sigma(i), num(1), num(2)), 7),
        (BigCall("min", "i", sigma(i), num(1), num(2)), 5),
        (BigCall("max", "i", i, num(1), n, (Relation((i, num(4)), ("!=",)),)), 3),
    ],
)
def test_value(node: Node, expected: float) -> None:
    found = value(node)
    assert found.rad() < 1e-10
    assert abs(found - expected) < 1e-9


def test_softmax_is_taken_over_each_row() -> None:
    found = evaluate(Call("softmax", (A,)), of)
    high = 1 / (1 + math.exp(-1))
    for row in range(2):
        assert abs(found[row, 1] - high) < 1e-12
        assert abs(found[row, 0] + found[row, 1] - 1) < 1e-30


def test_softmax_of_large_scores_is_sharp() -> None:
    found = evaluate(Call("softmax", (A,)), lambda _: arb_mat([[10**6, 0]]))
    assert found[0, 0] > 0.999999
    assert found[0, 1] < 1e-300


def test_softmax_of_an_untyped_column_is_refused() -> None:
    with pytest.raises(NoValue, match="type the formula first"):
        evaluate(Call("softmax", (v,)), of)


def test_relu_of_an_unknown_sign_is_the_hull() -> None:
    found = value(Call("relu", (wide,)))
    assert found.contains(0)
    assert found.contains(1)
    assert found.upper() < 1.1


@pytest.mark.parametrize(
    "node",
    [
        Call("sqrt", (wide,)),
        Call("ln", (num(0),)),
        Call("ln", (wide,)),
        Quotient(x, wide),
        Quotient(num(0), num(0)),
        Power(wide, num(-1)),
        Power(Negative(x), num("1/2")),
        BigSum("i", i, num(1), num(2), (Relation((i, Sum((wide, num(1)))), ("<",)),)),
    ],
)
def test_what_has_no_certain_value_is_undefined(node: Node) -> None:
    with pytest.raises(Undefined):
        evaluate(node, of)


def tower(height: int) -> Node:
    return num(9) if height == 1 else Power(num(9), tower(height - 1))


@pytest.mark.parametrize(
    "node",
    [
        tower(4),
        tower(3),
        Call("exp", (Power(num(10), num(12)),)),
        BigSum("i", i, num(1), num(10**12)),
        BigSum("i", BigSum("j", i, num(1), num(1000)), num(1), num(1000)),
        Name("I", num(10**9)),
        Call("diag", (BigSum("i", i, num(1), num(2)), Name("I", num(10**9)))),
        Power(A, num(10**40)),
        Power(num("1/2"), num(-(10**9))),
    ],
)
def test_too_much_is_refused_at_once(node: Node) -> None:
    start = time.process_time()
    with pytest.raises(TooMuch):
        evaluate(node, of)
    assert time.process_time() - start < 2


def test_a_budget_is_shared() -> None:
    budget = Budget(30)
    evaluate(Sum((x, x)), of, budget=budget)
    assert budget.spent > 0
    with pytest.raises(TooMuch):
        for _ in range(30):
            evaluate(x, of, budget=budget)


@pytest.mark.parametrize(
    "node",
    [
        Name("nobody"),
        Sum((x, A)),
        Product((A, Transpose(v))),
        BigCall("max", "i", i, num(2), num(1)),
        BigSum("i", i),
        BigSum("i", i, num("1/2"), num(3)),
        Call("exp", (A,)),
        Relation((x, x), ("=",)),
        Inner(v, Product((x, x))),
        sigma(Name("nobody")),
        Name("I", num(-1)),
    ],
)
def test_what_has_no_value_is_named(node: Node) -> None:
    with pytest.raises(NoValue):
        evaluate(node, of)


def test_an_index_without_bounds_runs_where_it_is_told() -> None:
    found = evaluate(
        BigSum("i", sigma(i)),
        of,
        range_of=lambda index: (1, 2) if index == "i" else None,
    )
    assert found[0, 0] == 12


def test_a_name_with_a_label_is_asked_for_as_written() -> None:
    asked = []

    def record(name: Name) -> arb_mat | None:
        asked.append(spelt(name))
        return scalar(1) if name.base == "a" else scalar(2)

    assert evaluate(Name("k", Name("a")), record)[0, 0] == 2
    assert asked == ["k_a"]


def test_precision_is_restored_even_after_an_error() -> None:
    before = ctx.prec
    with pytest.raises(Undefined), precision(300):
        evaluate(Call("ln", (num(0),)), of, bits=500)
    assert ctx.prec == before


def test_more_bits_give_a_smaller_ball() -> None:
    node = Call("exp", (num("1/3"),))
    assert (
        evaluate(node, of, bits=400)[0, 0].rad()
        < evaluate(node, of, bits=64)[0, 0].rad()
    )


@pytest.mark.parametrize(
    ("left", "sign", "right", "said"),
    [
        (arb(1), "<", arb(2), True),
        (arb(2), "<", arb(2), False),
        (arb(1, 0.5), "<", arb(1.2), None),
        (arb(2), "<=", arb(2), True),
        (arb(3), "<=", arb(2), False),
        (arb(2, 0.5), "<=", arb(2), None),
        (arb(2), ">", arb(1), True),
        (arb(1), ">=", arb(2), False),
        (arb(2), ">=", arb(2), True),
        (arb(2), "=", arb(2), True),
        (arb(2), "=", arb(3), False),
        (arb(2, 0.1), "=", arb(2), None),
        (arb(2), "!=", arb(2), False),
        (arb(2), "!=", arb(3), True),
        (arb(2, 0.1), "!=", arb(2), None),
        (arb(2), "~", arb(2), None),
        (arb(2), "->", arb(2), None),
    ],
)
def test_compare_says_only_what_is_certain(
    left: arb, sign: Comparison, right: arb, said: bool | None
) -> None:
    assert compare(scalar(left), sign, scalar(right)) is said


def test_compare_matrices() -> None:
    matrix = arb_mat([[1, 2], [3, 4]])
    assert compare(matrix, "=", matrix) is True
    assert compare(matrix, "=", arb_mat([[1, 2], [3, 5]])) is False
    assert compare(arb_mat([[0, 0]]), "=", scalar(0)) is True
    assert compare(scalar(0), "!=", matrix) is True
    with pytest.raises(NoValue):
        compare(matrix, "<", matrix)
    with pytest.raises(NoValue):
        compare(matrix, "=", scalar(1))


@given(
    st.lists(
        st.lists(st.integers(-9, 9), min_size=3, max_size=3), min_size=1, max_size=4
    )
)
def test_spectral_norm_encloses_what_numpy_finds(rows: list[list[int]]) -> None:
    with precision():
        found = spectral(arb_mat(rows))
    expected = float(np.linalg.norm(np.array(rows, dtype=float), 2))
    assert abs(found.mid() - expected) < 1e-8 * (1 + expected) + found.rad()
    assert found.rad() < 1e-6 * (1 + expected)


@given(st.fractions(-4, 4, max_denominator=20), st.fractions(-4, 4, max_denominator=20))
def test_a_sum_of_fractions_is_enclosed(a: Fraction, b: Fraction) -> None:
    found = evaluate(Sum((Number(a), Product((Number(b), Number(b))))), of)
    exact = a + b * b
    assert (found[0, 0] * exact.denominator - exact.numerator).contains(0)


def test_an_inverse_is_enclosed_and_a_singular_matrix_has_none() -> None:
    value = evaluate(
        Power(Name("M"), Negative(num(1))), lambda _: arb_mat([[2, 0], [0, 4]])
    )
    assert value.contains(arb_mat([[arb("0.5"), 0], [0, arb("0.25")]]))
    with pytest.raises(Undefined):
        evaluate(Power(Name("M"), num(-1)), lambda _: arb_mat([[1, 1], [1, 1]]))


def test_terms_of_a_sum_stand_along_a_diagonal() -> None:
    run = BigSum("i", Name("i"), num(1), num(2))
    value = evaluate(Call("diag", (run, Name("I", num(3)))), lambda _: None)
    assert [entry.unique_fmpz() for entry in value.entries()] == [
        1,
        0,
        0,
        0,
        2,
        0,
        0,
        0,
        0,
    ]
    with pytest.raises(NoValue):
        evaluate(Call("diag", (run, Name("I", num(1)))), lambda _: None)
