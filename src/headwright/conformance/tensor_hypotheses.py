"""Mistakes about tensors: outputs that are not written, heads, texts, tokens, layouts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from headwright.conformance.arrays import Array, like, namespace_of, to_numpy
from headwright.conformance.candidates import Explanation, WrongOutput, change_spec

LONGEST_LIST = 4  # of numbers that are named one by one


def trivial_outputs(case: WrongOutput) -> Iterator[Explanation]:
    """Zeros, the values themselves, their mean."""
    q = case.problem.q
    xp = namespace_of(q)
    shape = case.problem.shape
    nothing = replace(case.problem, v=xp.zeros_like(case.problem.v))
    yield Explanation("zeros", "an output of zeros", nothing, case.out)
    if shape.rows == shape.keys:
        own_key = xp.eye(shape.rows, device=getattr(q, "device", None)) > 0
        yield change_spec(
            case,
            "own value",
            "each row returning the value of its own key",
            mask=own_key[None, None],
            causal=False,
            keys_before=None,
            keys_after=None,
        )
    if case.spec.scale != 0:
        yield change_spec(
            case,
            "scores ignored",
            "equal weights for all keys that are seen, as with scores of 0",
            scale=0.0,
            bias=None,
            alibi=None,
        )


def unwritten_rows(case: WrongOutput) -> Iterator[Explanation]:
    """Some rows that are zeros, as memory is that was never written."""
    xp = namespace_of(case.out)
    written = xp.any(case.out != 0, axis=-1, keepdims=True)
    if bool(xp.all(written)):
        return
    mask = written
    if case.spec.mask is not None:
        mask = mask & like(case.spec.mask, case.out)
    # A row that sees no key under a hypothesis is explained if it is zeros.
    where = _name_rows(~to_numpy(written)[..., 0])
    yield change_spec(
        case, "never written", f"zeros in {where}, and all else right", mask=mask
    )


def _name_rows(chosen: np.ndarray) -> str:
    """Rows (batch, heads, rows) in words: whole texts, heads or rows where it can.

    >>> rows = np.zeros((1, 2, 8), dtype=bool)
    >>> rows[:, :, 5:] = True
    >>> _name_rows(rows)
    'rows 5, 6, 7'
    """
    for axis, name in enumerate(("text", "head", "row")):
        other_axes = tuple(other for other in range(3) if other != axis)
        numbers = np.asarray(chosen.all(axis=other_axes))
        if int(numbers.sum()) * chosen.size == int(chosen.sum()) * len(numbers):
            names = name if numbers.sum() == 1 else f"{name}s"
            return f"{names} {_list_numbers(np.flatnonzero(numbers).tolist())}"
    text, head, row = np.argwhere(chosen)[0].tolist()
    count = int(chosen.sum())
    return f"{count:,} rows, first in text {text}, head {head}, row {row}"


def _list_numbers(numbers: list[int]) -> str:
    if len(numbers) <= LONGEST_LIST:
        return ", ".join(str(number) for number in numbers)
    first, last = numbers[0], numbers[-1]
    if last - first + 1 == len(numbers):
        return f"{first} to {last}"
    return f"{first}, ..., {last}"


def exchanged_axes(case: WrongOutput) -> Iterator[Explanation]:
    """Heads grouped the other way, reversed, shifted; texts, tokens, columns."""
    problem = case.problem
    shape = problem.shape
    xp = namespace_of(problem.q)
    if 1 < shape.key_heads < shape.heads:
        yield change_spec(
            case,
            "heads interleaved",
            "query head h reading key head h mod key heads",
            interleaved_heads=True,
        )
    if shape.key_heads < shape.heads or shape.heads > 1:
        first = replace(
            problem,
            k=xp.broadcast_to(problem.k[:, :1], problem.k.shape),
            v=xp.broadcast_to(problem.v[:, :1], problem.v.shape),
        )
        yield Explanation(
            "first key head", "all heads reading the first key head", first, case.out
        )
    if shape.heads > 1:
        turned = xp.flip(case.out, axis=1)
        yield Explanation("heads reversed", "heads in reverse order", problem, turned)
        moved = xp.roll(case.out, -1, axis=1)
        yield Explanation("heads shifted", "heads shifted by one", problem, moved)
    if shape.batch > 1:
        first = replace(
            problem,
            k=xp.broadcast_to(problem.k[:1], problem.k.shape),
            v=xp.broadcast_to(problem.v[:1], problem.v.shape),
        )
        yield Explanation(
            "first text", "all texts reading the keys of the first", first, case.out
        )
        moved = xp.roll(case.out, -1, axis=0)
        yield Explanation("texts shifted", "texts shifted by one", problem, moved)
    for shift in (1, -1):
        moved = xp.roll(case.out, -shift, axis=2)
        yield Explanation(
            f"rows {shift:+d}", f"rows shifted by {shift}", problem, moved
        )
        values = replace(problem, v=xp.roll(problem.v, shift, axis=2))
        yield Explanation(
            f"values {shift:+d}", f"values shifted by {shift} keys", values, case.out
        )
        keys = replace(problem, k=xp.roll(problem.k, shift, axis=2))
        yield Explanation(
            f"keys {shift:+d}",
            f"keys shifted by {shift} beside their values",
            keys,
            case.out,
        )
    yield Explanation(
        "columns reversed", "columns reversed", problem, xp.flip(case.out, axis=3)
    )
    if shape.dim > 1:
        half = shape.dim // 2
        numbers = np.arange(shape.dim) < half
        kept = like(numbers.astype(np.float64), problem.q)
        yield Explanation(
            "half of dim",
            "scores that use the first half of the columns only",
            replace(problem, q=problem.q * kept),
            case.out,
        )
    yield from _transposed(case)


def exchanged_tensors(case: WrongOutput) -> Iterator[Explanation]:
    """Keys that were taken for values, and values for keys."""
    problem = case.problem
    k, v = problem.k, problem.v
    if problem.q.shape == k.shape:
        exchanged_queries = replace(problem, q=k, k=problem.q)
        yield Explanation(
            "queries and keys exchanged",
            "queries and keys that were exchanged",
            exchanged_queries,
            case.out,
        )
    if k.shape != v.shape:
        return
    exchanged = (
        ("keys for values", "keys that were taken for values", k, k),
        ("values for keys", "values that were taken for keys", v, v),
        ("keys and values exchanged", "keys and values that were exchanged", v, k),
    )
    for name, sentence, keys, values in exchanged:
        changed = replace(problem, k=keys, v=values)
        yield Explanation(name, sentence, changed, case.out)


def _transposed(case: WrongOutput) -> Iterator[Explanation]:
    """Heads and tokens taken for one another."""
    problem = case.problem
    shape = problem.shape
    xp = namespace_of(problem.q)
    exchanged = {
        field: xp.permute_dims(array, (0, 2, 1, 3))
        for field, array in (
            ("q", problem.q),
            ("k", problem.k),
            ("v", problem.v),
            ("out", case.out),
        )
    }
    if shape.heads == shape.rows:
        yield Explanation(
            "output in the other layout",
            "an output in the other layout: its axes of heads and tokens are exchanged",
            problem,
            exchanged["out"],
        )
    # Described by position only: masks and the like have the axes that were taken.
    by_position = all(
        getattr(case.spec, field) is None
        for field in ("sinks", "alibi", "bias", "mask", "documents", "key_padding")
    )
    if by_position and shape.rows % shape.keys == 0:
        out = exchanged.pop("out")
        yield Explanation(
            "other layout",
            "tensors in the other layout, heads and tokens exchanged: say "
            "layout='bthd' for (batch, tokens, heads, dim)",
            replace(problem, **exchanged),
            out,
        )
    # The same memory, another shape.
    if shape.heads == 1 or shape.heads != shape.key_heads:
        return
    batch, heads = shape.batch, shape.heads

    def misread(array: Array) -> Array:
        tokens, width = array.shape[2], array.shape[3]
        return xp.permute_dims(
            xp.reshape(array, (batch, tokens, heads, width)), (0, 2, 1, 3)
        )

    def write_back(array: Array) -> Array:
        tokens, width = array.shape[2], array.shape[3]
        return xp.reshape(
            xp.permute_dims(array, (0, 2, 1, 3)), (batch, heads, tokens, width)
        )

    misread_problem = replace(
        problem, q=misread(problem.q), k=misread(problem.k), v=misread(problem.v)
    )
    yield Explanation(
        "heads and tokens exchanged",
        "memory in which heads and tokens are exchanged",
        misread_problem,
        misread(case.out),
    )
    yield Explanation(
        "output transposed",
        "an output in which heads and tokens are exchanged",
        problem,
        misread(case.out),
    )
    yield Explanation(
        "output transposed back",
        "an output in which tokens and heads are exchanged",
        problem,
        write_back(case.out),
    )
