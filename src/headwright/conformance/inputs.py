"""hw.attention_inputs: queries, keys and values that show errors well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from headwright.argument_types import checked_arguments
from headwright.errors import InputError

Kind = Literal[
    "gaussian", "outliers", "sinks", "equal scores", "extreme scores", "nearly equal"
]
DTypeName = Literal["float32", "float16", "bfloat16", "float64"]


@checked_arguments
def attention_inputs(
    kind: Kind = "gaussian",
    *,
    batch: int = 1,
    heads: int = 2,
    key_heads: int | None = None,
    rows: int = 256,
    keys: int | None = None,
    dim: int = 64,
    dtype: DTypeName = "bfloat16",
    framework: Literal["numpy", "torch"] = "numpy",
    device: str = "cpu",
    seed: int = 0,
) -> tuple[Any, Any, Any]:
    """Queries, keys and values (batch, heads, tokens, dim), the same for the same seed.

    gaussian        independent normal numbers
    outliers        a few columns of q and k are 20 times as large
    sinks           the first key has a much larger score than the others
    equal scores    queries are 0: every key that is seen has the same weight
    extreme scores  scores with a standard deviation of 8
    nearly equal    keys that differ in their last digits only

    >>> q, k, v = attention_inputs("sinks", rows=4, dim=8, dtype="float32")
    >>> q.shape, q.dtype
    ((1, 2, 4, 8), dtype('float32'))
    """
    sizes = (batch, heads, rows, dim)
    if min(*sizes, key_heads or heads, keys or rows) < 1:
        raise InputError(
            f"batch, heads, rows, dim {sizes}: expected at least 1 of each"
        )
    if seed < 0:
        raise InputError(f"seed is {seed}: expected 0 or more", field="seed")
    rng = np.random.default_rng(seed)
    q = rng.standard_normal(sizes)
    key_sizes = (batch, key_heads or heads, keys or rows, dim)
    k = rng.standard_normal(key_sizes)
    v = rng.standard_normal(key_sizes)
    q, k = GENERATORS[kind](q, k)
    arrays = [as_type(array, dtype, framework, device) for array in (q, k, v)]
    return arrays[0], arrays[1], arrays[2]


def as_type(array: np.ndarray, dtype: str, framework: str, device: str) -> Any:
    """An array in a number type and a library."""
    if framework == "torch":
        import torch

        tensor = torch.from_numpy(array).to(getattr(torch, dtype))
        try:
            return tensor.to(device)
        except (RuntimeError, AssertionError) as error:
            reason = " ".join(str(error).split())[:200]
            raise InputError(f"device is {device!r}: {reason}") from error
    import ml_dtypes

    if dtype == "bfloat16":
        return array.astype(ml_dtypes.bfloat16)
    return array.astype(dtype)


Pair = tuple[np.ndarray, np.ndarray]


def _gaussian(q: np.ndarray, k: np.ndarray) -> Pair:
    return q, k


def _outliers(q: np.ndarray, k: np.ndarray) -> Pair:
    few = max(1, q.shape[3] // 32)
    q[..., :few] *= 20
    k[..., :few] *= 20
    return q / 4, k / 4


def _sinks(q: np.ndarray, k: np.ndarray) -> Pair:
    q[..., 0] = 8
    k[..., 0, 0] = q.shape[3] ** 0.5
    return q, k


def _equal_scores(q: np.ndarray, k: np.ndarray) -> Pair:
    return q * 0, k


def _extreme_scores(q: np.ndarray, k: np.ndarray) -> Pair:
    return q * 8, k


def _nearly_equal(q: np.ndarray, k: np.ndarray) -> Pair:
    first = k[:, :, :1]
    return q, first + (k - first) * 2.0**-7


GENERATORS: dict[str, Callable[[np.ndarray, np.ndarray], Pair]] = {
    "gaussian": _gaussian,
    "outliers": _outliers,
    "sinks": _sinks,
    "equal scores": _equal_scores,
    "extreme scores": _extreme_scores,
    "nearly equal": _nearly_equal,
}
