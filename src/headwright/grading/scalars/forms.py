"""Scalar: an exact number in parameters, exponentials, logarithms and roots, in normal form.

A scalar is a quotient of two sums of terms; a term is a rational times a product of powers of atoms (a monomial). The
lower sum is 1, or has at least two terms, no common factor with the upper one, whole coefficients without a common
divisor and no power that all its terms share. Equal forms are equal numbers; numbers may be equal though their forms
differ.

Everything is said wherever what was written is defined: x/x is 1, exp(ln(x)) is x.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Literal, Self

from flint import Ordering, arb, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from headwright.errors import InputError
from headwright.formulas.evaluate import precision
from headwright.grading.scalars import numbers

Monomial = tuple[tuple["Atom", Fraction], ...]
Terms = dict[Monomial, Fraction]
UNIT: Monomial = ()
ONE: Terms = {UNIT: Fraction(1)}
RESERVED = frozenset("[]^*~#/()")  # what the texts of atoms are made with
Kind = Literal["ln", "abs", "sin", "cos", "sum"]
Number = int | Fraction


class Atom(str):
    """Something that is not taken apart further; its text says all there is to it.

    Exponents of an atom lie below `folds`, where that is not 0: what goes beyond is worked out.
    """

    folds = 0
    depth: int  # of functions inside functions

    def __new__(cls, text: str, inside: Iterable[Monomial] = ()) -> Self:
        """By its text; refused where functions are nested too deep."""
        atom = super().__new__(cls, text)
        atom.depth = max(
            (1 + inner.depth for monomial in inside for inner, _ in monomial), default=0
        )
        if atom.depth > numbers.DEPTH:
            raise numbers.TooBig(
                f"functions are nested {atom.depth} deep, expected at most {numbers.DEPTH}"
            )
        return atom


class Parameter(Atom):
    """A name with the range it was declared with."""

    name: str
    range: numbers.Range

    def __new__(cls, name: str, known: numbers.Range = numbers.REAL) -> Self:
        """Two are the same only if they lie in the same range."""
        if not name or set(name) & RESERVED:
            expected = (
                f"letters, digits and an index; none of {''.join(sorted(RESERVED))}"
            )
            raise InputError(f"the name is {name!r}, expected {expected}")
        atom = super().__new__(cls, f"{name}{known}")
        atom.name, atom.range = name, known
        return atom


class Thing(Atom):
    """A number that something else knows more about: a trace, a singular value. Here only its range is known."""

    of: object
    range: numbers.Range

    def __new__(cls, key: str, of: object, known: numbers.Range = numbers.REAL) -> Self:
        """The key says all there is to what it is of; `of` is for those who know what it is."""
        atom = super().__new__(cls, f"~of({key}){known}")
        atom.of, atom.range = of, known
        return atom


class Prime(Atom):
    """A whole number under a root; prime wherever it can be factored in no time."""

    number: int
    folds = 1

    def __new__(cls, number: int) -> Self:
        """The whole number."""
        atom = super().__new__(cls, f"#{number:06d}")
        atom.number = number
        return atom


class Pi(Atom):
    """The number pi."""


class Exp(Atom):
    """e to a monomial; a factor in front of the monomial becomes the atom's exponent: e^(2x) = (e^x)^2."""

    power: Monomial

    def __new__(cls, power: Monomial) -> Self:
        """The exponent."""
        atom = super().__new__(cls, f"~exp({monomial_key(power)})", (power,))
        atom.power = power
        return atom


class Function(Atom):
    """A function of a whole number: ln, abs, sin, cos; 'sum' is the number itself, under a root.

    Where a sum stands with a whole exponent it is replaced by what it stands for.
    """

    kind: Kind
    body: Scalar

    def __new__(cls, kind: Kind, body: Scalar) -> Self:
        """Which function, of what."""
        atom = super().__new__(cls, f"~{kind}({body.key})", (*body.over, *body.under))
        atom.kind, atom.body, atom.folds = kind, body, {"sum": 1, "abs": 2}.get(kind, 0)
        return atom


