"""Every rewriting rule, tried: the value of a form is the value of the formula that it came from."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import islice

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from headwright.errors import InputError
from headwright.formulas.tree import (
    BigSum,
    Call,
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
from headwright.grading.kinds.matrices.forms import (
    Applied,
    Cut,
    Diagonal,
    Factor,
    Form,
    Image,
    Letter,
    Member,
    Partial,
    Sizes,
    Traced,
    Unit,
    Word,
)
from headwright.grading.kinds.matrices.instances import (
    MatricesInstance,
    examples,
    foundations,
)
from headwright.grading.kinds.matrices.known import Known, NoForm
from headwright.grading.kinds.matrices.prover import prepared
from headwright.grading.scalars.forms import (
    Atom,
    Exp,
    Function,
    Monomial,
    Parameter,
    Pi,
    Prime,
    Scalar,
    Terms,
    Thing,
)
from tests.effort import tried
from tests.grading.kinds.matrices.worlds import FREE, SINGULAR

Array = NDArray[np.float64]


class Value:
    """The value of a form at an instance, in floats, written independently of the algebra."""

    def __init__(self, trial: MatricesInstance) -> None:
        self.trial = trial

    def size(self, size: int | str) -> int:
        return round(self.number(Sizes(self.trial.known).of(size)))

    def array(self, name: str) -> Array:
        found = self.trial.value_of(Name(name))
        assert found is not None
        return np.array(
            [[float(entry.mid()) for entry in row] for row in found.tolist()]
        )

    def form(self, form: Form) -> Array:
        rows, columns = self.size(form.rows), self.size(form.columns)
        total = np.zeros((rows, columns))
        for word, value in form.terms:
            total = total + self.number(value) * (
                self.word(word) if word else np.eye(rows)
            )
        return total

    def number(self, value: Scalar) -> float:
        return self.terms(value.over) / self.terms(value.under)

    def terms(self, terms: Terms) -> float:
        return float(
            sum(
                float(value) * self.monomial(monomial)
                for monomial, value in terms.items()
            )
        )

    def monomial(self, monomial: Monomial) -> float:
        return float(np.prod([self.atom(a) ** float(e) for a, e in monomial]))

    def word(self, word: Word) -> Array:
        result = self.factor(word[0])
        for factor in word[1:]:
            result = result @ self.factor(factor)
        return result

    def factor(self, factor: Factor) -> Array:
        match factor:
            case Letter(name, _, _, turned):
                return self.array(name).T if turned else self.array(name)
            case Cut(upto, size, _, turned):
                columns = np.eye(self.size(size))[:, : round(self.number(upto))]
                return columns.T if turned else columns
            case Unit(index, size, turned):
                column = np.eye(self.size(size))[:, [round(self.number(index)) - 1]]
                return column.T if turned else column
            case Diagonal(powers, upto, size):
                entries = [
                    self.entry(powers, place) for place in range(1, self.size(size) + 1)
                ]
                last = round(self.number(upto))
                return np.diag(
                    [
                        entry if place < last else 0.0
                        for place, entry in enumerate(entries)
                    ]
                )
            case Image(function, body, turned):
                inside = self.form(body)
                value = (
                    np.maximum(inside, 0) if function == "relu" else _softmax(inside)
                )
                return value.T if turned else value

    def entry(self, powers: tuple[tuple[str, Fraction], ...], place: int) -> float:
        return float(
            np.prod(
                [self.member(family, place) ** float(power) for family, power in powers]
            )
        )

    def member(self, family: str, place: int) -> float:
        matrix = {"sigma": "S"}.get(family, family)
        return float(self.array(matrix)[place - 1, place - 1])

    def atom(self, atom: Atom) -> float:
        match atom:
            case Parameter():
                return float(self.array(atom.name)[0, 0])
            case Thing():
                return self.thing(atom.of)
            case Prime():
                return float(atom.number)
            case Pi():
                return math.pi
            case Exp():
                return math.exp(self.monomial(atom.power))
            case Function():
                body = self.number(atom.body)
                known = {
                    "ln": math.log,
                    "abs": abs,
                    "sin": math.sin,
                    "cos": math.cos,
                    "sum": float,
                }
                return float(known[atom.kind](body))  # type: ignore[operator]
        raise NoForm(str(atom))

    def thing(self, of: object) -> float:
        match of:
            case Member(family, index):
                return self.member(family, round(self.number(index)))
            case Partial(powers, upto):
                return sum(
                    self.entry(powers, place)
                    for place in range(1, round(self.number(upto)) + 1)
                )
            case Traced(word):
                return float(np.trace(self.word(word)))
            case Applied("norm", (body,)):
                return float(np.linalg.norm(self.form(body), 2))
        raise NoForm(str(of))


def _softmax(scores: Array) -> Array:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def agree(world_known: Known, node: Node, places: range) -> None:
    """The form of a formula has the value of the formula, wherever both have one."""
    typed = world_known.typed(node)
    normal = prepared(world_known)
    try:
        normal.of(typed)
        form = normal.of(typed)
    except NoForm:
        return
    names, integers = foundations(world_known, Relation((node, node), ("=",)))
    for instance in islice(
        examples(world_known, names, integers), places.start, places.stop
    ):
        trial = MatricesInstance.of(world_known, instance)
        if not trial.admissible():
            continue
        try:
            expected = trial.value(typed)
            value = Value(trial).form(form)
        except (InputError, IndexError, ZeroDivisionError, OverflowError):
            continue
        wanted = np.array(
            [[float(entry.mid()) for entry in row] for row in expected.tolist()]
        )
        if (
            not wanted.size
            or not np.isfinite(value).all()
            or np.abs(wanted).max() > 1e8
        ):
            continue
        if wanted.shape == (1, 1) and not wanted.any():
            wanted = np.zeros(value.shape)
        assert np.allclose(value, wanted, rtol=1e-6, atol=1e-6), (node, form, instance)


def square(names: str) -> st.SearchStrategy[Node]:
    leaves = st.sampled_from([Name(name) for name in names]).map(lambda name: name)
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, inner).map(lambda pair: Product(pair)),
            st.tuples(inner, inner, inner).map(lambda three: Product(three)),
            st.tuples(inner, inner).map(lambda pair: Sum(pair)),
            inner.map(Transpose),
            inner.map(Negative),
            st.tuples(st.integers(-3, 3), inner).map(
                lambda p: Product((Number(Fraction(p[0])), p[1]))
            ),
            inner.map(lambda body: Call("softmax", (body,))),
            inner.map(lambda body: Call("relu", (body,))),
            st.just(Product((Name("ones"), Transpose(Name("ones"))))),
            st.just(Product((Name("x"), Transpose(Name("y"))))),
            inner.map(lambda body: Product((Call("trace", (body,)), body))),
            st.sampled_from("OPR").map(
                lambda name: Power(Name(name), Negative(Number(Fraction(1))))
            ),
            st.tuples(inner, inner).map(
                lambda p: Product((Transpose(Name("x")), p[0], Name("y"), p[1])),
            ),
        ),
        max_leaves=8,
    )


def number(names: str) -> st.SearchStrategy[Node]:
    inside = square(names)
    return st.one_of(
        inside.map(lambda body: Call("trace", (body,))),
        inside.map(lambda body: Norm(body, "F")),
        inside.map(lambda body: Power(Norm(body, "F"), Number(Fraction(3)))),
        inside.map(lambda body: Norm(body, "2")),
        inside.map(lambda body: Product((Transpose(Name("x")), body, Name("ones")))),
        st.tuples(inside, inside).map(
            lambda p: Quotient(
                Call("trace", (p[0],)), Sum((Norm(p[1], "F"), Name("t")))
            )
        ),
        inside.map(
            lambda body: Call(
                "exp", (Quotient(Call("trace", (body,)), Number(Fraction(50))),)
            )
        ),
    )


@settings(max_examples=tried(150))
@given(square("ABMOPRDE"), st.integers(0, 20))
def test_square_matrices_keep_their_value(node: Node, start: int) -> None:
    agree(Known(FREE.given, node), node, range(start, start + 2))


@settings(max_examples=tried(150))
@given(number("ABMOPRDE"), st.integers(0, 20))
def test_numbers_keep_their_value(node: Node, start: int) -> None:
    agree(Known(FREE.given, node), node, range(start, start + 2))


k, d, i = Name("k"), Name("d"), Name("i")
one = Number(Fraction(1))
ENDS = st.sampled_from([one, k, d, Sum((k, Negative(one))), Sum((k, one))])

SIGNS = st.sampled_from(["", "<", "<=", ">", ">=", "!="])


def summand() -> st.SearchStrategy[Node]:
    def sigma(place: Node) -> Node:
        return Power(Name("sigma", place), Number(Fraction(2)))

    u, v = Name("u", i), Name("v", i)
    V, S = Name("V"), Name("S")
    return st.sampled_from(
        [
            sigma(i),
            Product((Name("sigma", i), u, Transpose(v))),
            Product((u, Transpose(u), Name("A"))),
            Product((Name("sigma", k), Name("sigma", i))),
            Product((Transpose(u), Name("A"), v)),
            Power(Product((Transpose(u), Name("A"), v)), Number(Fraction(2))),
            Product((V, S, v, Transpose(v))),
            Product((Transpose(v), S, v, Name("sigma", i))),
            Product((Transpose(Name("v", k)), v, Transpose(v), Name("V"))),
            Product((Transpose(Name("v", k)), v, v)),
            sigma(k),
            Product((v, Transpose(v), Name("v", k))),
        ]
    )


@settings(max_examples=tried(200))
@given(
    summand(),
    ENDS,
    ENDS,
    st.sampled_from(["", "<", "<=", ">", ">=", "!="]),
    st.sampled_from(["", "2", "F", "trace"]),
)
def test_sums_over_singular_vectors_keep_their_value(
    body: Node, lower: Node, upper: Node, sign: str, around: str
) -> None:
    conditions = (Relation((i, k), (sign,)),) if sign else ()  # type: ignore[arg-type]
    node: Node = BigSum("i", body, lower, upper, conditions)
    known = Known(SINGULAR.given, node)
    if around:
        try:
            difference = Sum((Name("A"), Negative(node)))
            node = (
                Call("trace", (node,))
                if around == "trace"
                else Norm(difference, "F" if around == "F" else "2")
            )
            known.typed(node)
        except InputError:
            return
    agree(known, node, range(60))


@settings(max_examples=tried(30))
@given(st.tuples(*[st.integers(-3, 3)] * 4))
def test_inequalities_agree_with_all_steps_of_small_sizes(
    weights: tuple[int, int, int, int],
) -> None:
    """sum_i w_i x_i >= 0 for all decreasing x if and only if it is for x = 1, ..., 1, 0, ..., 0: tried one by one."""
    a, b, c, e = weights
    statement = (
        rf"{a} \|A\|_F^2 + {b} \sum_{{i \le k}} \sigma_i^2 + {c} k \sigma_k^2 + {e} d \sigma_1^2 \ge 0"
    ).replace("+ -", "- ")
    holds = all(
        a * p + b * min(k, p) + c * k * (k <= p) + e * d >= 0
        for d in range(1, 9)
        for k in range(1, d + 1)
        for p in range(1, d + 1)
    )
    decision = SINGULAR.decision(statement)
    assert (decision.word == "proved") <= holds
    assert (decision.word == "refuted") <= (not holds)


@settings(max_examples=tried(40))
@given(
    st.sampled_from([k, Sum((k, Negative(one)))]),
    st.sampled_from([k, Sum((k, Negative(one))), d]),
    st.sampled_from(["", "2", "F", "trace"]),
    st.integers(0, 7),
)
def test_first_columns_entries_and_runs_keep_their_value(
    upto: Node, other: Node, around: str, which: int
) -> None:
    U, S, V, A = Name("U"), Name("S"), Name("V"), Name("A")
    run = Call(
        "diag",
        (
            BigSum("i", Power(Name("sigma", i), Number(Fraction(2))), one, upto),
            Name("I", d),
        ),
    )
    entry = Name("A", Listing((i, Name("j"))))
    inner = BigSum("j", Product((entry, Name("V", Listing((Name("j"), k))))), one, d)
    node: Node = [
        Product((Name("U", upto), Name("S", upto), Transpose(Name("V", upto)))),
        Product((Name("U", upto), Transpose(Name("U", upto)), A)),
        Product((A, Name("V", upto), Transpose(Name("V", upto)))),
        Product((U, run, Transpose(V))),
        Product((S, run, S)),
        Product((Transpose(Name("U", upto)), A, Name("V", upto))),
        BigSum("i", Power(inner, Number(Fraction(2))), one, Name("n")),
        Product(
            (
                Name("U", upto),
                Transpose(Name("U", upto)),
                BigSum(
                    "i", Product((Name("u", i), Transpose(Name("v", i)))), one, other
                ),
            )
        ),
    ][which]
    if around:
        difference = Sum((A, Negative(node)))
        node = (
            Call("trace", (node,))
            if around == "trace"
            else Norm(difference, "F" if around == "F" else "2")
        )
    known = Known(SINGULAR.given, node)
    try:
        known.typed(node)
    except InputError:
        return
    agree(known, node, range(30))
