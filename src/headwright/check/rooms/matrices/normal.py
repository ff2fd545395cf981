"""A typed formula into its form. Names are replaced by their definitions on the way."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

from headwright.check.rooms.matrices.algebra import Algebra
from headwright.check.rooms.matrices.forms import (
    Applied,
    Diagonal,
    Form,
    Letter,
    Member,
    Monomial,
    Symbol,
    Unit,
    atom,
    collected,
    minus,
    number,
    plus,
    scaled,
    size_form,
    word_form,
)
from headwright.check.rooms.matrices.images import image
from headwright.check.rooms.matrices.known import Known, NoForm
from headwright.check.rooms.matrices.ranges import links, restricted
from headwright.check.rooms.matrices.spectral import exact_rank, spectral_norm
from headwright.check.rooms.matrices.sums import Summation
from headwright.formula.shapes import SCALAR
from headwright.formula.shaping.rewrite import plain
from headwright.formula.tree import (
    BigSum,
    Call,
    Inner,
    Name,
    Negative,
    Node,
    Norm,
    Number,
    Power,
    Product,
    Quotient,
    Sum,
    Transpose,
    walk,
)


@dataclass(frozen=True)
class Normal:
    """Brings formulas to forms; bound says which symbols the indices of the sums around stand for."""

    known: Known
    algebra: Algebra
    bound: dict[str, Form] = field(default_factory=dict)

    def of(self, node: Node) -> Form:
        """The form of a typed formula; NoForm where there is none."""
        match node:
            case Number(value):
                return number(value)
            case Name():
                return self.name(node)
            case Sum(terms):
                return self.sum([self.of(term) for term in terms])
            case Negative(body):
                return scaled(self.of(body), -1)
            case Product(factors):
                return self.algebra.product(*(self.of(factor) for factor in factors))
            case Quotient(over, under):
                return self.algebra.times(self.of(over), self.algebra.power(self.of(under), Fraction(-1)))
            case Power(base, exponent):
                return self.power(base, exponent)
            case Transpose(body):
                return self.algebra.turned(self.of(body))
            case Inner(left, right):
                first, second = (self.column(self.of(side)) for side in (left, right))
                return self.algebra.times(self.algebra.turned(first), second)
            case Norm(body, kind):
                return self.norm(self.of(body), kind)
            case Call(function, arguments):
                return self.call(function, [self.of(part) for part in arguments])
            case BigSum():
                return self.big_sum(node)
            case _:
                raise NoForm(f"a {type(node).__name__.lower()} has no form")

    def sum(self, forms: list[Form]) -> Form:
        """A sum; a written 0 takes the shape of the others."""
        tall = next((form for form in forms if not form.is_scalar), None)
        return plus(*(form for form in forms if tall is None or not form.is_scalar or not form.is_zero))

    def column(self, form: Form) -> Form:
        """A vector, standing."""
        return self.algebra.turned(form) if form.rows == 1 else form

    # Names

    def name(self, node: Name) -> Form:
        """A definition, a member of a family, the identity, a number or a matrix."""
        if node.index is None and not node.primes and node.base in self.bound:
            return self.bound[node.base]
        if node.base in ("oo", "infinity", "infty"):
            raise NoForm("infinity is not a number")
        family = self.known.family(node)
        if family is None and node.index is not None and self._depends(node.index):
            if self.known.shape_of(node) == SCALAR and plain(node) not in self.known.given.shapes:
                return atom(Member(node.base, self.index(node.index)))
            raise NoForm(f"{plain(node)} inside a sum over its index")
        definition = self.known.definition(node)
        if definition is not None:
            return replace(self, bound={}).of(definition)
        shape = self.known.shape_of(node)
        if family is not None and node.index is not None:
            return self.member(family.base, self.index(node.index))
        if shape is None and node.base == "I" and node.index is not None:
            size = int(node.index.value) if isinstance(node.index, Number) else plain(node.index)
            return word_form((), size, size)
        if shape is None or (shape.rows == 1 and shape.columns == 1):
            if node.index is not None and plain(node) not in self.known.given.shapes and shape is not None:
                return atom(Member(node.base, self.index(node.index)))
            return atom(Symbol(plain(node)))
        return self.matrix(node)

    def _depends(self, node: Node) -> bool:
        """Whether the index of a sum around occurs here."""
        return any(isinstance(part, Name) and part.base in self.bound for part in walk(node))

    def matrix(self, node: Name) -> Form:
        """A letter, or the diagonal matrix that it is."""
        key = plain(node)
        shape = self.known.given.shapes.get(key)
        label = key
        if shape is None:
            shape = self.known.given.shapes[f"{node.base}_*"]
            label = f"{node.base}_{self.index(node.index)}"
        if self.known.fact(key, "diagonal"):
            if shape.rows != shape.columns:
                raise NoForm(f"{key} is diagonal but not square")
            values = [f.base for f in self.known.families.values() if f.of == key and f.kind == "singular values"]
            powers = ((values[0] if values else key, Fraction(1)),)
            factor = Diagonal(powers, size_form(shape.rows), shape.rows)
            return word_form((factor,), shape.rows, shape.columns)
        return word_form((Letter(label, shape.rows, shape.columns),), shape.rows, shape.columns)

    def member(self, base: str, index: Form) -> Form:
        """sigma_k, or u_k = U e_k. The index lies between 1 and the number of members: otherwise there is none."""
        family = self.known.families[base]
        if not any(index == symbol for symbol in self.bound.values()):
            self.algebra.integers.assume_integer(index)
            self.algebra.integers.exists(number(1), index)
            self.algebra.integers.exists(index, size_form(family.size))
        if family.kind == "singular values":
            return atom(Member(base, index))
        whole = self.of(Name(family.of))
        unit = word_form((Unit(index, family.size),), family.size, 1)
        return self.algebra.times(whole, unit)

    def index(self, node: Node | None) -> Form:
        """An index: a number, a label, or a sum of those."""
        match node:
            case Number(value):
                return number(value)
            case Name(base, None, 0):
                return self.bound.get(base, atom(Symbol(base)))
            case Negative(body):
                return scaled(self.index(body), -1)
            case Sum(terms):
                return plus(*(self.index(term) for term in terms))
            case _:
                raise NoForm("an index that is neither a number nor a name")

    # Functions

    def power(self, base: Node, exponent: Node) -> Form:
        """A rational power."""
        power = self.of(exponent).constant
        if power is None:
            return atom(Applied("power", (self.of(base), self.of(exponent))))
        return self.algebra.power(self.of(base), power)

    def norm(self, form: Form, kind: str) -> Form:
        """|X|_F = sqrt(trace(X^T X)); |v| likewise; |A|_2 where it is known."""
        if kind == "F" or 1 in (form.rows, form.columns):
            square = self.algebra.trace(self.algebra.times(self.algebra.turned(form), form))
            if square.is_zero:
                return square
            return self.algebra.power(square, Fraction(1, 2))
        try:
            return spectral_norm(form, self.algebra)
        except NoForm:
            leading = form.terms[0][2]  # |c X| = |c| |X|
            return scaled(atom(Applied("norm", (scaled(form, 1 / leading),))), abs(leading))

    def call(self, function: str, forms: list[Form]) -> Form:
        """softmax and relu of matrices, traces, and functions of numbers."""
        (form, *others) = forms
        match function:
            case "trace":
                return self.algebra.trace(form)
            case "softmax" | "relu" if not form.is_scalar:
                return image(function, form, self.algebra)
            case "sqrt" if not form.is_zero:
                return self.algebra.power(form, Fraction(1, 2))
            case "exp":
                parts = [self.exponential(monomial, value) for monomial, _, value in form.terms]
                return self.algebra.product(number(1), *parts)
            case "abs":
                square = self.algebra.times(form, form)
                return square if square.is_zero else self.algebra.power(square, Fraction(1, 2))
            case "diag" if not others and not form.is_scalar:
                raise NoForm("diag of a vector has no form")
            case "P" | "E" | "Var":
                raise NoForm(f"{function} has no form")
            case "rank" if not form.is_scalar:
                return self.rank(form)
            case _:
                return atom(Applied(function, tuple(forms)))

    def rank(self, form: Form) -> Form:
        """The number of singular values that are not 0, where that is certain."""
        if form.is_zero:
            return number(0)
        try:
            return exact_rank(form, self.algebra)
        except NoForm:
            return atom(Applied("rank", (scaled(form, 1 / form.terms[0][2]),)))

    def exponential(self, monomial: Monomial, value: Fraction) -> Form:
        """e^(c m) is (e^m)^c, for a rational c and a product m of atoms."""
        whole = collected(1, 1, {(monomial, ()): Fraction(1)})
        return self.algebra.power(atom(Applied("exp", (whole,))), value)

    # Sums over an index

    def big_sum(self, node: BigSum) -> Form:
        """A sum with its conditions turned into bounds."""
        if node.lower is None or node.upper is None:
            raise NoForm(f"the sum over {node.index} has no bounds")
        symbol = Symbol(f"{node.index}@{len(self.bound)}")
        inside = replace(self, bound={**self.bound, node.index: atom(symbol)})
        lower, upper = self.of(node.lower), self.of(node.upper)
        left_out: list[Form] = []
        for condition in node.conditions:
            for left, sign, right in links(condition):
                lower, upper = restricted(self, Name(node.index), (left, sign, right), (lower, upper), left_out)
        total = Summation(self.algebra, symbol, lower, upper).of(inside.of(node.body))
        for place in left_out:
            without = replace(self, bound={**self.bound, node.index: place}).of(node.body)
            total = minus(total, without)
        return total
