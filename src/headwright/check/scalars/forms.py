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
from typing import Literal

from flint import Ordering, arb, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from headwright.check.scalars.numbers import (
    DEPTH,
    INFINITY,
    PRODUCTS,
    REAL,
    TERMS,
    Interval,
    Range,
    TooBig,
    rational_power,
    small_exponent,
    small_rational,
    work,
)
from headwright.errors import InputError
from headwright.formula.evaluate import precision

Monomial = tuple[tuple["Atom", Fraction], ...]
Terms = dict[Monomial, Fraction]
UNIT: Monomial = ()
RESERVED = frozenset("[]^*~#/()")  # what keys are made with
Kind = Literal["ln", "abs", "sin", "cos", "ceil", "floor", "sum"]


class Atom:
    """Something that is not taken apart further.

    Exponents of an atom lie below `folds`, where that is not 0: what goes beyond is worked out.
    """

    __slots__ = ("_hash", "depth", "key")
    folds = 0

    def __init__(self, key: str, depth: int) -> None:
        """By its key; refused where functions are nested too deep."""
        if depth > DEPTH:
            raise TooBig(f"functions are nested {depth} deep, expected at most {DEPTH}")
        self.key = key
        self.depth = depth
        self._hash = hash(key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atom) and self.key == other.key

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return self.key


class Parameter(Atom):
    """A name with the numeric range it was declared with."""

    __slots__ = ("name", "range")

    def __init__(self, name: str, known: Range = REAL) -> None:
        """Only the numeric ends of the range are kept."""
        if not name or set(name) & RESERVED:
            raise InputError(
                f"the name is {name!r}, expected letters, digits and an index; none of {''.join(sorted(RESERVED))}"
            )
        self.name = name
        self.range = known.numeric
        super().__init__(f"{name}{_range_key(self.range)}", 0)


def _range_key(known: Range) -> str:
    """All there is to a range: atoms are the same only if they lie in the same."""
    low = "" if known.lower is None else f"{'>' if known.lower_open else '>='}{known.lower}"
    high = "" if known.upper is None else f"{'<' if known.upper_open else '<='}{known.upper}"
    return f"[{low}{high}{'integer' if known.integer else ''}]"


class Thing(Atom):
    """A number that something else knows more about: a trace, a singular value. Here only its range is known.

    Its key says all there is to what it is of.
    """

    __slots__ = ("of", "range")

    def __init__(self, key: str, of: object, known: Range = REAL) -> None:
        """By its key; `of` is for those who know what it is."""
        self.of = of
        self.range = known.numeric
        super().__init__(f"~of({key}){_range_key(self.range)}", 0)


class Prime(Atom):
    """A whole number under a root; prime wherever it can be factored in no time."""

    __slots__ = ("number",)
    folds = 1

    def __init__(self, number: int) -> None:
        """The whole number."""
        self.number = number
        super().__init__(f"#{number:06d}", 0)


class Pi(Atom):
    """The number pi."""

    __slots__ = ()

    def __init__(self) -> None:
        """The one and only."""
        super().__init__("#pi", 0)


class Exp(Atom):
    """e to a monomial; a factor in front of the monomial becomes the atom's exponent: e^(2x) = (e^x)^2."""

    __slots__ = ("power",)

    def __init__(self, power: Monomial) -> None:
        """The exponent."""
        self.power = power
        super().__init__(f"~exp({monomial_key(power)})", 1 + depth_of(power))


class Function(Atom):
    """A function of a whole number: ln, abs, sin, cos, ceil, floor; 'sum' is the number itself, under a root.

    Where a sum stands with a whole exponent it is replaced by what it stands for.
    """

    __slots__ = ("body", "folds", "kind")

    def __init__(self, kind: Kind, body: Scalar) -> None:
        """Which function, of what."""
        self.kind: Kind = kind
        self.body = body
        self.folds = {"sum": 1, "abs": 2}.get(kind, 0)
        super().__init__(f"~{kind}({body.key})", 1 + body.depth)


def monomial_key(monomial: Monomial) -> str:
    """A text that says all there is to a monomial."""
    return "*".join(f"{atom.key}^{exponent}" for atom, exponent in monomial)


def depth_of(monomial: Monomial) -> int:
    """How deep functions are nested in it."""
    return max((atom.depth for atom, _ in monomial), default=0)


