"""hw.ranges: what queries, keys, values and scores of a model can be, on every text, from its weights alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from headwright.errors import InputError
from headwright.value_ranges.arithmetic import arithmetic_of
from headwright.value_ranges.bounds import bound_layer
from headwright.value_ranges.close_texts import find_close_text
from headwright.value_ranges.observed import observe_text
from headwright.value_ranges.open_model import open_model
from headwright.value_ranges.read_layers import attention_names, read_layers
from headwright.value_ranges.result import Ranges

Progress = Callable[[float], None]
RUN_SHARE = 0.5  # of the work, where the model is run, too


def ranges(
    model: str | Path | Any,
    *,
    text: str | Sequence[int] | None = None,
    dtype: str | None = None,
    search: bool = False,
    progress: Progress | None = None,
) -> Ranges:
    """What queries, keys, values and scores of a model can be, on every text of every length.

    The model is a name as for `load_model`, or a model of transformers in memory, which may change afterwards:
    nothing of it is kept. Safetensors are read layer by layer, without building the model. `dtype` is the type that
    the model computes in, if it is not that of its weights. With a text (or its token ids) the model is run on it, and
    every number is compared with its bound. With `search` a text is searched for whose keys come close to the largest
    bound.

    >>> ranges("builtin:induction")
    Traceback (most recent call last):
    headwright.errors.InputError: builtin:induction: there is no norm before its attention, ...
    """
    opened = open_model(model)
    reader = opened.reader(dtype)
    arithmetic = arithmetic_of(reader.number_type)
    layers = []
    share = 1.0
    if text is not None or search:
        share = 1 - RUN_SHARE
    try:
        for layer in read_layers(opened.description, reader):
            layers.append(bound_layer(layer, arithmetic))
            if progress is not None:
                progress(share * len(layers) / opened.description.layers)
        names = attention_names(opened.description, reader)
    except InputError as error:
        raise InputError(f"{opened.name}: {error}") from error
    proved = Ranges(
        model=opened.name,
        family=opened.description.family_name,
        digest=reader.digest,
        number_type=arithmetic.name,
        layers=tuple(layers),
        tensor_names=names,
    )
    if text is not None:
        proved = observe_text(proved, model, text)
    if search:
        close = find_close_text(proved, opened, model, _later_part(progress, share))
        proved = replace(proved, close_text=close)
    return proved


def _later_part(progress: Progress | None, share: float) -> Progress | None:
    """Of the work, what comes after this share of it."""
    if progress is None:
        return None
    report = progress
    return lambda done: report(share + (1 - share) * done)
