"""Read the first layer of a model: its numbers, checked against the model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from headwright.errors import InputError
from headwright.models.loading.induction import FREQUENCIES, InductionModel
from headwright.models.loading.induction16 import Induction16
from headwright.models.loading.model import Model
from headwright.models.texts.check_against_model import COARSE, NEAR, held_against
from headwright.models.texts.first_layer import FirstLayer, Projection, texts_of

BUILTIN = (InductionModel, Induction16)


def first_layer(model: Model, length: int) -> FirstLayer:
    """What decides the scores of a model's first layer on texts of a length, on which frequencies may depend.

    Refused by name where it is not known how they come about. The model is run on texts of that length, and must do
    what was read off its weights.
    """
    if model.longest is not None and length > model.longest:
        raise InputError(f"texts of {length} tokens: {model.name} has {model.longest} positions")
    try:
        layer, near = (_builtin(model), NEAR) if isinstance(model, BUILTIN) else _of_library(model, length)
        layer = replace(layer, longest=model.longest)
        texts_of(layer, length)  # refuses a length that says nothing
        return held_against(model, layer, length, near)
    except InputError as error:
        raise error if str(error).startswith(model.name) else InputError(f"{model.name}: {error}") from error


def _of_library(model: Model, length: int) -> tuple[FirstLayer, float]:
    """The first layer of a library's network, and how far from it a run in the network's own type may be."""
    network = getattr(model, "network", None)
    if network is None:
        raise InputError(f"{model.name}: it is not known how the scores of its first layer come about")
    from headwright.models.texts.transformers_layers import of_network

    wide = str(network.dtype) in ("torch.float32", "torch.float64")
    return of_network(model, network, length), NEAR if wide else COARSE


def embedding_size(model: Model) -> int:
    """How many numbers the embeddings of a model have, as far as it can be known without a copy of them; else 0."""
    if isinstance(model, BUILTIN):
        return int(model.embed.size)
    network = getattr(model, "network", None)
    return 0 if network is None else int(network.get_input_embeddings().weight.numel())


def _builtin(model: InductionModel | Induction16) -> FirstLayer:
    opening = model.opening()
    tokens = np.concatenate([model.ordinary(), opening])
    circuits = model.circuits(0)
    d = circuits.query.shape[2]
    return FirstLayer(
        tokens, model.embed[tokens], tuple(map(Projection, circuits.query)), tuple(map(Projection, circuits.key)),
        d**-0.5, places=model.place if isinstance(model, Induction16) else None,
        angles=np.array(FREQUENCIES) if isinstance(model, InductionModel) else None, only_held=len(opening),
        opening=tuple(int(token) for token in opening),
    )  # fmt: skip