def monomial_of(powers: Mapping[Atom, Fraction]) -> Monomial:
    """The product of the given powers, in order; exponents 0 are left out."""
    kept = [(atom, small_exponent(exponent)) for atom, exponent in powers.items() if exponent]
    return tuple(sorted(kept, key=lambda pair: pair[0].key))


def times(left: Monomial, right: Monomial) -> Monomial:
    """The product of two monomials."""
    if not left:
        return right
    if not right:
        return left
    powers = dict(left)
    for atom, exponent in right:
        powers[atom] = powers.get(atom, Fraction(0)) + exponent
    return monomial_of(powers)


def atoms_in(terms: Terms) -> Iterator[Atom]:
    """All atoms that occur, once each, in order of appearance; not those inside others."""
    seen: set[Atom] = set()
    for monomial in terms:
        for atom, _ in monomial:
            if atom not in seen:
                seen.add(atom)
                yield atom


Number = int | Fraction


class Scalar:
    """An exact number; made by number(), parameter() and the operators, never changed."""

    def __init__(self, over: Terms, under: Terms) -> None:
        """Of terms that are in normal form already; use the operators instead."""
        if max(len(over), len(under)) > TERMS:
            raise TooBig(f"a sum has {max(len(over), len(under))} terms, expected at most {TERMS}")
        for coefficient in (*over.values(), *under.values()):
            small_rational(coefficient)
        self.over = over  # the terms above the bar; never changed
        self.under = under  # those below; {UNIT: 1} where there is none

    @cached_property
    def key(self) -> str:
        """A text that says all there is to it."""
        over = _terms_key(self.over)
        return over if self.whole else f"({over})/({_terms_key(self.under)})"

    @cached_property
    def depth(self) -> int:
        """How deep functions are nested."""
        return max((depth_of(monomial) for terms in (self.over, self.under) for monomial in terms), default=0)

    @property
    def whole(self) -> bool:
        """Whether there is no sum below the bar."""
        return len(self.under) == 1

    @property
    def rational(self) -> Fraction | None:
        """Its value, where it is a rational number in plain sight."""
        if not self.over:
            return Fraction(0)
        if self.whole and len(self.over) == 1:
            return self.over.get(UNIT)
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
        other = scalar(other)
        if self.under == other.under:
            over = terms_sum(self.over, other.over)
            return Scalar(over, self.under) if self.whole else quotient(over, self.under)
        upper = _product(self.over, other.under) + _product(other.over, self.under)
        return quotient_of(upper, _product(self.under, other.under))

    __radd__ = __add__

    def __neg__(self) -> Scalar:
        return Scalar({monomial: -coefficient for monomial, coefficient in self.over.items()}, self.under)

    def __sub__(self, other: Scalar | Number) -> Scalar:
        return self + -scalar(other)

    def __rsub__(self, other: Scalar | Number) -> Scalar:
        return scalar(other) + -self

    def __mul__(self, other: Scalar | Number) -> Scalar:
        other = scalar(other)
        over = _product(self.over, other.over)
        if self.whole and other.whole:
            return over
        return quotient_of(over, _product(self.under, other.under))

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar | Number) -> Scalar:
        return self * inverse(scalar(other))

    def __rtruediv__(self, other: Scalar | Number) -> Scalar:
        return scalar(other) * inverse(self)

    def __pow__(self, exponent: Scalar | Number) -> Scalar:
        exponent = scalar(exponent)
        rational = exponent.rational
        from headwright.check.scalars.functions import exp, ln, power

        return exp(exponent * ln(self)) if rational is None else power(self, rational)

    def __rpow__(self, base: Scalar | Number) -> Scalar:
        return scalar(base) ** self

    def __str__(self) -> str:
        from headwright.check.scalars.text import written

        return written(self)

    def __repr__(self) -> str:
        return f"<{self}>"

    def atoms(self) -> Iterator[Atom]:
        """All atoms, once each, and those inside others before the others."""
        yield from dict.fromkeys(atom for atom, _ in powers_in((*self.over, *self.under)))

    def names(self) -> frozenset[str]:
        """The parameters that occur."""
        return frozenset(atom.name for atom in self.atoms() if isinstance(atom, Parameter))

    def put(self, values: Mapping[str, Scalar | Number]) -> Scalar:
        """The same number with scalars in place of names."""
        if not self.names() & values.keys():
            return self
        from headwright.check.scalars.functions import Substitution

        instead = Substitution({name: scalar(value) for name, value in values.items()})
        upper = instead.terms(self.over)
        return upper if self.whole else upper / instead.terms(self.under)

    def value(self, values: Mapping[str, arb | Number] | None = None, *, bits: int = 128) -> arb:
        """A ball that certainly contains the number (not finite where it is undefined, or could be)."""
        from headwright.check.scalars.functions import Evaluation

        with precision(bits):
            return Evaluation(values or {}).scalar(self)


