"""A head, and heads side by side: the weights, and what they do with tokens.

query of x: W_Q x      key: W_K x      value: W_V x
scores_ij = <W_K x_j, W_Q x_i>         scale 1: a library's 1/sqrt(d) is folded into W_Q by its export
biases    : W_Q x + b_Q, W_V x + b_V, and a table of places added to the scores, where there are any
output_i  = sum over the heads of sum_j pattern_ij W_V x_j
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Bool, Float

from headwright import attention
from headwright.argument_types import check_argument
from headwright.errors import InputError
from headwright.files import finite

Vector = tuple[Fraction, ...]
Table = tuple[Vector, ...]
DTYPES = ("float64", "float32", "bfloat16")


@dataclass(frozen=True, eq=False)
class Head:
    """One head. Tokens are rows x in R^D. Query of x: W_Q x + b_Q. Key: W_K x. Value: W_V x + b_V, as long as outputs.

    Without biases b_Q and b_V are None. Keys have none: it would add the same to all scores of a query.

    >>> Head(np.eye(2), np.eye(2), np.eye(2)).head_dim
    2
    """

    W_Q: Float[np.ndarray, "r D"]
    W_K: Float[np.ndarray, "r D"]
    W_V: Float[np.ndarray, "m D"]
    b_Q: Float[np.ndarray, " r"] | None = None  # noqa: N815  (their names in the mathematics)
    b_V: Float[np.ndarray, " m"] | None = None  # noqa: N815

    def __post_init__(self) -> None:
        for name in ("W_Q", "W_K", "W_V"):
            matrix = getattr(self, name)
            if (
                not isinstance(matrix, np.ndarray)
                or matrix.ndim != 2
                or not np.isfinite(matrix).all()
            ):
                raise InputError(f"{name}: expected a matrix of finite numbers")
        shapes = self.W_Q.shape, self.W_K.shape, self.W_V.shape
        if shapes[0] != shapes[1] or shapes[0][1] != shapes[2][1]:
            raise InputError(
                f"W_Q, W_K, W_V have the shapes {shapes}: expected (r, D), (r, D), (m, D)"
            )
        if (self.b_Q is None) != (self.b_V is None):
            raise InputError(
                "b_Q without b_V, or b_V without b_Q: expected both or neither (they may be 0)"
            )
        for b, name, W in ((self.b_Q, "b_Q", self.W_Q), (self.b_V, "b_V", self.W_V)):
            if b is not None and (b.shape != (len(W),) or not np.isfinite(b).all()):
                raise InputError(
                    f"{name} has the shape {b.shape}: expected {len(W)} finite numbers"
                )

    @property
    def head_dim(self) -> int:
        """r: how long its queries and keys are."""
        return int(self.W_Q.shape[0])

    @property
    def M(self) -> Float[np.ndarray, "D D"]:  # noqa: N802  (its name in the mathematics)
        """W_K^T W_Q, on which alone the scores depend: x_j^T M x_i."""
        M: Float[np.ndarray, "D D"] = self.W_K.T @ self.W_Q
        return M


@dataclass(frozen=True, eq=False)
class HeadLayer:
    """Heads side by side; the output of token i is the sum over the heads of sum_j pattern_ij W_V x_j.

    >>> layer = HeadLayer((Head(np.eye(2), np.eye(2), np.eye(2)),), causal=True, dtype="float64")
    >>> outputs(layer, np.eye(2))[0]
    array([1., 0.])
    """

    heads: tuple[Head, ...]
    causal: bool  # token i sees tokens 0..i
    dtype: str  # "float64", "float32", "bfloat16": every number in the weights is one of these
    # Rows of 0 and 1: token i sees token j where row i has a 1 in place j.
    mask: tuple[str, ...] = ()
    # For each head, or none: what is added to the score that token i gives token j.
    bias: tuple[Table, ...] = ()

    def __repr__(self) -> str:
        """The sizes, not the weights."""
        d, D = self.heads[0].W_Q.shape
        return f"HeadLayer({len(self.heads)} heads of dimension {d} for tokens in R^{D}, {self.dtype})"

    def visible(self, T: int) -> Bool[np.ndarray, "T T"] | None:
        """Who sees whom in a sequence of T tokens; None: everyone sees all.

        >>> layer = HeadLayer((Head(np.eye(2), np.eye(2), np.eye(2)),), False, "float64", mask=("10", "11"))
        >>> layer.visible(2).tolist()
        [[True, False], [True, True]]
        """
        if self.mask and len(self.mask) < T:
            raise InputError(
                f"{T} tokens, and the layer's mask is for {len(self.mask)}: expected no more"
            )
        if self.mask:
            return np.array(
                [[digit == "1" for digit in row[:T]] for row in self.mask[:T]]
            )
        return np.tril(np.ones((T, T), dtype=bool)) if self.causal else None

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES:
            raise InputError(
                f"dtype is {self.dtype!r}: expected one of {', '.join(DTYPES)}"
            )
        if not self.heads:
            raise InputError("a layer without heads: expected at least one")
        shapes = {(head.W_V.shape, head.W_Q.shape[1]) for head in self.heads}
        if len(shapes) > 1:
            raise InputError(
                f"heads whose W_V have the shapes {sorted(shape for shape, _ in shapes)}: expected one"
            )
        if len({head.b_Q is None for head in self.heads}) > 1 or len(self.bias) not in (
            0,
            len(self.heads),
        ):
            raise InputError(
                "some heads have biases and some have none: expected all or none"
            )

    @property
    def biases(self) -> bool:
        """Its heads have b_Q and b_V."""
        return self.heads[0].b_Q is not None

    def added(self, head: int, T: int) -> Float[np.ndarray, "T T"] | float:
        """What is added to the scores of a head for a sequence of T tokens, in floating point."""
        if not self.bias:
            return 0.0
        if len(self.bias[head]) < T:
            raise InputError(
                f"{T} tokens, and the layer has biases for {len(self.bias[head])} places: expected no more"
            )
        return np.array([[float(x) for x in row[:T]] for row in self.bias[head][:T]])


def patterns(
    layer: HeadLayer, X: Float[np.ndarray, "T D"]
) -> Float[np.ndarray, "heads T T"]:
    """The pattern of each head, in float64: row i says what token i attends to.

    >>> layer = HeadLayer((Head(np.eye(2), np.eye(2), np.eye(2)),), causal=True, dtype="float64")
    >>> patterns(layer, np.eye(2)).round(3)
    array([[[1.   , 0.   ],
            [0.269, 0.731]]])
    """
    check_argument("layer", layer, HeadLayer)
    X = finite(X, "X", axes=2)
    patterns_of_heads = []
    for h, head in enumerate(layer.heads):
        # Keys and queries, (T, r) each.
        K = X @ head.W_K.T.astype(np.float64)
        Q = X @ head.W_Q.T.astype(np.float64)
        Q = Q if head.b_Q is None else Q + head.b_Q
        s = attention.scores(K, Q) + layer.added(h, len(X))  # (T, T)
        patterns_of_heads.append(attention.pattern(s, layer.visible(len(X))))
    return np.stack(patterns_of_heads)


def outputs(layer: HeadLayer, X: Float[np.ndarray, "T D"]) -> Float[np.ndarray, "T m"]:
    """What each token outputs, in float64.

    >>> layer = HeadLayer((Head(np.eye(2), np.eye(2), np.eye(2)),), causal=False, dtype="float64")
    >>> outputs(layer, np.zeros((3, 2)))
    array([[0., 0.],
           [0., 0.],
           [0., 0.]])
    """
    check_argument("layer", layer, HeadLayer)
    X = finite(X, "X", axes=2)
    values = [X @ head.W_V.T.astype(np.float64) for head in layer.heads]  # (T, m) each
    values = [
        V if head.b_V is None else V + head.b_V
        for V, head in zip(values, layer.heads, strict=True)
    ]
    mixed = [
        attention.output(A, V) for A, V in zip(patterns(layer, X), values, strict=True)
    ]
    total: Float[np.ndarray, "T m"] = np.sum(mixed, axis=0)
    return total
