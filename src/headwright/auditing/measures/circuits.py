"""The rank of a head's QK and OV circuits, and the share of what its layer writes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headwright.auditing.measures.rounding import RowSample
from headwright.models.model import Circuits

UNIT = 2.0**-53
ENERGY = 0.9  # of sum sigma^2 that a rank has to keep
DEAD = 0.01  # of an even share


@dataclass(frozen=True, eq=False)
class Spectrum:
    """sigma_1 >= sigma_2 >= ... of a circuit, each between `lower` and `upper`: proven, for its exact matrices."""

    lower: Float[np.ndarray, " k"]
    upper: Float[np.ndarray, " k"]

    @property
    def rank(self) -> int:
        """The smallest rank that certainly keeps 90 % of sum sigma^2."""
        # By rank r: the energy of the first r values from below, that of the others from above.
        kept = np.cumsum(self.lower**2)
        lost = np.append(np.cumsum(self.upper[::-1] ** 2)[::-1][1:], 0.0)
        # The factors cover what the sums may lose.
        enough = kept * (1 - 1e-12) >= ENERGY * (kept + lost) * (1 + 1e-12)
        return int(np.argmax(enough)) + 1 if enough.any() else len(self.lower)

    @property
    def value(self) -> float:
        """The rank, as a number to show."""
        return float(self.rank)

    @property
    def stable_rank(self) -> float:
        """|A|_F^2 / sigma_1^2, from the middle of the enclosures: floating-point."""
        if not self.lower[0] > 0:
            return 0.0  # the circuit is zero, or not known to be anything else
        middle = (self.lower + self.upper) / 2
        return float(((middle / middle[0]) ** 2).sum())

    @property
    def frobenius(self) -> float:
        """|A|_F from above."""
        return float(np.sqrt((self.upper**2).sum())) * (1 + 1e-12)


@dataclass(frozen=True)
class OutputShare:
    """The part of what a layer writes, by mean squared length, that comes from one of its heads."""

    value: float
    heads: int  # of the layer

    @property
    def dead(self) -> bool:
        """Whether it is less than a hundredth of an even share."""
        return self.value < DEAD / self.heads


def spectrum(
    left: Float[np.ndarray, "n d"], right: Float[np.ndarray, "d m"]
) -> Spectrum:
    """The singular values of left right, all but those that are 0 because the product is thin.

    With a computed A ~ U S V^T, the true sigma_k lies between s_k sqrt((1 - eta_U)(1 - eta_V)) - |E| and
    s_k sqrt((1 + eta_U)(1 + eta_V)) + |E|, where E = A - U S V^T, eta_B = |B^T B - I|.

    >>> round(float(spectrum(np.ones((4, 1)), np.ones((1, 9))).upper[0]), 6)
    6.0
    """
    L = left.astype(np.float64)
    R = right.astype(np.float64)
    d = L.shape[1]
    # A guess, by the SVD of the small product of the triangular factors. Nothing is assumed of it.
    Q_left, T_left = np.linalg.qr(L)
    Q_right, T_right = np.linalg.qr(R.T)
    u, s, vt = np.linalg.svd(T_left @ T_right.T)
    k = len(s)
    U = Q_left @ u[:, :k]
    V = (vt[:k] @ Q_right.T).T
    # |E|_F: the computed remainder, and what its two products may have lost. By Weyl's inequality no singular value
    # of A is further than this from that of U S V^T.
    E = L @ R - (U * s) @ V.T
    sizes = _norm(L) * _norm(R) + _norm(U * s) * _norm(V)
    distance = _norm(E) * (1 + 1e-12) + (2 * d + 8) * 2 * UNIT * sizes
    # By Ostrowski's theorem, factors whose columns are nearly orthonormal stretch s_k by at most these.
    eta_u = _distance_from_orthonormal(U)
    eta_v = _distance_from_orthonormal(V)
    most = math.sqrt((1 + eta_u) * (1 + eta_v)) * (1 + 1e-15)
    least = math.sqrt(max(0.0, 1 - eta_u) * max(0.0, 1 - eta_v)) * (1 - 1e-15)
    tiny = np.finfo(np.float64).tiny  # for underflow
    lower = np.maximum(0.0, s * least - distance - tiny)
    return Spectrum(lower, s * most + distance + tiny)


def _distance_from_orthonormal(B: Float[np.ndarray, "n k"]) -> float:
    """|B^T B - I|_F from above."""
    computed = _norm(B.T @ B - np.eye(B.shape[1])) * (1 + 1e-12)
    return computed + (len(B) + 8) * 2 * UNIT * _norm(B) ** 2


def _norm(X: Float[np.ndarray, "n d"]) -> float:
    return float(np.linalg.norm(X))


def circuit_spectra(circuits: Circuits, circuit: str) -> Float[np.ndarray, "heads 2 k"]:
    """The enclosures of one circuit, qk or ov, of every head of a layer: lower and upper bounds."""
    heads = len(circuits.query)
    group = heads // len(circuits.key)
    bounds = []
    for head in range(heads):
        if circuit == "qk":
            enclosed = spectrum(circuits.query[head], circuits.key[head // group].T)
        else:
            enclosed = spectrum(circuits.value[head // group], circuits.output[head])
        bounds.append(np.stack([enclosed.lower, enclosed.upper]))
    return np.stack(bounds)


# The share. A head writes o_i W_O in row i, with o_i its output before W_O. Over rows,
# sum |o_i W_O|^2 = <C, G> with C = sum o_i^T o_i, from the text, and G = W_O W_O^T, from the weights.


def output_products(
    sample: RowSample, values: Float[np.ndarray, "keys e"]
) -> Float[np.ndarray, "e e"]:
    """C of a head, over the rows sampled."""
    outputs = sample.pattern @ values.astype(np.float64)
    products: Float[np.ndarray, "e e"] = outputs.T @ outputs
    return products


def weight_products(circuits: Circuits) -> Float[np.ndarray, "heads e e"]:
    """G of each head of a layer."""
    outputs = circuits.output.astype(np.float64)
    products: Float[np.ndarray, "heads e e"] = outputs @ outputs.swapaxes(1, 2)
    return products


def output_shares(
    of_rows: Float[np.ndarray, "heads e e"], of_weights: Float[np.ndarray, "heads e e"]
) -> Float[np.ndarray, " heads"]:
    """The share of each head of a layer from all C and G; all 0 where nothing is written at all."""
    squares = (of_rows * of_weights).sum(axis=(1, 2)).clip(min=0.0)
    total = squares.sum()
    shares: Float[np.ndarray, " heads"] = squares / total if total > 0 else squares
    return shares
