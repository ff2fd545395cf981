"""Read the first layer of a model: its numbers, checked against the model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from headwright.errors import InputError
from headwright.models.induction import FREQUENCIES, InductionModel
from headwright.models.induction16 import Induction16
from headwright.models.model import Model
from headwright.text_bounds.compare_with_model import (
    NEAR_FLOAT32,
    NEAR_HALF,
    check_layer,
)
from headwright.text_bounds.first_layer import FirstLayer, Projection
from headwright.text_bounds.search.texts import texts_of

BUILTIN = (InductionModel, Induction16)
WIDE_TYPES = ("torch.float32", "torch.float64")


def first_layer(model: Model, length: int) -> FirstLayer:
    """What decides the scores of a model's first layer on texts of a length, on which frequencies may depend.

    Refused by name where it is not known how they come about. The model is run on texts of that length, and must do
    what was read off its weights.
    """
    if model.max_length is not None and length > model.max_length:
        raise InputError(
            f"texts of {length} tokens: {model.name} has {model.max_length} positions"
        )
    try:
        return _read_and_check(model, length)
    except InputError as error:
        # What is raised below says what is wrong with a layer, and not of which model.
        raise InputError(f"{model.name}: {error}") from error


def _read_and_check(model: Model, length: int) -> FirstLayer:
    if isinstance(model, BUILTIN):
        layer = _builtin_layer(model)
        tolerance = NEAR_FLOAT32
    else:
        layer, tolerance = _network_layer(model, length)
    layer = replace(layer, longest=model.max_length)
    texts_of(layer, length)  # refuses a length that says nothing
    check_layer(model, layer, length, tolerance)
    return layer


def _network_layer(model: Model, length: int) -> tuple[FirstLayer, float]:
    """The first layer of a library's network, and how far from it a run in the network's own type may be."""
    network = getattr(model, "network", None)
    if network is None:
        raise InputError("it is not known how the scores of its first layer come about")
    from headwright.text_bounds.transformers_layers import of_network

    is_wide = str(network.dtype) in WIDE_TYPES
    tolerance = NEAR_FLOAT32 if is_wide else NEAR_HALF
    return of_network(model, network, length), tolerance


def embedding_size(model: Model) -> int:
    """How many numbers the embeddings of a model have, as far as it can be known without a copy of them; else 0."""
    if isinstance(model, BUILTIN):
        return int(model.embed.size)
    network = getattr(model, "network", None)
    return 0 if network is None else int(network.get_input_embeddings().weight.numel())


def _builtin_layer(model: InductionModel | Induction16) -> FirstLayer:
    opening = model.bos_tokens()
    tokens = np.concatenate([model.regular_tokens(), opening])
    circuits = model.circuits(0)
    d = circuits.query.shape[2]
    return FirstLayer(
        tokens,
        model.embed[tokens],
        tuple(Projection(query) for query in circuits.query),
        tuple(Projection(key) for key in circuits.key),
        d**-0.5,
        places=model.place if isinstance(model, Induction16) else None,
        angles=np.array(FREQUENCIES) if isinstance(model, InductionModel) else None,
        only_held=len(opening),
        opening=tuple(int(token) for token in opening),
    )