def monomial_key(monomial: Monomial) -> str:
    """A text that says all there is to a monomial."""
    return "*".join(f"{atom}^{exponent}" for atom, exponent in monomial)


def monomial_of(powers: Mapping[Atom, Fraction]) -> Monomial:
    """The product of the given powers, in order; exponents 0 are left out."""
    return tuple(
        sorted(
            (atom, numbers.small_exponent(exponent))
            for atom, exponent in powers.items()
            if exponent
        )
    )


def times(left: Monomial, right: Monomial) -> Monomial:
    """The product of two monomials."""
    if not left or not right:
        return left or right
    powers = dict(left)
    for atom, exponent in right:
        powers[atom] = powers.get(atom, Fraction(0)) + exponent
    return monomial_of(powers)


class Scalar:
    """An exact number; made by number(), parameter() and the operators, never changed."""

    def __init__(self, over: Terms, under: Terms = ONE) -> None:
        """Of terms that are in normal form already; use the operators instead."""
        if max(len(over), len(under)) > numbers.TERMS:
            raise numbers.TooBig(
                f"a sum has {max(len(over), len(under))} terms, expected at most {numbers.TERMS}"
            )
        for coefficient in (*over.values(), *under.values()):
            numbers.small_rational(coefficient)
        self.over = over  # the terms above the bar; never changed
        self.under = under  # those below; ONE where there is none
        self.whole = len(under) == 1  # whether there is no sum below the bar

    @cached_property
    def key(self) -> str:
        """A text that says all there is to it."""
        over, under = (
            "+".join(
                sorted(
                    f"{coefficient}*{monomial_key(monomial)}"
                    for monomial, coefficient in terms.items()
                )
            )
            for terms in (self.over, self.under)
        )
        return over if self.whole else f"({over})/({under})"

    @property
    def rational(self) -> Fraction | None:
        """Its value, where it is a rational number in plain sight."""
        if not self.over:
            return Fraction(0)
        return self.over.get(UNIT) if self.whole and len(self.over) == 1 else None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int | Fraction):
            return self.rational == other
        return isinstance(other, Scalar) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __bool__(self) -> bool:
        raise InputError("a scalar was used as a truth value; compare it with prove()")

    def __add__(self, other: Scalar | Number) -> Scalar:
        other = number(other)
        if self.under != other.under:
            upper = folded(terms_product(self.over, other.under)) + folded(
                terms_product(other.over, self.under)
            )
            return quotient_of(upper, folded(terms_product(self.under, other.under)))
        over = dict(self.over)
        for monomial, coefficient in other.over.items():
            over[monomial] = over.get(monomial, Fraction(0)) + coefficient
        over = {
            monomial: coefficient
            for monomial, coefficient in over.items()
            if coefficient
        }
        return Scalar(over) if self.whole else quotient(over, self.under)

    __radd__ = __add__

    def __neg__(self) -> Scalar:
        return Scalar(
            {monomial: -coefficient for monomial, coefficient in self.over.items()},
            self.under,
        )

    def __sub__(self, other: Scalar | Number) -> Scalar:
        return self + -number(other)

    def __rsub__(self, other: Scalar | Number) -> Scalar:
        return number(other) + -self

    def __mul__(self, other: Scalar | Number) -> Scalar:
        other = number(other)
        over = folded(terms_product(self.over, other.over))
        if self.whole and other.whole:
            return over
        return quotient_of(over, folded(terms_product(self.under, other.under)))

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar | Number) -> Scalar:
        other = number(other)
        if not other.over:
            raise InputError("division by 0; expected a denominator that is not 0")
        return self * quotient(other.under, other.over)

    def __rtruediv__(self, other: Scalar | Number) -> Scalar:
        return number(other) / self

    def __pow__(self, exponent: Scalar | Number) -> Scalar:
        exponent = number(exponent)
        rational = exponent.rational
        from headwright.grading.scalars.functions import exp, ln, power

        return exp(exponent * ln(self)) if rational is None else power(self, rational)

    def __rpow__(self, base: Scalar | Number) -> Scalar:
        return number(base) ** self

    def __str__(self) -> str:
        from headwright.grading.scalars.text import written

        return written(self)

    def __repr__(self) -> str:
        return f"<{self}>"

    def atoms(self) -> Iterator[Atom]:
        """All atoms, once each, and those inside others before the others."""
        yield from dict.fromkeys(
            atom for atom, _ in powers_in((*self.over, *self.under))
        )

    def names(self) -> frozenset[str]:
        """The parameters that occur."""
        return frozenset(
            atom.name for atom in self.atoms() if isinstance(atom, Parameter)
        )

    def put(self, values: Mapping[str, Scalar | Number]) -> Scalar:
        """The same number with scalars in place of names."""
        if not self.names() & values.keys():
            return self
        from headwright.grading.scalars.functions import substituted

        memory: dict[Atom, Scalar | None] = {}
        known = {name: number(value) for name, value in values.items()}
        upper = substituted(self.over, known, memory)
        return upper if self.whole else upper / substituted(self.under, known, memory)

    def value(
        self, values: Mapping[str, arb | Number] | None = None, *, bits: int = 128
    ) -> arb:
        """A ball that certainly contains the number (not finite where it is undefined, or could be)."""
        from headwright.grading.scalars.functions import evaluated

        memory: dict[Atom, arb] = {}
        with precision(bits):
            upper = evaluated(self.over, values or {}, memory)
            return (
                upper
                if self.whole
                else upper / evaluated(self.under, values or {}, memory)
            )


