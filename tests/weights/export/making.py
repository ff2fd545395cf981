"""Layers to export: random ones, in every number type, with heads of different head_dim."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from headwright.weights.head import Head, HeadLayer

TYPES = {"float64": np.float64, "float32": np.float32, "bfloat16": ml_dtypes.bfloat16}


def rounded(X: np.ndarray, dtype: str) -> np.ndarray:
    return X.astype(TYPES[dtype]).astype(np.float64)


def random_layer(
    seed: int, *, D: int = 5, m: int = 3, ranks: tuple[int, ...] = (2, 3), causal: bool = False, dtype: str = "float32"
) -> HeadLayer:
    rng = np.random.default_rng(seed)
    shapes = [(rank, rank, m) for rank in ranks]
    heads = [Head(*(rounded(rng.normal(size=(rows, D)), dtype) for rows in shape)) for shape in shapes]
    return HeadLayer(tuple(heads), causal, dtype)


def random_tokens(seed: int, *, T: int = 6, D: int = 5, dtype: str = "float32") -> np.ndarray:
    return rounded(np.random.default_rng(seed).normal(size=(T, D)), dtype)
