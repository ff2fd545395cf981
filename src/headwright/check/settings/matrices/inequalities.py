"""Inequalities between weighted sums of powers of singular values, for all sizes.

For x_1 >= x_2 >= ... >= x_d >= 0 and weights w_i, summation by parts gives
sum_i w_i x_i = sum_p (w_1 + ... + w_p) (x_p - x_{p+1}) with x_{d+1} = 0: never negative for all such x if and only if
all prefix sums of w are >= 0. The weights are constant on blocks, so a prefix sum is linear in p inside a block, and
it is enough to look at the ends of blocks: polynomials in the sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module

from headwright.check.scalars import Scalar, Thing, number, prove, sqrt
from headwright.check.scalars.assumptions import Where
from headwright.check.scalars.forms import ONE as UNDER
from headwright.check.scalars.solver import bounded
from headwright.check.settings.matrices.forms import ZERO, Algebra, Applied, Form, Member, Partial, scaled
from headwright.check.settings.matrices.known import NoForm
from headwright.check.settings.matrices.normal import blocks, candidates

TERMS = "the signs of its terms"
SIZES = "an inequality between sizes"
ABEL = "summation by parts"
SQUARED = "squares of both sides, "
SECONDS = 1


def at_most(low: Scalar, high: Scalar, algebra: Algebra, *, strict: bool) -> str | None:
    """How low <= high (or low < high) was proved for all allowed values; None if it was not."""
    how = None
    for bound, first, last in bounds(low, algebra):
        sizes = algebra.sizes.where(bound, high, first, last).given((first, "<=", last))
        how = _at_most(bound, high, algebra, sizes, strict)
        if how is None:
            return None
    return how


def _at_most(low: Scalar, high: Scalar, algebra: Algebra, where: Where, strict: bool) -> str | None:
    how = nonnegative(high - low, algebra, where, strict=strict)
    if how is None and all(surely(side, where) for side in (low, high)):
        how = nonnegative(high * high - low * low, algebra, where, strict=strict)
        how = None if how is None else SQUARED + how
    return how


def bounds(low: Scalar, algebra: Algebra) -> Iterator[tuple[Scalar, Scalar, Scalar]]:
    """Numbers that low is at most, each for sizes where a first place is not beyond a last.

    A rank that stands alone is at most the number of places; |X|_2 is one of a few numbers, or at most |X|_F.
    """
    of, factor = _alone(low)
    places = [(low, ZERO, ZERO)]
    if isinstance(of, Applied) and of.function == "rank" and factor == 1:
        with suppress(NoForm):
            counted = (last - first + 1 for first, last, _ in blocks(of.arguments[0], algebra))  # whose factor is not 0
            places = [(sum(counted, ZERO), ZERO, ZERO)]
    if isinstance(of, Applied) and of.function == "norm":
        (body,) = of.arguments
        try:
            places = [(factor * value, first, last) for first, last, value in candidates(body, algebra)]
        except NoForm:
            square = algebra.trace(algebra.times(algebra.transposed(body), body))
            places = [(factor * sqrt(square), ZERO, ZERO)]
        if places and not any(algebra.sizes.at_most(first, last) for _, first, last in places):
            _, first, last = places[0]
            places.append((ZERO, last + 1, first))  # no place may be left: then the norm is 0
    yield from places


def _alone(value: Scalar) -> tuple[object, Fraction]:
    """What a positive multiple of one thing is of."""
    match list(value.over.items()) if value.whole else []:
        case [(((Thing() as atom, exponent),), factor)] if exponent == 1 and factor > 0:
            return atom.of, factor
    return None, Fraction(0)


def nonnegative(value: Scalar, algebra: Algebra, where: Where, *, strict: bool) -> str | None:
    """How a number was proved to be >= 0 (or > 0); None if it was not."""
    if not strict and surely(value, where):
        return TERMS
    try:
        weights = weighted(value, algebra)
    except NoForm:
        return None
    if not weights.never_negative(where, strict=strict):
        return None
    return ABEL if weights.parts else SIZES


def adds_up(whole: Form, equal: Sequence[Form], above: Sequence[Form], sizes: Sequence[Scalar]) -> bool:
    """Whether a form is a sum of multiples, by rational numbers and sizes, of others; none negative of the second."""
    z3 = import_module("z3")
    solver = bounded(z3.Solver(), SECONDS)
    total = {term: -z3.RealVal(str(factor)) for term, factor in _by_term(whole)}
    alike = [(one, free) for free, ones in ((True, equal), (False, above)) for one in ones]
    for place, (one, free) in enumerate((one, free) for one, free in alike if one.rows == whole.rows):
        for times in (number(1), *sizes, *(1 / size for size in sizes)) if one.is_scalar else (number(1),):
            factor = z3.Real(f"{place} {times}")
            if not free:
                solver.add(factor >= 0)
            for term, value in _by_term(scaled(one, times)):
                total[term] = total.get(term, z3.RealVal(0)) + factor * z3.RealVal(str(value))
    solver.add(*(value == 0 for value in total.values()))
    return bool(solver.check() == z3.sat)


def _by_term(given: Form) -> Iterator[tuple[object, Fraction]]:
    """The rational numbers in a form, and what each multiplies."""
    for word, value in given.terms:
        under = tuple(value.under.items())
        yield from (((word, monomial, under), factor) for monomial, factor in value.over.items())


def surely(value: Scalar, where: Where) -> bool:
    """Whether a number is never negative, by the signs of what it is made of."""
    return prove(value, ">=", 0, where, seconds=0.2) is not None


@dataclass(frozen=True)
class Weights:
    """constant + sum of weight x (x_1 + ... + x_place), or of weight x x_place where it is one alone."""

    constant: Scalar
    parts: tuple[tuple[Scalar, Scalar, bool], ...] = ()  # weight, place, alone

    def ends(self) -> list[Scalar]:
        """Where prefix sums have to be looked at."""
        found = [place for _, place, _ in self.parts] + [place - 1 for _, place, alone in self.parts if alone]
        return list(dict.fromkeys(found))

    def never_negative(self, where: Where, *, strict: bool) -> bool:
        """Whether it is proved for all sizes, and all x that decrease."""
        if prove(self.constant, ">" if strict else ">=", 0, where) is None:
            return False
        return all(self._prefix(end, where.given((end, ">=", 1)), ZERO, 0) for end in self.ends())

    def _prefix(self, end: Scalar, where: Where, total: Scalar, done: int) -> bool:
        """Whether the sum of the weights up to an end is never negative: part by part, before or beyond it."""
        if done == len(self.parts):
            return prove(total, ">=", 0, where) is not None
        weight, place, alone = self.parts[done]
        before, beyond = (place, "<=", end), (place, ">=", end + 1 if alone else end)
        inside = total + weight * (number(1) if alone else place)
        outside = total if alone else total + weight * end
        if prove(*before, where) is not None:
            return self._prefix(end, where, inside, done + 1)
        if prove(*beyond, where) is not None:
            return self._prefix(end, where, outside, done + 1)
        return self._prefix(end, where.given(before), inside, done + 1) and self._prefix(
            end, where.given(beyond), outside, done + 1
        )


def weighted(value: Scalar, algebra: Algebra) -> Weights:
    """A number as a weighted sum of powers of singular values."""
    under = Scalar(value.under, UNDER)
    constant = ZERO
    parts: list[tuple[Scalar, Scalar, bool]] = []
    kinds: set[tuple[str, Fraction]] = set()
    if (
        any(isinstance(atom, Thing) for atom in under.atoms())
        or prove(under, ">", 0, algebra.sizes.where(under)) is None
    ):
        raise NoForm("an inequality with a denominator whose sign is not known")
    for monomial, coefficient in value.over.items():
        things = [(atom.of, exponent) for atom, exponent in monomial if isinstance(atom, Thing)]
        rest = tuple(pair for pair in monomial if not isinstance(pair[0], Thing))
        weight = Scalar({rest: coefficient}, UNDER) / under
        if not weight.names() <= set(algebra.known.integers):
            raise NoForm("an inequality whose weights are not made of sizes")
        match things:
            case []:
                constant = constant + weight
            case [(Partial(((family, power),), upto), exponent)] if exponent == 1:
                kinds.add((family, power))
                parts.append((weight, upto, False))
            case [(Member(family, index), power)]:
                kinds.add((family, power))
                parts.append((weight, index, True))
            case _:
                raise NoForm("an inequality that is not linear in powers of singular values")
    for base, power in kinds:
        found = algebra.known.families.get(base)
        if found is None or found.kind != "singular values" or power <= 0 or len(kinds) > 1:
            raise NoForm("an inequality that is not linear in one power of singular values")
    return Weights(constant, tuple(parts))
