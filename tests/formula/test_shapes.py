"""Shapes: what is accepted, what it turns into, and what is said of the rest."""

from __future__ import annotations

from fractions import Fraction

import pytest

from headwright.formula import parse
from headwright.formula.errors import FormulaError
from headwright.formula.shapes import SCALAR, Shape, shape, spelt, typed
from headwright.formula.tree import (
    BigSum,
    Call,
    Inner,
    Listing,
    Logic,
    Matrix,
    Name,
    Negative,
    Node,
    Norm,
    Number,
    Power,
    Product,
    Quantified,
    Quotient,
    Relation,
    Span,
    Sum,
    Transpose,
)

SHAPES = {
    "q": Shape("d", 1), "k_i": Shape("d", 1), "k_a": Shape("d", 1), "r": Shape("n", 1), "t": SCALAR, "d": SCALAR,
    "sigma_i": SCALAR, "X": Shape("T", "d"), "H": Shape("T", "d"), "W_1": Shape("d", "m"), "b_1": Shape(1, "m"),
    "P": Shape("T", "T"), "B": Shape("n", "s"), "ones": Shape("T", 1), "A": Shape("n", "d"), "M": Shape("n", "n"),
    "three": Shape(3, 1),
}  # fmt: skip
q, k, r, t, X, A, B, M, P = (Name(x) for x in ("q", "k", "r", "t", "X", "A", "B", "M", "P"))
k_i, k_a, W, b, H = (
    Name("k", Name("i")), Name("k", Name("a")), Name("W", Number(Fraction(1))), Name("b", Number(Fraction(1))),
    Name("H"),
)  # fmt: skip
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
        (times(A, Transpose(k_i), q), Shape("n", "d")),  # A (k_i^T q)
        (Quotient(X, Call("sqrt", (Name("d"),))), Shape("T", "d")),
        (Power(M, two), Shape("n", "n")),
        (Power(t, Name("d")), SCALAR),
        (Call("softmax", (times(X, Transpose(X)),)), Shape("T", "T")),
        (Call("relu", (X,)), Shape("T", "d")),
        (Call("trace", (times(Transpose(A), A),)), SCALAR),
        (Call("diag", (q,)), Shape("d", "d")),
        (Call("max", (t, two)), SCALAR),
        (Call("abs", (Sum((k_i, Negative(q))),)), SCALAR),
        (Norm(A, "F"), SCALAR),
        (Norm(q), SCALAR),
        (Name("I", Name("d")), Shape("d", "d")),
        (times(Name("I"), q), Shape("d", 1)),
        (Sum((zero, A)), Shape("n", "d")),
        (BigSum("i", times(Name("i"), q), one, Name("d")), Shape("d", 1)),
        (Matrix((Listing((one, two)), Listing((t, t)))), Shape(2, 2)),
        (Matrix((Listing((q, k_a, q)),)), Shape("d", 3)),
        (Matrix((Listing((b,)), Listing((b,)))), Shape(2, "m")),
        (Name("pi"), SCALAR),
    ],
)
def test_shape_of_a_term(node: Node, expected: Shape) -> None:
    assert shape(node, of) == expected


def test_a_prime_is_a_transpose_of_a_known_vector() -> None:
    assert typed(times(Name("q", primes=1), q), of) == times(Transpose(q), q)


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
    assert typed(Relation((times(P, one), one), ("=",)), of) == Relation((times(P, ones), ones), ("=",))
    assert typed(times(P, one), of) == times(P, one)  # it fits as the number it is
    with pytest.raises(FormulaError, match="cannot be compared"):
        typed(Relation((P, one), ("=",)), of)


def test_one_times_a_row_stays_where_nothing_taller_is_added() -> None:
    assert typed(times(one, b), of) == times(one, b)


def test_identity_takes_the_size_that_fits() -> None:
    assert typed(Sum((Name("I"), Negative(times(B, Transpose(B))))), of) == Sum(
        (Name("I", Name("n")), Negative(times(B, Transpose(B))))
    )
    assert typed(times(Sum((Name("I"), times(two, Name("I")))), Name("three")), of) == times(
        Sum((Name("I", Number(Fraction(3))), times(two, Name("I", Number(Fraction(3)))))), Name("three")
    )
    assert typed(Relation((M, Name("I")), ("=",)), of) == Relation((M, Name("I", Name("n"))), ("=",))


def test_softmax_of_a_column_becomes_that_of_a_row() -> None:
    assert typed(Call("softmax", (q,)), of) == Transpose(Call("softmax", (Transpose(q),)))


def test_p_of_a_matrix_is_a_product_when_p_is_one() -> None:
    assert typed(Call("P", (X,)), of) == times(P, X)


def test_listings_are_compared_item_by_item() -> None:
    chain = Relation((Listing((q, k_a)), Listing((k_a, times(two, q)))), ("=",))
    assert typed(chain, of) == chain
    shared = Relation((Listing((t, t)), one), ("=",))
    assert typed(shared, of) == shared


def test_statements_pass_through_logic_and_quantifiers() -> None:
    said = Quantified(
        Logic("and", (Relation((times(Name("j"), t), one), ("<",)),)), (Relation((Name("j"), one), (">=",)),)
    )
    assert typed(said, of) == said


