"""Numbers of an exported layer, stored in its own type and changed by powers of two only; the error of running it.

The weights are exact in every export. Sums and exponentials in floating point are not, and their error is bounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
from jaxtyping import Float

from headwright.errors import InputError
from headwright.extras import require
from headwright.head_design.head import HeadLayer, patterns
from headwright.numerics.float_formats import BFLOAT16, FLOAT32, FLOAT64

if TYPE_CHECKING:
    from headwright.head_design.export.huggingface import HiddenShape

FORMATS = {"float64": FLOAT64, "float32": FLOAT32, "bfloat16": BFLOAT16}
TYPES: dict[str, Any] = {
    "float64": np.float64,
    "float32": np.float32,
    "bfloat16": ml_dtypes.bfloat16,
}
EXP = 4  # how many roundings a library's exp may be off by
NORM = 8  # how many LayerNorm has beside its two sums


def load_extra(name: str, extra: str) -> Any:
    """The module of that name, which the extra brings."""
    package = name.partition(".")[0]
    require(extra, "the export", package)
    return import_module(name)


def runs_in(dtype: str) -> str:
    """The type in which weights of a type are run unless asked otherwise: bfloat16's own arithmetic is too coarse."""
    return "float32" if dtype == "bfloat16" else dtype


def stored(matrix: Float[np.ndarray, ...], dtype: str, what: str) -> np.ndarray:
    """The same numbers in that type, bit for bit; refused where the type cannot hold one of them."""
    wide = np.asarray(matrix).astype(np.float64)
    narrow = wide.astype(TYPES[dtype])
    changed = narrow.astype(np.float64) != wide
    if changed.any():
        number = float(wide[changed][0])
        raise InputError(
            f"{what} holds {number!r}, which is no {dtype}: expected numbers of that type; round them "
            "first"
        )
    return narrow


def holds(dtype: str, numbers: Float[np.ndarray, ...]) -> bool:
    """Whether the type holds each of the numbers exactly."""
    return bool((numbers.astype(TYPES[dtype]).astype(np.float64) == numbers).all())


def rounded_down(numbers: Float[np.ndarray, ...], dtype: str) -> Float[np.ndarray, ...]:
    """Numbers of 0 or more, each the next of that type below it, as float64."""
    significand, exponent = np.frexp(numbers)
    bits = FORMATS[dtype].precision
    down: Float[np.ndarray, ...] = np.ldexp(
        np.floor(np.ldexp(significand, bits)), exponent - bits
    )
    return down


def width_of_head(least: int) -> int:
    """The least power of four from `least` on: its square root is a power of two, by which scaling is exact."""
    width = 1
    while width < least:
        width *= 4
    return width


@dataclass(frozen=True)
class FloatError:
    """The most that running a layer in a number type moves an entry of a pattern, and of an output."""

    pattern: float
    output: float


def float_error(
    layer: HeadLayer,
    X: Float[np.ndarray, "T D"],
    dtype: str,
    *,
    softmax: str | None = None,
    hidden: HiddenShape | None = None,
) -> FloatError:
    """The textbook bound: n roundings of relative size u change a sum by n u / (1 - n u) of its terms' magnitudes.

    It holds for any order of summation, and takes the library's exp to be right within a few roundings. A softmax may
    run in another type than the rest (transformers: always float32). `hidden` is the shape of the Hugging Face export,
    whose LayerNorm rounds tokens as well. Tokens must be numbers of the type. It is infinite where nothing can be said:
    where numbers overflow, or tokens are lost beside what gives them one length.

    >>> from headwright.head_design import Head, HeadLayer
    >>> head = Head(W_Q=np.eye(2), W_K=np.eye(2), W_V=np.eye(2))
    >>> layer = HeadLayer((head,), causal=False, dtype="float32")
    >>> 0 < float_error(layer, np.eye(2), "float32").output < 1e-4
    True
    """
    X = X.astype(np.float64)
    m, D = layer.heads[0].W_V.shape
    T = len(X)
    u = FORMATS[dtype].unit_roundoff
    v = FORMATS[softmax or dtype].unit_roundoff
    largest = FORMATS[dtype].largest
    # LayerNorm: a mean of numbers of size 2^power that should be 0, and a scale that should be a power of two
    off, size_of = (
        (0.0, 0.0)
        if hidden is None
        else (_gamma(hidden.hidden + NORM, u), 2.0**hidden.power)
    )
    if (
        hidden is not None and hidden.hidden * size_of**2 >= largest / 4
    ):  # LayerNorm squares, and sums
        return FloatError(float("inf"), float("inf"))
    worst = 0.0
    total = np.zeros((T, m))
    for h, (head, A) in enumerate(zip(layer.heads, patterns(layer, X), strict=True)):
        magnitudes = [
            np.abs(W.astype(np.float64)).T for W in (head.W_Q, head.W_K, head.W_V)
        ]
        Q, K, V = (np.abs(X) @ W for W in magnitudes)
        Q, V = (
            W if b is None else W + np.abs(b) for W, b in ((Q, head.b_Q), (V, head.b_V))
        )
        q, k, v_ = (
            off * (np.abs(X) + size_of) @ W for W in magnitudes
        )  # what LayerNorm may add to each
        added = np.abs(layer.added(h, T))
        size = float(
            ((Q + q) @ (K + k).T + added).max()
        )  # the magnitudes that a score is summed from
        moved = _gamma(2 * D + head.head_dim + 2, u) * size + float(
            (q @ K.T + Q @ k.T + q @ k.T).max()
        )
        # exp(score - largest) over a sum of T of them: both scores may move, and the difference is rounded
        if not max(size, float(Q.max()), float(K.max()), float(V.max())) < largest / 4:
            return FloatError(float("inf"), float("inf"))
        relative = (
            float(np.expm1(min(2 * moved + 2 * v * size, 700.0)))
            + _gamma(T + 2 * EXP + 4, v)
            + 2 * u
        )
        worst = max(worst, float((A * relative).max()))
        total += (relative + _gamma(D + T + 2, u)) * (A @ (V + v_)) + A @ v_
    return FloatError(worst, float(total.max()) * (1 + _gamma(len(layer.heads), u)))


def _gamma(n: int, u: float) -> float:
    return n * u / (1 - n * u) if n * u < 0.5 else float("inf")
