"""Scalars as a teacher would write them: the shortest of a few equal ways."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from headwright.check.scalars.arrangement import HALF, denominator, ordered, reads_negative, sorted_powers, times_power
from headwright.check.scalars.atoms import (
    Atom,
    Exp,
    Function,
    Monomial,
    Parameter,
    Prime,
    Terms,
    atoms_in,
    monomial_of,
)
from headwright.check.scalars.cancel import factors
from headwright.check.scalars.logs import with_logs_together
from headwright.check.scalars.normal import ONE, folded, terms_product
from headwright.check.scalars.notation import Latex, Piece, Plain
from headwright.check.scalars.scalar import Scalar

TIDY = 40  # terms; longer sums are written as they stand


def plain(value: Scalar) -> str:
    """The number in plain text.

    >>> from headwright.check.scalars import Range, exp, ln, parameter
    >>> n, eps = parameter("n", Range(2)), parameter("epsilon", Range(0, 1, True, True))
    >>> plain(2 * ln((n - 2) / eps)), plain(n / (2 * n + (n - 2) * eps))
    ('2 ln((n - 2)/epsilon)', 'n/(2 n + (n - 2) epsilon)')
    """
    return _Writer(Plain()).scalar(value).text


def latex(value: Scalar) -> str:
    r"""The number for a page.

    >>> from headwright.check.scalars import exp, parameter
    >>> latex(exp(parameter("beta") ** 2) / 2)
    '\\frac{e^{\\beta^{2}}}{2}'
    """
    return _Writer(Latex(), _Writer(Plain())).scalar(value).text


class _Writer:
    def __init__(self, style: Plain, measure: _Writer | None = None) -> None:
        self.style = style
        self.measure = measure

    def scalar(self, value: Scalar) -> Piece:
        if not value.over:
            return self.style.rational(Fraction(0))
        below = denominator(value.over)
        over = folded(terms_product(value.over, {below: Fraction(1)})) if below else Scalar(value.over, ONE)
        under = folded(terms_product(value.under, {below: Fraction(1)})) if below else Scalar(value.under, ONE)
        if not (over.whole and under.whole):
            over, under = Scalar(value.over, ONE), Scalar(value.under, ONE)
        if len(over.over) == 1 and len(under.over) == 1:
            return self.single(value)
        if under != 1:  # (x/2 + 1/2)/y is (x + 1)/(2 y)
            common = math.lcm(*(coefficient.denominator for coefficient in over.over.values()))
            over, under = over * common, under * common
        if under == 1:
            return self.terms(over.over)
        upper = self.terms(over.over)
        if upper.text.startswith("-") and len(over.over) == 1:
            return self.style.sum([(True, self.style.fraction(self.terms((-over).over), self.terms(under.over)))])
        return self.style.fraction(upper, self.terms(under.over))

    def single(self, value: Scalar) -> Piece:
        ((monomial, coefficient),) = value.over.items()
        piece = self.term(monomial, abs(coefficient))
        return self.style.sum([(True, piece)]) if coefficient < 0 else piece

    def terms(self, terms: Terms) -> Piece:
        """The shortest (in plain text) of: as it stands, as a product, sorted by one of its names."""
        options = self.options(terms)
        return options[self.measure.choice(terms)] if self.measure else min(options, key=_length)

    def choice(self, terms: Terms) -> int:
        """Which of the options is the shortest."""
        lengths = [_length(one) for one in self.options(terms)]
        return lengths.index(min(lengths))

    def options(self, terms: Terms) -> list[Piece]:
        options = [self.expanded(with_logs_together(terms))]
        if 1 < len(terms) <= TIDY:
            options += [piece for piece in (self.factored(terms), *self.collected(terms)) if piece is not None]
        return options

    def expanded(self, terms: Terms) -> Piece:
        return self.style.sum(
            [(coefficient < 0, self.term(monomial, abs(coefficient))) for monomial, coefficient in ordered(terms)]
        )

    def factored(self, terms: Terms) -> Piece | None:
        parts = factors(terms)
        if parts is None:
            return None
        ((monomial, coefficient),) = parts[0][0].items()
        pieces: list[Piece] = []
        for part, power in parts[1:]:
            if reads_negative(part):
                coefficient = -coefficient if power % 2 else coefficient
                part = {key: -value for key, value in part.items()}
            inner = self.expanded(with_logs_together(part))
            pieces.append(self.style.power(inner, self.style.rational(Fraction(power))) if power > 1 else inner)
        if monomial or abs(coefficient) != 1:
            front = self.term(monomial, abs(coefficient))
            pieces.insert(0 if not monomial else len(pieces), front)
        product = self.style.product(pieces)
        return self.style.sum([(True, product)]) if coefficient < 0 else product

    def collected(self, terms: Terms) -> Iterator[Piece]:
        for atom in atoms_in(terms):
            powers: dict[Fraction, Terms] = {}
            for monomial, coefficient in terms.items():
                found = dict(monomial)
                exponent = found.pop(atom, Fraction(0))
                powers.setdefault(exponent, {})[monomial_of(found)] = coefficient
            if isinstance(atom, Parameter) and any(len(rest) > 1 for exponent, rest in powers.items() if exponent):
                yield self.sorted_by(atom, powers)

    def sorted_by(self, atom: Atom, powers: dict[Fraction, Terms]) -> Piece:
        pieces: list[tuple[bool, Piece]] = []
        for exponent, rest in sorted(powers.items()):
            if not exponent or len(rest) == 1:
                whole = {times_power(monomial, atom, exponent): coefficient for monomial, coefficient in rest.items()}
                for monomial, coefficient in ordered(with_logs_together(whole)):
                    pieces.append((coefficient < 0, self.term(monomial, abs(coefficient))))
                continue
            minus = reads_negative(rest)
            inner = {monomial: -value if minus else value for monomial, value in rest.items()}
            pieces.append(
                (
                    minus,
                    self.style.product(
                        [self.expanded(with_logs_together(inner)), self.term(((atom, exponent),), Fraction(1))]
                    ),
                )
            )
        first = next((place for place, (minus, _) in enumerate(pieces) if not minus), 0)
        return self.style.sum([pieces[first], *pieces[:first], *pieces[first + 1 :]])

    def term(self, monomial: Monomial, coefficient: Fraction) -> Piece:
        """A product of powers with a positive rational in front."""
        powers, under_root, exponents = sorted_powers(monomial)
        for prime in [one for one in under_root if isinstance(one, Prime)]:
            if coefficient.denominator % prime.number == 0:  # sqrt(2)/2 is 1/sqrt(2)
                coefficient *= prime.number
                under_root[prime] = -HALF
        over: list[Piece] = [self.style.rational(Fraction(coefficient.numerator))] if coefficient.numerator > 1 else []
        under: list[Piece] = []
        if coefficient.denominator > 1:
            under.append(self.style.rational(Fraction(coefficient.denominator)))
        upper = [atom for atom, exponent in under_root.items() if exponent > 0]
        lower = [atom for atom, exponent in under_root.items() if exponent < 0]
        if upper and lower:
            over.append(self.style.root(self.style.fraction(self.inside(upper), self.inside(lower))))
        elif upper:
            over.append(self.style.root(self.inside(upper)))
        elif lower:
            under.append(self.style.root(self.inside(lower)))
        for atom, exponent in powers:
            (over if exponent > 0 else under).append(self.power(atom, abs(exponent)))
        over += self.exponentials(exponents)
        upper_piece = self.style.product(over or [self.style.rational(Fraction(1))])
        return self.style.fraction(upper_piece, self.style.product(under)) if under else upper_piece

    def inside(self, atoms: list[Atom]) -> Piece:
        whole = 1
        rest: list[Piece] = []
        for atom in atoms:
            if isinstance(atom, Prime):
                whole *= atom.number
            else:
                rest.append(self.atom(atom))
        return self.style.product([self.style.rational(Fraction(whole)), *rest] if whole > 1 else rest)

    def power(self, atom: Atom, exponent: Fraction) -> Piece:
        if exponent == 1:
            return self.atom(atom)
        return self.style.power(self.atom(atom), self.style.rational(exponent))

    def exponentials(self, exponents: list[tuple[Exp, Fraction]]) -> list[Piece]:
        """All powers of e as one; powers of other numbers (2^n) by themselves."""
        total: Terms = {}
        pieces: list[Piece] = []
        for monomial, exponent in with_logs_together({atom.power: exponent for atom, exponent in exponents}).items():
            logs = [one for one, power in monomial if isinstance(one, Function) and one.kind == "ln" and power == 1]
            if len(logs) == 1:
                rest = monomial_of({one: power for one, power in monomial if one != logs[0]})
                pieces.append(self.style.power(self.scalar(logs[0].body), self.scalar(Scalar({rest: exponent}, ONE))))
            else:
                total[monomial] = exponent
        if total:
            power = self.scalar(Scalar(total, ONE))
            pieces.append(self.style.name("e") if power.text == "1" else self.style.power(self.style.name("e"), power))
        return pieces

    def atom(self, atom: Atom) -> Piece:
        if isinstance(atom, Parameter):
            return self.style.name(atom.name)
        if isinstance(atom, Prime):
            return self.style.rational(Fraction(atom.number))
        if isinstance(atom, Function):
            body = self.scalar(atom.body)
            return body if atom.kind == "sum" else self.style.call(atom.kind, body)
        return self.style.pi()


def _length(piece: Piece) -> int:
    """How long it is to read: a minus in front is worth a few characters."""
    return len(piece.text) + 10 * piece.text.startswith("-")
