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

from dataclasses import dataclass

import numpy as np
from array_api_compat import device
from jaxtyping import Bool, Float

from headwright.argument_types import check_argument
from headwright.arrays import (
    Array,
    as_array,
    check_rows,
    floating,
    mask_for,
    namespace,
    shape_of,
)
from headwright.errors import FullyMaskedError, InputError
from headwright.notebook import attention_card, attention_lines


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
    __repr__ = attention_lines
    _repr_html_ = attention_card


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
    keys = as_array(keys)
    queries = as_array(queries)
    values = keys if values is None else as_array(values)
    namespace(keys, queries)
    if queries.ndim == 1:  # a single query is one head
        queries = queries[None, :]
    s = scores(keys, queries, scale=scale)  # (*batch, heads, n)
    alpha = pattern(s, mask)  # (*batch, heads, n)
    c = output(alpha, values)  # (*batch, heads, dv)
    return Attention(s, alpha, namespace(c).mean(c, axis=-2))


def scores(
    keys: Float[Array, "*batch n d"],
    queries: Float[Array, "*batch rows d"],
    *,
    scale: float = 1.0,
) -> Float[Array, "*batch rows n"]:
    """How well each key matches each query: scale * <k_i, q>.

    >>> import numpy as np
    >>> scores(np.eye(3), np.array([[1.0, 2.0, 3.0]]), scale=0.5)
    array([[0.5, 1. , 1.5]])
    """
    check_argument("scale", scale, float)
    keys = as_array(keys)
    queries = as_array(queries)
    xp = namespace(keys, queries)
    keys = floating(xp, "keys", keys)
    queries = floating(xp, "queries", queries)
    if keys.shape[-1] != queries.shape[-1]:
        raise InputError(
            f"keys have shape {shape_of(keys)} and queries {shape_of(queries)}: the last axes differ",
            field="keys",
        )
    dtype = xp.result_type(keys, queries)
    scaled = xp.astype(queries, dtype)
    with np.errstate(over="ignore", invalid="ignore"):  # refused in a sentence below
        s = (scaled * scale) @ xp.matrix_transpose(xp.astype(keys, dtype))
    too_large = InputError(
        "holds a number that is not finite, or too large for its type"
    )
    check_rows(xp, xp.isfinite(s), too_large)
    return s


def pattern(
    scores: Float[Array, "*batch rows n"],
    mask: Bool[Array, "*batch rows n"] | None = None,
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
    xp = namespace(scores)
    s = floating(xp, "scores", scores)
    if mask is not None:
        minus_infinity = xp.asarray(-xp.inf, dtype=s.dtype, device=device(s))
        s = xp.where(mask_for(xp, mask, s), s, minus_infinity)
    check_rows(xp, s < xp.inf, InputError("holds inf or nan: expected finite numbers"))
    top = xp.max(s, axis=-1, keepdims=True)
    no_key = FullyMaskedError("is fully masked: no key is left to attend to")
    check_rows(xp, top > -xp.inf, no_key)
    # Halves, because s - top overflows for scores near the largest number; the floor, because exp is 0 there.
    below = xp.clip(s / 2 - top / 2, min=-1e4)
    e = xp.exp(2 * below)
    return e / xp.sum(e, axis=-1, keepdims=True)


def output(
    pattern: Float[Array, "*batch rows n"], values: Float[Array, "*batch n dv"]
) -> Float[Array, "*batch rows dv"]:
    """The mixture of the values that the pattern asks for, one for each row.

    >>> import numpy as np
    >>> output(np.array([[0.25, 0.75]]), np.array([[0.0], [4.0]]))
    array([[3.]])
    """
    pattern = as_array(pattern)
    values = as_array(values)
    xp = namespace(pattern, values)
    values = floating(xp, "values", values)
    pattern = floating(xp, "pattern", pattern)
    if values.shape[-2] != pattern.shape[-1]:
        raise InputError(
            f"the pattern covers {pattern.shape[-1]} keys and there are {values.shape[-2]} values: "
            "expected one value for each key"
        )
    dtype = xp.result_type(pattern, values)
    return xp.astype(pattern, dtype) @ xp.astype(values, dtype)


def causal(scores: Float[Array, "*batch rows n"]) -> Bool[Array, "rows n"]:
    """The mask that hides the future: a row sees the keys up to its own place, the last row sees all.

    >>> import numpy as np
    >>> causal(np.zeros((2, 3)))
    array([[ True,  True, False],
           [ True,  True,  True]])
    """
    scores = as_array(scores)
    xp = namespace(scores)
    if scores.ndim < 2:
        raise InputError(
            f"scores have shape {shape_of(scores)}: expected two axes or more"
        )
    rows, n = scores.shape[-2:]
    visible = xp.ones((rows, n), dtype=xp.bool, device=device(scores))
    return xp.tril(visible, k=n - rows)
