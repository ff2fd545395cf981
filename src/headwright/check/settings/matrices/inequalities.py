"""Inequalities between weighted sums of powers of singular values, for all sizes.

For x_1 >= x_2 >= ... >= x_d >= 0 and weights w_i, summation by parts gives
sum_i w_i x_i = sum_p (w_1 + ... + w_p) (x_p - x_{p+1}) with x_{d+1} = 0: never negative for all such x if and only if
all prefix sums of w are >= 0. The weights are constant on blocks, so a prefix sum is linear in p inside a block, and
it is enough to look at the ends of blocks: polynomials in the sizes, which z3 decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from headwright.check.settings.matrices.forms import (
    Algebra,
    Applied,
    Atom,
    Form,
    Language,
    Member,
    Monomial,
    Partial,
    Symbol,
    atom,
    collected,
    minus,
    number,
    plus,
    scaled,
)
from headwright.check.settings.matrices.known import NoForm
from headwright.check.settings.matrices.normal import rank_bound

LARGEST = 8  # of the sizes at which a counterexample is looked for
PLAIN = "every term is nonnegative"
SIZES = "an inequality between sizes (z3)"
ABEL = "summation by parts: all prefix sums of the weights are nonnegative, for all sizes (z3)"
SQUARED = "both sides are nonnegative and were squared; "


def at_most(low: Form, high: Form, algebra: Algebra, *, strict: bool) -> str | None:
    """How low <= high (or low < high) was proved for all allowed values; None if it was not."""
    low = _bounded(low, algebra)
    how = nonnegative(minus(high, low), algebra, strict=strict)
    if how is None and surely(low, algebra) and surely(high, algebra):
        squares = minus(algebra.times(high, high), algebra.times(low, low))
        how = nonnegative(squares, algebra, strict=strict)
        how = None if how is None else SQUARED + how
    return how


def suspects(low: Form, high: Form, algebra: Algebra, *, strict: bool) -> list[dict[str, int]]:
    """Sizes at which low <= high may fail: where to look for a counterexample."""
    found = []
    squares = algebra.times(high, high), algebra.times(low, low)
    for above, below in ((high, low), squares):
        try:
            weights = _weights(_without_denominators(minus(above, below), algebra), algebra)
        except NoForm:
            continue
        sizes = algebra.integers.breaking(partial(weights.claims, strict=strict), LARGEST)
        found += [] if sizes is None else [sizes]
    return found


def nonnegative(form: Form, algebra: Algebra, *, strict: bool) -> str | None:
    """How a number was proved to be >= 0 (or > 0); None if it was not."""
    form = _without_denominators(form, algebra)
    if form.constant is not None:
        return PLAIN if form.constant > 0 or (form.constant == 0 and not strict) else None
    if not strict and surely(form, algebra):
        return PLAIN
    try:
        weights = _weights(form, algebra)
    except NoForm:
        return None
    proved = algebra.integers.always(partial(weights.claims, strict=strict))
    if not proved:
        return None
    return ABEL if weights.sums or weights.points else SIZES


def surely(form: Form, algebra: Algebra) -> bool:
    """Whether every term is a product of what is never negative."""
    return all(
        value > 0 and all(_surely(item, exponent, algebra) for item, exponent in monomial)
        for monomial, _, value in form.terms
    )


def _surely(item: Atom, exponent: Fraction, algebra: Algebra) -> bool:
    even = exponent.denominator % 2 == 0 or exponent.numerator % 2 == 0
    return even or algebra.nonnegative(item)


@dataclass(frozen=True)
class _Weights:
    """constant + sum of coefficient x (x_1 + ... + x_upto) + sum of coefficient x x_place."""

    constant: Form
    sums: tuple[tuple[Form, Form], ...]
    points: tuple[tuple[Form, Form], ...]

    def claims(self, language: Language, *, strict: bool) -> list[Any]:
        """What has to hold for all sizes."""
        z3 = language.z3
        constant = language.real(self.constant)
        said = [constant > 0 if strict else constant >= 0]
        ends = [upto for _, upto in self.sums]
        ends += [place for _, place in self.points] + [minus(place, number(1)) for _, place in self.points]
        for end in dict.fromkeys(ends):
            place = language.real(end)
            total = z3.RealVal(0)
            for weight, upto in self.sums:
                stop = language.real(upto)
                total = total + language.real(weight) * z3.If(stop <= place, stop, place)
            for weight, at in self.points:
                total = total + z3.If(language.real(at) <= place, language.real(weight), z3.RealVal(0))
            said.append(z3.Implies(place >= 1, total >= 0))
        return said


def _weights(form: Form, algebra: Algebra) -> _Weights:
    constant = number(0)
    sums: list[tuple[Form, Form]] = []
    points: list[tuple[Form, Form]] = []
    kinds: set[tuple[str, Fraction]] = set()
    for monomial, _, value in form.terms:
        sizes: Monomial = tuple(pair for pair in monomial if _is_size(pair[0], algebra))
        weight = collected(1, 1, {(sizes, ()): value})
        match [pair for pair in monomial if not _is_size(pair[0], algebra)]:
            case []:
                constant = plus(constant, weight)
            case [(Partial(((family, power),), upto), exponent)] if exponent == 1:
                kinds.add((family, power))
                sums.append((weight, upto))
            case [(Member(family, index), power)]:
                kinds.add((family, power))
                points.append((weight, index))
            case _:
                raise NoForm("an inequality that is not linear in powers of singular values")
    for base, power in kinds:
        found = algebra.known.families.get(base)
        if found is None or found.kind != "singular values" or power <= 0 or len(kinds) > 1:
            raise NoForm("an inequality that is not linear in one power of singular values")
    return _Weights(constant, tuple(sums), tuple(points))


def _is_size(item: Atom, algebra: Algebra) -> bool:
    return isinstance(item, Symbol) and item.name in algebra.integers.names


def _without_denominators(form: Form, algebra: Algebra) -> Form:
    """A form times those sizes in its denominators that are at least 1: its sign stays as it was."""
    lowest: dict[Symbol, Fraction] = {}
    for monomial, _, _ in form.terms:
        for item, exponent in monomial:
            if isinstance(item, Symbol) and exponent < min(Fraction(0), lowest.get(item, Fraction(0))):
                lowest[item] = exponent
    for item, exponent in lowest.items():
        if item.name in algebra.integers.names and algebra.integers.at_most(number(1), atom(item)):
            form = algebra.times(atom(item, -exponent), form)
    return form


def _bounded(form: Form, algebra: Algebra) -> Form:
    """An upper bound in place of a rank that stands alone, and |X|_F in place of |X|_2."""
    match form.terms:
        case ((((Applied("rank", (body,)), exponent),), (), value),) if exponent == 1 and value == 1:
            try:
                return rank_bound(body, algebra)
            except NoForm:
                return form
        case ((((Applied("norm", (body,)), exponent),), (), value),) if exponent == 1 and value > 0:
            square = algebra.trace(algebra.times(algebra.turned(body), body))
            return scaled(algebra.power(square, Fraction(1, 2)), value)
    return form
