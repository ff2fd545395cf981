"""The accumulation compiled by Numba (extra `compiled`): one pass over a row while it is in the cache.

The same sums as NumPy's epilogue, of float32 scores. Three things make it fast, and each is a matter of vectors:
sums may be taken in any order; a maximum is a comparison and a choice that know of no NaN, which LLVM's vectoriser
accepts as one; and exp(x) is 2^n times a polynomial, with n found by truncation, which reordering cannot break (as it
does rounding by adding a large number).

No score may be NaN or +inf: `blocked` gives such rows to NumPy. One of -inf is that of a key that is not seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Int
from numba import njit, types
from numba.extending import intrinsic

from headwright.models.rows.accumulate import Block, State

ANY_ORDER = {"reassoc", "nsz", "contract"}
LOG2E = np.float32(1.4426950408889634)
LEAST = np.float32(-87.0)  # e^-87 is above the smallest normal float32: what lies lower counts as this much
POLYNOMIAL = tuple(np.float32(np.log(2.0) ** k / f) for k, f in enumerate((1, 1, 2, 6, 24, 120, 720)))  # 2^f to 1.2e-7
P0, P1, P2, P3, P4, P5, P6 = POLYNOMIAL
NOWHERE = np.int32(2**30)


@intrinsic
def _larger(_: Any, _x: Any, _y: Any) -> Any:
    def lower(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        a, b = arguments
        no_nan = ("nnan", "nsz")
        return builder.select(builder.fcmp_ordered(">", a, b, flags=no_nan), a, b, flags=no_nan)

    return types.float32(types.float32, types.float32), lower


@intrinsic
def _as_float(_: Any, _x: Any) -> Any:
    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(signature.return_type))

    return types.float32(types.int32), lower


@njit(fastmath=ANY_ORDER, nogil=True, error_model="numpy")
def _high(s):
    high = s[0]
    for j in range(s.shape[0]):
        high = _larger(s[j], high)
    return high


@njit(fastmath=ANY_ORDER, nogil=True, error_model="numpy")
def _first_two(s, high):
    """Where the largest score stands first, and the largest of the others."""
    winner, runner, equal = NOWHERE, np.float32(-np.inf), np.int32(0)
    for j in range(s.shape[0]):
        same = s[j] == high
        place = np.int32(j) if same else NOWHERE
        winner = min(place, winner)
        equal += np.int32(1) if same else np.int32(0)
        runner = _larger(np.float32(-np.inf) if same else s[j], runner)
    return winner, high if equal > 1 else runner


@njit(fastmath=ANY_ORDER, nogil=True, error_model="numpy")
def _sums(s, reference):
    """The mass, the places counted from the first of these keys, and the energy."""
    mass, places, energy = np.float32(0), np.float32(0), np.float32(0)
    for j in range(s.shape[0]):
        x = _larger(s[j] - reference, LEAST)
        t = x * LOG2E
        n = np.int32(t - np.float32(0.5))  # towards zero: to the nearest, since t is not above 0
        f = t - np.float32(n)
        power = P0 + f * (P1 + f * (P2 + f * (P3 + f * (P4 + f * (P5 + f * P6)))))
        e = power * _as_float(np.int32((n + np.int32(127)) << np.int32(23)))
        mass += e
        places += e * np.float32(np.int32(j))
        energy += e * x
    return mass, places, energy


# One signature: rows that are known to be whole pieces of memory are read as vectors, and nothing compiles twice.
@njit("void(f4[:, ::1], i8, i8, i8[:, ::1], f8[::1], f8[:, :], f8[:, ::1], i8[::1])", nogil=True, error_model="numpy")
def _rows(block, columns, start, ranges, reference, sums, best, winner):
    for i in range(reference.shape[0]):
        low, high = max(ranges[i, 0] - start, 0), min(ranges[i, 1] - start, columns)
        if low >= high:
            continue
        row = block[i, low:high]
        top = _high(row)
        if top > best[i, 1]:
            place, runner = _first_two(row, top)
            best[i, 0] = max(best[i, 1], np.float64(runner))
            best[i, 1], winner[i] = top, start + low + place
        elif top > best[i, 0]:
            best[i, 0] = top
        if top == -np.inf and reference[i] == -np.inf:
            continue  # nothing is seen so far
        if reference[i] == -np.inf:
            reference[i] = top  # the sums are 0
        elif top > reference[i]:
            drop = reference[i] - top
            shrink = np.exp(drop)
            sums[2, i] = shrink * (sums[2, i] + sums[0, i] * drop)
            sums[0, i] *= shrink
            sums[1, i] *= shrink
            reference[i] = top
        mass, places, energy = _sums(row, np.float32(reference[i]))
        sums[0, i] += mass
        sums[1, i] += places + (start + low) * np.float64(mass)
        sums[2, i] += energy


def update(state: State, block: Block, columns: int, start: int, ranges: Int[np.ndarray, "rows 2"]) -> None:
    """As `epilogue.update`, of the first columns of a block and of what each row sees.

    A row sees the keys from the first of its two numbers to before the second.
    """
    _rows(block, columns, start, ranges, state.reference, state.sums, state.best, state.winner)
