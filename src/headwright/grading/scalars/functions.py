"""Functions of exact numbers: exponentials, logarithms, powers, waves; substitution, derivatives, values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpz

from headwright.errors import InputError
from headwright.grading.scalars import forms
from headwright.grading.scalars.numbers import EXPONENT, ball_of


@dataclass(frozen=True)
class Factor:
    """base ** exponent; the base is one atom, or a sum (then the atom is None)."""

    base: forms.Scalar
    exponent: Fraction
    atom: forms.Atom | None = None


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
    def of_unknown_sign(self) -> forms.Scalar:
        """The product of the odd factors, with the sign."""
        total = forms.number(self.sign)
        for part in self.odd:
            total = total * power(part.base, part.exponent)
        return total


def factored(value: forms.Scalar) -> tuple[Fraction, list[Factor]]:
    """The number as a rational times powers."""
    coefficient = Fraction(1)
    found: list[Factor] = []
    for terms, turn in ((value.over, 1), (value.under, -1)):
        parts = forms.factors(terms) if len(terms) > 1 else None
        for part, count in parts or [(terms, 1)]:
            if len(part) > 1:
                found.append(Factor(forms.Scalar(part), Fraction(turn * count)))
                continue
            ((monomial, front),) = part.items()
            coefficient *= front ** (turn * count)
            for atom, exponent in monomial:
                found.append(
                    Factor(
                        forms.Scalar({((atom, Fraction(1)),): Fraction(1)}),
                        turn * count * exponent,
                        atom,
                    )
                )
    return coefficient, found


def signed(value: forms.Scalar) -> Signed:
    """The factors of a number that is not 0, sorted by what is known of their signs."""
    coefficient, found = factored(value)
    known: list[Factor] = []
    even: list[Factor] = []
    odd: list[Factor] = []
    for part in found:
        # A broken exponent was only written down where its base is not negative.
        place = forms.interval(part.base)
        if (
            part.exponent.denominator > 1
            or place.low >= 0
            or (part.atom is not None and part.atom.folds)
        ):
            known.append(part)
        elif place.high <= 0:
            known.append(Factor(-part.base, part.exponent))
            coefficient *= -1 if part.exponent.numerator % 2 else 1
        elif part.exponent.numerator % 2 == 0:
            even.append(part)
        else:
            odd.append(part)
    return Signed(
        1 if coefficient > 0 else -1,
        abs(coefficient),
        tuple(known),
        tuple(even),
        tuple(odd),
    )


LONGEST = 200  # rational exponents up to this size are exponents; longer ones stay inside the exponential
FACTORED = 80  # binary digits of numbers that are factored completely


def exp(value: forms.Scalar | forms.Number) -> forms.Scalar:
    """e ** value."""
    value = forms.number(value)
    below: forms.Monomial = (
        forms.UNIT
        if value.whole
        else ((forms.Function("sum", forms.Scalar(value.under)), Fraction(-1)),)
    )
    result = forms.number(1)
    for monomial, coefficient in value.over.items():
        inside, short = forms.times(monomial, below), _is_short(coefficient)
        atom, exponent = inside[0] if len(inside) == 1 else (None, Fraction(0))
        if (
            isinstance(atom, forms.Function)
            and atom.kind == "ln"
            and exponent == 1
            and short
        ):
            result = result * power(atom.body, coefficient)
        elif short:
            result = result * forms.of_atom(forms.Exp(inside), coefficient)
        else:
            result = result * forms.of_atom(
                forms.Exp(
                    forms.times(
                        inside,
                        (
                            (
                                forms.Function("sum", forms.number(coefficient)),
                                Fraction(1),
                            ),
                        ),
                    )
                )
            )
    return result


def _is_short(number: Fraction) -> bool:
    if number.denominator == 1:
        return abs(number) <= EXPONENT
    return abs(number.numerator) <= LONGEST and number.denominator <= LONGEST


def ln(value: forms.Scalar | forms.Number) -> forms.Scalar:
    """The natural logarithm."""
    value = forms.number(value)
    if forms.interval(value).high <= 0:
        raise InputError(
            f"ln({value}) was asked for, expected the logarithm of a number above 0"
        )
    parts = signed(value)
    if parts.sign < 0 and not parts.odd:
        return forms.of_atom(forms.Function("ln", value))
    result = forms.number(0)
    for prime, count in _primes(parts.size):
        result = result + count * forms.of_atom(
            forms.Function("ln", forms.number(prime))
        )
    for part in parts.known:
        if isinstance(part.atom, forms.Exp):
            result = result + part.exponent * forms.rebuilt(part.atom.power)
        else:  # of what a root is of, where it is one
            result = result + part.exponent * forms.of_atom(
                forms.Function("ln", forms.folded(part.base.over))
            )
    for part in parts.even:
        result = result + part.exponent * forms.of_atom(
            forms.Function("ln", absolute(part.base))
        )
    if len(parts.odd) == 1:
        (part,) = parts.odd
        result = result + part.exponent * forms.of_atom(
            forms.Function("ln", parts.sign * part.base)
        )
    elif parts.odd:
        result = result + forms.of_atom(forms.Function("ln", parts.of_unknown_sign))
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


def power(value: forms.Scalar, exponent: Fraction) -> forms.Scalar:
    """value ** exponent; a broken exponent wants a value that is not negative."""
    if exponent.denominator == 1:
        return forms.whole_power(value, exponent.numerator)
    if value == 0:
        if exponent < 0:
            raise InputError(
                "0 to a negative power was asked for, expected a base that is not 0"
            )
        return value
    if forms.interval(value).negative:
        raise InputError(
            f"({value})^({exponent}) was asked for, expected a base that is not negative"
        )
    if not _is_short(exponent):
        return exp(exponent * ln(value))
    parts = signed(value)
    if parts.sign < 0 and not parts.odd:
        return forms.of_atom(forms.Function("sum", value), exponent)
    result = forms.number(1)
    for prime, count in _primes(parts.size):
        result = result * forms.of_atom(forms.Prime(prime), count * exponent)
    known = parts.known
    if len(parts.odd) == 1:
        (part,) = parts.odd
        known = (*known, part if parts.sign > 0 else Factor(-part.base, part.exponent))
    elif parts.odd:
        result = result * forms.of_atom(
            forms.Function("sum", parts.of_unknown_sign), exponent
        )
    for part in known:
        result = result * _power_of_base(part, part.exponent * exponent)
    for part in parts.even:
        result = result * forms.of_atom(
            forms.Function("abs", _upright(part.base)), part.exponent * exponent
        )
    return result


def _power_of_base(part: Factor, exponent: Fraction) -> forms.Scalar:
    if exponent.denominator == 1:
        return forms.whole_power(part.base, exponent.numerator)
    return forms.of_atom(
        forms.Function("sum", part.base) if part.atom is None else part.atom, exponent
    )


def sqrt(value: forms.Scalar | forms.Number) -> forms.Scalar:
    """The square root."""
    return power(forms.number(value), Fraction(1, 2))


def absolute(value: forms.Scalar | forms.Number) -> forms.Scalar:
    """|value|."""
    value = forms.number(value)
    place = forms.interval(value)
    if place.low >= 0 or place.high <= 0:
        return value if place.low >= 0 else -value
    parts = signed(value)
    result = forms.number(parts.size)
    for part in (*parts.known, *parts.even):
        result = result * _power_of_base(part, part.exponent)
    for part in parts.odd:
        result = result * forms.of_atom(
            forms.Function("abs", _upright(part.base)), part.exponent
        )
    return result


def sin(value: forms.Scalar | forms.Number) -> forms.Scalar:
    """The sine; 0 at 0, odd, otherwise kept as it is."""
    value = forms.number(value)
    if value == 0:
        return forms.number(0)
    upright = _upright(value)
    wave = forms.of_atom(forms.Function("sin", upright))
    return wave if upright == value else -wave


def cos(value: forms.Scalar | forms.Number) -> forms.Scalar:
    """The cosine; 1 at 0, even, otherwise kept as it is."""
    value = forms.number(value)
    return (
        forms.number(1)
        if value == 0
        else forms.of_atom(forms.Function("cos", _upright(value)))
    )


def _upright(value: forms.Scalar) -> forms.Scalar:
    """The number or its opposite: the same for both."""
    return max(value, -value, key=lambda one: one.key)


FUNCTIONS: Mapping[str, Callable[[forms.Scalar], forms.Scalar]] = {
    "ln": ln,
    "abs": absolute,
    "sin": sin,
    "cos": cos,
}
BALLS: Mapping[forms.Kind, Callable[[arb], arb]] = {
    "ln": arb.log,
    "abs": abs,
    "sin": arb.sin,
    "cos": arb.cos,
}


def substituted(
    terms: forms.Terms,
    values: Mapping[str, forms.Scalar],
    memory: dict[forms.Atom, forms.Scalar | None],
) -> forms.Scalar:
    """A sum with scalars in place of names; what becomes of an atom is worked out once."""
    total = forms.number(0)
    for monomial, coefficient in terms.items():
        kept: dict[forms.Atom, Fraction] = {}
        changed = forms.number(coefficient)
        for atom, exponent in monomial:
            if atom not in memory:
                memory[atom] = _changed(atom, values, memory)
            new = memory[atom]
            if new is None:
                kept[atom] = exponent
            else:
                changed = changed * power(new, exponent)
        total = total + forms.rebuilt(forms.monomial_of(kept)) * changed
    return total


def _changed(
    atom: forms.Atom,
    values: Mapping[str, forms.Scalar],
    memory: dict[forms.Atom, forms.Scalar | None],
) -> forms.Scalar | None:
    """What becomes of an atom; None where it stays."""
    match atom:
        case forms.Parameter(name=name):
            return values.get(name)
        case forms.Exp(power=exponent):
            inside = substituted({exponent: Fraction(1)}, values, memory)
            return None if inside == forms.rebuilt(exponent) else exp(inside)
        case forms.Function(kind=kind, body=whole):
            body = whole.put(values)
            if body != whole:
                return body if kind == "sum" else FUNCTIONS[kind](body)
    return None


def derivative(value: forms.Scalar, name: str) -> forms.Scalar:
    """The derivative by a name, for all values where it is defined: that of |x| is not where x is 0."""
    slopes = [forms.number(0), forms.number(0)]
    for place, terms in enumerate((value.over, value.under)):
        for monomial, coefficient in terms.items():
            for atom, exponent in monomial:
                rate = _atom_derivative(atom, name)
                if rate != 0:
                    rest = forms.rebuilt(forms.times(monomial, ((atom, Fraction(-1)),)))
                    slopes[place] = slopes[place] + coefficient * exponent * rest * rate
    return (slopes[0] - value * slopes[1]) / forms.Scalar(value.under)


def _atom_derivative(atom: forms.Atom, name: str) -> forms.Scalar:
    if isinstance(atom, forms.Parameter):
        return forms.number(atom.name == name)
    if isinstance(atom, forms.Exp):
        return forms.of_atom(atom) * derivative(forms.rebuilt(atom.power), name)
    if not isinstance(atom, forms.Function) or name not in atom.body.names():
        return forms.number(0)
    inner = derivative(atom.body, name)
    match atom.kind:
        case "ln":
            return inner / atom.body
        case "sin":
            return inner * cos(atom.body)
        case "cos":
            return -inner * sin(atom.body)
        case "abs":
            return inner * atom.body / forms.of_atom(atom)
        case _:
            return inner


def evaluated(
    terms: forms.Terms,
    values: Mapping[str, arb | forms.Number],
    memory: dict[forms.Atom, arb],
) -> arb:
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


def _ball(
    atom: forms.Atom,
    values: Mapping[str, arb | forms.Number],
    memory: dict[forms.Atom, arb],
) -> arb:
    """An atom that is not taken apart."""
    match atom:
        case forms.Parameter(name=name):
            if name not in values:
                expected = f"expected one for every name: {sorted(values)} were given"
                raise InputError(f"no value was given for {name}, {expected}")
            return ball_of(values[name])
        case forms.Prime(number=whole):
            return arb(whole)
        case forms.Exp(power=exponent):
            return evaluated({exponent: Fraction(1)}, values, memory).exp()
        case forms.Function(kind=kind, body=body):
            upper, lower = (
                evaluated(terms, values, memory) for terms in (body.over, body.under)
            )
            ball = upper if body.whole else upper / lower
            return ball if kind == "sum" else BALLS[kind](ball)
        case forms.Pi():
            return arb.pi()
    raise InputError(f"{atom} has no value here")
