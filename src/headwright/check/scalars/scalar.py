"""Scalar: an exact number in parameters, exponentials, logarithms and roots, in normal form.

A scalar is a quotient of two sums of terms; a term is a rational times a product of powers of atoms. The lower sum
is 1, or has at least two terms, no common factor with the upper one, whole coefficients without common divisor and
no power that all its terms share. Equal forms are equal numbers; numbers may be equal though their forms differ.

Everything is said wherever what was written is defined: x/x is 1, exp(ln(x)) is x.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from headwright.check.scalars.atoms import UNIT, Atom, Exp, Function, Monomial, Parameter, Terms, depth_of, monomial_key
from headwright.check.scalars.sizes import TERMS, TooBig, small_rational
from headwright.errors import InputError

if TYPE_CHECKING:
    from flint import arb

Number = int | Fraction


class Scalar:
    """An exact number; made by number(), parameter() and the operators, never changed.

    >>> from headwright.check.scalars import exp, ln, parameter, Range
    >>> n = parameter("n", Range(2, integer=True))
    >>> exp(ln(n) / 2) ** 2 == n
    True
    """

    def __init__(self, over: Terms, under: Terms) -> None:
        """Of terms that are in normal form already; use the operators instead."""
        if max(len(over), len(under)) > TERMS:
            raise TooBig(f"a sum has {max(len(over), len(under))} terms, expected at most {TERMS}")
        for coefficient in over.values():
            small_rational(coefficient)
        for coefficient in under.values():
            small_rational(coefficient)
        self._over = over
        self._under = under

    @property
    def over(self) -> Terms:
        """The terms above the bar (a copy)."""
        return dict(self._over)

    @property
    def under(self) -> Terms:
        """The terms below the bar (a copy); {UNIT: 1} where there is none."""
        return dict(self._under)

    @cached_property
    def key(self) -> str:
        """A text that says all there is to it."""
        over = _terms_key(self._over)
        return over if self.whole else f"({over})/({_terms_key(self._under)})"

    @cached_property
    def depth(self) -> int:
        """How deep functions are nested."""
        return max((depth_of(monomial) for terms in (self._over, self._under) for monomial in terms), default=0)

    @property
    def whole(self) -> bool:
        """Whether there is no sum below the bar."""
        return len(self._under) == 1

    @property
    def rational(self) -> Fraction | None:
        """Its value, where it is a rational number in plain sight.

        >>> number(Fraction(1, 2)).rational
        Fraction(1, 2)
        """
        if not self._over:
            return Fraction(0)
        if self.whole and len(self._over) == 1:
            return self._over.get(UNIT)
        return None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int | Fraction):
            return self.rational == other
        return isinstance(other, Scalar) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __bool__(self) -> bool:
        raise InputError("a scalar was used as a truth value; compare it with prove()")

    def __add__(self, other: Scalar | Number) -> Scalar:
        from headwright.check.scalars.normal import added

        return added(self, scalar(other))

    __radd__ = __add__

    def __neg__(self) -> Scalar:
        return Scalar({monomial: -coefficient for monomial, coefficient in self._over.items()}, self._under)

    def __sub__(self, other: Scalar | Number) -> Scalar:
        return self + -scalar(other)

    def __rsub__(self, other: Scalar | Number) -> Scalar:
        return scalar(other) + -self

    def __mul__(self, other: Scalar | Number) -> Scalar:
        from headwright.check.scalars.normal import multiplied

        return multiplied(self, scalar(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar | Number) -> Scalar:
        return self * inverse(scalar(other))

    def __rtruediv__(self, other: Scalar | Number) -> Scalar:
        return scalar(other) * inverse(self)

    def __pow__(self, exponent: Scalar | Number) -> Scalar:
        from headwright.check.scalars.functions import exp, ln, power

        exponent = scalar(exponent)
        rational = exponent.rational
        return exp(exponent * ln(self)) if rational is None else power(self, rational)

    def __rpow__(self, base: Scalar | Number) -> Scalar:
        return scalar(base) ** self

    def __str__(self) -> str:
        from headwright.check.scalars.text import plain

        return plain(self)

    def __repr__(self) -> str:
        return f"<{self}>"

    def latex(self) -> str:
        r"""The same for a page.

        >>> from headwright.check.scalars import parameter, sqrt
        >>> sqrt(parameter("lambda")).latex()
        '\\sqrt{\\lambda}'
        """
        from headwright.check.scalars.text import latex

        return latex(self)

    def atoms(self) -> Iterator[Atom]:
        """All atoms, once each, and those inside others before the others."""
        found: dict[Atom, None] = {}
        for terms in (self._over, self._under):
            for monomial in terms:
                _collect(monomial, found)
        yield from found

    def names(self) -> frozenset[str]:
        """The parameters that occur.

        >>> from headwright.check.scalars import parameter, exp
        >>> sorted(exp(parameter("x") / parameter("y")).names())
        ['x', 'y']
        """
        return frozenset(atom.name for atom in self.atoms() if isinstance(atom, Parameter))

    def put(self, values: Mapping[str, Scalar | Number]) -> Scalar:
        """The same number with scalars in place of names.

        >>> from headwright.check.scalars import parameter
        >>> (parameter("x") / 2).put({"x": 6}) == 3
        True
        """
        from headwright.check.scalars.substitute import substituted

        return substituted(self, {name: scalar(value) for name, value in values.items()})

    def value(self, values: Mapping[str, arb | Number] | None = None, *, bits: int = 128) -> arb:
        """A ball that certainly contains the number (not finite where it is undefined, or could be).

        >>> from headwright.check.scalars import ln
        >>> print(ln(number(2)).value().str(5, radius=False))
        0.69315
        """
        from headwright.check.scalars.value import evaluated

        return evaluated(self, values or {}, bits)


def _terms_key(terms: Terms) -> str:
    return "+".join(sorted(f"{coefficient}*{monomial_key(monomial)}" for monomial, coefficient in terms.items()))


def _collect(monomial: Monomial, found: dict[Atom, None]) -> None:
    for atom, _ in monomial:
        if atom in found:
            continue
        if isinstance(atom, Exp):
            _collect(atom.power, found)
        elif isinstance(atom, Function):
            found.update(dict.fromkeys(atom.body.atoms()))
        found[atom] = None


def number(value: Number) -> Scalar:
    """A rational number as a scalar.

    >>> number(Fraction(1, 2)) + number(Fraction(1, 2)) == 1
    True
    """
    exact = Fraction(value)
    return Scalar({UNIT: exact} if exact else {}, {UNIT: Fraction(1)})


def scalar(value: Scalar | Number) -> Scalar:
    """What was given, as a scalar."""
    return value if isinstance(value, Scalar) else number(value)


def term(monomial: Monomial, coefficient: Number = 1) -> Scalar:
    """One term as a scalar; the monomial must be in normal form."""
    exact = Fraction(coefficient)
    return Scalar({monomial: exact} if exact else {}, {UNIT: Fraction(1)})


def inverse(value: Scalar) -> Scalar:
    """1 / value."""
    from headwright.check.scalars.normal import quotient

    if not value.over:
        raise InputError("division by 0; expected a denominator that is not 0")
    return quotient(value.under, value.over)
