"""How a position enters a layer: added to the tokens, turned into queries and keys, or added to the scores.

    Sinusoidal   rows of sines and cosines are added to the tokens (Vaswani et al., 2017)
    Rotary       queries and keys are turned, pair by pair, by the same angles (Su et al., 2021)
    Alibi        a distance-proportional penalty is added to the scores (Press et al., 2022)
    Learned      rows of a table are added to the tokens

Whatever it does, a scheme knows position t by a row of numbers; two positions with equal rows are the same
position to the layer. Indices start at 0.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device
from flint import arb, fmpq
from jaxtyping import Float

from headwright.argument_types import check_argument
from headwright.errors import InputError
from headwright.files import finite

Array = Any  # a NumPy array, a torch tensor, or anything else that speaks the array API

LARGEST_DIM = 2**20  # larger than any model, small enough to allocate
LARGEST_NUMBER = 1e100  # so that no square of a distance overflows


class Scheme(ABC):
    """The places where a position may enter a layer; each does nothing unless the scheme says otherwise.

    A scheme of one's own says by which numbers it knows a position, and overrides what it needs:

    >>> import numpy as np
    >>> class Counting(Scheme):
    ...     def rows(self, index):
    ...         return index[:, None]
    >>> Counting().embed(np.ones((3, 2))).tolist()
    [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]
    """

    @abstractmethod
    def rows(self, index: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n dim"]:
        """The numbers by which each position is known; the index may have been rounded already."""

    def embed(self, X: Float[Array, "*batch T D"]) -> Float[Array, "*batch T D"]:
        """The tokens with their positions added: X + Phi."""
        return X

    def rotate(self, x: Float[Array, "*batch T d"]) -> Float[Array, "*batch T d"]:
        """Queries or keys, turned by their positions."""
        return x

    def bias(
        self,
        rows: int,  # noqa: ARG002
        n: int,  # noqa: ARG002
        like: Array | None = None,  # noqa: ARG002
    ) -> Float[Array, "heads rows n"] | None:
        """What is added to the scores, or None."""
        return None


@dataclass(frozen=True)
class Waves(Scheme):
    """Positions known by sines and cosines: (sin(t w_i), cos(t w_i)) for w_i = base^(-2i/dim), i < dim/2.

    >>> Sinusoidal(4).frequencies.tolist()
    [1.0, 0.01]
    """

    dim: int
    base: float = 10000.0

    def __post_init__(self) -> None:
        """Refuse what has no waves."""
        _whole("dim", self.dim, 2, LARGEST_DIM)
        if self.dim % 2:
            raise InputError(
                f"dim is {self.dim}: expected an even number, a sine and a cosine for each wave",
                field="dim",
            )
        check_argument("base", self.base, float)
        if not (math.isfinite(self.base) and self.base >= 1):
            raise InputError(
                f"base is {self.base}: expected a finite number of at least 1",
                field="base",
            )

    @property
    def exponents(self) -> list[Fraction]:
        """The exact exponents: w_i = base^exponent."""
        return [Fraction(-2 * i, self.dim) for i in range(self.dim // 2)]

    @property
    def frequencies(self) -> Float[np.ndarray, " half"]:
        """w_i in float64, from w_0 = 1 downwards."""
        return np.power(float(self.base), [float(e) for e in self.exponents])

    def rows(self, index: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n dim"]:
        """Phi[t, 2i] = sin(t w_i), Phi[t, 2i+1] = cos(t w_i).

        >>> import numpy as np
        >>> Sinusoidal(2).rows(np.array([0.0, 1.0])).round(3).tolist()
        [[0.0, 1.0], [0.841, 0.54]]
        """
        return waves(_finite_index(index)[:, None] * self.frequencies)


@dataclass(frozen=True)
class Sinusoidal(Waves):
    """Sinusoidal position embeddings: X + Phi.

    >>> import numpy as np
    >>> Sinusoidal(2).embed(np.zeros((2, 2))).round(3).tolist()
    [[0.0, 1.0], [0.841, 0.54]]
    """

    def embed(self, X: Float[Array, "*batch T D"]) -> Float[Array, "*batch T D"]:
        """X + Phi, in the kind and type of X."""
        X = _tokens("X", X, self.dim)
        return X + _like(self.rows(_count(X)), X)


@dataclass(frozen=True)
class Rotary(Waves):
    """Rotary position embeddings: the pair (2i, 2i+1) of a query or key at t is turned by the angle t w_i.

    The score of two turned vectors depends on their difference alone: <R_t q, R_s k> = <q, R_(s-t) k>.

    >>> import numpy as np
    >>> Rotary(2).rotate(np.array([[1.0, 0.0], [1.0, 0.0]])).round(3).tolist()
    [[1.0, 0.0], [0.54, 0.841]]
    """

    def rotate(self, x: Float[Array, "*batch T d"]) -> Float[Array, "*batch T d"]:
        """(x_2i cos - x_2i+1 sin, x_2i sin + x_2i+1 cos), in the kind and type of x."""
        x = _tokens("x", x, self.dim)
        phi = _like(self.rows(_count(x)), x)  # (T, d)
        sin, cos = phi[..., 0::2], phi[..., 1::2]
        even, odd = x[..., 0::2], x[..., 1::2]
        xp = array_namespace(x)
        turned = xp.stack(
            (even * cos - odd * sin, even * sin + odd * cos), axis=-1
        )  # (*batch, T, d/2, 2)
        return xp.reshape(turned, x.shape)


@dataclass(frozen=True)
class Alibi(Scheme):
    """Attention with linear biases: head h adds -slope_h |distance| to its scores.

    For a power of two, slope_h = 2^(-8h/heads), h = 1..heads. Otherwise the slopes of the power of two below,
    then every second one of the power of two above. A position is known by t * slopes.

    >>> Alibi(8).slopes[:3].tolist()
    [0.5, 0.25, 0.125]
    >>> Alibi(1).bias(2, 2).tolist()
    [[[-0.0, -0.00390625], [-0.00390625, -0.0]]]
    """

    heads: int

    def __post_init__(self) -> None:
        """Refuse a number of heads that is none."""
        _whole("heads", self.heads, 1, LARGEST_DIM)

    @property
    def exponents(self) -> list[Fraction]:
        """The exact exponents: slope_h = 2^exponent."""
        below = 1 << (self.heads.bit_length() - 1)
        first = [Fraction(-8 * h, below) for h in range(1, below + 1)]
        return first + [
            Fraction(-4 * h, below) for h in range(1, 2 * (self.heads - below), 2)
        ]

    @property
    def slopes(self) -> Float[np.ndarray, " heads"]:
        """The slopes in float64."""
        return np.power(2.0, [float(e) for e in self.exponents])

    def rows(self, index: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n dim"]:
        """t * slopes.

        >>> import numpy as np
        >>> Alibi(2).rows(np.array([0.0, 16.0])).tolist()
        [[0.0, 0.0], [1.0, 0.0625]]
        """
        rows: Float[np.ndarray, "n dim"] = _finite_index(index)[:, None] * self.slopes
        return rows

    def bias(
        self, rows: int, n: int, like: Array | None = None
    ) -> Float[Array, "heads rows n"]:
        """-slope |i - j|, one table for each head; the last query stands at the last key.

        It comes as float64 NumPy, or in the kind, type and device of the array `like`. A layer of one head uses
        Alibi(1), and the axis of length 1 broadcasts over its scores.
        """
        for name, count in (("rows", rows), ("n", n)):
            _whole(name, count, 1, 2**31)
        queries, keys = (
            np.arange(n - rows, n, dtype=np.float64),
            np.arange(n, dtype=np.float64),
        )
        table = -self.slopes[:, None, None] * np.abs(
            queries[:, None] - keys
        )  # (heads, rows, n)
        return table if like is None else _like(table, like)


@dataclass(frozen=True, eq=False)
class Learned(Scheme):
    """A table of embeddings, one row for each position, as a model has learned them: X + table.

    The numbers are copied, so later training does not change them.

    >>> import numpy as np
    >>> Learned(np.eye(3)).embed(np.zeros((2, 3))).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """

    table: Float[np.ndarray, "length dim"]

    def __post_init__(self) -> None:
        """Copy the numbers, and refuse what is no table."""
        table = finite(self.table, "the table", axes=2)
        if (most := float(np.abs(table).max())) > LARGEST_NUMBER:
            raise InputError(
                f"the table holds a number of size {most:g}: expected at most {LARGEST_NUMBER:g}"
            )
        table.flags.writeable = False
        object.__setattr__(self, "table", table)

    def rows(self, index: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n dim"]:
        """The rows of the table at whole numbers within it.

        >>> import numpy as np
        >>> Learned(np.eye(2)).rows(np.array([1.0])).tolist()
        [[0.0, 1.0]]
        """
        index = _finite_index(index)
        known = (index >= 0) & (index < len(self.table)) & (index == np.floor(index))
        if not known.all():
            raise InputError(
                f"the index holds {index[~known][0]:g}: expected whole numbers from 0 to {len(self.table) - 1}, "
                "the rows of the table"
            )
        return self.table[index.astype(np.int64)]

    def embed(self, X: Float[Array, "*batch T D"]) -> Float[Array, "*batch T D"]:
        """X + table[:T], in the kind and type of X."""
        X = _tokens("X", X, self.table.shape[1])
        return X + _like(self.rows(_count(X)), X)


def waves(angles: Float[np.ndarray, "n half"]) -> Float[np.ndarray, "n dim"]:
    """sin and cos of each angle, side by side."""
    rows = np.empty((len(angles), 2 * angles.shape[1]))
    np.sin(angles, out=rows[:, 0::2])
    np.cos(angles, out=rows[:, 1::2])
    return rows


def exact_powers(base: float, exponents: list[Fraction]) -> list[arb]:
    """base^exponent for each exponent, in flint's present precision."""
    log = arb(base).log()
    return [(arb(fmpq(e.numerator, e.denominator)) * log).exp() for e in exponents]