def _terms_key(terms: Terms) -> str:
    return "+".join(sorted(f"{coefficient}*{monomial_key(monomial)}" for monomial, coefficient in terms.items()))


def powers_in(monomials: Iterable[Monomial], seen: set[Atom] | None = None) -> Iterator[tuple[Atom, Fraction]]:
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


def parts_of(atom: Atom) -> Iterator[Atom]:
    """The atoms inside an atom, and itself."""
    return (part for part, _ in powers_in((((atom, Fraction(1)),),)))


def number(value: Number) -> Scalar:
    """A rational number as a scalar."""
    return term(UNIT, value)


def scalar(value: Scalar | Number) -> Scalar:
    """What was given, as a scalar."""
    return value if isinstance(value, Scalar) else number(value)


def term(monomial: Monomial, coefficient: Number = 1) -> Scalar:
    """One term as a scalar; the monomial must be in normal form."""
    exact = Fraction(coefficient)
    return Scalar({monomial: exact} if exact else {}, {UNIT: Fraction(1)})


def inverse(value: Scalar) -> Scalar:
    """1 / value."""
    if not value.over:
        raise InputError("division by 0; expected a denominator that is not 0")
    return quotient(value.under, value.over)


def interval(value: Scalar) -> Interval:
    """Where the number certainly lies."""
    upper = interval_of_terms(value.over)
    return upper if value.whole else upper * interval_of_terms(value.under).inverse()


def interval_of_terms(terms: Terms) -> Interval:
    """Where a sum of terms certainly lies."""
    total = Interval(Fraction(0), Fraction(0))
    for monomial, coefficient in terms.items():
        total = total + interval_of_monomial(monomial) * Interval(coefficient, coefficient)
        if total.low == -INFINITY and total.high == INFINITY:
            return total
    return total


def interval_of_monomial(monomial: Monomial) -> Interval:
    """Where a product of powers certainly lies."""
    total = Interval(Fraction(1), Fraction(1))
    for atom, exponent in monomial:
        total = total * interval_of_atom(atom).power(exponent)
    return total


@lru_cache(maxsize=4096)
def interval_of_atom(atom: Atom) -> Interval:
    """Where an atom certainly lies (wherever it is defined)."""
    if isinstance(atom, Parameter | Thing):
        low, high = atom.range.lower, atom.range.upper
        return Interval(
            low if isinstance(low, Fraction) else -INFINITY, high if isinstance(high, Fraction) else INFINITY,
            atom.range.lower_open, atom.range.upper_open,
        )  # fmt: skip
    if isinstance(atom, Prime):
        return Interval(Fraction(atom.number), Fraction(atom.number))
    if isinstance(atom, Exp):
        return interval_of_monomial(atom.power).exp()
    if isinstance(atom, Function):
        if atom.kind in ("sin", "cos"):
            return Interval(Fraction(-1), Fraction(1))
        body = interval(atom.body)
        if atom.kind == "ln":
            return body.ln()
        if atom.kind == "ceil":
            return Interval(body.low, body.high + 1, body.low_open, high_open=True)
        if atom.kind == "floor":
            return Interval(body.low - 1, body.high, low_open=True, high_open=body.high_open)
        return body.absolute() if atom.kind == "abs" else body
    return Interval(Fraction(3), Fraction(22, 7))  # pi


LARGEST_SUM = 150  # terms
LARGEST_DEGREE = 120
LARGEST_FACTORED = 60  # terms, and degree
MOST_ATOMS = 12


