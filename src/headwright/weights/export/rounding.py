"""What a machine's own arithmetic may add to a layer: the weights are exact in every export, sums and exps are not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from jaxtyping import Float

from headwright.weights.export.numbers import BITS
from headwright.weights.head import HeadLayer, patterns

EXP = 4  # how many roundings a library's exp may be off by
NORM = 8  # how many LayerNorm has beside its two sums
LARGEST = {"float64": 1.7e308, "float32": 3.4e38, "bfloat16": 3.3e38}  # numbers of a type, about


@dataclass(frozen=True)
class FloatError:
    """The most that running a layer in a number type moves an entry of a pattern, and of an output.

    >>> FloatError(pattern=1e-6, output=2e-6).output
    2e-06
    """

    pattern: float
    output: float


class Normed(Protocol):
    """Hidden states of one length that LayerNorm multiplies by 2^-power: the Hugging Face export's shape is one."""

    @property
    def hidden(self) -> int:
        """How many numbers they have."""

    @property
    def power(self) -> int:
        """Of two; their numbers are of about that size."""


def float_error(
    layer: HeadLayer,
    X: Float[np.ndarray, "T D"],
    dtype: str,
    *,
    softmax: str | None = None,
    hidden: Normed | None = None,
) -> FloatError:
    """The textbook bound: n roundings of relative size u change a sum by n u / (1 - n u) of its terms' magnitudes.

    It holds for any order of summation, and takes the library's exp to be right within a few roundings. A softmax may
    run in another type than the rest (transformers: always float32). `hidden` is the shape of the Hugging Face export,
    whose LayerNorm rounds tokens as well. Tokens must be numbers of the type. It is infinite where nothing can be said:
    where numbers overflow, or tokens are lost beside what gives them one length.

    >>> from headwright.weights.head import Head
    >>> layer = HeadLayer((Head(np.eye(2), np.eye(2), np.eye(2)),), causal=False, dtype="float32")
    >>> float_error(layer, np.eye(2), "float32").pattern < 5e-6
    True
    """
    X, (m, D) = X.astype(np.float64), layer.heads[0].W_V.shape
    T, u, v = len(X), 2.0 ** -BITS[dtype], 2.0 ** -BITS[softmax or dtype]
    # LayerNorm: a mean of numbers of size 2^power that should be 0, and a scale that should be a power of two
    off, size_of = (0.0, 0.0) if hidden is None else (_gamma(hidden.hidden + NORM, u), 2.0**hidden.power)
    if hidden is not None and hidden.hidden * size_of**2 >= LARGEST[dtype] / 4:  # LayerNorm squares, and sums
        return FloatError(float("inf"), float("inf"))
    worst, total = 0.0, np.zeros((T, m))
    for h, (head, A) in enumerate(zip(layer.heads, patterns(layer, X), strict=True)):
        magnitudes = [np.abs(W.astype(np.float64)).T for W in (head.W_Q, head.W_K, head.W_V)]
        Q, K, V = (np.abs(X) @ W for W in magnitudes)
        Q, V = (W if b is None else W + np.abs(b) for W, b in ((Q, head.b_Q), (V, head.b_V)))
        q, k, v_ = (off * (np.abs(X) + size_of) @ W for W in magnitudes)  # what LayerNorm may add to each
        added = np.abs(layer.added(h, T))
        size = float(((Q + q) @ (K + k).T + added).max())  # the magnitudes that a score is summed from
        moved = _gamma(2 * D + head.head_dim + 2, u) * size + float((q @ K.T + Q @ k.T + q @ k.T).max())
        # exp(score - largest) over a sum of T of them: both scores may move, and the difference is rounded
        if not max(size, float(Q.max()), float(K.max()), float(V.max())) < LARGEST[dtype] / 4:
            return FloatError(float("inf"), float("inf"))
        relative = float(np.expm1(min(2 * moved + 2 * v * size, 700.0))) + _gamma(T + 2 * EXP + 4, v) + 2 * u
        worst = max(worst, float((A * relative).max()))
        total += (relative + _gamma(D + T + 2, u)) * (A @ (V + v_)) + A @ v_
    return FloatError(worst, float(total.max()) * (1 + _gamma(len(layer.heads), u)))


def _gamma(n: int, u: float) -> float:
    return n * u / (1 - n * u) if n * u < 0.5 else float("inf")
