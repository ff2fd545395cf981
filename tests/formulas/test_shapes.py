"""Shapes: what is accepted, what it turns into, and what is said of the rest."""

from __future__ import annotations

from fractions import Fraction

import pytest

from headwright.formulas import parse
from headwright.formulas.errors import FormulaError, ShapeError
from headwright.formulas.shapes import SCALAR, Shape, shape, spelt, typed
from headwright.formulas.tree import (
    BigSum,
    Call,
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
    Span,
    Sum,
    Transpose,
)

SHAPES = {
    "q": Shape("d", 1),
    "k_i": Shape("d", 1),
    "k_a": Shape("d", 1),
    "r": Shape("n", 1),
    "t": SCALAR,
    "d": SCALAR,
    "sigma_i": SCALAR,
    "X": Shape("T", "d"),
    "H": Shape("T", "d"),
    "W_1": Shape("d", "m"),
    "b_1": Shape(1, "m"),
    "P": Shape("T", "T"),
    "B": Shape("n", "s"),
    "ones": Shape("T", 1),
    "A": Shape("n", "d"),
    "M": Shape("n", "n"),
    "three": Shape(3, 1),
}
q, k, r, t, X, A, B, M, P = (
    Name(x) for x in ("q", "k", "r", "t", "X", "A", "B", "M", "P")
)
k_i, k_a, W, b, H = (
    Name("k", Name("i")),
    Name("k", Name("a")),
    Name("W", Number(Fraction(1))),
    Name("b", Number(Fraction(1))),
    Name("H"),
)
one, two, zero = Number(Fraction(1)), Number(Fraction(2)), Number(Fraction(0))


def of(name: Name) -> Shape | None:
    return SHAPES.get(spelt(name))


def times(*factors: Node) -> Product:
    return Product(factors)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (times(X, W), Shape("T", "m")),
        (times(Transpose(k_i), q), SCALAR),
        (times(q, Transpose(k_i)), Shape("d", "d")),
        (times(two, X, t), Shape("T", "d")),
        (Quotient(X, Call("sqrt", (Name("d"),))), Shape("T", "d")),
        (Power(M, two), Shape("n", "n")),
        (Power(t, Name("d")), SCALAR),
        (Call("softmax", (times(X, Transpose(X)),)), Shape("T", "T")),
        (Call("relu", (X,)), Shape("T", "d")),
        (Call("trace", (times(Transpose(A), A),)), SCALAR),
        (Call("diag", (q,)), Shape("d", "d")),
        (Call("max", (t, two)), SCALAR),
        (Norm(A, "F"), SCALAR),
        (Norm(q), SCALAR),
        (Name("I", Name("d")), Shape("d", "d")),
        (times(Name("I"), q), Shape("d", 1)),
        (Sum((zero, A)), Shape("n", "d")),
        (BigSum("i", times(Name("i"), q), one, Name("d")), Shape("d", 1)),
        (Name("pi"), SCALAR),
    ],
)
def test_shape_of_a_term(node: Node, expected: Shape) -> None:
    assert shape(node, of) == expected


def test_a_prime_on_a_number_is_an_unknown_name() -> None:
    with pytest.raises(FormulaError, match="t' is not known"):
        typed(Name("t", primes=1), of)


def test_a_name_with_a_prime_of_its_own_is_left_alone() -> None:
    def own(name: Name) -> Shape:
        return SCALAR if name.primes else Shape("d", 1)

    assert typed(Name("q", primes=1), own) == Name("q", primes=1)


def test_a_dot_with_a_number_is_a_product() -> None:
    assert typed(Inner(t, q), of) == times(t, q)
    assert typed(Inner(A, q), of) == times(A, q)


def test_inner_product_takes_rows_and_columns() -> None:
    assert typed(Inner(Transpose(k_i), q), of) == Inner(Transpose(k_i), q)


def test_one_times_a_row_becomes_ones() -> None:
    new = typed(Sum((times(H, W), times(one, b))), of)
    assert new == Sum((times(H, W), times(Name("ones"), b)))
    minus = typed(Sum((times(H, W), Negative(times(one, b)))), of)
    assert minus == Sum((times(H, W), Negative(times(Name("ones"), b))))


def test_a_one_that_fits_as_the_vector_of_ones_only_is_that() -> None:
    ones, P = Name("ones"), Name("P")
    assert typed(times(P, one, b), of) == times(P, ones, b)
    assert typed(Relation((times(P, one), one), ("=",)), of) == Relation(
        (times(P, ones), ones), ("=",)
    )
    assert typed(times(P, one), of) == times(P, one)  # it fits as the number it is
    with pytest.raises(FormulaError, match="cannot be compared"):
        typed(Relation((P, one), ("=",)), of)


def test_one_times_a_row_stays_where_nothing_taller_is_added() -> None:
    assert typed(times(one, b), of) == times(one, b)