def _count(X: Array) -> Float[np.ndarray, " T"]:
    return np.arange(X.shape[-2], dtype=np.float64)


def _like(numbers: Float[np.ndarray, "*shape"], array: Array) -> Array:
    xp = array_namespace(array)
    return xp.asarray(numbers, dtype=array.dtype, device=device(array))


def _tokens(name: str, X: Array, dim: int) -> Array:
    try:
        xp = array_namespace(X)
    except TypeError as error:
        raise InputError(
            f"{name} is a {type(X).__name__}: expected an array (NumPy, torch, ...)"
        ) from error
    if X.ndim < 2 or X.shape[-1] != dim:
        raise InputError(
            f"{name} has shape {tuple(X.shape)}: expected (*batch, T, {dim})"
        )
    if xp.isdtype(X.dtype, "real floating"):
        return X
    if xp.isdtype(X.dtype, ("integral", "bool")):
        return xp.astype(X, xp.float64)
    raise InputError(f"{name} is of type {X.dtype}: expected real numbers")


def _finite_index(index: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    index = np.asarray(index, dtype=np.float64)
    if index.ndim != 1 or not np.isfinite(index).all():
        raise InputError(
            f"the index has shape {index.shape}: expected one axis of finite numbers"
        )
    return index


def _whole(name: str, number: int, least: int, most: int) -> None:
    if (
        isinstance(number, bool)
        or not isinstance(number, int)
        or not least <= number <= most
    ):
        raise InputError(
            f"{name} is {number!r}: expected a whole number from {least} to {most}",
            field=name,
        )
