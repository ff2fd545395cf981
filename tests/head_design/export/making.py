"""Layers to export: random ones, in every number type, with heads of different head_dim."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import ml_dtypes
import numpy as np

from headwright.head_design.head import Head, HeadLayer

TYPES = {"float64": np.float64, "float32": np.float32, "bfloat16": ml_dtypes.bfloat16}


def rounded(X: np.ndarray, dtype: str) -> np.ndarray:
    return X.astype(TYPES[dtype]).astype(np.float64)


def random_layer(
    seed: int,
    *,
    D: int = 5,
    m: int = 3,
    ranks: tuple[int, ...] = (2, 3),
    causal: bool = False,
    dtype: str = "float32",
) -> HeadLayer:
    rng = np.random.default_rng(seed)
    shapes = [(rank, rank, m) for rank in ranks]
    heads = [
        Head(*(rounded(rng.normal(size=(rows, D)), dtype) for rows in shape))
        for shape in shapes
    ]
    return HeadLayer(tuple(heads), causal, dtype)


def random_tokens(
    seed: int, *, T: int = 6, D: int = 5, dtype: str = "float32"
) -> np.ndarray:
    return rounded(np.random.default_rng(seed).normal(size=(T, D)), dtype)


def richer_layer(
    seed: int,
    parts: Sequence[str] = ("mask", "biases", "table"),
    dtype: str = "float32",
) -> HeadLayer:
    """A random layer for up to 6 places: a mask that is written out, b_Q and b_V, biases of places."""
    rng, plain = np.random.default_rng(seed), random_layer(seed, dtype=dtype)
    heads = tuple(
        Head(
            h.W_Q,
            h.W_K,
            h.W_V,
            *(rounded(rng.normal(size=len(W)), dtype) for W in (h.W_Q, h.W_V)),
        )
        for h in plain.heads
    )
    rows = tuple(
        "".join("1" if i == j or rng.random() < 0.5 else "0" for j in range(6))
        for i in range(6)
    )
    tables = tuple(
        tuple(
            tuple(Fraction(int(x), 4) for x in row)
            for row in rng.integers(-8, 9, size=(6, 6))
        )
        for _ in heads
    )
    return HeadLayer(
        heads if "biases" in parts else plain.heads,
        False,
        dtype,
        rows if "mask" in parts else (),
        tables if "table" in parts else (),
    )
