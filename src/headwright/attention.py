"""Attention, by definition.

    scores   s_i = scale * <k_i, q>         one number for each key
    pattern  alpha = softmax(s)             alpha_i >= 0, and they sum to 1
    output   c = sum_i alpha_i v_i          a mixture of the values

Several heads have a query each; the output is the mean of the heads' outputs. A mask says which keys a query
may see (True: may). Reference: Vaswani et al., 'Attention is all you need', 2017, section 3.2.

Arrays may be NumPy's, torch's or any other kind that speaks the Python array API, on any device, with any
number of batch axes in front; what comes back is of the same kind. Lists and data frames become NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj
from jaxtyping import Bool, Float

from headwright.cards import bars, card, lines
from headwright.errors import FullyMaskedError, InputError, typed_errors

MOST_BARS = 12  # keys drawn in a notebook
Array = Any  # a NumPy array, a torch tensor, or anything else that speaks the array API


@dataclass(frozen=True)
class Attention:
    """What a set of heads does with a set of keys and values.

    >>> import numpy as np
    >>> attend(np.eye(2), np.zeros((1, 2))).pattern
    array([[0.5, 0.5]])
    """

    scores: Float[Array, "*batch heads n"]
    pattern: Float[Array, "*batch heads n"]
    output: Float[Array, "*batch d"]  # the mean over the heads

    def _shown(self, show: Callable[[str, str, list[tuple[str, str]]], str]) -> str:
        """The keys with the largest weights of each head; of a batch, the shapes alone."""
        heads, n = self.pattern.shape[-2:]
        facts = []
        for h, weights in enumerate(self.pattern.tolist() if self.pattern.ndim == 2 else ()):
            top = sorted(range(n), key=lambda i: -weights[i])[:3]
            facts.append((f"head {h}", ", ".join(f"key {i} {weights[i]:.4g}" for i in top) + ", ..." * (n > 3)))
        sizes = f"{heads} head{'s' * (heads > 1)}, {n} keys, output of shape {_shape(self.output)} (floating-point)"
        return show("attention", sizes, facts)

    def __repr__(self) -> str:
        """The sizes, and the largest weights, in a few lines."""
        return self._shown(lines)

    def _repr_html_(self) -> str:
        """For notebooks: the same as a card, with the pattern of the first head as bars."""
        if self.pattern.ndim != 2:
            return self._shown(card)
        weights = self.pattern[0].tolist()
        top = sorted(sorted(range(len(weights)), key=lambda i: -weights[i])[:MOST_BARS])
        drawing = bars((f"key {i}", weights[i]) for i in top)
        name = "the largest weights of the first head"
        return self._shown(lambda word, sizes, facts: card(word, sizes, facts, drawing, name))


@typed_errors
def attend(
    keys: Float[Array, "*batch n d"],
    queries: Float[Array, "*batch heads d"] | Float[Array, " d"],
    values: Float[Array, "*batch n dv"] | None = None,
    *,
    scale: float = 1.0,
    mask: Bool[Array, "*batch heads n"] | None = None,
) -> Attention:
    """Scores, pattern and output of one head for each query; the values are the keys unless given.

    >>> import numpy as np
    >>> keys = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    >>> result = attend(keys, np.array([[20.0, 20.0]]))
    >>> result.pattern.round(6)
    array([[0.5, 0.5, 0. ]])
    >>> result.output.round(6)
    array([0.5, 0.5])
    """
    keys, queries, values = as_array(keys), as_array(queries), None if values is None else as_array(values)
    _namespace(keys, queries)
    if queries.ndim == 1:  # a single query is one head
        queries = queries[None, :]
    s = scores(keys, queries, scale=scale)  # (*batch, heads, n)
    alpha = pattern(s, mask)  # (*batch, heads, n)
    c = output(alpha, keys if values is None else values)  # (*batch, heads, dv)
    return Attention(s, alpha, _namespace(c).mean(c, axis=-2))


@typed_errors
def scores(
    keys: Float[Array, "*batch n d"], queries: Float[Array, "*batch rows d"], *, scale: float = 1.0
) -> Float[Array, "*batch rows n"]:
    """How well each key matches each query: scale * <k_i, q>.

    >>> import numpy as np
    >>> scores(np.eye(3), np.array([[1.0, 2.0, 3.0]]), scale=0.5)
    array([[0.5, 1. , 1.5]])
    """
    keys, queries = as_array(keys), as_array(queries)
    xp = _namespace(keys, queries)
    keys, queries = floating(xp, "keys", keys), floating(xp, "queries", queries)
    if keys.shape[-1] != queries.shape[-1]:
        raise InputError(f"keys have shape {_shape(keys)} and queries {_shape(queries)}: the last axes differ")
    dtype = xp.result_type(keys, queries)
    with np.errstate(over="ignore", invalid="ignore"):  # said better below
        s = (xp.astype(queries, dtype) * scale) @ xp.matrix_transpose(xp.astype(keys, dtype))
    _each_row(xp, xp.isfinite(s), InputError("holds a number that is not finite, or too large for its type"))
    return s


@typed_errors
def pattern(
    scores: Float[Array, "*batch rows n"], mask: Bool[Array, "*batch rows n"] | None = None
) -> Float[Array, "*batch rows n"]:
    """softmax along the last axis, for scores of any finite size; a key that may not be seen gets 0.

    >>> import numpy as np
    >>> pattern(np.array([[1e300, 1e300, -1e300]]))
    array([[0.5, 0.5, 0. ]])
    >>> pattern(np.zeros((2, 2)), mask=causal(np.zeros((2, 2))))
    array([[1. , 0. ],
           [0.5, 0.5]])
    """
    scores = as_array(scores)
    xp = _namespace(scores)
    s = floating(xp, "scores", scores)
    if mask is not None:
        s = xp.where(_fitting(xp, mask, s), s, xp.asarray(-xp.inf, dtype=s.dtype, device=device(s)))
    _each_row(xp, s < xp.inf, InputError("holds inf or nan: expected finite numbers"))
    top = xp.max(s, axis=-1, keepdims=True)
    _each_row(xp, top > -xp.inf, FullyMaskedError("is fully masked: no key is left to attend to"))
    # Halves, because s - top overflows for scores near the largest number; the floor, because exp is 0 there.
    below = xp.clip(s / 2 - top / 2, min=-1e4)
    e = xp.exp(2 * below)
    return e / xp.sum(e, axis=-1, keepdims=True)


@typed_errors
def output(
    pattern: Float[Array, "*batch rows n"], values: Float[Array, "*batch n dv"]
) -> Float[Array, "*batch rows dv"]:
    """The mixture of the values that the pattern asks for, one for each row.

    >>> import numpy as np
    >>> output(np.array([[0.25, 0.75]]), np.array([[0.0], [4.0]]))
    array([[3.]])
    """
    pattern, values = as_array(pattern), as_array(values)
    xp = _namespace(pattern, values)
    values = floating(xp, "values", values)
    pattern = floating(xp, "pattern", pattern)
    if values.shape[-2] != pattern.shape[-1]:
        raise InputError(
            f"the pattern covers {pattern.shape[-1]} keys and there are {values.shape[-2]} values: "
            "expected one value for each key"
        )
    dtype = xp.result_type(pattern, values)
    return xp.astype(pattern, dtype) @ xp.astype(values, dtype)


@typed_errors
def causal(scores: Float[Array, "*batch rows n"]) -> Bool[Array, "rows n"]:
    """The mask that hides the future: a row sees the keys up to its own place, the last row sees all.

    >>> import numpy as np
    >>> causal(np.zeros((2, 3)))
    array([[ True,  True, False],
           [ True,  True,  True]])
    """
    scores = as_array(scores)
    xp = _namespace(scores)
    if scores.ndim < 2:
        raise InputError(f"scores have shape {_shape(scores)}: expected two axes or more")
    rows, n = scores.shape[-2:]
    return xp.tril(xp.ones((rows, n), dtype=xp.bool, device=device(scores)), k=n - rows)


def as_array(given: Array) -> Array:
    """An array as it is; a list or a data frame as the array that it holds.

    >>> as_array([[1, 2]])
    array([[1, 2]])
    """
    if is_array_api_obj(given):
        return given
    try:
        return np.asarray(given)
    except ValueError as error:
        raise InputError(f"a {type(given).__name__} that is no array: {error}") from error


def _namespace(*arrays: Array) -> Any:
    try:
        return array_namespace(*arrays)
    except TypeError as error:
        kinds = ", ".join(type(a).__name__ for a in arrays)
        raise InputError(f"got {kinds}: expected arrays of one kind (NumPy, torch, ...)") from error


def floating(xp: Any, name: str, array: Array) -> Array:
    """The array with numbers that can be computed with: of a floating type, in two axes or more.

    >>> floating(np, "keys", np.eye(2, dtype=int)).dtype
    dtype('float64')
    """
    if array.ndim < 2 or 0 in array.shape:
        raise InputError(f"{name} have shape {_shape(array)}: expected two axes or more, none of them empty")
    if isinstance(array, np.ndarray) and array.dtype.name == "bfloat16":  # of ml_dtypes, which the array API knows not
        return array.astype(np.float32)
    if xp.isdtype(array.dtype, "real floating"):
        return array
    if xp.isdtype(array.dtype, ("integral", "bool")):
        return xp.astype(array, xp.float64)
    raise InputError(f"{name} are of type {array.dtype}: expected real numbers")


def _fitting(xp: Any, mask: Array, scores: Array) -> Array:
    if mask.dtype != xp.bool:
        raise InputError(f"the mask is of type {mask.dtype}: expected booleans, True for a key that may be seen")
    try:
        return xp.broadcast_to(mask, scores.shape)
    except (ValueError, RuntimeError) as error:
        raise InputError(f"the mask has shape {_shape(mask)}, the scores {_shape(scores)}") from error


def _each_row(xp: Any, good: Array, error: InputError) -> None:
    if not bool(xp.all(good)):
        row = tuple(int(axis[0]) for axis in xp.nonzero(~xp.all(good, axis=-1)))
        raise type(error)(f"row {row[0] if len(row) == 1 else row} of the scores {error}")


def _shape(array: Array) -> tuple[int, ...]:
    return tuple(int(axis) for axis in array.shape)
