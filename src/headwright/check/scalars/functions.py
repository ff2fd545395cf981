"""Functions of exact numbers: exponentials, logarithms, powers, waves; substitution, derivatives, values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpq, fmpz

from headwright.check.scalars.forms import (
    ONE,
    UNIT,
    Atom,
    Exp,
    Function,
    Kind,
    Monomial,
    Number,
    Parameter,
    Pi,
    Prime,
    Scalar,
    Terms,
    factors,
    folded,
    interval,
    monomial_of,
    number,
    of_atom,
    rebuilt,
    scalar,
    term,
    times,
    whole_power,
)
from headwright.check.scalars.numbers import EXPONENT, ball_of
from headwright.errors import InputError


@dataclass(frozen=True)
class Factor:
    """base ** exponent; the base is one atom, or a sum (then the atom is None)."""

    base: Scalar
    exponent: Fraction
    atom: Atom | None = None


@dataclass(frozen=True)
class Signed:
    """sign * size * product of the factors.

    known: their bases are not negative (wherever what was written is defined); even: the base may be negative, its
    exponent is even; odd: the base's sign is not known and its exponent is odd.
    """

    sign: int
    size: Fraction
    known: tuple[Factor, ...]
    even: tuple[Factor, ...]
    odd: tuple[Factor, ...]


def factored(value: Scalar) -> tuple[Fraction, list[Factor]]:
    """The number as a rational times powers."""
    coefficient, found = _taken_apart(value.over)
    below, lower = _taken_apart(value.under)
    return coefficient / below, found + [Factor(part.base, -part.exponent, part.atom) for part in lower]


def _taken_apart(terms: Terms) -> tuple[Fraction, list[Factor]]:
    if len(terms) == 1:
        ((monomial, coefficient),) = terms.items()
        return coefficient, _powers(monomial)
    parts = factors(terms)
    if parts is None:
        return Fraction(1), [Factor(Scalar(terms, number(1).under), Fraction(1))]
    coefficient = Fraction(1)
    found: list[Factor] = []
    for part, power in parts:
        if len(part) == 1:
            ((monomial, value),) = part.items()
            coefficient *= value**power
            found += [Factor(one.base, one.exponent * power, one.atom) for one in _powers(monomial)]
        else:
            found.append(Factor(Scalar(part, number(1).under), Fraction(power)))
    return coefficient, found


def _powers(monomial: Monomial) -> list[Factor]:
    return [Factor(term(((atom, Fraction(1)),)), exponent, atom) for atom, exponent in monomial]


def signed(value: Scalar) -> Signed:
    """The factors of a number that is not 0, sorted by what is known of their signs."""
    coefficient, found = factored(value)
    known: list[Factor] = []
    even: list[Factor] = []
    odd: list[Factor] = []
    for part in found:
        # A broken exponent was only written down where its base is not negative.
        place = interval(part.base)
        if part.exponent.denominator > 1 or place.not_negative or (part.atom is not None and part.atom.folds):
            known.append(part)
        elif place.not_positive:
            known.append(Factor(-part.base, part.exponent))
            coefficient *= -1 if part.exponent.numerator % 2 else 1
        elif part.exponent.numerator % 2 == 0:
            even.append(part)
        else:
            odd.append(part)
    return Signed(1 if coefficient > 0 else -1, abs(coefficient), tuple(known), tuple(even), tuple(odd))


def together(parts: tuple[Factor, ...], sign: int) -> Scalar:
    """The product of factors with whole exponents, again as one number."""
    total = term(UNIT, sign)
    for part in parts:
        total = total * power(part.base, part.exponent)
    return total


LONGEST = 200  # rational exponents up to this size are exponents; longer ones stay inside the exponential
FACTORED = 80  # binary digits of numbers that are factored completely


def exp(value: Scalar | Number) -> Scalar:
    """e ** value."""
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
        if isinstance(atom, Function) and atom.kind == "ln" and exponent == 1 and _is_short(coefficient):
            return power(atom.body, coefficient)
    if not _is_short(coefficient):
        monomial = times(monomial, ((Function("sum", number(coefficient)), Fraction(1)),))
        coefficient = Fraction(1)
    return of_atom(Exp(monomial), coefficient)


def _is_short(number: Fraction) -> bool:
    if number.denominator == 1:
        return abs(number) <= EXPONENT
    return abs(number.numerator) <= LONGEST and number.denominator <= LONGEST


def ln(value: Scalar | Number) -> Scalar:
    """The natural logarithm."""
    value = scalar(value)
    if interval(value).not_positive:
        raise InputError(f"ln({value}) was asked for, expected the logarithm of a number above 0")
    parts = signed(value)
    if parts.sign < 0 and not parts.odd:
        return of_atom(Function("ln", value))
    result = number(0)
    for prime, count in _primes(parts.size):
        result = result + count * of_atom(Function("ln", number(prime)))
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
    """value ** exponent; a broken exponent wants a value that is not negative."""
    if exponent.denominator == 1:
        return whole_power(value, exponent.numerator)
    if value == 0:
        if exponent < 0:
            raise InputError("0 to a negative power was asked for, expected a base that is not 0")
        return value
    if interval(value).negative:
        raise InputError(f"({value})^({exponent}) was asked for, expected a base that is not negative")
    if not _is_short(exponent):
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


def _power_of_base(part: Factor, exponent: Fraction) -> Scalar:
    if exponent.denominator == 1:
        return whole_power(part.base, exponent.numerator)
    return of_atom(Function("sum", part.base) if part.atom is None else part.atom, exponent)


def _power_of_absolute(base: Scalar, exponent: Fraction) -> Scalar:
    return of_atom(Function("abs", _upright(base)), exponent)


def sqrt(value: Scalar | Number) -> Scalar:
    """The square root."""
    return power(scalar(value), Fraction(1, 2))


def absolute(value: Scalar | Number) -> Scalar:
    """|value|."""
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


def sin(value: Scalar | Number) -> Scalar:
    """The sine; 0 at 0, odd, otherwise kept as it is."""
    value = scalar(value)
    if value == 0:
        return number(0)
    upright = _upright(value)
    wave = of_atom(Function("sin", upright))
    return wave if upright == value else -wave


def cos(value: Scalar | Number) -> Scalar:
    """The cosine; 1 at 0, even, otherwise kept as it is."""
    value = scalar(value)
    return number(1) if value == 0 else of_atom(Function("cos", _upright(value)))


def ceil(value: Scalar | Number) -> Scalar:
    """The smallest whole number that is not below it."""
    value = scalar(value)
    return of_atom(Function("ceil", value)) if value.rational is None else number(math.ceil(value.rational))


def floor(value: Scalar | Number) -> Scalar:
    """The largest whole number that is not above it."""
    value = scalar(value)
    return of_atom(Function("floor", value)) if value.rational is None else number(math.floor(value.rational))


def roundings(value: Scalar) -> list[Function]:
    """The rounded numbers in a number."""
    return [atom for atom in value.atoms() if isinstance(atom, Function) and atom.kind in ("ceil", "floor")]


def _upright(value: Scalar) -> Scalar:
    """The number or its opposite: the same for both."""
    return max(value, -value, key=lambda one: one.key)


FUNCTIONS: Mapping[str, Callable[[Scalar], Scalar]] = {
    "ln": ln, "abs": absolute, "sin": sin, "cos": cos, "ceil": ceil, "floor": floor,
}  # fmt: skip


class Substitution:
    """Scalars in place of names; what becomes of an atom is worked out once."""

    def __init__(self, values: Mapping[str, Scalar]) -> None:
        """With these values."""
        self.values = values
        self.memory: dict[Atom, Scalar | None] = {}

    def terms(self, terms: Terms) -> Scalar:
        """A sum."""
        return sum((coefficient * self.monomial(monomial) for monomial, coefficient in terms.items()), number(0))

    def monomial(self, monomial: Monomial) -> Scalar:
        """A product of powers."""
        kept: dict[Atom, Fraction] = {}
        changed = number(1)
        for atom, exponent in monomial:
            if atom not in self.memory:
                self.memory[atom] = self.changed(atom)
            new = self.memory[atom]
            if new is None:
                kept[atom] = exponent
            else:
                changed = changed * power(new, exponent)
        return rebuilt(monomial_of(kept)) * changed

    def changed(self, atom: Atom) -> Scalar | None:
        """What becomes of an atom; None where it stays."""
        if isinstance(atom, Parameter):
            return self.values.get(atom.name)
        if isinstance(atom, Exp):
            inside = self.monomial(atom.power)
            return None if inside == rebuilt(atom.power) else exp(inside)
        if isinstance(atom, Function):
            body = atom.body.put(self.values)
            if body != atom.body:
                return body if atom.kind == "sum" else FUNCTIONS[atom.kind](body)
        return None


def derivative(value: Scalar, name: str) -> Scalar:
    """The derivative by a name, for all values where it is defined: that of |x| is not where x is 0."""
    over = _terms_derivative(value.over, name)
    if value.whole:
        return over
    under = Scalar(value.under, ONE)
    return (over - value * _terms_derivative(value.under, name)) / under


def _terms_derivative(terms: Terms, name: str) -> Scalar:
    total = number(0)
    for monomial, coefficient in terms.items():
        for atom, exponent in monomial:
            rate = _atom_derivative(atom, name)
            if rate != 0:
                rest = times(monomial, ((atom, Fraction(-1)),))
                total = total + coefficient * exponent * rebuilt(rest) * rate
    return total


def _atom_derivative(atom: Atom, name: str) -> Scalar:
    if isinstance(atom, Parameter):
        return number(atom.name == name)
    if isinstance(atom, Exp):
        return of_atom(atom) * derivative(rebuilt(atom.power), name)
    if not isinstance(atom, Function) or name not in atom.body.names():
        return number(0)
    inner = derivative(atom.body, name)
    match atom.kind:
        case "ceil" | "floor":
            raise InputError(f"{atom.kind} has no derivative, expected a formula without it")
        case "ln":
            return inner / atom.body
        case "sin":
            return inner * cos(atom.body)
        case "cos":
            return -inner * sin(atom.body)
        case "abs":
            return inner * atom.body / of_atom(atom)
        case _:
            return inner


class Evaluation:
    """Balls in place of names; each atom is evaluated once."""

    def __init__(self, values: Mapping[str, arb | Number]) -> None:
        """With these values."""
        self.values = values
        self.memory: dict[Atom, arb] = {}

    def scalar(self, value: Scalar) -> arb:
        """A number."""
        upper = self.terms(value.over)
        return upper if value.whole else upper / self.terms(value.under)

    def terms(self, terms: Terms) -> arb:
        """A sum."""
        return sum((ball_of(value) * self.monomial(monomial) for monomial, value in terms.items()), arb(0))

    def monomial(self, monomial: Monomial) -> arb:
        """A product of powers."""
        total = arb(1)
        for atom, exponent in monomial:
            if atom not in self.memory:
                self.memory[atom] = self.atom(atom)
            total *= _power(self.memory[atom], exponent)
        return total

    def atom(self, atom: Atom) -> arb:
        """What is not taken apart."""
        match atom:
            case Parameter(name=name):
                if name not in self.values:
                    raise InputError(
                        f"no value was given for {name}, expected one for every name: {sorted(self.values)} were given"
                    )
                return ball_of(self.values[name])
            case Prime(number=whole):
                return arb(whole)
            case Exp(power=exponent):
                return self.monomial(exponent).exp()
            case Function(kind=kind, body=body):
                ball = self.scalar(body)
                return ball if kind == "sum" else BALLS[kind](ball)
            case Pi():
                return arb.pi()
        raise InputError(f"{atom.key} has no value here")


BALLS: Mapping[Kind, Callable[[arb], arb]] = {
    "ln": arb.log, "abs": abs, "sin": arb.sin, "cos": arb.cos, "ceil": arb.ceil, "floor": arb.floor,
}  # fmt: skip


def _power(ball: arb, exponent: Fraction) -> arb:
    if exponent.denominator == 1:
        return ball**exponent.numerator
    if exponent.denominator == 2:
        return ball.sqrt() ** exponent.numerator
    if ball == 0:
        return ball if exponent > 0 else 1 / ball
    return ball ** arb(fmpq(exponent.numerator, exponent.denominator))
