"""Arrays of NumPy, PyTorch and other libraries behind the array API.

The mathematics of this package is written once, for the functions that the array API
standard names. Tensors of PyTorch and CuPy on a GPU stay there; everything else is
computed by NumPy.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from array_api_compat import (
    array_namespace,
    is_cupy_array,
    is_numpy_array,
    is_torch_array,
)

from headwright.errors import InputError

F = TypeVar("F", bound=Callable[..., Any])
Array = Any  # of any library: the standard has no type for it
Namespace = Any
Progress = Callable[[float], None]  # called with the share that is done


def run_eagerly(function: F) -> F:
    """Let a function run as it is written where torch.compile traces its caller.

    Traced, NumPy's functions would be replaced by PyTorch's, and a verdict would rest
    on other arithmetic. PyTorch is not imported for it.
    """

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        if "torch._dynamo" not in sys.modules:
            return function(*arguments, **named)
        import torch

        disable: Callable[[F], F] = torch.compiler.disable
        return disable(function)(*arguments, **named)

    return cast("F", call)


def as_array(values: Any, what: str) -> Array:
    """An array that float64 can be computed with where it is."""
    if is_torch_array(values):
        values = values.detach()
        if values.device.type == "meta" or str(values.layout) != "torch.strided":
            raise InputError(
                f"{what} is a tensor on {values.device} with layout {values.layout}: "
                "expected one that holds all its numbers"
            )
        if values.device.type == "mps":  # Apple's GPUs have no float64
            values = values.cpu()
        return values
    if is_numpy_array(values) or is_cupy_array(values):
        return values
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(
            f"{what} is {type(values).__name__}: expected an array ({error})"
        ) from error
    if array.dtype == object:
        raise InputError(f"{what} is {type(values).__name__}: expected an array")
    return array


def namespace_of(array: Array) -> Namespace:
    """The functions of the array API for the library of this array."""
    return array_namespace(array)


def to_float64(array: Array) -> Array:
    """A copy in float64, exact; NumPy's where the numbers are on a CPU.

    Blocks are small, and PyTorch's threads would wait for one another. It is a copy
    because a kernel may change its inputs, and in the order of its axes, so that parts
    of it are views.
    """
    if is_torch_array(array) and array.device.type == "cpu":
        return np.array(array.double().numpy(), order="C")
    if is_numpy_array(array):
        # also from bfloat16, which NumPy has not
        return array.astype(np.float64, order="C")
    xp = namespace_of(array)
    copied = xp.astype(array, xp.float64, copy=True)
    return copied.contiguous() if is_torch_array(copied) else copied


def like(array: Array, model: Array) -> Array:
    """An array in the library and on the device of another one."""
    if is_torch_array(model):
        import torch

        if not is_torch_array(array):
            array = torch.as_tensor(np.asarray(array))
        return array.to(model.device)
    if is_cupy_array(model):
        return namespace_of(model).asarray(array)
    return to_numpy(array)


def numbers_like(numbers: np.ndarray, model: Array) -> Array:
    """Ascending whole numbers, where another array is.

    Consecutive ones are made there: a copy to a GPU waits for all its work.
    """
    first, last = int(numbers[0]), int(numbers[-1])
    if last - first + 1 != len(numbers):
        return like(numbers, model)
    return namespace_of(model).arange(first, last + 1, device=device_of(model))


def to_numpy(array: Array) -> np.ndarray:
    """A copy in NumPy, in float64 where NumPy does not have the type."""
    if is_torch_array(array):
        array = array.detach().cpu()
        if str(array.dtype) == "torch.bfloat16":
            array = array.double()
        return np.asarray(array.numpy())
    if is_cupy_array(array):
        return np.asarray(array.get())
    return np.asarray(array)


def device_of(array: Array) -> Any:
    """Where an array is, for functions that make new ones."""
    return getattr(array, "device", None)


def on_accelerator(array: Array) -> bool:
    """Whether an array is in the memory of a GPU."""
    return "cpu" not in str(device_of(array) or "cpu")


def replace_where(condition: Array, number: float, array: Array) -> Array:
    """The array with this number in some places; itself if there are none.

    Most conditions here hold nowhere, and to look is cheaper than to make an array.
    """
    xp = namespace_of(array)
    if not bool(xp.any(condition)):
        return array
    return xp.where(condition, number, array)


# The bits of a float64 that hold its exponent.
EXPONENT_BITS = 0x7FF0000000000000


def power_of_two_below(magnitude: Array) -> Array:
    """For each positive number, a power of two not below the largest one under it.

    A number that was rounded may have been a power of two: it is raised a little first.

    >>> power_of_two_below(np.array([1.0, 1.5, 3.9])).tolist()
    [1.0, 1.0, 2.0]
    """
    xp = namespace_of(magnitude)
    least = 2.0**-1000
    raised = xp.clip(magnitude, least, None) * (1 + 2.0**-40)
    return (raised.view(xp.int64) & EXPONENT_BITS).view(xp.float64)