def test_identity_takes_the_size_that_fits() -> None:
    assert typed(Sum((Name("I"), Negative(times(B, Transpose(B))))), of) == Sum(
        (Name("I", Name("n")), Negative(times(B, Transpose(B))))
    )
    assert typed(
        times(Sum((Name("I"), times(two, Name("I")))), Name("three")), of
    ) == times(
        Sum(
            (Name("I", Number(Fraction(3))), times(two, Name("I", Number(Fraction(3)))))
        ),
        Name("three"),
    )
    assert typed(Relation((M, Name("I")), ("=",)), of) == Relation(
        (M, Name("I", Name("n"))), ("=",)
    )


def test_softmax_of_a_column_becomes_that_of_a_row() -> None:
    assert typed(Call("softmax", (q,)), of) == Transpose(
        Call("softmax", (Transpose(q),))
    )


def test_p_of_a_matrix_is_a_product_when_p_is_one() -> None:
    assert typed(Call("P", (X,)), of) == times(P, X)


@pytest.mark.parametrize(
    ("node", "message", "fix"),
    [
        (
            times(A, B),
            "A (n x d) times B (n x s): the sizes that meet differ",
            "is A^T meant?",
        ),
        (Sum((A, one)), "the number 1 cannot be added to A (n x d)", "write c I"),
        (Sum((times(H, W), b)), "b_1 (1 x m) cannot be added to H W_1 (T x m)", ""),
        (
            Sum((Name("I"), one)),
            "the number 1 cannot be added to I (? x ?)",
            "write c I",
        ),
        (times(Transpose(A), W), "A^T (d x n) times W_1 (d x m)", "is A meant?"),
        (
            Relation((A, Transpose(A)), ("=",)),
            "cannot be compared",
            "is a transpose missing",
        ),
        (Relation((M, Number(Fraction(3))), (">=",)), "cannot be compared", ""),
        (Relation((M, zero), (">=",)), "has no order", ""),
        (Power(M, t), "not a whole number", ""),
        (Power(q, two), "q (d x 1) has no powers", r"v^\top v"),
        (Call("exp", (M,)), "exp takes a number, not M (n x n)", "softmax"),
        (Call("trace", (A,)), "A (n x d) need not be square", ""),
        (Call("softmax", (t,)), "not a number", ""),
        (Call("diag", (A,)), "diag takes numbers or a vector", ""),
        (Call("exp", (t, t)), "exp of 2 arguments", ""),
        (Call("max", (A,)), "takes numbers", ""),
        (Quotient(t, q), "must be a number", ""),
        (Inner(q, r), "differ in length", ""),
        (Inner(A, A), "may mean two things", ""),
        (Norm(A), "may mean two things", r"\|A\|_F"),
        (Call("trace", (Name("I"),)), "how large I is", "I_d"),
        (Name("nobody"), "nobody is not known", ""),
        (Sum((t, Relation((t, t), ("=",)))), "a statement stands", ""),
        (Relation((Listing((t, t, t)), Listing((t, t))), ("=",)), "a list stands", ""),
    ],
)
def test_misfits_are_named(node: Node, message: str, fix: str) -> None:
    with pytest.raises(FormulaError) as caught:
        typed(node, of)
    assert message in caught.value.message
    assert fix in caught.value.fix


def test_an_error_points_at_its_place() -> None:
    source = "2 + k_i q"
    node = Sum(
        (
            two,
            Product(
                (Name("k", Name("i"), span=Span(4, 7)), Name("q", span=Span(8, 9)))
            ),
        )
    )
    with pytest.raises(FormulaError) as caught:
        typed(node, of, source=source)
    assert caught.value.span == Span(4, 9)
    assert source in str(caught.value)


def test_a_product_that_other_brackets_would_make_fit_is_not_certainly_wrong() -> None:
    with pytest.raises(FormulaError) as unsure:
        typed(times(A, Transpose(k_i), q), of)  # A (k_i^T q)
    assert not isinstance(unsure.value, ShapeError)
    with pytest.raises(ShapeError):
        typed(times(A, B), of)


def test_a_label_in_the_condition_of_a_sum_needs_no_shape() -> None:
    node = BigSum(
        "i",
        times(Transpose(k_i), q),
        None,
        None,
        (Relation((Name("i"), Name("j")), ("!=",)),),
    )
    assert typed(node, of) == node


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"\max_{i \ne a} k_i^\top q", SCALAR),
    ],
)
def test_shape_of_what_is_said_in_few_words(source: str, expected: Shape) -> None:
    assert shape(parse(source), of) == expected


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (r"\max_{i} q = t", "of numbers"),
        (r"q \in \mathbb{R}^d", "a statement stands"),
        (r"t = i \text{ for some } i", "a statement stands"),
        (r"t = i \text{ for all } i", "a statement stands"),
        (r"t + \mathbb{R} = t", "a set of numbers stands"),
        ("= q", "goes on from"),
        (r"t \ge \dots \ge d", "dots"),
    ],
)
def test_statements_that_do_not_fit(source: str, message: str) -> None:
    with pytest.raises(FormulaError, match=message):
        typed(parse(source), of)