class _Ring:
    """Polynomials in roots of the atoms that occur, fine enough for all exponents to be whole."""

    def __init__(self, *sums: Terms) -> None:
        self.atoms: list[Atom] = sorted({atom for terms in sums for atom in atoms_in(terms)}, key=lambda atom: atom.key)
        self.fine = dict.fromkeys(self.atoms, 1)
        for terms in sums:
            for monomial in terms:
                for atom, exponent in monomial:
                    self.fine[atom] = math.lcm(self.fine[atom], exponent.denominator)
        self.context = fmpq_mpoly_ctx.get(tuple(f"x{i}" for i in range(len(self.atoms))), Ordering.lex)

    def lowest(self, terms: Terms) -> list[Fraction]:
        shared = shared_powers(terms)
        return [shared.get(atom, Fraction(0)) for atom in self.atoms]

    def degree(self, terms: Terms) -> int:
        return max(map(sum, self.exponents(terms, self.lowest(terms))))

    def exponents(self, terms: Terms, low: list[Fraction]) -> Iterator[tuple[int, ...]]:
        """Of each term, above the lowest ones."""
        for monomial in terms:
            powers = dict(monomial)
            yield tuple(
                int((powers.get(atom, Fraction(0)) - start) * self.fine[atom])
                for atom, start in zip(self.atoms, low, strict=True)
            )

    def polynomial(self, terms: Terms, low: list[Fraction]) -> fmpq_mpoly:
        values = (fmpq(coefficient.numerator, coefficient.denominator) for coefficient in terms.values())
        return self.context.from_dict(dict(zip(self.exponents(terms, low), values, strict=True)))

    def terms(self, polynomial: fmpq_mpoly, low: list[Fraction]) -> Terms:
        result: Terms = {}
        for exponents, coefficient in polynomial.to_dict().items():
            powers = {
                atom: start + Fraction(int(exponent), self.fine[atom])
                for atom, start, exponent in zip(self.atoms, low, exponents, strict=True)
            }
            result[monomial_of(powers)] = Fraction(int(coefficient.p), int(coefficient.q))
        return result

    def quick(self, most: int, degree: int, *sums: Terms) -> bool:
        if not self.atoms or len(self.atoms) > MOST_ATOMS or max(len(terms) for terms in sums) > most:
            return False
        return all(self.degree(terms) <= degree for terms in sums)


def divided_by_common(over: Terms, under: Terms) -> tuple[Terms, Terms]:
    """Both, divided by their greatest common factor (powers of single atoms aside)."""
    if len(over) == 1:
        return over, under
    ring = _Ring(over, under)
    if not ring.quick(LARGEST_SUM, LARGEST_DEGREE, over, under):
        return over, under
    low_over, low_under = ring.lowest(over), ring.lowest(under)
    upper, lower = ring.polynomial(over, low_over), ring.polynomial(under, low_under)
    common = upper.gcd(lower)
    if common.is_constant():
        return over, under
    return ring.terms(upper / common, low_over), ring.terms(lower / common, low_under)


def factors(terms: Terms) -> list[tuple[Terms, int]] | None:
    """The sum as a product of powers of sums; None where it has no factors or is too long to look.

    The first entry is the part with one term (a rational and powers of atoms).
    """
    ring = _Ring(terms)
    if not ring.quick(LARGEST_FACTORED, LARGEST_FACTORED, terms):
        return None
    low = ring.lowest(terms)
    constant, found = ring.polynomial(terms, low).factor()
    if len(found) == 1 and found[0][1] == 1 and not any(low) and abs(constant) == 1:
        return None
    none = [Fraction(0)] * len(low)
    first = {monomial_of(dict(zip(ring.atoms, low, strict=True))): Fraction(int(constant.p), int(constant.q))}
    parts = [(ring.terms(part, none), int(power)) for part, power in found]
    return [(first, 1), *sorted(parts, key=lambda pair: sorted(map(monomial_key, pair[0])))]


ONE: Terms = {UNIT: Fraction(1)}


def quotient_of(over: Scalar, under: Scalar) -> Scalar:
    """over / under of two scalars that most often have no denominators of their own."""
    if over.whole and under.whole:
        return quotient(over.over, under.over)
    return over * quotient(under.under, under.over)


def terms_sum(left: Terms, right: Terms) -> Terms:
    """All terms of both."""
    total = dict(left)
    for monomial, coefficient in right.items():
        value = total.get(monomial, Fraction(0)) + coefficient
        if value:
            total[monomial] = value
        else:
            del total[monomial]
    return total


def terms_product(left: Terms, right: Terms) -> Terms:
    """All products of terms; powers of roots may then be whole and want folded()."""
    if len(left) * len(right) > PRODUCTS:
        raise TooBig(f"a product of sums of {len(left)} and {len(right)} terms was asked for; use shorter sums")
    work(len(left) * len(right) * (1 + max(map(len, left), default=0) + max(map(len, right), default=0)))
    total: Terms = {}
    for a, x in left.items():
        for b, y in right.items():
            monomial = times(a, b)
            value = small_rational(total.get(monomial, Fraction(0)) + x * y)
            if value:
                total[monomial] = value
            else:
                total.pop(monomial, None)
    return total


