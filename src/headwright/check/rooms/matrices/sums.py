"""Sums over an index: columns joined into matrices, singular values into partial sums.

With u_i = U e_i, the sum of m_i u_i v_i^T over i = 1 .. b is U D V^T, where D has the entries m_1, ..., m_b and then
zeros. A sum from a to b is the difference of the sums up to b and up to a - 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from headwright.check.rooms.matrices.algebra import Algebra
from headwright.check.rooms.matrices.forms import (
    Atom,
    Diagonal,
    Form,
    Member,
    Monomial,
    Powers,
    Size,
    Symbol,
    Traced,
    Unit,
    Word,
    atom,
    collected,
    mentions,
    minus,
    number,
    plus,
    scaled,
    size_form,
)
from headwright.check.rooms.matrices.known import NoForm
from headwright.check.rooms.matrices.words import multiplied, turned


@dataclass(frozen=True)
class Summation:
    """A sum over a symbol from lower to upper."""

    algebra: Algebra
    index: Symbol
    lower: Form
    upper: Form

    def of(self, body: Form) -> Form:
        """The sum of a form; NoForm where it cannot be closed."""
        before = minus(self.lower, number(1))
        integers = self.algebra.integers
        if not (integers.at_most(number(0), before) and integers.at_most(before, self.upper)):
            raise NoForm("a sum whose first place may lie below 1 or beyond its last one")
        parts = [self._term(*term, body, before) for term in body.terms]
        return plus(*parts) if parts else body

    def _term(self, monomial: Monomial, word: Word, value: Fraction, body: Form, before: Form) -> Form:
        powers: Powers = ()
        strings: list[Word] = []  # numbers that are words with e_i in them
        outside: list[tuple[Atom, Fraction]] = []
        here = atom(self.index)
        for item, exponent in monomial:
            if not mentions(item, self.index):
                outside.append((item, exponent))
            elif isinstance(item, Member) and item.index == here:
                powers = multiplied(powers, ((item.family, exponent),))
            elif isinstance(item, Traced) and exponent in (1, 2):
                strings += [item.word] * int(exponent)
            else:
                raise NoForm("a sum over something that depends on its index in a way that is not known")
        front = scaled(self.algebra.monomial(tuple(outside)), value)
        joined = self._joined(word, strings, powers, body, before)
        return self.algebra.times(front, joined)

    def _joined(self, word: Word, strings: list[Word], powers: Powers, body: Form, before: Form) -> Form:
        units = [factor for part in (word, *strings) for factor in part if mentions(factor, self.index)]
        if not units:
            size = self._family_size(powers)
            total = minus(self._count(powers, self.upper, size), self._count(powers, before, size))
            plain = collected(body.rows, body.columns, {((), word): Fraction(1)})
            return self.algebra.times(total, plain)
        if len(units) != 2 or not all(isinstance(unit, Unit) and unit.index == atom(self.index) for unit in units):
            raise NoForm("a sum over products of columns that do not come in pairs")
        size = units[0].size if isinstance(units[0], Unit) else 1
        whole, closed = self._paired(word, strings)
        result = []
        for upto, sign in ((self.upper, 1), (before, -1)):
            diagonal = self._diagonal(powers, upto, size)
            if diagonal is None:
                continue
            if closed:
                inside = self._of(whole + diagonal, size, size)
                result.append(scaled(self.algebra.trace(inside), sign))
            else:
                place = whole.index(_GAP)
                filled = whole[:place] + diagonal + whole[place + 1 :]
                result.append(scaled(self._of(filled, body.rows, body.columns), sign))
        if closed:
            plain = collected(body.rows, body.columns, {((), word): Fraction(1)})
            return self.algebra.times(plus(number(0), *result), plain)
        return plus(collected(body.rows, body.columns, {}), *result)

    def _of(self, word: Word, rows: Size, columns: Size) -> Form:
        front, back = self.algebra.reduced(word)
        return collected(rows, columns, {(monomial, back): value for monomial, _, value in front.terms})

    def _paired(self, word: Word, strings: list[Word]) -> tuple[Word, bool]:
        """The word with a gap where e_i e_i^T stood; or the inside of e_i^T W e_i, which is closed to a trace."""
        places = [place for place, factor in enumerate(word) if mentions(factor, self.index)]
        if len(places) == 2:
            first, second = places
            if second == first + 1 and _faces(word[first], turned_=False) and _faces(word[second], turned_=True):
                return (*word[:first], _GAP, *word[second + 1 :]), False
        elif len(places) == 1 and len(strings) == 1:
            (place,) = places
            if _faces(word[place], turned_=False):
                back = self._facing(strings[0], first=True)
                return (*word[:place], _GAP, *back[1:], *word[place + 1 :]), False
            front = self._facing(strings[0], first=False)
            return (*word[:place], *front[:-1], _GAP, *word[place + 1 :]), False
        elif not places and len(strings) == 1:
            inside = strings[0]
            if _faces(inside[0], turned_=True) and _faces(inside[-1], turned_=False):
                return inside[1:-1], True
        elif not places and len(strings) == 2:
            back, front = self._facing(strings[1], first=True), self._facing(strings[0], first=False)
            # x^T e_i e_i^T y is a number: the trace of (y x^T) with the gap between them
            return back[1:] + front[:-1], True
        raise NoForm("a sum over products of columns that do not meet")

    def _facing(self, string: Word, *, first: bool) -> Word:
        """A number's word turned so that it begins with e_i^T, or ends with e_i."""
        for candidate in (string, turned(string, self.algebra.known)):
            end = candidate[0] if first else candidate[-1]
            if mentions(end, self.index) and _faces(end, turned_=first):
                return candidate
        raise NoForm("a sum over products of columns that do not meet")

    def _diagonal(self, powers: Powers, upto: Form, size: Size) -> Word | None:
        """The diagonal matrix of a sum up to a place; None for none of it, nothing for the identity."""
        if upto.constant == 0:
            return None
        self._inside(upto, size)
        if not powers and upto == size_form(size):
            return ()
        return (Diagonal(powers, upto, size),)

    def _count(self, powers: Powers, upto: Form, size: Size | None) -> Form:
        if upto.constant == 0:
            return number(0)
        if size is None:
            return upto
        self._inside(upto, size)
        return self.algebra.partial(Diagonal(powers, upto, size))

    def _inside(self, upto: Form, size: Size) -> None:
        """A sum that goes beyond the last column or singular value has no meaning: its places lie inside."""
        if not self.algebra.integers.at_most(minus(self.lower, number(1)), size_form(size)):
            raise NoForm("a sum that may begin beyond the last column or singular value")
        self.algebra.integers.exists(upto, size_form(size))

    def _family_size(self, powers: Powers) -> Size | None:
        if not powers:
            return None
        sizes = {family.size for base, _ in powers if (family := self.algebra.known.families.get(base)) is not None}
        if len(sizes) != 1:
            raise NoForm("a sum over a family whose length is not known")
        return sizes.pop()


_GAP = Unit(number(0), 0)  # marks the place of e_i e_i^T while a word is put together


def _faces(factor: object, *, turned_: bool) -> bool:
    return isinstance(factor, Unit) and factor.turned == turned_
