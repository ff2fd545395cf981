"""Functions of exact numbers: exponentials, logarithms, powers, waves; substitution, derivatives, values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpz

from headwright.check.scalars import forms as f
from headwright.check.scalars.numbers import EXPONENT, ball_of
from headwright.errors import InputError


@dataclass(frozen=True)
class Factor:
    """base ** exponent; the base is one atom, or a sum (then the atom is None)."""

    base: f.Scalar
    exponent: Fraction
    atom: f.Atom | None = None


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

    @property
    def of_unknown_sign(self) -> f.Scalar:
        """The product of the odd factors, with the sign."""
        total = f.number(self.sign)
        for part in self.odd:
            total = total * power(part.base, part.exponent)
        return total


def factored(value: f.Scalar) -> tuple[Fraction, list[Factor]]:
    """The number as a rational times powers."""
    coefficient = Fraction(1)
    found: list[Factor] = []
    for terms, turn in ((value.over, 1), (value.under, -1)):
        parts = f.factors(terms) if len(terms) > 1 else None
        for part, count in parts or [(terms, 1)]:
            if len(part) > 1:
                found.append(Factor(f.Scalar(part), Fraction(turn * count)))
                continue
            ((monomial, front),) = part.items()
            coefficient *= front ** (turn * count)
            for atom, exponent in monomial:
                found.append(Factor(f.Scalar({((atom, Fraction(1)),): Fraction(1)}), turn * count * exponent, atom))
    return coefficient, found


def signed(value: f.Scalar) -> Signed:
    """The factors of a number that is not 0, sorted by what is known of their signs."""
    coefficient, found = factored(value)
    known: list[Factor] = []
    even: list[Factor] = []
    odd: list[Factor] = []
    for part in found:
        # A broken exponent was only written down where its base is not negative.
        place = f.interval(part.base)
        if part.exponent.denominator > 1 or place.low >= 0 or (part.atom is not None and part.atom.folds):
            known.append(part)
        elif place.high <= 0:
            known.append(Factor(-part.base, part.exponent))
            coefficient *= -1 if part.exponent.numerator % 2 else 1
        elif part.exponent.numerator % 2 == 0:
            even.append(part)
        else:
            odd.append(part)
    return Signed(1 if coefficient > 0 else -1, abs(coefficient), tuple(known), tuple(even), tuple(odd))


LONGEST = 200  # rational exponents up to this size are exponents; longer ones stay inside the exponential
FACTORED = 80  # binary digits of numbers that are factored completely


def exp(value: f.Scalar | f.Number) -> f.Scalar:
    """e ** value."""
    value = f.number(value)
    below: f.Monomial = f.UNIT if value.whole else ((f.Function("sum", f.Scalar(value.under)), Fraction(-1)),)
    result = f.number(1)
    for monomial, coefficient in value.over.items():
        inside, short = f.times(monomial, below), _is_short(coefficient)
        atom, exponent = inside[0] if len(inside) == 1 else (None, Fraction(0))
        if isinstance(atom, f.Function) and atom.kind == "ln" and exponent == 1 and short:
            result = result * power(atom.body, coefficient)
        elif short:
            result = result * f.of_atom(f.Exp(inside), coefficient)
        else:
            result = result * f.of_atom(
                f.Exp(f.times(inside, ((f.Function("sum", f.number(coefficient)), Fraction(1)),)))
            )
    return result


def _is_short(number: Fraction) -> bool:
    if number.denominator == 1:
        return abs(number) <= EXPONENT
    return abs(number.numerator) <= LONGEST and number.denominator <= LONGEST


def ln(value: f.Scalar | f.Number) -> f.Scalar:
    """The natural logarithm."""
    value = f.number(value)
    if f.interval(value).high <= 0:
        raise InputError(f"ln({value}) was asked for, expected the logarithm of a number above 0")
    parts = signed(value)
    if parts.sign < 0 and not parts.odd:
        return f.of_atom(f.Function("ln", value))
    result = f.number(0)
    for prime, count in _primes(parts.size):
        result = result + count * f.of_atom(f.Function("ln", f.number(prime)))
    for part in parts.known:
        if isinstance(part.atom, f.Exp):
            result = result + part.exponent * f.rebuilt(part.atom.power)
        else:  # of what a root is of, where it is one
            result = result + part.exponent * f.of_atom(f.Function("ln", f.folded(part.base.over)))
    for part in parts.even:
        result = result + part.exponent * f.of_atom(f.Function("ln", absolute(part.base)))
    if len(parts.odd) == 1:
        (part,) = parts.odd
        result = result + part.exponent * f.of_atom(f.Function("ln", parts.sign * part.base))
    elif parts.odd:
        result = result + f.of_atom(f.Function("ln", parts.of_unknown_sign))
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


def power(value: f.Scalar, exponent: Fraction) -> f.Scalar:
    """value ** exponent; a broken exponent wants a value that is not negative."""
    if exponent.denominator == 1:
        return f.whole_power(value, exponent.numerator)
    if value == 0:
        if exponent < 0:
            raise InputError("0 to a negative power was asked for, expected a base that is not 0")
        return value
    if f.interval(value).negative:
        raise InputError(f"({value})^({exponent}) was asked for, expected a base that is not negative")
    if not _is_short(exponent):
        return exp(exponent * ln(value))
    parts = signed(value)
    if parts.sign < 0 and not parts.odd:
        return f.of_atom(f.Function("sum", value), exponent)
    result = f.number(1)
    for prime, count in _primes(parts.size):
        result = result * f.of_atom(f.Prime(prime), count * exponent)
    known = parts.known
    if len(parts.odd) == 1:
        (part,) = parts.odd
        known = (*known, part if parts.sign > 0 else Factor(-part.base, part.exponent))
    elif parts.odd:
        result = result * f.of_atom(f.Function("sum", parts.of_unknown_sign), exponent)
    for part in known:
        result = result * _power_of_base(part, part.exponent * exponent)
    for part in parts.even:
        result = result * f.of_atom(f.Function("abs", _upright(part.base)), part.exponent * exponent)
    return result


def _power_of_base(part: Factor, exponent: Fraction) -> f.Scalar:
    if exponent.denominator == 1:
        return f.whole_power(part.base, exponent.numerator)
    return f.of_atom(f.Function("sum", part.base) if part.atom is None else part.atom, exponent)


def sqrt(value: f.Scalar | f.Number) -> f.Scalar:
    """The square root."""
    return power(f.number(value), Fraction(1, 2))


def absolute(value: f.Scalar | f.Number) -> f.Scalar:
    """|value|."""
    value = f.number(value)
    place = f.interval(value)
    if place.low >= 0 or place.high <= 0:
        return value if place.low >= 0 else -value
    parts = signed(value)
    result = f.number(parts.size)
    for part in (*parts.known, *parts.even):
        result = result * _power_of_base(part, part.exponent)
    for part in parts.odd:
        result = result * f.of_atom(f.Function("abs", _upright(part.base)), part.exponent)
    return result


def sin(value: f.Scalar | f.Number) -> f.Scalar:
    """The sine; 0 at 0, odd, otherwise kept as it is."""
    value = f.number(value)
    if value == 0:
        return f.number(0)
    upright = _upright(value)
    wave = f.of_atom(f.Function("sin", upright))
    return wave if upright == value else -wave


def cos(value: f.Scalar | f.Number) -> f.Scalar:
    """The cosine; 1 at 0, even, otherwise kept as it is."""
    value = f.number(value)
    return f.number(1) if value == 0 else f.of_atom(f.Function("cos", _upright(value)))


def _upright(value: f.Scalar) -> f.Scalar:
    """The number or its opposite: the same for both."""
    return max(value, -value, key=lambda one: one.key)


FUNCTIONS: Mapping[str, Callable[[f.Scalar], f.Scalar]] = {"ln": ln, "abs": absolute, "sin": sin, "cos": cos}
BALLS: Mapping[f.Kind, Callable[[arb], arb]] = {"ln": arb.log, "abs": abs, "sin": arb.sin, "cos": arb.cos}


def substituted(terms: f.Terms, values: Mapping[str, f.Scalar], memory: dict[f.Atom, f.Scalar | None]) -> f.Scalar:
    """A sum with scalars in place of names; what becomes of an atom is worked out once."""
    total = f.number(0)
    for monomial, coefficient in terms.items():
        kept: dict[f.Atom, Fraction] = {}
        changed = f.number(coefficient)
        for atom, exponent in monomial:
            if atom not in memory:
                memory[atom] = _changed(atom, values, memory)
            new = memory[atom]
            if new is None:
                kept[atom] = exponent
            else:
                changed = changed * power(new, exponent)
        total = total + f.rebuilt(f.monomial_of(kept)) * changed
    return total


def _changed(atom: f.Atom, values: Mapping[str, f.Scalar], memory: dict[f.Atom, f.Scalar | None]) -> f.Scalar | None:
    """What becomes of an atom; None where it stays."""
    match atom:
        case f.Parameter(name=name):
            return values.get(name)
        case f.Exp(power=exponent):
            inside = substituted({exponent: Fraction(1)}, values, memory)
            return None if inside == f.rebuilt(exponent) else exp(inside)
        case f.Function(kind=kind, body=whole):
            body = whole.put(values)
            if body != whole:
                return body if kind == "sum" else FUNCTIONS[kind](body)
    return None


def derivative(value: f.Scalar, name: str) -> f.Scalar:
    """The derivative by a name, for all values where it is defined: that of |x| is not where x is 0."""
    slopes = [f.number(0), f.number(0)]
    for place, terms in enumerate((value.over, value.under)):
        for monomial, coefficient in terms.items():
            for atom, exponent in monomial:
                rate = _atom_derivative(atom, name)
                if rate != 0:
                    rest = f.rebuilt(f.times(monomial, ((atom, Fraction(-1)),)))
                    slopes[place] = slopes[place] + coefficient * exponent * rest * rate
    return (slopes[0] - value * slopes[1]) / f.Scalar(value.under)


def _atom_derivative(atom: f.Atom, name: str) -> f.Scalar:
    if isinstance(atom, f.Parameter):
        return f.number(atom.name == name)
    if isinstance(atom, f.Exp):
        return f.of_atom(atom) * derivative(f.rebuilt(atom.power), name)
    if not isinstance(atom, f.Function) or name not in atom.body.names():
        return f.number(0)
    inner = derivative(atom.body, name)
    match atom.kind:
        case "ln":
            return inner / atom.body
        case "sin":
            return inner * cos(atom.body)
        case "cos":
            return -inner * sin(atom.body)
        case "abs":
            return inner * atom.body / f.of_atom(atom)
        case _:
            return inner


def evaluated(terms: f.Terms, values: Mapping[str, arb | f.Number], memory: dict[f.Atom, arb]) -> arb:
    """A sum with balls in place of names; each atom is evaluated once."""
    total = arb(0)
    for monomial, coefficient in terms.items():
        product = ball_of(coefficient)
        for atom, exponent in monomial:
            if atom not in memory:
                memory[atom] = _ball(atom, values, memory)
            ball = memory[atom]
            if exponent.denominator == 1:
                product *= ball**exponent.numerator
            elif exponent.denominator == 2:
                product *= ball.sqrt() ** exponent.numerator
            elif ball == 0:
                product *= ball if exponent > 0 else 1 / ball
            else:
                product *= ball ** ball_of(exponent)
        total += product
    return total


def _ball(atom: f.Atom, values: Mapping[str, arb | f.Number], memory: dict[f.Atom, arb]) -> arb:
    """An atom that is not taken apart."""
    match atom:
        case f.Parameter(name=name):
            if name not in values:
                expected = f"expected one for every name: {sorted(values)} were given"
                raise InputError(f"no value was given for {name}, {expected}")
            return ball_of(values[name])
        case f.Prime(number=whole):
            return arb(whole)
        case f.Exp(power=exponent):
            return evaluated({exponent: Fraction(1)}, values, memory).exp()
        case f.Function(kind=kind, body=body):
            upper, lower = (evaluated(terms, values, memory) for terms in (body.over, body.under))
            ball = upper if body.whole else upper / lower
            return ball if kind == "sum" else BALLS[kind](ball)
        case f.Pi():
            return arb.pi()
    raise InputError(f"{atom} has no value here")
