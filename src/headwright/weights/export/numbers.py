"""Numbers as an export stores them: in the layer's own type, changed by nothing but powers of two."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from jaxtyping import Float

from headwright.errors import InputError

BITS = {"float64": 53, "float32": 24, "bfloat16": 8}  # of a significand
TYPES: dict[str, Any] = {"float64": np.float64, "float32": np.float32, "bfloat16": ml_dtypes.bfloat16}


def runs_in(dtype: str) -> str:
    """The type in which weights of a type are run unless asked otherwise: bfloat16's own arithmetic is too coarse.

    >>> runs_in("bfloat16"), runs_in("float64")
    ('float32', 'float64')
    """
    return "float32" if dtype == "bfloat16" else dtype


def stored(matrix: Float[np.ndarray, ...], dtype: str, what: str) -> np.ndarray:
    """The same numbers in that type, bit for bit; refused where the type cannot hold one of them.

    >>> stored(np.array([1.5]), "bfloat16", "W_Q").dtype.name
    'bfloat16'
    >>> stored(np.array([0.1]), "float32", "W_Q")
    Traceback (most recent call last):
    headwright.errors.InputError: W_Q holds 0.1, which is no float32: expected numbers of that type; round them first
    """
    wide = np.asarray(matrix).astype(np.float64)
    narrow = wide.astype(TYPES[dtype])
    changed = narrow.astype(np.float64) != wide
    if changed.any():
        number = float(wide[changed][0])
        raise InputError(f"{what} holds {number!r}, which is no {dtype}: expected numbers of that type; round them "
                         "first")  # fmt: skip
    return narrow


def holds(dtype: str, numbers: Float[np.ndarray, ...]) -> bool:
    """Whether the type holds each of the numbers exactly.

    >>> holds("bfloat16", np.array([0.5, 3.0])), holds("bfloat16", np.array([0.1]))
    (True, False)
    """
    return bool((numbers.astype(TYPES[dtype]).astype(np.float64) == numbers).all())


def rounded_down(numbers: Float[np.ndarray, ...], dtype: str) -> Float[np.ndarray, ...]:
    """Numbers of 0 or more, each the next of that type below it, as float64.

    >>> rounded_down(np.array([1.00390625, 2.0]), "bfloat16")
    array([1., 2.])
    """
    significand, exponent = np.frexp(numbers)
    bits = BITS[dtype]
    down: Float[np.ndarray, ...] = np.ldexp(np.floor(np.ldexp(significand, bits)), exponent - bits)
    return down


def width_of_head(least: int) -> int:
    """The least power of four from `least` on: its square root is a power of two, by which scaling is exact.

    >>> [width_of_head(n) for n in (1, 3, 4, 5, 20)]
    [1, 4, 4, 16, 64]
    """
    width = 1
    while width < least:
        width *= 4
    return width
