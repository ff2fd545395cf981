"""The rank of a head's QK and OV circuits, and the share of what its layer writes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headwright.auditing.measures.rounding import RowSample
from headwright.models.model import Circuits
from headwright.numerics.singular_values import product_singular_values

ENERGY = 0.9  # of sum sigma^2 that a rank has to keep
DEAD = 0.01  # of an even share


@dataclass(frozen=True, eq=False)
class Spectrum:
    """sigma_1 >= sigma_2 >= ... of a circuit, each between `lower` and `upper`: proven, for its exact matrices.

    >>> Spectrum(np.array([3.1, 1.0]), np.array([3.1, 1.0])).rank
    1
    """

    lower: Float[np.ndarray, " k"]
    upper: Float[np.ndarray, " k"]

    @property
    def rank(self) -> int:
        """The smallest rank that certainly keeps 90 % of sum sigma^2."""
        # By rank r: the energy of the first r values from below, that of the others from above. The share that is
        # kept is then at least kept / (kept + lost).
        energy_kept = np.cumsum(self.lower**2)
        lost = np.append(np.cumsum(self.upper[::-1] ** 2)[::-1][1:], 0.0)
        # The factors cover what the sums may lose.
        enough = energy_kept * (1 - 1e-12) >= ENERGY * (energy_kept + lost) * (
            1 + 1e-12
        )
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


def circuit_spectra(circuits: Circuits, circuit: str) -> Float[np.ndarray, "heads 2 k"]:
    """The enclosures of one circuit, qk or ov, of every head of a layer: lower and upper bounds."""
    heads = len(circuits.query)
    group = heads // len(circuits.key)
    bounds = []
    for head in range(heads):
        if circuit == "qk":
            left = circuits.query[head]
            right = circuits.key[head // group].T
        else:
            left = circuits.value[head // group]
            right = circuits.output[head]
        enclosed = product_singular_values(
            left.astype(np.float64), right.astype(np.float64)
        )
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
