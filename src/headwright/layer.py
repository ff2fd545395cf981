"""A layer of self-attention and feed-forward; and whether a module depends on the order of its tokens.

    Q = X W_Q,  K = X W_K,  V = X W_V,  H = softmax(Q K^T / sqrt(d)) V,  Z = relu(H W_1 + 1 b_1) W_2 + 1 b_2

Without positions (and without a causal mask) a layer is permutation-equivariant: Z(P X) = P Z(X) for every
permutation P of the tokens. Positions break that, which is what they are for.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from array_api_compat import array_namespace, device
from jaxtyping import Float, Int

from headwright import attention
from headwright.argument_types import check_argument
from headwright.arrays import Array, as_array, floating
from headwright.errors import InputError
from headwright.notebook import outline

if TYPE_CHECKING:
    from headwright.positions import Scheme


@dataclass(frozen=True)
class Layer:
    """The parameters of one layer; calling it with tokens X gives Z.

    >>> import numpy as np
    >>> layer = random_layer(4, seed=1)
    >>> layer(np.ones((3, 4))).shape
    (3, 4)
    """

    W_Q: Float[Array, "D d"]
    W_K: Float[Array, "D d"]
    W_V: Float[Array, "D d"]
    W_1: Float[Array, "d hidden"]
    b_1: Float[Array, " hidden"]
    W_2: Float[Array, "hidden D"]
    b_2: Float[Array, " D"]
    positions: Scheme | None = None
    causal: bool = False
    __repr__ = outline

    def __call__(self, X: Float[Array, "*batch T D"]) -> Float[Array, "*batch T D"]:
        """Z(X)."""
        xp = array_namespace(X)
        if X.shape[-1] != self.W_Q.shape[0]:
            raise InputError(
                f"tokens have {X.shape[-1]} features, this layer takes {self.W_Q.shape[0]}"
            )
        if self.positions is not None:
            X = self.positions.embed(X)
        Q = X @ self.W_Q  # (*batch, T, d)
        K = X @ self.W_K
        V = X @ self.W_V
        if self.positions is not None:
            Q = self.positions.rotate(Q)
            K = self.positions.rotate(K)
        s = attention.scores(K, Q, scale=1 / math.sqrt(Q.shape[-1]))  # (*batch, T, T)
        s = self._with_bias(s)
        mask = attention.causal(s) if self.causal else None
        alpha = attention.pattern(s, mask)  # (*batch, T, T)
        H = attention.output(alpha, V)  # (*batch, T, d)
        hidden = xp.clip(H @ self.W_1 + self.b_1, min=0.0)  # (*batch, T, hidden)
        return hidden @ self.W_2 + self.b_2

    def _with_bias(self, s: Float[Array, "*batch T T"]) -> Float[Array, "*batch T T"]:
        """The scores with what the positions add to them."""
        if self.positions is None:
            return s
        T = s.shape[-1]
        bias = self.positions.bias(T, T, like=s)
        if bias is None:
            return s
        if bias.shape[0] != 1:
            raise InputError(
                f"the positions have biases for {bias.shape[0]} heads, this layer has one head"
            )
        return s + bias[0]


@dataclass(frozen=True)
class Defect:
    """How far f(P X) is from P f(X), in floating point, for the worst permutation tried.

    >>> defect = equivariance_defect(lambda X: X + X.sum(axis=-2, keepdims=True), np.eye(3))
    >>> defect.absolute, defect.tried, defect.exhaustive
    (0.0, 5, True)
    """

    absolute: float  # the largest entry of |f(P X) - P f(X)|
    relative: float  # that over the largest entry of |f(X)|; a few epsilon is rounding
    epsilon: float  # the spacing of the number type at 1
    permutation: tuple[int, ...]  # (P X)_i = X_{permutation[i]}
    tried: int
    exhaustive: bool  # every permutation but the identity was tried


def permute(
    X: Float[Array, "*batch T D"], permutation: Int[Array, " T"]
) -> Float[Array, "*batch T D"]:
    """P X: row i of the result is row permutation[i] of X.

    >>> permute(np.array([[10], [20], [30]]), np.array([2, 0, 1])).ravel().tolist()
    [30, 10, 20]
    """
    X = as_array(X)
    if X.ndim < 2:
        raise InputError(f"tokens have shape {tuple(X.shape)}: expected (..., T, D)")
    xp = array_namespace(X)
    indices = _as_permutation(permutation, int(X.shape[-2]))
    order = xp.asarray(indices, dtype=xp.int64, device=device(X))
    return xp.take(X, order, axis=X.ndim - 2)


def equivariance_defect(
    module: Callable[[Array], Array],
    X: Float[Array, "*batch T D"],
    P: Int[Array, " T"] | Int[Array, "T T"] | None = None,
    *,
    tries: int = 200,
    seed: int = 0,
) -> Defect:
    """Does a module depend on the order of its tokens? The worst |f(P X) - P f(X)| over permutations P.

    The module is a Layer, a torch module or any function of tokens (*batch, T, D) that returns one row for
    each token. P is a permutation of 0..T-1 or its matrix; without P, permutations are searched: all of them
    where there are no more than `tries`, else so many random ones.

    >>> from headwright import Sinusoidal
    >>> X = np.random.default_rng(0).normal(size=(4, 6))
    >>> plain = equivariance_defect(random_layer(6), X)
    >>> plain.relative < 1e-12, plain.exhaustive
    (True, True)
    >>> equivariance_defect(random_layer(6, positions=Sinusoidal(6)), X).relative > 0.01
    True
    """
    check_argument("module", module, Callable[[Array], Array])
    check_argument("tries", tries, int)
    check_argument("seed", seed, int)
    X = as_array(X)
    if hasattr(X, "detach"):  # torch: only the numbers are wanted, not their gradients
        X = X.detach()
    X = floating(array_namespace(X), "tokens", X)
    if tries < 1:
        raise InputError(f"{tries} tries: expected at least 1")
    T = int(X.shape[-2])
    plain = _run(module, X)
    again = _largest(_run(module, X) - plain)
    if again > 0:
        raise InputError(
            f"the module is random: two runs on the same tokens differ by {again:.3g}; "
            "switch its randomness off (torch: module.eval()) before asking about order"
        )

    def defect(permutation: tuple[int, ...]) -> float:
        p = np.asarray(permutation)
        return _largest(_run(module, permute(X, p)) - permute(plain, p))

    candidates: Iterable[tuple[int, ...]]
    is_exhaustive = False
    if P is not None:
        candidates = [_as_permutation(P, T)]
    elif T < 20 and math.factorial(T) - 1 <= tries:
        candidates = itertools.islice(itertools.permutations(range(T)), 1, None)
        is_exhaustive = True
    else:
        rng = np.random.default_rng(seed)
        candidates = (tuple(rng.permutation(T).tolist()) for _ in range(tries))
    defects = {p: defect(p) for p in candidates}
    if not defects:  # one token has no permutation but the identity
        defects = {tuple(range(T)): 0.0}
    worst = max(defects, key=defects.__getitem__)
    size = _largest(plain)
    return Defect(
        absolute=defects[worst],
        relative=defects[worst] / size if size > 0 else defects[worst],
        epsilon=float(array_namespace(plain).finfo(plain.dtype).eps),
        permutation=worst,
        tried=len(defects),
        exhaustive=is_exhaustive,
    )


def random_layer(
    dim: int,
    *,
    head_dim: int | None = None,
    hidden: int | None = None,
    positions: Scheme | None = None,
    causal: bool = False,
    seed: int = 0,
) -> Layer:
    """A layer with Gaussian parameters of a sensible size, for experiments.

    >>> random_layer(4, head_dim=2).W_Q.shape
    (4, 2)
    """
    check_argument("dim", dim, int)
    check_argument("head_dim", head_dim, int | None)
    check_argument("hidden", hidden, int | None)
    check_argument("seed", seed, int)
    rng = np.random.default_rng(seed)
    d = head_dim or dim
    m = hidden or 4 * dim

    def matrix(rows: int, columns: int) -> Float[np.ndarray, "rows columns"]:
        return rng.normal(size=(rows, columns)) / math.sqrt(rows)

    return Layer(
        W_Q=matrix(dim, d),
        W_K=matrix(dim, d),
        W_V=matrix(dim, d),
        W_1=matrix(d, m),
        b_1=rng.normal(size=m),
        W_2=matrix(m, dim),
        b_2=rng.normal(size=dim),
        positions=positions,
        causal=causal,
    )


def _as_permutation(P: Array, T: int) -> tuple[int, ...]:
    matrix = np.asarray(P)
    order = matrix.argmax(axis=1) if matrix.shape == (T, T) else matrix
    proper = order.ndim == 1 and sorted(order.tolist()) == list(range(T))
    if not proper or (
        matrix.ndim == 2 and not np.array_equal(np.eye(T)[order], matrix)
    ):
        raise InputError(
            f"P is not a permutation of the {T} tokens: expected 0..{T - 1} in some order, or its matrix"
        )
    return tuple(order.tolist())


def _run(module: Callable[[Array], Array], X: Array) -> Array:
    try:
        Z = module(X)
    except (RuntimeError, ValueError, TypeError, AssertionError, IndexError) as error:
        raise InputError(
            f"the module takes no tokens of shape {tuple(X.shape)} ({error}); if it expects a batch, give it X[None]"
        ) from error
    if isinstance(Z, tuple) and Z:  # (output, weights), as torch's attention returns
        Z = Z[0]
    if hasattr(Z, "detach"):  # torch: only the numbers are wanted, not their gradients
        Z = Z.detach()
    if not hasattr(Z, "shape") or tuple(Z.shape[:-1]) != tuple(X.shape[:-1]):
        shape = tuple(Z.shape) if hasattr(Z, "shape") else type(Z).__name__
        raise InputError(
            f"the module made {shape} of tokens {tuple(X.shape)}: expected one row for each token"
        )
    return Z


def _largest(array: Array) -> float:
    xp = array_namespace(array)
    return float(xp.max(xp.abs(array)))
