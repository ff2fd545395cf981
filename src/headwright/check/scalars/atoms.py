"""The atoms that numbers are made of, and products of their powers (monomials).

An atom is known by its key, a text that says all there is to it: equal keys, equal atoms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from headwright.check.scalars.ranges import REAL, Range
from headwright.check.scalars.sizes import DEPTH, TooBig, small_exponent
from headwright.errors import InputError

if TYPE_CHECKING:
    from headwright.check.scalars.scalar import Scalar

Monomial = tuple[tuple["Atom", Fraction], ...]
Terms = dict[Monomial, Fraction]
UNIT: Monomial = ()
RESERVED = frozenset("[]^*~#/()")  # what keys are made with
Kind = Literal["ln", "abs", "sin", "cos", "sum"]


class Atom:
    """Something that is not taken apart further."""

    __slots__ = ("_hash", "depth", "key")

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
    """A name with the numeric range it was declared with.

    >>> Parameter("x")
    x[]
    """

    __slots__ = ("name", "range")

    def __init__(self, name: str, known: Range = REAL) -> None:
        """Only the numeric ends of the range are kept."""
        if not name or set(name) & RESERVED:
            raise InputError(
                f"the name is {name!r}, expected letters, digits and an index; none of {''.join(sorted(RESERVED))}"
            )
        known = known.numeric
        self.name = name
        self.range = known
        low = "" if known.lower is None else f"{'>' if known.lower_open else '>='}{known.lower}"
        high = "" if known.upper is None else f"{'<' if known.upper_open else '<='}{known.upper}"
        super().__init__(f"{name}[{low}{high}{'integer' if known.integer else ''}]", 0)


class Prime(Atom):
    """A whole number under a root; prime wherever it can be factored in no time. Exponents lie between 0 and 1."""

    __slots__ = ("number",)

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
    """A function of a whole number: ln, abs, sin, cos; 'sum' is the number itself, under a root.

    Where a sum stands with a whole exponent it is replaced by what it stands for.
    """

    __slots__ = ("body", "kind")

    def __init__(self, kind: Kind, body: Scalar) -> None:
        """Which function, of what."""
        self.kind: Kind = kind
        self.body = body
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


def raised(monomial: Monomial, exponent: Fraction) -> Monomial:
    """The monomial to a power; only for factors that are not negative, or whole exponents."""
    return tuple((atom, small_exponent(power * exponent)) for atom, power in monomial if exponent)


def atoms_in(terms: Terms) -> Iterator[Atom]:
    """All atoms that occur, once each, in order of appearance; not those inside others."""
    seen: set[Atom] = set()
    for monomial in terms:
        for atom, _ in monomial:
            if atom not in seen:
                seen.add(atom)
                yield atom
