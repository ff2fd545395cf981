"""exp, ln, roots, absolute values, sines: scalars from scalars, in normal form."""

from __future__ import annotations

from fractions import Fraction

from flint import fmpz

from headwright.check.scalars.atoms import (
    UNIT,
    Atom,
    Exp,
    Function,
    Monomial,
    Parameter,
    Pi,
    Prime,
    monomial_of,
    times,
)
from headwright.check.scalars.normal import folded
from headwright.check.scalars.ranges import REAL, Range
from headwright.check.scalars.scalar import Number, Scalar, inverse, number, scalar, term
from headwright.check.scalars.signs import interval
from headwright.check.scalars.sizes import EXPONENT, rational_power, small_exponent
from headwright.check.scalars.split import Factor, signed, together
from headwright.errors import InputError

PLAIN = 200  # rational exponents up to this size are exponents; longer ones stay inside the exponential
FACTORED = 80  # binary digits of numbers that are factored completely


def parameter(name: str, known: Range = REAL) -> Scalar:
    """A name as a scalar; its range, where given, is used to simplify.

    >>> sqrt(parameter("x", Range(0)) ** 2), sqrt(parameter("x") ** 2)
    (<x>, <|x|>)
    """
    return of_atom(Parameter(name, known))


def pi() -> Scalar:
    """The number pi."""
    return of_atom(Pi())


def of_atom(atom: Atom, exponent: Fraction = Fraction(1)) -> Scalar:
    """A power of one atom."""
    return folded({((atom, small_exponent(exponent)),): Fraction(1)})


def exp(value: Scalar | Number) -> Scalar:
    """e ** value.

    >>> n = parameter("n", Range(2))
    >>> exp(2 * ln(n)) == n**2
    True
    """
    value = scalar(value)
    below: Monomial = UNIT
    if not value.whole:
        below = ((Function("sum", Scalar(value.under, number(1).under)), Fraction(-1)),)
    result = number(1)
    for monomial, coefficient in value.over.items():
        result = result * _exp_of_term(times(monomial, below), coefficient)
    return result


def _exp_of_term(monomial: Monomial, coefficient: Fraction) -> Scalar:
    if len(monomial) == 1:
        atom, exponent = monomial[0]
        if isinstance(atom, Function) and atom.kind == "ln" and exponent == 1 and _is_plain(coefficient):
            return power(atom.body, coefficient)
    if not _is_plain(coefficient):
        monomial = times(monomial, ((Function("sum", number(coefficient)), Fraction(1)),))
        coefficient = Fraction(1)
    return of_atom(Exp(monomial), coefficient)


def _is_plain(number: Fraction) -> bool:
    if number.denominator == 1:
        return abs(number) <= EXPONENT
    return abs(number.numerator) <= PLAIN and number.denominator <= PLAIN


def ln(value: Scalar | Number) -> Scalar:
    """The natural logarithm.

    >>> n, eps = parameter("n", Range(2)), parameter("eps", Range(0, 1, True, True))
    >>> ln(n / eps) == ln(n) - ln(eps)
    True
    """
    value = scalar(value)
    if interval(value).not_positive:
        raise InputError(f"ln({value}) was asked for, expected the logarithm of a number above 0")
    parts = signed(value)
    if parts.sign < 0 and not parts.odd:
        return of_atom(Function("ln", value))
    result = _ln_of_rational(parts.size)
    for part in parts.known:
        result = result + part.exponent * _ln_of_base(part)
    for part in parts.even:
        result = result + part.exponent * of_atom(Function("ln", absolute(part.base)))
    if len(parts.odd) == 1:
        (part,) = parts.odd
        result = result + part.exponent * of_atom(Function("ln", parts.sign * part.base))
    elif parts.odd:
        result = result + of_atom(Function("ln", together(parts.odd, parts.sign)))
    return result


def _ln_of_base(part: Factor) -> Scalar:
    if isinstance(part.atom, Exp):
        return folded({part.atom.power: Fraction(1)})
    if isinstance(part.atom, Prime):
        return of_atom(Function("ln", number(part.atom.number)))
    if isinstance(part.atom, Function) and part.atom.kind == "sum":
        return of_atom(Function("ln", part.atom.body))
    return of_atom(Function("ln", part.base))


def _ln_of_rational(value: Fraction) -> Scalar:
    result = number(0)
    for prime, count in _primes(value):
        result = result + count * of_atom(Function("ln", number(prime)))
    return result