def powers_in(
    monomials: Iterable[Monomial], seen: set[Atom] | None = None
) -> Iterator[tuple[Atom, Fraction]]:
    """Every power of an atom; those inside an atom come before it, where it is met first."""
    seen = set() if seen is None else seen
    for monomial in monomials:
        for atom, exponent in monomial:
            if atom not in seen:
                if isinstance(atom, Exp):
                    yield from powers_in((atom.power,), seen)
                elif isinstance(atom, Function):
                    yield from powers_in((*atom.body.over, *atom.body.under), seen)
                seen.add(atom)
            yield atom, exponent


def number(value: Scalar | Number) -> Scalar:
    """A rational number as a scalar; a scalar is itself."""
    return (
        value
        if isinstance(value, Scalar)
        else Scalar({UNIT: Fraction(value)} if value else {})
    )


def parameter(name: str, known: numbers.Range = numbers.REAL) -> Scalar:
    """A name as a scalar; its range, where given, is used to simplify."""
    return of_atom(Parameter(name, known))


def pi() -> Scalar:
    """The number pi."""
    return of_atom(Pi("#pi"))


def of_atom(atom: Atom, exponent: Fraction = Fraction(1)) -> Scalar:
    """A power of one atom."""
    return folded({((atom, numbers.small_exponent(exponent)),): Fraction(1)})


def rebuilt(monomial: Monomial) -> Scalar:
    """A product of powers whose exponents may be anything, in normal form."""
    return folded({monomial: Fraction(1)})


def interval(value: Scalar) -> numbers.Interval:
    """Where the number certainly lies."""
    upper = interval_of_terms(value.over)
    return upper if value.whole else upper * interval_of_terms(value.under).inverse()


def interval_of_terms(terms: Terms) -> numbers.Interval:
    """Where a sum of terms certainly lies."""
    total = numbers.Interval(Fraction(0), Fraction(0))
    for monomial, coefficient in terms.items():
        product = numbers.Interval(coefficient, coefficient)
        for atom, exponent in monomial:
            product = product * interval_of_atom(atom).power(exponent)
        total = total + product
        if total.low == -numbers.INFINITY and total.high == numbers.INFINITY:
            break
    return total


