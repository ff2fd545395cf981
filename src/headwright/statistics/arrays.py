"""The operations on arrays that row statistics are made of; here with NumPy, in torch_arrays with torch.

A statistic is written once, with operators, with functions that NumPy and torch call alike (`backend.xp`), and with the
methods below. To add a library is to write its class.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

Array = Any  # of NumPy or of torch
GROUP = 16  # scores of which the largest stands for all while the largest of a row are looked for


class ArrayBackend(Protocol):
    """What differs between libraries. The last axis is that of keys."""

    @property
    def xp(self) -> Any:
        """The module: functions that both libraries have under one name."""

    def __hash__(self) -> int:
        """Masks that come again are kept by it."""

    def arange(self, start: int, stop: int) -> Array:
        """Whole numbers from start to before stop."""

    def full(self, shape: tuple[int, ...], value: float | int | bool) -> Array:
        """An array of one value: of float64, of whole numbers or of booleans."""

    def buffer(self, size: int, like: Array) -> Array:
        """Memory for so many numbers of the type of another array."""

    def lowest(self, like: Array) -> float:
        """The least finite number of the type of an array."""

    def bounded(self, queries: Array, keys: Array, bound: float) -> bool:
        """Whether no number of a query times one of a key is known to be this large, or NaN; False if not known."""

    def product(self, queries: Array, keys: Array, out: Array) -> None:
        """Q K^T into `out`; axes before the last two are those of a stack."""

    def fill(self, array: Array, mask: Array, value: float) -> None:
        """Write a value where the mask is True."""

    def clip_below(self, array: Array, bound: float) -> None:
        """Replace what is below the bound by it; NaN stays."""

    def exp(self, array: Array, out: Array) -> Array:
        """e to the power of each number."""

    def argmax(self, scores: Array) -> Array:
        """Where the largest of each row stands; a NaN counts as the largest."""

    def max(self, array: Array, axis: int) -> Array:
        """The largest along an axis; NaN if one is NaN."""

    def take(self, array: Array, index: Array) -> Array:
        """One number of each row: `index` has the rows' axes, and may be broadcast."""

    def put(self, array: Array, index: Array, values: Array | float) -> None:
        """Write one number of each row."""

    def largest(self, scores: Array, count: int) -> tuple[Array, Array]:
        """The largest so many of each row, in descending order, and where they stand."""

    def dot(self, left: Array, right: Array) -> Array:
        """The inner product of each row of one with that of the other."""

    def precise(self, array: Array) -> Array:
        """The same in float64, where the device has it."""

    def cast(self, array: Array, like: Array) -> Array:
        """The same numbers in the type of another array."""


