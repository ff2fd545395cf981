"""Sines and cosines: kept as they are, but for 0 and for signs."""

from __future__ import annotations

from headwright.check.scalars.atoms import Function, Kind
from headwright.check.scalars.functions import of_atom
from headwright.check.scalars.scalar import Number, Scalar, number, scalar


def _wave(kind: Kind, value: Scalar) -> Scalar:
    return of_atom(Function(kind, value))


def sin(value: Scalar | Number) -> Scalar:
    """The sine; 0 at 0, odd, otherwise kept as it is.

    >>> from headwright.check.scalars import parameter
    >>> sin(0) == 0, sin(-parameter("x")) == -sin(parameter("x"))
    (True, True)
    """
    value = scalar(value)
    if value == 0:
        return number(0)
    upright = max(value, -value, key=lambda one: one.key)
    return _wave("sin", value) if upright == value else -_wave("sin", upright)


def cos(value: Scalar | Number) -> Scalar:
    """The cosine; 1 at 0, even, otherwise kept as it is."""
    value = scalar(value)
    return number(1) if value == 0 else _wave("cos", max(value, -value, key=lambda one: one.key))
