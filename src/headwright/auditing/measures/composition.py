"""How heads of several layers compose through the residual stream: from the weights alone.

By Elhage et al. (2021), a head reads what an earlier head A writes as far as the product of their matrices is large:
|W_A W_B|_F / (|W_A|_F |W_B|_F), with W_A the OV circuit of A, and W_B the QK circuit of the later head on its queries'
side (Q), on its keys' side (K), or its OV circuit (V). For matrices of independent random directions in a residual
stream of width n, the mean of the square is 1 / n. Norms between the heads, biases and positions are left out.

No matrix of width x width is made: |L M R|_F, with L and R of orthogonal columns and rows times triangles, is that of
the triangles with M between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headwright.models.model import Circuits

QUERIES = "q"
KEYS = "k"
VALUES = "v"
# Multiplications for one layer, beyond which compositions with the layers before it are left out.
MOST_PRODUCTS = 10**12

NOT_COMPOSED = -1.0  # stands for a composition that was not computed


@dataclass(frozen=True)
class LargestComposition:
    """The largest composition of a head with one of an earlier layer; floating-point."""

    value: float
    layer: int  # of the earlier head
    head: int


@dataclass(frozen=True, eq=False)
class CircuitFactors:
    """Matrices left[h] @ right[h] of a width, one for each head."""

    left: Float[np.ndarray, "heads width k"]
    right: Float[np.ndarray, "heads k width"]

    def sizes(self) -> Float[np.ndarray, " heads"]:
        """|left right|_F of each head."""
        products = _triangles(self.left) @ self.right
        sizes: Float[np.ndarray, " heads"] = np.linalg.norm(products, axis=(1, 2))
        return sizes


def compositions(
    earlier: Circuits, later: Circuits, side: str
) -> Float[np.ndarray, "later earlier"]:
    """|W_A W_B|_F / (|W_A|_F |W_B|_F) of each head B of a layer with each head A of an earlier one; 0 if one is 0.

    >>> one = np.ones((1, 2, 1))
    >>> circuits = Circuits(one, one, one, one.swapaxes(1, 2))
    >>> round(float(compositions(circuits, circuits, "k")[0, 0]), 9)
    1.0
    """
    written = _ov(earlier)
    read = _reading(later, side)
    # |L_A (R_A L_B) R_B|_F: triangles stand for L_A and for R_B.
    left = _triangles(written.left) @ written.right
    right = read.left @ _triangles(read.right.swapaxes(1, 2)).swapaxes(1, 2)
    heads, inner, width = left.shape
    others, _, outer = right.shape
    # All heads in one product, since that is what takes time.
    products = left.reshape(heads * inner, width) @ np.moveaxis(right, 0, 1).reshape(
        width, others * outer
    )
    blocks = products.reshape(heads, inner, others, outer)
    sizes = np.sqrt((blocks**2).sum(axis=(1, 3))).T
    even = np.outer(read.sizes(), written.sizes())
    ratios: Float[np.ndarray, "later earlier"] = np.divide(
        sizes, even, out=np.zeros_like(sizes), where=even > 0
    )
    return ratios


def largest_compositions(
    earlier: Sequence[Circuits], later: Circuits, side: str
) -> Float[np.ndarray, "heads 3"]:
    """For each head of a layer the largest composition with a head before it, and that head's layer and number."""
    by_layer = [compositions(circuits, later, side) for circuits in earlier]
    together = np.concatenate(by_layer, axis=1)
    heads = by_layer[0].shape[1]
    best = together.argmax(axis=1)
    values = np.take_along_axis(together, best[:, None], axis=1)[:, 0]
    found: Float[np.ndarray, "heads 3"] = np.stack(
        [values, best // heads, best % heads], axis=1
    )
    return found


def products_needed(circuits: Circuits, layers_before: int) -> int:
    """About how many multiplications the compositions of a layer take."""
    heads, width, inner = circuits.query.shape
    wide = heads * max(inner, circuits.output.shape[1])
    products: int = 3 * layers_before * width * wide * wide
    return products


def _triangles(
    matrices: Float[np.ndarray, "heads n k"],
) -> Float[np.ndarray, "heads k k"]:
    """R of Q R, which has the size of the matrix whatever is multiplied on the right."""
    triangles: Float[np.ndarray, "heads k k"] = np.asarray(
        np.linalg.qr(matrices, mode="r")
    )
    return triangles


def _ov(circuits: Circuits) -> CircuitFactors:
    group = len(circuits.output) // len(circuits.value)
    value = circuits.value.astype(np.float64)
    return CircuitFactors(
        np.repeat(value, group, 0), circuits.output.astype(np.float64)
    )


def _reading(circuits: Circuits, side: str) -> CircuitFactors:
    """What the heads of a layer make of rows x: x W, with what is read on the left."""
    if side == VALUES:
        return _ov(circuits)
    query = circuits.query.astype(np.float64)
    key = np.repeat(circuits.key.astype(np.float64), len(query) // len(circuits.key), 0)
    if side == QUERIES:
        return CircuitFactors(query, key.swapaxes(1, 2))
    return CircuitFactors(key, query.swapaxes(1, 2))
