"""Ball arithmetic for positions: exact rationals in, rigorous enclosures out."""

from __future__ import annotations

from fractions import Fraction

from flint import arb, ctx, fmpq

from headwright.enclosure import Enclosure


def powers(base: float, exponents: list[Fraction]) -> list[arb]:
    """base^exponent for each exponent, in flint's present precision.

    >>> powers(4.0, [Fraction(1, 2)])[0].contains(2)
    True
    """
    log = arb(base).log()
    return [(arb(fmpq(e.numerator, e.denominator)) * log).exp() for e in exponents]


def root(square: Fraction) -> Enclosure:
    """The square root of a rational number.

    >>> root(Fraction(9, 4)).lower, root(Fraction(9, 4)).upper
    (1.5, 1.5)
    """
    with ctx.workprec(128):
        return Enclosure.of(arb(fmpq(square.numerator, square.denominator)).sqrt())


def exact(point: arb) -> Fraction:
    """The number that a ball of radius 0 is.

    >>> exact(arb(0.75))
    Fraction(3, 4)
    """
    mantissa, exponent = (int(part) for part in point.man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent
