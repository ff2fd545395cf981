"""The product of a block of queries and keys: by NumPy, or by torch where torch's tensors were given.

NumPy's product and torch's have threads of their own. In a program that computes with torch, both would wait for each
other's at every block, which takes longer than the product itself.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

Product = Callable[
    [Float[np.ndarray, "rows d"], Float[np.ndarray, "keys d"], Float[np.ndarray, "rows keys"]], object
]  # queries and keys, and where the scores are written


def numpy_product(
    queries: Float[np.ndarray, "rows d"], keys: Float[np.ndarray, "keys d"], scores: Float[np.ndarray, "rows keys"]
) -> None:
    """Q K^T by NumPy.

    >>> scores = np.zeros((1, 2))
    >>> numpy_product(np.array([[1.0, 2.0]]), np.eye(2), scores)
    >>> scores
    array([[1., 2.]])
    """
    np.matmul(queries, keys.T, out=scores)


def torch_product(
    queries: Float[np.ndarray, "rows d"], keys: Float[np.ndarray, "keys d"], scores: Float[np.ndarray, "rows keys"]
) -> None:
    """Q K^T by torch, in the arrays' own memory.

    >>> scores = np.zeros((1, 2))
    >>> torch_product(np.array([[1.0, 2.0]]), np.eye(2), scores)
    >>> scores
    array([[1., 2.]])
    """
    import torch

    with torch.no_grad():
        torch.mm(torch.from_numpy(queries), torch.from_numpy(keys).T, out=torch.from_numpy(scores))
