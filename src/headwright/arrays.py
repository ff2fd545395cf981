"""Arrays as users give them, checked: NumPy's, torch's or any other that speaks the Python array API; lists as well."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_array_api_obj

from headwright.errors import InputError

Array = Any  # a NumPy array, a torch tensor, or anything else that speaks the array API


def as_array(values: Array) -> Array:
    """An array as it is; a list or a data frame as the NumPy array that it holds.

    >>> as_array([[1, 2]])
    array([[1, 2]])
    """
    if is_array_api_obj(values):
        return values
    try:
        return np.asarray(values)
    except ValueError as error:
        kind = type(values).__name__
        raise InputError(f"a {kind} that is no array: {error}") from error


def namespace(*arrays: Array) -> Any:
    """The functions of the library that the arrays are of.

    >>> namespace(np.eye(2), np.eye(3)).sum(np.eye(2))
    np.float64(2.0)
    """
    try:
        return array_namespace(*arrays)
    except TypeError as error:
        kinds = ", ".join(type(array).__name__ for array in arrays)
        raise InputError(
            f"got {kinds}: expected arrays of one kind (NumPy, torch, ...)"
        ) from error


def floating(xp: Any, name: str, array: Array) -> Array:
    """The array in a floating type, with two axes or more, so that it can be computed with.

    >>> floating(np, "keys", np.eye(2, dtype=int)).dtype
    dtype('float64')
    """
    if array.ndim < 2 or 0 in array.shape:
        raise InputError(
            f"{name} have shape {shape_of(array)}: expected two axes or more, none of them empty",
            field=name,
        )
    # The bfloat16 of ml_dtypes is a NumPy type that the array API does not know.
    if isinstance(array, np.ndarray) and array.dtype.name == "bfloat16":
        return array.astype(np.float32)
    if xp.isdtype(array.dtype, "real floating"):
        return array
    if xp.isdtype(array.dtype, ("integral", "bool")):
        return xp.astype(array, xp.float64)
    raise InputError(
        f"{name} are of type {array.dtype}: expected real numbers", field=name
    )


def mask_for(xp: Any, mask: Array, scores: Array) -> Array:
    """A mask of booleans in the shape of the scores.

    >>> mask_for(np, np.array([True, False]), np.zeros((1, 2)))
    array([[ True, False]])
    """
    mask = as_array(mask)
    if mask.dtype != xp.bool:
        raise InputError(
            f"the mask is of type {mask.dtype}: expected booleans, True for a key that may be seen"
        )
    try:
        return xp.broadcast_to(mask, scores.shape)
    except (ValueError, RuntimeError) as error:
        raise InputError(
            f"the mask has shape {shape_of(mask)}, the scores {shape_of(scores)}"
        ) from error


def check_rows(xp: Any, good: Array, error: InputError) -> None:
    """Raise the error with the number of the first row in which not everything is good.

    >>> check_rows(np, np.array([[True], [False]]), InputError("holds nan"))
    Traceback (most recent call last):
    headwright.errors.InputError: row 1 of the scores holds nan
    """
    if bool(xp.all(good)):
        return
    bad_rows = xp.nonzero(~xp.all(good, axis=-1))
    row = tuple(int(axis[0]) for axis in bad_rows)
    place = row[0] if len(row) == 1 else row
    raise type(error)(f"row {place} of the scores {error}")


def shape_of(array: Array) -> tuple[int, ...]:
    """The shape as whole numbers of Python.

    >>> shape_of(np.eye(2))
    (2, 2)
    """
    return tuple(int(axis) for axis in array.shape)
