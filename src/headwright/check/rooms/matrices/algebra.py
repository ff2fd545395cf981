"""Sums, products, transposes, powers and traces of forms."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import floor

from headwright.check.rooms.matrices.forms import (
    Atom,
    Diagonal,
    Form,
    Letter,
    Monomial,
    Partial,
    Prime,
    Root,
    Size,
    Traced,
    Word,
    atom,
    collected,
    number,
    plus,
    rows_of,
    scaled,
    size_form,
    text,
)
from headwright.check.rooms.matrices.integers import Integers
from headwright.check.rooms.matrices.known import Known, NoForm
from headwright.check.rooms.matrices.signs import nonnegative
from headwright.check.rooms.matrices.words import cut, neighbours, turned
from headwright.formula.valuing.balls import Budget

MOST_TERMS = 2000
MOST_WORK = 50_000
HIGHEST_POWER = 16


@dataclass(frozen=True)
class Algebra:
    """The rules of the game, with what is known of the names."""

    known: Known
    integers: Integers
    work: Budget = field(default_factory=lambda: Budget(MOST_WORK))  # words that may still be made shorter

    # Products

    def times(self, left: Form, right: Form) -> Form:
        """The product of two forms whose sizes meet; a number may stand on either side."""
        if left.is_scalar or right.is_scalar:
            rows, columns = (right.rows, right.columns) if left.is_scalar else (left.rows, left.columns)
        else:
            rows, columns = left.rows, right.columns
        if len(left.terms) * len(right.terms) > MOST_TERMS:
            raise NoForm(f"more than {MOST_TERMS} terms")
        parts = []
        for one, first, a in left.terms:
            for two, second, b in right.terms:
                numbers, word = self.reduced(first + second)
                front = self._scalars(self.monomial(one + two), numbers)
                parts.append(_with_word(scaled(front, a * b), word, rows, columns))
        return plus(*parts) if parts else collected(rows, columns, {})

    def _scalars(self, left: Form, right: Form) -> Form:
        if right.constant is not None:
            return scaled(left, right.constant)
        if left.constant is not None:
            return scaled(right, left.constant)
        return plus(*(scaled(self.monomial(one + two), a * b) for one, _, a in left.terms for two, _, b in right.terms))

    def product(self, *forms: Form) -> Form:
        """The product of several, from left to right."""
        result = forms[0]
        for form in forms[1:]:
            result = self.times(result, form)
        return result

    def monomial(self, powers: Monomial) -> Form:
        """Atoms multiplied: powers collected, roots to the power 1 and more written out."""
        total: dict[Atom, Fraction] = {}
        for item, exponent in powers:
            total[item] = total.get(item, Fraction(0)) + exponent
        factor = Fraction(1)
        kept: list[tuple[Atom, Fraction]] = []
        expanded: list[Form] = []
        for item, exponent in total.items():
            rest = exponent
            if isinstance(item, Prime):
                factor *= Fraction(item.number) ** floor(exponent)
                rest = exponent - floor(exponent)
            elif isinstance(item, Root) and exponent >= 1:
                expanded.append(self._repeated(item.base, floor(exponent)))
                rest = exponent - floor(exponent)
            if rest:
                kept.append((item, rest))
        front = collected(1, 1, {(tuple(sorted(kept, key=text)), ()): factor})
        for form in expanded:
            front = self._scalars(front, form)
        return front

    def reduced(self, word: Word) -> tuple[Form, Word]:
        """A word made as short as the rules make it, and the number that comes out in front (0 if all vanishes)."""
        self.work.spend(1)
        front = number(1)
        place = 0
        while place < len(word) - 1:
            found = neighbours(word[place], word[place + 1], self.known, self.integers)
            if found is None:
                place += 1
                continue
            if isinstance(found, str):
                return number(0), ()
            scalars, rest = found
            if scalars:
                front = self._scalars(front, self.monomial(scalars))
            word = word[:place] + rest + word[place + 2 :]
            place = max(0, place - 1)
        numbers, rest = cut(word)
        for part in numbers:
            front = self._scalars(front, self._value(part))
        return front, rest

    def _value(self, word: Word) -> Form:
        """The number that a word of shape 1 x 1 is."""
        first, last = word[0], word[-1]
        if (
            len(word) == 2
            and isinstance(first, Letter)
            and isinstance(last, Letter)
            and first.name == last.name == "ones"
        ):
            return size_form(last.rows)
        return atom(Traced(min(word, turned(word, self.known), key=text)))

    # Transposes and traces

    def turned(self, form: Form) -> Form:
        """The transpose."""
        if form.is_scalar:
            return form
        parts = []
        for monomial, word, coefficient in form.terms:
            front, back = self.reduced(turned(word, self.known))
            parts.append(
                _with_word(
                    scaled(self._scalars(self.monomial(monomial), front), coefficient), back, form.columns, form.rows
                )
            )
        return plus(*parts) if parts else collected(form.columns, form.rows, {})

    def trace(self, form: Form) -> Form:
        """The trace of a square form: linear, and blind to rotations and transposes of a word."""
        parts = []
        for monomial, word, coefficient in form.terms:
            value = self._scalars(self.monomial(monomial), self._trace(word, form.rows))
            parts.append(scaled(value, coefficient))
        return plus(number(0), *parts)

    def _trace(self, word: Word, size: Size) -> Form:
        if not word:
            return size_form(size)
        if len(word) == 1 and isinstance(word[0], Diagonal):
            return self.partial(word[0])
        rotations = [word[place:] + word[:place] for place in range(len(word))]
        for rotation in rotations:
            front, back = self.reduced(rotation)
            if back != rotation:
                return self._scalars(front, self._trace(back, rows_of(rotation[0])))
        rotations += [turned(rotation, self.known) for rotation in rotations]
        return atom(Traced(min(rotations, key=text)))

    def partial(self, diagonal: Diagonal) -> Form:
        """The sum of the entries of a diagonal matrix."""
        return atom(Partial(diagonal.powers, diagonal.upto)) if diagonal.powers else diagonal.upto

    # Powers of numbers

    def power(self, base: Form, exponent: Fraction) -> Form:
        """A number to a rational power, or a square matrix to 0, 1, 2, ..."""
        if exponent.denominator == 1 and exponent >= 0:
            if exponent > HIGHEST_POWER:
                raise NoForm(f"a power beyond {HIGHEST_POWER}")
            return self._repeated(base, int(exponent))
        if not base.is_scalar:
            raise NoForm("a power of a matrix that is no natural number")
        if base.is_zero:
            raise NoForm("a division by 0")
        if len(base.terms) == 1:
            single = self._of_one(base, exponent)
            if single is not None:
                return single
        leading = abs(base.terms[0][2])
        sign = -1 if base.terms[0][2] < 0 and exponent.denominator == 1 and exponent.numerator % 2 else 1
        flip = -1 if base.terms[0][2] < 0 and exponent.denominator == 1 else 1
        monic = scaled(base, Fraction(flip) / leading)
        return scaled(self._scalars(self._rational(leading, exponent), atom(Root(monic), exponent)), sign)

    def _of_one(self, base: Form, exponent: Fraction) -> Form | None:
        """(c x^a y^b)^e = c^e x^(ae) y^(be), where that is true for all x and y that are allowed."""
        monomial, _, coefficient = base.terms[0]
        if exponent.denominator != 1:
            alone = len(monomial) == 1 and monomial[0][1] == 1
            if coefficient < 0 or not (alone or all(self.nonnegative(item) for item, _ in monomial)):
                return None
        sign = -1 if coefficient < 0 and exponent.numerator % 2 else 1
        powers = self.monomial(tuple((item, power * exponent) for item, power in monomial))
        return scaled(self._scalars(self._rational(abs(coefficient), exponent), powers), sign)

    def _rational(self, value: Fraction, exponent: Fraction) -> Form:
        if exponent.denominator == 1:
            return number(value ** int(exponent))
        powers: list[tuple[Atom, Fraction]] = []
        for part, sign in ((value.numerator, 1), (value.denominator, -1)):
            powers += [(Prime(prime), sign * count * exponent) for prime, count in _primes(part)]
        return self.monomial(tuple(powers))

    def _repeated(self, base: Form, times: int) -> Form:
        if not times:
            return collected(base.rows, base.columns, {((), ()): Fraction(1)})
        return self.product(*[base] * times)

    def nonnegative(self, item: Atom) -> bool:
        """Whether an atom is never negative, where it is defined."""
        return nonnegative(item, self.known, self.integers)

    def cleared(self, form: Form) -> Form:
        """A form times the denominators in it that are sums; 0 if and only if the form is, where it is defined."""
        for _ in range(8):
            found = [
                (item, exponent)
                for monomial, _, _ in form.terms
                for item, exponent in monomial
                if isinstance(item, Root) and exponent < 0
            ]
            if not found:
                return form
            item = found[0][0]
            lowest = min(exponent for other, exponent in found if other == item)
            parts = [
                _with_word(scaled(self.monomial((*monomial, (item, -lowest))), value), word, form.rows, form.columns)
                for monomial, word, value in form.terms
            ]
            form = plus(*parts)
        return form


def _with_word(front: Form, word: Word, rows: Size, columns: Size) -> Form:
    return collected(rows, columns, {(monomial, word): value for monomial, _, value in front.terms})


def _primes(value: int) -> list[tuple[int, int]]:
    found = []
    divisor = 2
    while divisor * divisor <= value:
        count = 0
        while value % divisor == 0:
            value //= divisor
            count += 1
        if count:
            found.append((divisor, count))
        divisor += 1
        if divisor > 10_000:
            break
    return [*found, (value, 1)] if value > 1 else found