def _product(left: Terms, right: Terms) -> Scalar:
    if left == ONE:
        return folded(right)
    if right == ONE:
        return folded(left)
    return folded(terms_product(left, right))


def folded(terms: Terms) -> Scalar:
    """The sum of the terms, with every root's exponent between 0 and 1 (|x|: 0 or 1 to below 2)."""
    total: Terms = {}
    rest: list[Scalar] = []
    for monomial, coefficient in terms.items():
        if all(_settled(atom, exponent) for atom, exponent in monomial):
            total[monomial] = total.get(monomial, Fraction(0)) + coefficient
        else:
            rest.append(_folded_term(monomial, coefficient))
    result = Scalar({monomial: coefficient for monomial, coefficient in total.items() if coefficient}, ONE)
    for part in rest:
        result = result + part
    return result


def _settled(atom: Atom, exponent: Fraction) -> bool:
    return not atom.folds or 0 < exponent < atom.folds


def _folded_term(monomial: Monomial, coefficient: Fraction) -> Scalar:
    kept: dict[Atom, Fraction] = {}
    outside = number(1)
    for atom, exponent in monomial:
        whole = 0 if _settled(atom, exponent) else atom.folds * math.floor(exponent / atom.folds)
        kept[atom] = exponent - whole
        if isinstance(atom, Prime):
            coefficient *= rational_power(Fraction(atom.number), whole)
        elif isinstance(atom, Function) and whole:
            outside = outside * whole_power(atom.body, whole)
    return term(monomial_of(kept), coefficient) * outside


def quotient(over: Terms, under: Terms) -> Scalar:
    """over / under of two settled sums."""
    if len(under) == 1:
        ((monomial, coefficient),) = under.items()
        if not monomial and coefficient == 1:
            return Scalar(over, ONE)
        inverted = {monomial_of({atom: -exponent for atom, exponent in monomial}): 1 / coefficient}
        if monomial:
            return Scalar(over, ONE) * folded(inverted)
        return Scalar({key: value / coefficient for key, value in over.items()}, ONE)
    if not over:
        return number(0)
    over, under = divided_by_common(over, under)
    if len(under) == 1:
        return quotient(over, under)
    shared = monomial_of({atom: -least for atom, least in shared_powers(under).items()})
    factor = content(under)
    place = interval_of_terms(under)
    leading = max(under, key=lambda monomial: [(atom.key, exponent) for atom, exponent in monomial])
    if place.not_positive or (not place.not_negative and under[leading] < 0):
        factor = -factor
    unit = {shared: 1 / factor}
    under = terms_product(under, unit)
    upper = _product(over, unit)
    if upper.whole:
        return Scalar(upper.over, under)
    return quotient_of(upper, Scalar(under, ONE))


def shared_powers(terms: Terms) -> dict[Atom, Fraction]:
    """The least exponent of each atom, 0 in terms where it does not occur: what all terms share."""
    rows = [dict(monomial) for monomial in terms]
    return {atom: min(row.get(atom, Fraction(0)) for row in rows) for atom in atoms_in(terms)}


def content(terms: Terms) -> Fraction:
    """The positive rational that makes the coefficients whole numbers without common divisor."""
    over = math.gcd(*(coefficient.numerator for coefficient in terms.values()))
    under = math.lcm(*(coefficient.denominator for coefficient in terms.values()))
    return Fraction(over, under)


def parameter(name: str, known: Range = REAL) -> Scalar:
    """A name as a scalar; its range, where given, is used to simplify."""
    return of_atom(Parameter(name, known))


def pi() -> Scalar:
    """The number pi."""
    return of_atom(Pi())


def of_atom(atom: Atom, exponent: Fraction = Fraction(1)) -> Scalar:
    """A power of one atom."""
    return folded({((atom, small_exponent(exponent)),): Fraction(1)})


def whole_power(value: Scalar, exponent: int) -> Scalar:
    """value ** exponent, for a whole exponent."""
    small_exponent(Fraction(exponent))
    if exponent < 0:
        return whole_power(inverse(value), -exponent)
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


def rebuilt(monomial: Monomial) -> Scalar:
    """A product of powers whose exponents may be anything, in normal form."""
    return folded({monomial: Fraction(1)}) if monomial else term(UNIT)
