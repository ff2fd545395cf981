"""Does a first layer, as it was read off a model's weights, do what the model does?

What is proved for every text is proved of the layer that was read. A model may do more than its family is known for: a
configuration that turns an encoder into a decoder, a release of a library that changes a norm. So the model is run on
one text, and its own queries and keys, and what each row sees, are held against those of the layer. This proves
nothing, and it finds what was misread, which no care with rounding would.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from headwright.audit.findings.device import numbers
from headwright.audit.models.model import Layer, Model, Tokens
from headwright.audit.rows.scoring import Scoring
from headwright.audit.texts.first import FirstLayer, head_of, shortest
from headwright.audit.texts.head import Texts
from headwright.errors import InputError

TRIED = 12  # tokens of the text, or as many more as show where a window ends
WIDEST = 256  # of a window that is looked beyond
NEAR = 1e-3  # of |q| |k|: far more than float32 rounds, far less than what is misread
COARSE = 0.1  # the same for bfloat16 and float16


def held_against(model: Model, layer: FirstLayer, near: float = NEAR) -> FirstLayer:
    """The layer, if the model agrees with it on one text; an InputError that says what is different, if it does not.

    >>> from headwright.audit.models import load_model
    >>> from headwright.audit.texts.reading import first_layer
    >>> model = load_model("builtin:induction")
    >>> layer = first_layer(model)
    >>> held_against(model, layer) is layer
    True
    >>> held_against(model, replace(layer, scale=2 * layer.scale))
    Traceback (most recent call last):
    headwright.errors.InputError: its first layer scales scores by 0.176777, and 0.353553 was read off
    """
    ids = _tried(layer)
    run = next(iter(model.run(ids)))
    if run.scoring.softcap is not None or run.scoring.sinks is not None or run.scoring.key_mask is not None:
        raise InputError("its first layer caps scores, has sinks or masks keys, which is not covered for every text")
    if abs(run.scoring.scale - layer.scale) > 1e-6 * abs(layer.scale):
        raise InputError(
            f"its first layer scales scores by {run.scoring.scale:.6g}, and {layer.scale:.6g} was read off"
        )
    for row in range(len(ids)):
        sees_what_is_taken(run.scoring, Texts(len(ids), row, causal=layer.causal, window=layer.window))
    _same_scores(run, layer, ids, near)
    return layer


def sees_what_is_taken(scoring: Scoring, texts: Texts) -> None:
    """Nothing, if the model's row at the texts' place sees the places that it was taken to see; else an InputError.

    >>> sees_what_is_taken(Scoring.of((1, 3, 2), (1, 3, 2), causal=False), Texts(3, 1))
    Traceback (most recent call last):
    headwright.errors.InputError: place 1 of 3 sees places 0 to 2 in the model, and 0 to 1 was taken for granted
    """
    first, after = scoring.seen(texts.place)
    if (first, after) != (texts.seen[0], texts.seen[-1] + 1):
        raise InputError(f"place {texts.place} of {texts.length} sees places {first} to {after - 1} in the model, and "
                         f"{texts.seen[0]} to {texts.seen[-1]} was taken for granted")  # fmt: skip


def _tried(layer: FirstLayer) -> Tokens:
    """A text with the special tokens where they stand, longer than a window that is not too wide."""
    wanted = TRIED if layer.window is None or layer.window > WIDEST else max(TRIED, layer.window + 2)
    length = max(shortest(layer), min(wanted, layer.positions or wanted))
    count = length - len(layer.opening) - len(layer.closing)
    free = layer.tokens[: len(layer.tokens) - layer.only_held]
    spread = free[np.linspace(0, len(free) - 1, count).astype(int)]
    found: Tokens = np.concatenate([layer.opening, spread, layer.closing]).astype(np.int64)
    return found


def _same_scores(run: Layer, layer: FirstLayer, ids: Tokens, near: float) -> None:
    queries, keys = (numbers(array).astype(np.float64) for array in (run.queries, run.keys))
    if (len(queries), len(keys)) != (len(layer.queries), len(layer.keys)):
        raise InputError(f"its first layer has {len(queries)} heads and {len(keys)} of keys, and {len(layer.queries)} "
                         f"and {len(layer.keys)} were read off")  # fmt: skip
    if not (np.isfinite(queries).all() and np.isfinite(keys).all()):
        raise InputError("its own queries and keys are not finite on a text: nothing can be held against them")
    at = {int(token): index for index, token in enumerate(layer.tokens)}
    tokens, where = np.unique(ids, return_inverse=True)
    few = replace(layer, tokens=tokens, embedding=layer.embedding[[at[int(token)] for token in tokens]], only_held=0)
    last = len(ids) - 1 - len(layer.closing)
    places = Texts(len(ids), last, causal=layer.causal, window=layer.window).seen
    for number, own in enumerate(queries):
        mine = keys[number * len(keys) // len(queries)]
        head = head_of(few, number)
        read: Float[np.ndarray, " places"] = np.array(
            [head.queries(last, j).rows[where[last]] @ head.keys(j).rows[where[j]] for j in places]
        )
        given = mine[list(places)] @ own[last] * run.scoring.scale
        size = np.linalg.norm(own[last]) * np.linalg.norm(mine[list(places)], axis=1).max() * abs(run.scoring.scale)
        off = float(np.abs(read - given).max())
        if off > near * size:
            raise InputError(f"head {number} of its first layer has scores up to {off:.3g} from those that were read "
                             f"off its weights (|q| |k| is {size:.3g}): it rounds too much, or does more than its "
                             "family is known for")  # fmt: skip
