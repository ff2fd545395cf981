"""What a formula says as it is written: products with a number in front, added up.

Brackets, signs, numbers and the order of a sum do not matter here; any other algebra does: x^T x is not |x|^2,
(A B)^T is not B^T A^T, and softmax(A + c 1^T) is not softmax(A). So a step that says the same as another in this sense
only repeats it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

from flint import fmpq, fmpq_mat

from headwright.formulas import tree as t
from headwright.formulas.shapes import SCALAR, spelt
from headwright.formulas.show import plain
from headwright.grading.kinds.matrices.known import Known

Combination = Mapping[t.Node, Fraction]  # products, each with the number in front of it
UNIT = t.Number(Fraction(1))
NUMBERS = (
    "trace",
    "rank",
    "det",
    "sqrt",
    "exp",
    "ln",
    "abs",
)  # functions whose values are numbers
HIGHEST_POWER = 8  # up to here a power is written out as a product


class Written:
    """Reads formulas as they are written; the definitions of names may be put in."""

    def __init__(
        self, known: Known, definitions: Mapping[str, t.Node] | None = None
    ) -> None:
        """`known` tells which names are numbers."""
        self.known = known
        self.definitions = {} if definitions is None else definitions

    def difference(self, link: t.Relation) -> Combination:
        """The left side minus the right side of a comparison: empty where both sides are written alike."""
        left, right = link.terms
        return _sum(
            [self.combination(left), _times(self.combination(right), Fraction(-1))]
        )

    def combination(self, node: t.Node) -> Combination:
        """A formula as products with numbers in front."""
        match node:
            case t.Number(value):
                return {UNIT: value} if value else {}
            case t.Name():
                return self._name(node)
            case t.Negative(body):
                return _times(self.combination(body), Fraction(-1))
            case t.Sum(terms):
                return _sum(map(self.combination, terms))
            case t.Product(factors):
                return self._product(factors)
            case t.Power(base, t.Number(exponent)) if exponent in range(
                1, HIGHEST_POWER + 1
            ):
                return self._product((base,) * int(exponent))
            case t.Quotient(over, under):
                return self._quotient(over, under)
            case t.Transpose(t.Transpose(body)):
                return self.combination(body)
            case t.Norm(body):  # |-2 x| is 2 |x|
                inner = self.combination(body)
                if len(inner) == 1:
                    ((product, times),) = inner.items()
                    return {replace(node, body=product): abs(times)}
                return {replace(node, body=_in_order(inner)): Fraction(1)}
            case _:
                return {t.mapped(node, self._simplified): Fraction(1)}

    def _simplified(self, node: t.Node) -> t.Node:
        """The formula that a combination is, always written in one way."""
        return _in_order(self.combination(node))

    def _name(self, name: t.Name) -> Combination:
        if name.base == "I":
            return {UNIT: Fraction(1)}
        definition = self.definitions.get(spelt(name))
        if definition is not None:
            return self.combination(definition)
        return {name: Fraction(1)}

    def _product(self, factors: Iterable[t.Node]) -> Combination:
        number = Fraction(1)
        scalars: list[t.Node] = []
        matrices: list[t.Node] = []
        for factor in factors:
            parts = self.combination(factor)
            if not parts:
                return {}
            if len(parts) > 1:  # a sum in brackets stays one factor
                matrices.append(_in_order(parts))
                continue
            ((body, front),) = parts.items()
            number *= front
            for part in body.factors if isinstance(body, t.Product) else (body,):
                if part != UNIT:
                    (scalars if self._is_number(part) else matrices).append(part)
        ordered = (
            *sorted(scalars, key=plain),
            *matrices,
        )  # numbers may stand anywhere in a product
        if len(ordered) > 1:
            return {t.Product(ordered): number}
        return {ordered[0] if ordered else UNIT: number}

    def _quotient(self, over: t.Node, under: t.Node) -> Combination:
        below = self.combination(under)
        if len(below) != 1:
            return {t.mapped(t.Quotient(over, under), self._simplified): Fraction(1)}
        ((divisor, number),) = below.items()
        parts: list[Combination] = []
        for body, front in self.combination(over).items():
            factors = list(body.factors) if isinstance(body, t.Product) else [body]
            if divisor == UNIT:
                rest = body
            elif divisor in factors:
                factors.remove(divisor)
                rest = (
                    t.Product(tuple(factors))
                    if len(factors) > 1
                    else factors[0]
                    if factors
                    else UNIT
                )
            else:
                rest = t.Quotient(body, divisor)
            parts.append({rest: front / number})
        return _sum(parts)

    def _is_number(self, node: t.Node) -> bool:
        match node:
            case t.Norm() | t.Inner() | t.Number():
                return True
            case t.Call(function):
                return function in NUMBERS
            case t.Name():
                return self.known.shape_of(node) == SCALAR
            case t.Quotient(over, under):
                return self._is_number(over) and self._is_number(under)
            case t.Power(base):
                return self._is_number(base)
            case _:
                return False


def _sum(parts: Iterable[Combination]) -> Combination:
    total: dict[t.Node, Fraction] = {}
    for part in parts:
        for body, number in part.items():
            total[body] = total.get(body, Fraction(0)) + number
    return {body: number for body, number in total.items() if number}


def _times(given: Combination, factor: Fraction) -> Combination:
    return {body: number * factor for body, number in given.items()}


def _in_order(given: Combination) -> t.Node:
    """A combination as a formula, its terms sorted."""
    terms: list[t.Node] = []
    for body in sorted(given, key=plain):
        number = given[body]
        terms.append(body if number == 1 else t.Product((t.Number(number), body)))
    if not terms:
        return t.ZERO
    return terms[0] if len(terms) == 1 else t.Sum(tuple(terms))


def is_multiple(one: Combination, other: Combination) -> bool:
    """Whether the first is a multiple of the second by a number other than 0."""
    return bool(other) and bool(one) and in_span(one, [other])


def in_span(whole: Combination, parts: Iterable[Combination]) -> bool:
    """Whether a combination is a sum of multiples of others."""
    rows = list(parts)
    bodies = list(dict.fromkeys(body for row in (*rows, whole) for body in row))
    if not bodies:
        return True
    return _rank(rows, bodies) == _rank([*rows, whole], bodies)


def _rank(rows: list[Combination], bodies: list[t.Node]) -> int:
    if not rows:
        return 0
    numbers = [[row.get(body, Fraction(0)) for body in bodies] for row in rows]
    matrix = fmpq_mat(
        [
            [fmpq(number.numerator, number.denominator) for number in row]
            for row in numbers
        ]
    )
    return int(matrix.rank())