@lru_cache(maxsize=4096)
def interval_of_atom(atom: Atom) -> numbers.Interval:
    """Where an atom certainly lies (wherever it is defined)."""
    match atom:
        case Parameter(range=known) | Thing(range=known):
            low = -numbers.INFINITY if known.lower is None else known.lower
            high = numbers.INFINITY if known.upper is None else known.upper
            return numbers.Interval(low, high, known.lower_open, known.upper_open)
        case Prime(number=whole):
            return numbers.Interval(Fraction(whole), Fraction(whole))
        case Exp(power=power):
            return interval_of_terms({power: Fraction(1)}).exp()
        case Function(kind="sin" | "cos"):
            return numbers.Interval(Fraction(-1), Fraction(1))
        case Function(kind=kind, body=body):
            inside = interval(body)
            return (
                inside.ln()
                if kind == "ln"
                else inside.absolute()
                if kind == "abs"
                else inside
            )
        case _:
            return numbers.Interval(Fraction(3), Fraction(22, 7))  # pi


LARGEST_SUM = 150  # terms
LARGEST_DEGREE = 120
LARGEST_FACTORED = 60  # terms, and degree
MOST_ATOMS = 12
Fine = dict[
    Atom, int
]  # which root of each atom is a variable, so that all exponents are whole


def _polynomials(
    most: int, highest: int, *sums: Terms
) -> tuple[Fine, list[fmpq_mpoly]] | None:
    """Sums as polynomials, but for the powers that all terms of one share; None where they are too large."""
    fine: Fine = {}
    for atom, exponent in sorted(
        pair for terms in sums for monomial in terms for pair in monomial
    ):
        fine[atom] = math.lcm(fine.get(atom, 1), exponent.denominator)
    if not fine or len(fine) > MOST_ATOMS or max(map(len, sums)) > most:
        return None
    context = fmpq_mpoly_ctx.get(
        tuple(f"x{place}" for place in range(len(fine))), Ordering.lex
    )
    found: list[fmpq_mpoly] = []
    for terms in sums:
        low, rows = shared_powers(terms), {}
        for monomial, coefficient in terms.items():
            powers = dict(monomial)
            exponents = tuple(
                int((powers.get(atom, 0) - low.get(atom, 0)) * root)
                for atom, root in fine.items()
            )
            if sum(exponents) > highest:
                return None
            rows[exponents] = fmpq(coefficient.numerator, coefficient.denominator)
        found.append(context.from_dict(rows))
    return fine, found


def _terms_of(
    polynomial: fmpq_mpoly, fine: Fine, low: Mapping[Atom, Fraction]
) -> Terms:
    result: Terms = {}
    for exponents, coefficient in polynomial.to_dict().items():
        pairs = zip(fine.items(), exponents, strict=True)
        powers = {
            atom: low.get(atom, Fraction(0)) + Fraction(int(steps), root)
            for (atom, root), steps in pairs
        }
        result[monomial_of(powers)] = Fraction(int(coefficient.p), int(coefficient.q))
    return result


def factors(terms: Terms) -> list[tuple[Terms, int]] | None:
    """The sum as a product of powers of sums; None where it has no factors or is too long to look.

    The first entry is the part with one term (a rational and powers of atoms).
    """
    found = _polynomials(LARGEST_FACTORED, LARGEST_FACTORED, terms)
    if found is None:
        return None
    (fine, (polynomial,)), low = found, shared_powers(terms)
    constant, parts = polynomial.factor()
    if (
        len(parts) == 1
        and parts[0][1] == 1
        and not any(low.values())
        and abs(constant) == 1
    ):
        return None
    first = {monomial_of(low): Fraction(int(constant.p), int(constant.q))}
    others = [(_terms_of(part, fine, {}), int(power)) for part, power in parts]
    return [
        (first, 1),
        *sorted(others, key=lambda pair: sorted(map(monomial_key, pair[0]))),
    ]


def terms_product(left: Terms, right: Terms) -> Terms:
    """All products of terms; powers of roots may then be whole and want folded()."""
    if left == ONE or right == ONE:
        return right if left == ONE else left
    if len(left) * len(right) > numbers.PRODUCTS:
        raise numbers.TooBig(
            f"a product of sums of {len(left)} and {len(right)} terms was asked for; use shorter sums"
        )
    numbers.work(
        len(left)
        * len(right)
        * (1 + max(map(len, left), default=0) + max(map(len, right), default=0))
    )
    total: Terms = {}
    for a, x in left.items():
        for b, y in right.items():
            monomial = times(a, b)
            total[monomial] = numbers.small_rational(
                total.get(monomial, Fraction(0)) + x * y
            )
    return {
        monomial: coefficient for monomial, coefficient in total.items() if coefficient
    }