@pytest.mark.parametrize(
    ("node", "message", "fix"),
    [
        (times(k_i, q), "two columns have no product", r"write k_i^\top q for the inner product"),
        (times(Sum((k_a, q)), q), "two columns", r"write k_i^\top q for"),
        (times(A, B), "A (n x d) times B (n x s): the sizes that meet differ", "is A^T meant?"),
        (Sum((A, one)), "the number 1 cannot be added to A (n x d)", "write c I"),
        (Sum((times(H, W), b)), "b_1 (1 x m) cannot be added to H W_1 (T x m)", "write 1 b_1 to add it to every row"),
        (Sum((Name("I"), one)), "the number 1 cannot be added to I (? x ?)", "write c I"),
        (times(Transpose(A), W), "A^T (d x n) times W_1 (d x m)", "is A meant?"),
        (Relation((A, Transpose(A)), ("=",)), "cannot be compared", "is a transpose missing"),
        (Relation((M, Number(Fraction(3))), (">=",)), "cannot be compared", ""),
        (Relation((M, zero), (">=",)), "has no order", ""),
        (Power(M, t), "not a whole number", ""),
        (Power(q, two), "q (d x 1) has no powers", r"v^\top v"),
        (Call("exp", (M,)), "exp takes a number, not M (n x n)", "softmax"),
        (Call("trace", (A,)), "A (n x d) need not be square", ""),
        (Call("softmax", (t,)), "not a number", ""),
        (Call("diag", (A,)), "diag takes a vector", ""),
        (Call("exp", (t, t)), "one argument", ""),
        (Call("max", (A,)), "takes numbers", ""),
        (Quotient(t, q), "must be a number", ""),
        (Inner(q, r), "differ in length", ""),
        (Inner(A, A), "may mean two things", ""),
        (Norm(A), "may mean two things", r"\|A\|_F"),
        (Call("trace", (Name("I"),)), "how large I is", "I_d"),
        (Name("nobody"), "nobody is not known", ""),
        (Sum((t, Relation((t, t), ("=",)))), "a statement stands", ""),
        (Relation((Listing((t, t, t)), Listing((t, t))), ("=",)), "2 things are compared with 3", ""),
        (Matrix((Listing((one, two)), Listing((one,)))), "differ in length", ""),
        (Matrix((Listing((q, X)),)), "written with numbers", ""),
    ],
)
def test_misfits_are_named(node: Node, message: str, fix: str) -> None:
    with pytest.raises(FormulaError) as caught:
        typed(node, of)
    assert message in caught.value.message
    assert fix in caught.value.fix


def test_an_error_points_at_its_place() -> None:
    source = "2 + k_i q"
    node = Sum((two, Product((Name("k", Name("i"), span=Span(4, 7)), Name("q", span=Span(8, 9))))))
    with pytest.raises(FormulaError) as caught:
        typed(node, of, source=source)
    assert caught.value.span == Span(4, 9)
    assert source in str(caught.value)


def test_a_failed_attempt_leaves_no_trace_in_the_size_of_identity() -> None:
    node = times(A, Transpose(q), q, Name("I"))  # (A)(q^T q)(I): I is d x d
    assert shape(node, of) == Shape("n", "d")


def test_a_label_in_the_condition_of_a_sum_needs_no_shape() -> None:
    node = BigSum("i", times(Transpose(k_i), q), None, None, (Relation((Name("i"), Name("j")), ("!=",)),))
    assert typed(node, of) == node


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"\max_{i \ne a} k_i^\top q", SCALAR),
        (r"\prod_{i=1}^d t", SCALAR),
        (r"\begin{cases} q & t > 0 \\ 0 & t \le 0 \end{cases}", Shape("d", 1)),
        (r"\delta_{ij} q", Shape("d", 1)),
    ],
)
def test_shape_of_what_is_said_in_few_words(source: str, expected: Shape) -> None:
    assert shape(parse(source), of) == expected


@pytest.mark.parametrize(
    "source",
    [
        r"q \in \mathbb{R}^d",
        r"q \propto k_a + k_i",
        r"q \sim \mathcal{N}(k_a, t I)",
        r"t \in \{1, 2, d\}",
        r"t = i \text{ for some } i",
        r"q \perp k_a",
    ],
)
def test_statements_that_fit(source: str) -> None:
    tree = parse(source)
    assert type(typed(tree, of)) is type(tree)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (r"q \propto X", "cannot be compared"),
        (r"q \sim \mathcal{N}(k_a, X)", "no covariance"),
        (r"\max_{i} q = t", "of numbers"),
        (r"t + \begin{cases} q & t > 0 \\ X & t \le 0 \end{cases} = t", "alternative"),
        (r"t + \mathbb{R} = t", "a set of numbers stands"),
        ("= q", "goes on from"),
        (r"t \ge \dots \ge d", "dots"),
    ],
)
def test_statements_that_do_not_fit(source: str, message: str) -> None:
    with pytest.raises(FormulaError, match=message):
        typed(parse(source), of)