@dataclass(frozen=True)
class NumpyBackend:
    """NumPy's."""

    xp = np

    def arange(self, start: int, stop: int) -> Array:
        """Of 32 bits: masks are made of them, block after block."""
        return np.arange(start, stop, dtype=np.int32)

    def full(self, shape: tuple[int, ...], value: float | int | bool) -> Array:
        """As NumPy chooses the type."""
        return np.full(shape, value)

    def buffer(self, size: int, like: Array) -> Array:
        """Not written to yet."""
        return np.empty(size, dtype=like.dtype)

    def lowest(self, like: Array) -> float:
        """By NumPy's table."""
        return float(np.finfo(like.dtype).min)

    def bounded(self, queries: Array, keys: Array, bound: float) -> bool:
        """By the largest numbers of both."""
        longest_query = max(float(queries.max()), -float(queries.min()))
        longest_key = max(float(keys.max()), -float(keys.min()))
        return longest_query * longest_key < bound  # a comparison with NaN is false

    def product(self, queries: Array, keys: Array, out: Array) -> None:
        """By the BLAS that NumPy has."""
        np.matmul(queries, keys.swapaxes(-1, -2), out=out)

    def fill(self, array: Array, mask: Array, value: float) -> None:
        """The mask is broadcast."""
        np.copyto(array, value, where=mask)

    def clip_below(self, array: Array, bound: float) -> None:
        """In place."""
        np.maximum(array, array.dtype.type(bound), out=array)

    def exp(self, array: Array, out: Array) -> Array:
        """Into memory that was there before: new memory comes page by page, which shows."""
        return np.exp(array, out=out)

    def argmax(self, scores: Array) -> Array:
        """The first, of equal ones."""
        return scores.argmax(axis=-1)

    def max(self, array: Array, axis: int) -> Array:
        """By NumPy."""
        return array.max(axis=axis)

    def take(self, array: Array, index: Array) -> Array:
        """By index in all numbers, one after the other, which is faster than along an axis."""
        return array.reshape(-1).take(_row_starts(array.shape) + index)

    def put(self, array: Array, index: Array, values: Array | float) -> None:
        """The same way."""
        array.reshape(-1)[_row_starts(array.shape) + index] = values

    def largest(self, scores: Array, count: int) -> tuple[Array, Array]:
        """Of equal ones the first.

        Keys are dealt out to groups. The largest `count` of a row lie in the `count` groups with the largest maxima, so
        that only the members of those need to be compared.
        """
        shape = scores.shape[:-1]
        keys = scores.shape[-1]
        rows = scores.reshape(-1, keys)
        groups = keys // GROUP
        if groups <= 2 * count:
            index = _first_largest(rows, count)
        else:
            # Key j is dealt to group j mod groups, so that maxima are of whole pieces of memory.
            dealt = rows[:, : groups * GROUP].reshape(-1, GROUP, groups)
            chosen = _first_largest(dealt.max(axis=1), count)
            members = chosen[:, None, :] + groups * np.arange(GROUP)[:, None]
            members = members.reshape(len(rows), -1)
            # Keys beyond the last full group are compared too.
            rest = np.arange(groups * GROUP, keys)
            rest = np.broadcast_to(rest, (len(rows), len(rest)))
            members = np.sort(np.concatenate([members, rest], axis=1), axis=1)
            few = np.take_along_axis(rows, members, axis=1)
            index = np.take_along_axis(members, _first_largest(few, count), axis=1)
            # Members of other groups that equal the least of these may come before it.
            least = np.take_along_axis(rows, index[:, -1:], axis=1)
            tied = np.flatnonzero((rows >= least).sum(axis=1) > count)
            if len(tied):
                index[tied] = _first_largest(rows[tied], count)
        values = np.take_along_axis(rows, index, axis=1)
        return values.reshape(*shape, count), index.reshape(*shape, count)

    def dot(self, left: Array, right: Array) -> Array:
        """Without an array of products."""
        return np.vecdot(left, right)

    def precise(self, array: Array) -> Array:
        """In float64."""
        return array.astype(np.float64)

    def cast(self, array: Array, like: Array) -> Array:
        """Copied where the types differ."""
        return array.astype(like.dtype, copy=False)


@lru_cache(maxsize=16)
def _row_starts(shape: tuple[int, ...]) -> np.ndarray:
    """Where each row begins, in an array that is one piece of memory.

    >>> _row_starts((1, 2, 5))
    array([[0, 5]])
    """
    rows = int(np.prod(shape[:-1]))
    return np.arange(0, rows * shape[-1], shape[-1]).reshape(shape[:-1])


def _first_largest(rows: np.ndarray, count: int) -> np.ndarray:
    """Where the largest of each row stand, in descending order; of equal ones the first.

    >>> _first_largest(np.array([[1.0, 3.0, 3.0, 0.0, 3.0]]), 2)
    array([[1, 2]])
    """
    keys = rows.shape[1]
    if count < keys:
        index = np.argpartition(rows, keys - count, axis=1)[:, -count:]
        least = np.take_along_axis(rows, index, axis=1).min(axis=1, keepdims=True)
        # Where more keys equal the least than there is room for, the partition takes any.
        tied = np.flatnonzero((rows >= least).sum(axis=1) > count)
        if len(tied):
            index[tied] = np.argsort(-rows[tied], axis=1, kind="stable")[:, :count]
        index.sort(axis=1)
    else:
        index = np.broadcast_to(np.arange(keys), rows.shape)
    values = np.take_along_axis(rows, index, axis=1)
    order = np.argsort(-values, axis=1, kind="stable")
    return np.take_along_axis(index, order, axis=1)