def folded(terms: Terms) -> Scalar:
    """The sum of the terms, with every root's exponent between 0 and 1 (|x|: 0 or 1 to below 2)."""
    total: Terms = {}
    result = number(0)
    for monomial, coefficient in terms.items():
        kept: dict[Atom, Fraction] = {}
        outside = number(1)
        for atom, exponent in monomial:
            if not atom.folds or 0 < exponent < atom.folds:
                continue
            whole = atom.folds * math.floor(exponent / atom.folds)
            kept[atom] = exponent - whole
            if isinstance(atom, Prime):
                coefficient *= numbers.rational_power(Fraction(atom.number), whole)
            elif isinstance(atom, Function):
                outside = outside * whole_power(atom.body, whole)
        if not kept:
            total[monomial] = coefficient
        else:
            result = (
                result
                + Scalar({monomial_of({**dict(monomial), **kept}): coefficient})
                * outside
            )
    settled = Scalar(total)
    return result + settled if result.over else settled


def quotient_of(over: Scalar, under: Scalar) -> Scalar:
    """over / under of two scalars that most often have no denominators of their own."""
    if over.whole and under.whole:
        return quotient(over.over, under.over)
    return over * quotient(under.under, under.over)


def quotient(over: Terms, under: Terms) -> Scalar:
    """over / under of two settled sums."""
    if not over:
        return number(0)
    if len(over) > 1 and len(under) > 1:
        found = _polynomials(LARGEST_SUM, LARGEST_DEGREE, over, under)
        if found is not None:
            fine, (upper, lower) = found
            common = upper.gcd(lower)
            if not common.is_constant():
                over = _terms_of(upper / common, fine, shared_powers(over))
                under = _terms_of(lower / common, fine, shared_powers(under))
    if len(under) == 1:
        ((monomial, coefficient),) = under.items()
        inverted = {
            monomial_of({atom: -exponent for atom, exponent in monomial}): 1
            / coefficient
        }
        return Scalar(over) * folded(inverted)
    shared = monomial_of({atom: -least for atom, least in shared_powers(under).items()})
    factor = content(under)
    place = interval_of_terms(under)
    leading = max(
        under, key=lambda monomial: [(atom, exponent) for atom, exponent in monomial]
    )
    if place.high <= 0 or (place.low < 0 and under[leading] < 0):
        factor = -factor
    unit = {shared: 1 / factor}
    under, top = terms_product(under, unit), folded(terms_product(over, unit))
    return Scalar(top.over, under) if top.whole else quotient_of(top, Scalar(under))


def shared_powers(terms: Terms) -> dict[Atom, Fraction]:
    """The least exponent of each atom, 0 in terms where it does not occur: what all terms share."""
    rows = [dict(monomial) for monomial in terms]
    atoms = dict.fromkeys(atom for row in rows for atom in row)
    return {atom: min(row.get(atom, Fraction(0)) for row in rows) for atom in atoms}


def content(terms: Terms) -> Fraction:
    """The positive rational that makes the coefficients whole numbers without common divisor."""
    over = math.gcd(*(coefficient.numerator for coefficient in terms.values()))
    under = math.lcm(*(coefficient.denominator for coefficient in terms.values()))
    return Fraction(over, under)


def whole_power(value: Scalar, exponent: int) -> Scalar:
    """value ** exponent, for a whole exponent."""
    numbers.small_exponent(Fraction(exponent))
    if exponent < 0:
        return whole_power(1 / value, -exponent)
    if len(value.over) <= 1 and value.whole:
        for monomial, coefficient in value.over.items():
            powers = {atom: power * exponent for atom, power in monomial}
            return folded(
                {monomial_of(powers): numbers.rational_power(coefficient, exponent)}
            )
        return number(0 if exponent else 1)
    result = number(1)
    square = value
    while exponent:
        if exponent % 2:
            result = result * square
        exponent //= 2
        if exponent:
            square = square * square
    return result