def _primes(value: Fraction) -> list[tuple[int, int]]:
    """Prime factors with their exponents; of long numbers only the small ones, and what is left as if it were prime."""
    found: dict[int, int] = {}
    for whole, sign in ((value.numerator, 1), (value.denominator, -1)):
        left = whole
        if left.bit_length() > FACTORED:
            for prime in range(2, 1000):
                while left % prime == 0:
                    left //= prime
                    found[prime] = found.get(prime, 0) + sign
        if left.bit_length() > FACTORED:
            found[left] = found.get(left, 0) + sign
        elif left > 1:
            for factor, count in fmpz(left).factor():
                found[int(factor)] = found.get(int(factor), 0) + sign * int(count)
    return [(prime, count) for prime, count in sorted(found.items()) if count]


def power(value: Scalar, exponent: Fraction) -> Scalar:
    """value ** exponent; a broken exponent wants a value that is not negative.

    >>> power(number(8), Fraction(1, 2)) == 2 * sqrt(2)
    True
    """
    if exponent.denominator == 1:
        return _whole_power(value, exponent.numerator)
    if value == 0:
        if exponent < 0:
            raise InputError("0 to a negative power was asked for, expected a base that is not 0")
        return value
    if interval(value).negative:
        raise InputError(f"({value})^({exponent}) was asked for, expected a base that is not negative")
    if not _is_plain(exponent):
        return exp(exponent * ln(value))
    parts = signed(value)
    if parts.sign < 0 and not parts.odd:
        return of_atom(Function("sum", value), exponent)
    result = number(1)
    for prime, count in _primes(parts.size):
        result = result * of_atom(Prime(prime), count * exponent)
    for part in parts.known:
        result = result * _power_of_base(part, part.exponent * exponent)
    for part in parts.even:
        result = result * _power_of_absolute(part.base, part.exponent * exponent)
    if len(parts.odd) == 1:
        (part,) = parts.odd
        base = Factor(part.base, part.exponent, part.atom) if parts.sign > 0 else Factor(-part.base, part.exponent)
        result = result * _power_of_base(base, part.exponent * exponent)
    elif parts.odd:
        result = result * of_atom(Function("sum", together(parts.odd, parts.sign)), exponent)
    return result


def _whole_power(value: Scalar, exponent: int) -> Scalar:
    small_exponent(Fraction(exponent))
    if exponent < 0:
        return _whole_power(inverse(value), -exponent)
    if len(value.over) <= 1 and value.whole:
        for monomial, coefficient in value.over.items():
            powers = {atom: power * exponent for atom, power in monomial}
            return folded({monomial_of(powers): rational_power(coefficient, exponent)})
        return number(0) if exponent else number(1)
    result = number(1)
    square = value
    while exponent:
        if exponent % 2:
            result = result * square
        exponent //= 2
        if exponent:
            square = square * square
    return result


def _power_of_base(part: Factor, exponent: Fraction) -> Scalar:
    if exponent.denominator == 1:
        return _whole_power(part.base, exponent.numerator)
    return of_atom(Function("sum", part.base) if part.atom is None else part.atom, exponent)


def _power_of_absolute(base: Scalar, exponent: Fraction) -> Scalar:
    return of_atom(Function("abs", max(base, -base, key=lambda one: one.key)), exponent)


def sqrt(value: Scalar | Number) -> Scalar:
    """The square root.

    >>> x = parameter("x", Range(0))
    >>> sqrt(4 * x) ** 2 == 4 * x
    True
    """
    return power(scalar(value), Fraction(1, 2))


def absolute(value: Scalar | Number) -> Scalar:
    """|value|.

    >>> absolute(ln(number(Fraction(1, 2)))) == ln(2)
    True
    """
    value = scalar(value)
    place = interval(value)
    if place.not_negative:
        return value
    if place.not_positive:
        return -value
    parts = signed(value)
    result = number(parts.size)
    for part in parts.known:
        result = result * _power_of_base(part, part.exponent)
    result = result * together(parts.even, 1)
    for part in parts.odd:
        result = result * _power_of_absolute(part.base, part.exponent)
    return result


def rebuilt(monomial: Monomial) -> Scalar:
    """A product of powers whose exponents may be anything, in normal form."""
    return folded({monomial: Fraction(1)}) if monomial else term(UNIT)
