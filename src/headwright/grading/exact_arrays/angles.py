"""Sines and cosines of sums, written out: cos(s - t) = cos s cos t + sin s sin t, and sin^2 = 1 - cos^2.

Two numbers made of the same angles are equal if their difference becomes 0 so.
"""

from __future__ import annotations

from fractions import Fraction

from headwright.grading import scalars
from headwright.grading.scalars import Scalar
from headwright.grading.scalars.forms import Function, Terms, rebuilt
from headwright.grading.scalars.functions import power
from headwright.grading.scalars.numbers import Symbol

MOST_TIMES = 4  # of an angle: cos(4 x) is written out, cos(5 x) is not
WAVES = ("sin", "cos")


def vanishes(value: Scalar) -> bool:
    """Whether a number is 0 once its angles are written out.

    >>> s, t = scalars.parameter("s"), scalars.parameter("t")
    >>> sum_of = scalars.cos(s) * scalars.cos(t) + scalars.sin(s) * scalars.sin(t)
    >>> vanishes(scalars.cos(s - t) - sum_of)
    True
    """
    if not any(
        isinstance(atom, Function) and atom.kind in WAVES for atom in value.atoms()
    ):
        return value == 0
    return _written_out(value.over) == 0


def _written_out(terms: Terms) -> Scalar:
    total = scalars.number(0)
    for monomial, coefficient in terms.items():
        product = scalars.number(coefficient)
        for atom, exponent in monomial:
            if isinstance(atom, Function) and atom.kind in WAVES:
                sine, cosine = _wave(atom.body)
                product = product * power(
                    sine if atom.kind == "sin" else cosine, exponent
                )
            else:
                product = product * rebuilt(((atom, exponent),))
        total = total + product
    return _without_square_sines(total)


def _wave(angle: Scalar) -> tuple[Scalar, Scalar]:
    """Sine and cosine of an angle: of the sum of its terms, one after the other."""
    sine, cosine = scalars.number(0), scalars.number(1)
    if not angle.whole:
        return _single(angle)
    for monomial, coefficient in angle.over.items():
        term = rebuilt(monomial)
        times = abs(coefficient)
        if times.denominator != 1 or times > MOST_TIMES or not term.names():
            parts = [scalars.number(coefficient) * term]
        else:
            sign = 1 if coefficient > 0 else -1
            parts = [sign * term] * int(times)
        for part in parts:
            other_sine, other_cosine = _single(part)
            sine, cosine = (
                sine * other_cosine + cosine * other_sine,
                cosine * other_cosine - sine * other_sine,
            )
    return sine, cosine


def _single(angle: Scalar) -> tuple[Scalar, Scalar]:
    """Names for the sine and the cosine of an angle that is not taken apart; those of -x are those of x."""
    if not angle.names():
        return scalars.sin(angle), scalars.cos(angle)
    negative = all(coefficient < 0 for coefficient in angle.over.values())
    key = (-angle if negative else angle).key
    sine = scalars.parameter(Symbol("sine", key.encode().hex()))
    cosine = scalars.parameter(Symbol("cosine", key.encode().hex()))
    return (-sine if negative else sine), cosine


def _without_square_sines(value: Scalar) -> Scalar:
    """1 - cos^2 for every square of a sine."""
    total = scalars.number(0)
    for monomial, coefficient in value.over.items():
        product = scalars.number(coefficient)
        for atom, exponent in monomial:
            name = getattr(atom, "name", "")
            if isinstance(name, Symbol) and name.kind == "sine" and exponent >= 2:
                cosine = scalars.parameter(Symbol("cosine", name.of))
                squares = int(exponent) // 2
                rest = exponent - 2 * squares
                product = product * (1 - cosine * cosine) ** Fraction(squares)
                product = product * rebuilt(((atom, rest),)) if rest else product
            else:
                product = product * rebuilt(((atom, exponent),))
        total = total + product
    return total
