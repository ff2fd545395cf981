"""The rank of a head's QK and OV circuits, and the size of its output against the other heads of its layer."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headwright.models.findings.rounding import RowSample
from headwright.models.findings.summary import Layered, Summary
from headwright.models.loading.model import Circuits

UNIT = 2.0**-53
ENERGY = 0.9
DEAD = 0.01  # of an even share


@dataclass(frozen=True, eq=False)
class Spectrum:
    """sigma_1 >= sigma_2 >= ... of a circuit, each between `lower` and `upper`: proven, for its exact matrices."""

    lower: Float[np.ndarray, " k"]
    upper: Float[np.ndarray, " k"]

    @property
    def rank(self) -> int:
        """The smallest rank that certainly keeps 90 % of sum sigma^2."""
        kept, missed = np.cumsum(self.lower**2), np.cumsum(self.upper[::-1] ** 2)[::-1]
        missed = np.append(missed[1:], 0.0)
        enough = kept * (1 - 1e-12) >= ENERGY * (kept + missed) * (1 + 1e-12)
        return int(np.argmax(enough)) + 1 if enough.any() else len(self.lower)

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


def spectrum(left: Float[np.ndarray, "n d"], right: Float[np.ndarray, "d m"]) -> Spectrum:
    """The singular values of left right, all but those that are 0 because the product is thin.

    >>> round(float(spectrum(np.ones((4, 1)), np.ones((1, 9))).upper[0]), 6)
    6.0
    """
    L, R = left.astype(np.float64), right.astype(np.float64)
    Q_l, small = np.linalg.qr(L)
    Q_r, other = np.linalg.qr(R.T)
    u, s, vt = np.linalg.svd(small @ other.T)
    k = len(s)
    U, V = Q_l @ u[:, :k], (vt[:k] @ Q_r.T).T
    d = L.shape[1]
    E = L @ R - (U * s) @ V.T
    sizes = _norm(L) * _norm(R) + _norm(U * s) * _norm(V)
    away = _norm(E) * (1 + 1e-12) + (2 * d + 8) * 2 * UNIT * sizes
    eta = [_norm(B.T @ B - np.eye(k)) * (1 + 1e-12) + (len(B) + 8) * 2 * UNIT * _norm(B) ** 2 for B in (U, V)]
    wide = math.sqrt((1 + eta[0]) * (1 + eta[1])) * (1 + 1e-15)
    thin = math.sqrt(max(0.0, 1 - eta[0]) * max(0.0, 1 - eta[1])) * (1 - 1e-15)
    tiny = np.finfo(np.float64).tiny
    return Spectrum(np.maximum(0.0, s * thin - away - tiny), s * wide + away + tiny)


def ranks(kept: Layered, layer: int, circuits: Circuits) -> None:
    """The enclosures of both circuits of every head of a layer."""
    heads, group = len(circuits.query), len(circuits.query) // len(circuits.key)
    for name in ("qk", "ov"):
        found = []
        for h in range(heads):
            if name == "qk":
                one = spectrum(circuits.query[h], circuits.key[h // group].T)
            else:
                one = spectrum(circuits.value[h // group], circuits.output[h])
            found.append(np.stack([one.lower, one.upper]))
        kept.add(layer, f"spectrum/{name}", np.stack(found))


def _norm(X: Float[np.ndarray, "n d"]) -> float:
    return float(np.linalg.norm(X))


def mixed(one: RowSample, values: Float[np.ndarray, "keys e"]) -> Float[np.ndarray, "e e"]:
    """C of a head, over the rows looked at."""
    outputs = one.pattern @ values.astype(np.float64)
    result: Float[np.ndarray, "e e"] = outputs.T @ outputs
    return result


def writing(kept: Layered, layer: int, circuits: Circuits) -> None:
    """G of each head."""
    outputs = circuits.output.astype(np.float64)
    kept.add(layer, "writing", outputs @ outputs.swapaxes(1, 2))


def shares(summary: Summary, at: int) -> Float[np.ndarray, " heads"] | None:
    """The share of each head of a layer, all 0 where nothing is written at all; None where it was not measured."""
    if "mixed" not in summary.sums or "writing" not in summary.sums:
        return None
    squares = (summary.sums["mixed"][at] * summary.sums["writing"][at]).sum(axis=(1, 2)).clip(min=0.0)
    total = squares.sum()
    result: Float[np.ndarray, " heads"] = squares / total if total > 0 else squares
    return result
