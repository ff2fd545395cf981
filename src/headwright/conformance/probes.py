"""hw.visible_keys: which keys does each row see? Found by probes, without a tolerance.

With q = 0 all keys that a row sees have the same weight. If V has a 1 in one place, the
output is exactly 0 for a row that does not see that key, and 1 / (number of keys seen)
for one that does. A call looks at as many keys as V has columns.

A mask that is only a large negative number passes this probe. So each key that seemed
hidden is given ever larger scores: if its weight appears, the mask leaks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from headwright.argument_types import checked_arguments
from headwright.conformance.arrays import as_array, to_numpy
from headwright.conformance.inputs import DTypeName, as_type
from headwright.errors import HeadwrightError, InputError
from headwright.numerics.float_formats import FLOAT16

LEAK_SCORES = tuple(10.0**exponent for exponent in range(1, 9))
LONGEST_LIST = 4  # of rows that are described one by one


@dataclass(frozen=True, eq=False)
class KeyVisibility:
    """Which keys each row sees.

    `mask` is (batch, heads, rows, keys). `leaks_from` is the smallest of the scores
    tried at which a hidden key gets weight, None if there is none; `leak` says where:
    (batch, head, row, key). `difference` is the first place that is not as expected.
    """

    mask: np.ndarray
    description: str
    leaks_from: float | None
    leak: tuple[int, int, int, int] | None
    expected: np.ndarray | None = None
    difference: tuple[int, int, int, int] | None = None

    def __str__(self) -> str:
        sentences = [f"Each row sees: {self.description}."]
        if self.leaks_from is not None and self.leak is not None:
            batch, head, row, key = self.leak
            sentences.append(
                f"The mask leaks: with a score of {self.leaks_from:.0e}, row {row} "
                f"gives weight to key {key}, which is hidden (batch {batch}, head "
                f"{head})."
            )
        if self.difference is not None:
            batch, head, row, key = self.difference
            verb = "sees" if self.mask[self.difference] else "does not see"
            sentences.append(
                f"Not as expected: row {row} {verb} key {key} "
                f"(batch {batch}, head {head})."
            )
        elif self.expected is not None:
            sentences.append("That is as expected.")
        return " ".join(sentences)

    def __repr__(self) -> str:
        return f"<{self}>"


@dataclass(frozen=True)
class ProbeShape:
    """The tensors that an implementation is called with."""

    batch: int
    heads: int
    key_heads: int
    rows: int
    keys: int
    dim: int
    dtype: str
    framework: str
    device: str
    layout: str


@checked_arguments
def visible_keys(
    attention: Callable[..., Any],
    *,
    rows: int,
    keys: int | None = None,
    batch: int = 1,
    heads: int = 1,
    key_heads: int | None = None,
    dim: int = 64,
    dtype: DTypeName = "float32",
    framework: Literal["numpy", "torch"] = "torch",
    device: str = "cpu",
    layout: Literal["bhtd", "bthd"] = "bhtd",
    expected: Any = None,
    leaks: bool = True,
) -> KeyVisibility:
    """Which keys each row of an implementation sees, found by probes.

    `attention` is a function of q, k and v. `expected` is a mask that broadcasts to
    (batch, heads, rows, keys), True where a key should be seen.

    >>> def attention(q, k, v):
    ...     weights = np.tril(np.ones((4, 4))) / np.arange(1, 5)[:, None]
    ...     return weights @ v
    >>> print(visible_keys(attention, rows=4, framework="numpy"))
    Each row sees: all keys up to its own (causal).
    """
    shape = ProbeShape(
        batch=batch,
        heads=heads,
        key_heads=key_heads or heads,
        rows=rows,
        keys=keys or rows,
        dim=dim,
        dtype=dtype,
        framework=framework,
        device=device,
        layout=layout,
    )
    if min(batch, heads, shape.key_heads, rows, shape.keys, dim) < 1:
        raise InputError(
            "batch, heads, rows, keys and dim: expected at least 1 of each"
        )
    mask = find_mask(attention, shape)
    leaks_from, leak = None, None
    if leaks:
        leaks_from, leak = find_leak(attention, shape, mask)
    visibility = KeyVisibility(mask, describe_mask(mask), leaks_from, leak)
    if expected is None:
        return visibility
    wanted = _read_expected(expected, mask.shape)
    places = np.argwhere(mask != wanted)
    difference = None
    if len(places):
        batch_index, head, row, key = (int(index) for index in places[0])
        difference = (batch_index, head, row, key)
    return replace(visibility, expected=wanted, difference=difference)


def _read_expected(expected: Any, shape: tuple[int, ...]) -> np.ndarray:
    wanted = to_numpy(as_array(expected, "expected"))
    if wanted.dtype != bool:
        raise InputError(
            f"expected holds {wanted.dtype} numbers: expected True where a key is seen"
        )
    try:
        return np.broadcast_to(wanted, shape)
    except ValueError as error:
        raise InputError(
            f"expected has shape {wanted.shape}: expected one that broadcasts to "
            f"(batch, heads, rows, keys) {shape}"
        ) from error


def find_mask(attention: Callable[..., Any], shape: ProbeShape) -> np.ndarray:
    """The mask by probes with q = 0 and values of which each column has one 1."""
    mask = np.zeros((shape.batch, shape.heads, shape.rows, shape.keys), dtype=bool)
    for start in range(0, shape.keys, shape.dim):
        stop = min(start + shape.dim, shape.keys)
        values = np.zeros((shape.keys, shape.dim))
        values[np.arange(start, stop), np.arange(stop - start)] = 1
        query = np.zeros((shape.rows, shape.dim))
        key = np.zeros((shape.keys, shape.dim))
        out = call_probe(attention, shape, query, key, values)
        # NaN is what some kernels give for rows that see nothing.
        mask[..., start:stop] = np.nan_to_num(out[..., : stop - start]) != 0
    return mask


def find_leak(
    attention: Callable[..., Any], shape: ProbeShape, mask: np.ndarray
) -> tuple[float | None, tuple[int, int, int, int] | None]:
    """The smallest score tried at which a hidden key gets weight, and where.

    One key at a time gets the score, so that rows from which it is hidden see nothing
    but scores of 0: the first, the middle and the last key that is hidden somewhere.
    """
    hidden_keys = np.flatnonzero(~mask.all(axis=(0, 1, 2)))
    if len(hidden_keys) == 0:
        return None, None
    few = [hidden_keys[0], hidden_keys[len(hidden_keys) // 2], hidden_keys[-1]]
    for score in LEAK_SCORES:
        if shape.dtype == "float16" and score > FLOAT16.largest:
            break
        for key in dict.fromkeys(few):
            leak = _leak_at(attention, shape, mask, int(key), score)
            if leak is not None:
                return score, leak
    return None, None


def _leak_at(
    attention: Callable[..., Any],
    shape: ProbeShape,
    mask: np.ndarray,
    chosen: int,
    score: float,
) -> tuple[int, int, int, int] | None:
    # q . k / sqrt(dim) is the score for the chosen key, and 0 for others.
    query = np.zeros((shape.rows, shape.dim))
    query[:, 0] = shape.dim**0.5
    key = np.zeros((shape.keys, shape.dim))
    key[chosen, 0] = score
    values = np.zeros((shape.keys, shape.dim))
    values[chosen, 0] = 1
    out = call_probe(attention, shape, query, key, values)
    # A row that sees no key at all may return anything.
    blind = ~mask[..., chosen] & mask.any(axis=-1)
    leaked = blind & (np.nan_to_num(out[..., 0]) != 0)
    places = np.argwhere(leaked)
    if len(places) == 0:
        return None
    batch, head, row = (int(index) for index in places[0])
    return batch, head, row, chosen


def call_probe(
    attention: Callable[..., Any],
    shape: ProbeShape,
    query: np.ndarray,
    key: np.ndarray,
    values: np.ndarray,
) -> np.ndarray:
    """The output for the same numbers in each text and head."""
    tensors = []
    for array, heads in (
        (query, shape.heads),
        (key, shape.key_heads),
        (values, shape.key_heads),
    ):
        full = np.broadcast_to(array, (shape.batch, heads, *array.shape))
        if shape.layout == "bthd":
            full = full.transpose(0, 2, 1, 3)
        tensors.append(_tensor(full, shape))
    try:
        out = attention(*tensors)
    except HeadwrightError:
        raise
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise InputError(f"the attention raised {reason}") from error
    if isinstance(out, tuple | list) and out:
        out = out[0]
    if not hasattr(out, "shape"):
        raise InputError(f"the output is {type(out).__name__}: expected an array")
    result = to_numpy(out).astype(np.float64)
    if shape.layout == "bthd" and result.ndim == 4:
        result = result.transpose(0, 2, 1, 3)
    expected = (shape.batch, shape.heads, shape.rows, shape.dim)
    if result.shape != expected:
        raise InputError(f"the output has shape {result.shape}: expected {expected}")
    return result


def _tensor(array: np.ndarray, shape: ProbeShape) -> Any:
    return as_type(np.array(array), shape.dtype, shape.framework, shape.device)


def describe_mask(mask: np.ndarray) -> str:
    """A mask in few words: causal, window, documents, padding, prefix; else ranges."""
    first = mask[0, 0]
    heads_differ = bool((mask != mask[:, :1]).any())
    texts_differ = bool((mask != mask[:1]).any())
    if not heads_differ and not texts_differ:
        return describe_rows(first)
    if not heads_differ:
        parts = [
            f"text {text}: {describe_rows(mask[text, 0])}" for text in range(len(mask))
        ]
    else:
        parts = [
            f"head {head}: {describe_rows(mask[0, head])}"
            for head in range(mask.shape[1])
        ]
    shown = "; ".join(parts[:LONGEST_LIST])
    if len(parts) > LONGEST_LIST:
        shown += f"; and {len(parts) - LONGEST_LIST} more"
    return shown


def describe_rows(mask: np.ndarray) -> str:
    """One mask (rows, keys) in words.

    >>> describe_rows(np.tril(np.ones((5, 5), dtype=bool)))
    'all keys up to its own (causal)'
    """
    rows, keys = mask.shape
    if mask.all():
        return "all keys"
    if not mask.any():
        return "no key"
    for name, candidate in _known_masks(rows, keys):
        if np.array_equal(mask, candidate):
            return name
    return (
        _describe_window(mask)
        or _describe_padding(mask)
        or _describe_prefix(mask)
        or _describe_documents(mask)
        or _describe_ranges(mask)
    )


def _distances(rows: int, keys: int, shift: int) -> np.ndarray:
    return np.arange(rows)[:, None] + shift - np.arange(keys)[None, :]


def _shifts(rows: int, keys: int) -> dict[str, int]:
    if rows == keys:
        return {"": 0}
    return {" (last row at the last key)": keys - rows, " (row 0 at key 0)": 0}


def _known_masks(rows: int, keys: int) -> list[tuple[str, np.ndarray]]:
    known = []
    for where, shift in _shifts(rows, keys).items():
        distance = _distances(rows, keys, shift)
        name = f"all keys up to its own (causal){where}"
        known.append((name, distance >= 0))
        known.append((f"keys before its own{where}", distance > 0))
        known.append((f"all keys up to one after its own{where}", distance >= -1))
    return known


def _describe_window(mask: np.ndarray) -> str:
    rows, keys = mask.shape
    for where, shift in _shifts(rows, keys).items():
        distance = _distances(rows, keys, shift)
        seen = distance[mask]
        before, after = int(seen.max()), int(-seen.min())
        band = (distance <= before) & (distance >= -after)
        if not np.array_equal(mask, band):
            continue
        if after == 0:
            return f"a window of {before + 1} keys that ends with its own{where}"
        return f"a window from {before} keys before its own to {after} after it{where}"
    return ""


def _describe_padding(mask: np.ndarray) -> str:
    """The same keys for every row, or those together with a causal mask."""
    rows, keys = mask.shape
    columns = np.asarray(mask.any(axis=0))
    if np.array_equal(mask, np.broadcast_to(columns, mask.shape)):
        return f"keys {_ranges(columns)}, the others are padding"
    for where, shift in _shifts(rows, keys).items():
        causal = _distances(rows, keys, shift) >= 0
        if np.array_equal(mask, causal & columns):
            return f"keys {_ranges(columns)} up to its own (causal, padded){where}"
    return ""


def _describe_prefix(mask: np.ndarray) -> str:
    """A prefix that every row sees, and a causal mask after it."""
    rows, keys = mask.shape
    prefix = int(mask.all(axis=0).argmin())
    if prefix < 2:
        return ""
    for where, shift in _shifts(rows, keys).items():
        causal = _distances(rows, keys, shift) >= 0
        causal[:, :prefix] = True
        if np.array_equal(mask, causal):
            return f"the first {prefix} keys, and all up to its own (prefix){where}"
    return ""


def _describe_documents(mask: np.ndarray) -> str:
    """Blocks along the diagonal, whole or causal."""
    rows, keys = mask.shape
    if rows != keys or not mask.diagonal().all():
        return ""
    starts = mask.argmax(axis=1)
    if (np.diff(starts) < 0).any():
        return ""
    same = starts[:, None] == starts[None, :]
    causal = np.tril(np.ones_like(mask))
    lengths = np.unique(starts, return_counts=True)[1].tolist()
    shown = ", ".join(str(length) for length in lengths[:8])
    if len(lengths) > 8:
        shown += ", ..."
    if np.array_equal(mask, same & causal):
        return f"keys of its document up to its own (documents of {shown} keys)"
    if np.array_equal(mask, same):
        return f"keys of its document (documents of {shown} keys)"
    return ""


def _describe_ranges(mask: np.ndarray) -> str:
    parts = []
    for row in range(min(len(mask), LONGEST_LIST)):
        parts.append(f"row {row}: {_ranges(mask[row]) or 'no key'}")
    if len(mask) > LONGEST_LIST:
        parts.append(f"and {len(mask) - LONGEST_LIST} more rows")
    return "no known pattern (" + "; ".join(parts) + ")"


def _ranges(seen: np.ndarray) -> str:
    """Which entries are True, as ranges: 0-3, 7."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], seen, [False]))))
    parts = []
    for first, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        parts.append(str(first) if stop == first + 1 else f"{first}-{stop - 1}")
    shown = ", ".join(parts[:LONGEST_LIST])
    return shown + (", ..." if len(parts) > LONGEST_LIST else "")
