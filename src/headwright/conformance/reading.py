"""From what people have to a problem: shapes, layouts, masks; refused in a sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from headwright.conformance.arrays import (
    Array,
    as_array,
    like,
    namespace_of,
    to_float64,
    to_numpy,
)
from headwright.conformance.description import (
    AttentionSpec,
    Corner,
    Layout,
    document_ids,
    window_reach,
)
from headwright.conformance.reference import AttentionProblem
from headwright.errors import InputError
from headwright.numerics.float_formats import input_format

LAYOUTS = {"bhtd": (0, 1, 2, 3), "bthd": (0, 2, 1, 3)}


@dataclass(frozen=True, eq=False)
class AttentionOptions:
    """How attention is described to the public functions; see `hw.conform`."""

    scale: float | None = None
    causal: bool = False
    corner: Corner = "end"
    window: int | Sequence[int] | None = None
    softcap: float | None = None
    sinks: Any = None
    bias: Any = None
    alibi: Any = None
    key_padding: Any = None
    documents: Any = None
    mask: Any = None
    layout: Layout = "bhtd"


def read_problem(
    q: Any, k: Any, v: Any, question: AttentionOptions
) -> AttentionProblem:
    """Queries, keys and values as float64 and what is asked of them, or InputError."""
    arrays = {"q": as_array(q, "q"), "k": as_array(k, "k"), "v": as_array(v, "v")}
    number_format = input_format(arrays["q"].dtype, "q")
    for name, array in arrays.items():
        if input_format(array.dtype, name) is not number_format:
            raise InputError(
                f"{name} holds {array.dtype} numbers and q {arrays['q'].dtype}: "
                "expected the same type"
            )
        arrays[name] = to_four_axes(array, name, question.layout)
    _check_shapes(arrays["q"].shape, arrays["k"].shape, arrays["v"].shape, question)
    for name, array in arrays.items():
        arrays[name] = to_float64(like(array, arrays["q"]))
        _check_finite(arrays[name], name)
    spec = _read_spec(question, arrays["q"].shape, arrays["k"].shape)
    return AttentionProblem(arrays["q"], arrays["k"], arrays["v"], spec, number_format)


def read_output(
    out: Any, problem: AttentionProblem, question: AttentionOptions
) -> Array:
    """The output as float64, or InputError where it cannot be one."""
    if isinstance(out, tuple | list) and out and hasattr(out[0], "shape"):
        out = out[0]  # as kernels return that also give the weights or the log-sum-exp
    if out is None or isinstance(out, str | dict):
        kind = type(out).__name__
        raise InputError(f"the output is {kind}: expected an array")
    array = as_array(out, "the output")
    input_format(array.dtype, "the output")
    shape = problem.shape
    expected = (shape.batch, shape.heads, shape.rows, shape.value_dim)
    if array.ndim < 2 or array.ndim > 4:
        raise InputError(
            f"the output has shape {tuple(array.shape)}: expected {expected}"
        )
    joined = (shape.batch, shape.rows, shape.heads * shape.value_dim)
    if shape.heads > 1 and tuple(array.shape) == joined:
        raise InputError(
            f"the output has shape {tuple(array.shape)}: heads and dim are joined; "
            f"reshape it to (batch, rows, heads, dim) and exchange axes 1 and 2, for "
            f"{expected}"
        )
    array = to_four_axes(array, "the output", question.layout)
    if tuple(array.shape) != expected:
        raise InputError(_wrong_output_shape(tuple(array.shape), expected, question))
    return to_float64(like(array, problem.q))


def _wrong_output_shape(
    actual: tuple[int, ...], expected: tuple[int, ...], question: AttentionOptions
) -> str:
    batch, heads, rows, dim = expected
    sentence = f"the output has shape {actual} as (batch, heads, rows, dim), "
    sentence += f"expected {expected}"
    if actual == (batch, rows, heads, dim):
        other = "bthd" if question.layout == "bhtd" else "bhtd"
        sentence += f": heads and rows are exchanged, as in the layout {other}"
    return sentence


def to_four_axes(array: Array, name: str, layout: str) -> Array:
    """An array as (batch, heads, tokens, dim); missing axes in front have size 1."""
    if array.ndim < 2 or array.ndim > 4:
        raise InputError(
            f"{name} has {array.ndim} axes: expected 4, {' '.join(layout)} "
            "(or without batch, or without batch and heads)"
        )
    if array.ndim == 2:  # tokens, dim
        return array[None, None]
    if array.ndim == 3:
        array = array[None]
    return namespace_of(array).permute_dims(array, LAYOUTS[layout])


def _check_shapes(
    q: tuple[int, ...],
    k: tuple[int, ...],
    v: tuple[int, ...],
    question: AttentionOptions,
) -> None:
    shapes = f"q has shape {tuple(q)}, k {tuple(k)} and v {tuple(v)}"
    shapes += " as (batch, heads, tokens, dim)"
    if 0 in q or 0 in k or 0 in v:
        raise InputError(f"{shapes}: expected at least one of each")
    if q[0] != k[0] or k[0] != v[0]:
        raise InputError(f"{shapes}: expected the same batch")
    if q[3] != k[3]:
        raise InputError(f"{shapes}: expected q and k of the same dim")
    if k[1] != v[1] or k[2] != v[2]:
        raise InputError(f"{shapes}: expected as many heads and tokens in k and v")
    if q[1] % k[1] != 0:
        other = "bthd" if question.layout == "bhtd" else "bhtd"
        raise InputError(
            f"{shapes}: {q[1]} query heads cannot share {k[1]} key heads; "
            f"if heads and tokens are exchanged, say layout='{other}'"
        )


def _check_finite(array: Array, name: str) -> None:
    xp = namespace_of(array)
    finite = xp.isfinite(array)
    if bool(xp.all(finite)):
        return
    where = np.argwhere(~to_numpy(finite))[0]
    place = tuple(int(index) for index in where)
    value = float(array[place])
    raise InputError(
        f"{name} is {value} at (batch, head, token, column) {place}: "
        "expected finite numbers"
    )


def _read_spec(
    question: AttentionOptions, q: tuple[int, ...], k: tuple[int, ...]
) -> AttentionSpec:
    batch, heads, rows, dim = q
    keys = k[2]
    scale = dim**-0.5 if question.scale is None else float(question.scale)
    if not math.isfinite(scale):
        raise InputError(f"scale is {scale}: expected a finite number")
    softcap = question.softcap
    if softcap is not None and not (math.isfinite(softcap) and softcap > 0):
        raise InputError(f"softcap is {softcap}: expected a finite number above 0")
    before, after = window_reach(question.window, causal=question.causal)
    full = (batch, heads, rows, keys)
    documents = None
    if question.documents is not None:
        documents = document_ids(_numpy(question.documents, "documents"), keys)
        if len(documents) not in (1, batch):
            expected = "1" if batch == 1 else f"1 or {batch}"
            raise InputError(
                f"documents has {len(documents)} rows: expected {expected}"
            )
    return AttentionSpec(
        scale=scale,
        causal=question.causal,
        corner=question.corner,
        keys_before=before,
        keys_after=after,
        softcap=softcap,
        sinks=_for_heads(question.sinks, "sinks", heads),
        bias=_read_bias(question.bias, full),
        alibi=_for_heads(question.alibi, "alibi", heads),
        key_padding=_read_padding(question.key_padding, batch, keys),
        documents=documents,
        mask=_read_mask(question.mask, full),
    )


def _numpy(values: Any, what: str) -> np.ndarray:
    return to_numpy(as_array(values, what))


def _holds_numbers(array: Array) -> bool:
    """Whether an array of any library holds whole or floating-point numbers."""
    name = str(array.dtype).removeprefix("torch.")
    return name.startswith(("int", "uint", "float", "bfloat"))


def _for_heads(values: Any, what: str, heads: int) -> np.ndarray | None:
    if values is None:
        return None
    array = _numpy(values, what)
    if not _holds_numbers(array):
        raise InputError(f"{what} holds {array.dtype}: expected a number for each head")
    numbers = array.astype(np.float64).reshape(-1)
    if len(numbers) != heads:
        raise InputError(f"{what} has {len(numbers)} numbers: expected {heads}")
    if not np.isfinite(numbers).all():
        raise InputError(f"{what} holds a number that is not finite")
    return numbers


def _read_padding(values: Any, batch: int, keys: int) -> np.ndarray | None:
    """True where a key is real, from such an array or from lengths."""
    if values is None:
        return None
    padding = _numpy(values, "key_padding")
    if padding.shape == (batch,) and padding.dtype.kind in "iu":
        if padding.min() < 0 or padding.max() > keys:
            raise InputError(f"key_padding has lengths outside 0 to {keys}")
        return np.arange(keys)[None, :] < padding[:, None]
    if padding.shape == (keys,):
        padding = np.broadcast_to(padding, (batch, keys))
    if padding.shape != (batch, keys):
        raise InputError(
            f"key_padding has shape {padding.shape}: expected {(batch, keys)}, True "
            f"where a key is real, or {batch} lengths"
        )
    whole = padding.dtype.kind in "iu" and bool(np.isin(padding, (0, 1)).all())
    if padding.dtype != bool and not whole:
        raise InputError(
            f"key_padding holds {padding.dtype} numbers: expected True or False, or 1 "
            "and 0"
        )
    return padding.astype(bool)


def _read_mask(values: Any, full: tuple[int, ...]) -> Array | None:
    if values is None:
        return None
    mask = as_array(values, "mask")
    if "bool" not in str(mask.dtype):
        raise InputError(
            f"mask holds {mask.dtype} numbers: expected True where a key is seen (give "
            "numbers that are added to scores as bias=)"
        )
    return _broadcastable(mask, "mask", full)


def _read_bias(values: Any, full: tuple[int, ...]) -> Array | None:
    if values is None:
        return None
    bias = as_array(values, "bias")
    if "bool" in str(bias.dtype):
        raise InputError("bias holds True and False: give them as mask=")
    if not _holds_numbers(bias):
        raise InputError(f"bias holds {bias.dtype}: expected numbers")
    bias = _broadcastable(to_float64(bias), "bias", full)
    xp = namespace_of(bias)
    wrong = xp.isnan(bias) | (bias == np.inf)
    if bool(xp.any(wrong)):
        raise InputError("bias holds NaN or infinity: expected numbers, or -inf")
    return bias


def _broadcastable(array: Array, what: str, full: tuple[int, ...]) -> Array:
    """With four axes, each of size 1 or as in `full`."""
    if array.ndim > 4:
        raise InputError(f"{what} has {array.ndim} axes: expected at most 4")
    while array.ndim < 4:
        array = array[None]
    fits = all(a in (1, b) for a, b in zip(array.shape, full, strict=True))
    if not fits:
        raise InputError(
            f"{what} has shape {tuple(array.shape)}: expected one that broadcasts to "
            f"(batch, heads, rows, keys) {full}"
        )
    return array


def read_rows(rows: int | Sequence[int] | None, count: int) -> np.ndarray:
    """The rows to look at: all, so many of them evenly spread, or those named.

    >>> read_rows(3, 100).tolist()
    [0, 50, 99]
    """
    if rows is None:
        return np.arange(count)
    if isinstance(rows, Integral):
        if rows < 1:
            raise InputError(f"rows is {rows}: expected at least 1")
        spread = np.linspace(0, count - 1, min(int(rows), count)).round()
        return np.unique(spread.astype(int))
    numbers = _numpy(rows, "rows")
    if numbers.size and numbers.dtype.kind not in "iu":
        raise InputError(f"rows holds {numbers.dtype} numbers: expected whole numbers")
    chosen = np.unique(numbers.astype(int))
    if len(chosen) == 0 or chosen[0] < 0 or chosen[-1] >= count:
        raise InputError(f"rows names rows outside 0 to {count - 1}, or none")
    return chosen
