"""The numbers of a model of two attention layers and nothing else."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from headwright.errors import InputError
from headwright.text_bounds.documents import digest_arrays

MATRICES = ("query", "key", "value", "output")
# In the order in which they are digested.
NAMES = ("embed", "place", "angles", *MATRICES, "unembed")

Weights = Mapping[str, Float[np.ndarray, "..."]]


def weights_of(model: object) -> Weights:
    """The numbers of a model of two attention layers and nothing else; others are refused.

    Matrices are by layer and head. `place` has no rows where no positions are added, and `angles` none where nothing is
    turned: pair (i, i + d/2) of queries and keys at place r is turned by r angles[i].
    """
    query = getattr(model, "query", None)
    embed = getattr(model, "embed", None)
    of_two_layers = isinstance(query, np.ndarray) and len(query) == 2
    if not of_two_layers or not isinstance(embed, np.ndarray):
        raise InputError(
            f"{getattr(model, 'name', 'this model')}: statements about the next token are for models of "
            "two attention layers and nothing else, such as builtin:induction16"
        )
    absent = {"place": np.zeros((0, embed.shape[1])), "angles": np.zeros(0)}
    weights = {}
    for name in NAMES:
        array = getattr(model, name, None)
        array = absent[name] if array is None else np.asarray(array)
        if name in MATRICES and array.ndim == 3:  # by layer: a model with one head
            array = array[:, None]
        weights[name] = array
    return weights


def weights_digest(weights: Weights) -> str:
    """Of all numbers, in the order of NAMES."""
    return digest_arrays((name, weights[name]) for name in NAMES)
