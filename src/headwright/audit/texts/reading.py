"""The first layer of a model, as the numbers that it holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from headwright.audit.models.induction import FREQUENCIES, InductionModel
from headwright.audit.models.model import Model
from headwright.audit.texts.agreement import COARSE, NEAR, held_against
from headwright.audit.texts.first import FirstLayer, Projection
from headwright.errors import InputError


def first_layer(model: Model) -> FirstLayer:
    """What decides the scores of a model's first layer; refused by name where it is not known how they come about.

    A network of a library is run on one text, and must do what was read off its weights.

    >>> from headwright.audit.models import load_model
    >>> layer = first_layer(load_model("builtin:induction"))
    >>> len(layer.tokens) - layer.only_held, layer.opening
    (47, (0,))
    """
    if isinstance(model, InductionModel):
        return replace(_induction(model), longest=model.longest)
    network = getattr(model, "network", None)
    if network is not None:
        from headwright.audit.texts.networks import of_network, rounds_coarsely

        try:
            found = replace(of_network(model, network), longest=model.longest)
            return held_against(model, found, COARSE if rounds_coarsely(network) else NEAR)
        except InputError as error:
            raise error if str(error).startswith(model.name) else InputError(f"{model.name}: {error}") from error
    raise InputError(f"{model.name}: it is not known how the scores of its first layer come about")


def embedding_size(model: Model) -> int:
    """How many numbers the embeddings of a model have, as far as it can be known without a copy of them; else 0.

    >>> from headwright.audit.models import load_model
    >>> embedding_size(load_model("builtin:induction")) > 48
    True
    """
    if isinstance(model, InductionModel):
        return int(model.embed.size)
    network = getattr(model, "network", None)
    return 0 if network is None else int(network.get_input_embeddings().weight.numel())


def turning(model: Model, index: int) -> Float[np.ndarray, " half"] | None:
    """By how much the pairs of a layer's keys turn from one place to the next; None where they do not turn.

    >>> from headwright.audit.models import load_model
    >>> turning(load_model("builtin:induction"), 1).shape
    (16,)
    """
    if isinstance(model, InductionModel):
        return np.array(FREQUENCIES)
    network = getattr(model, "network", None)
    if network is not None:
        from headwright.audit.texts.networks import turning_of_network

        return turning_of_network(model, network, index)
    raise InputError(f"{model.name}: it is not known how the keys of its layers turn")


def _induction(model: InductionModel) -> FirstLayer:
    opening = model.opening()
    tokens = np.concatenate([model.ordinary(), opening])
    circuits = model.circuits(0)
    d = circuits.query.shape[2]
    return FirstLayer(
        tokens, model.embed[tokens], tuple(map(Projection, circuits.query)), tuple(map(Projection, circuits.key)),
        d**-0.5, angles=np.array(FREQUENCIES), only_held=len(opening), opening=tuple(int(token) for token in opening),
    )  # fmt: skip
