"""Check that a first layer, as read from the weights, does what the model does, and that bounds hold where it runs.

What is proved for every text is proved of the layer that was read, and a layer can be misread: frequencies that depend
on the length of a text, a configuration that turns an encoder into a decoder, a release of a library that changes a
norm. No care with rounding finds that. So the network itself is run, at the length asked about, on texts that the proof
is worst for and on random ones, in float64. A layer that is not the network's is refused before anything is proved. A
run that contradicts a bound is an error of Headwright's own, and nothing is claimed. Runs prove nothing themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from headwright.enclosure import TOLERANCE, held_to
from headwright.errors import InputError
from headwright.models.loading.model import Layer, Model, Tokens, numbers
from headwright.models.rows.scoring import Scoring
from headwright.models.texts.first_layer import FirstLayer, head_of, texts_of
from headwright.models.texts.head import Texts
from headwright.models.texts.sweep import Extreme

CLOSE = 1e-8  # of |q| |k|, in float64: far more than it rounds, far less than what is misread
NEAR = 1e-3  # the same for float32
COARSE = 0.1  # and for bfloat16 and float16
TURNED = 2.0**-22  # of |q| |k| a place: what angles in float32 are off by
LOOKED_AT = 256  # places whose scores are compared one by one, evenly spread; weights are compared over all
RANDOM = 4  # texts
OWN = 2**24  # numbers of a pattern that the network's own attention makes


@dataclass(frozen=True, eq=False)
class Attained:
    """An extreme over every text: a proven bound, the text that attains it, and what the model itself does there."""

    query: int  # a token's id
    bound: float  # not above the least, not below the most
    text: Tokens
    run: float  # the model's number on that text, in float64


def attained(
    model: Model, head: int, ids: Tokens, texts: Texts, places: Sequence[int], extreme: Extreme, bound: float
) -> Attained:
    """A bound of the weight on places beside the model's own run; a ContradictionError if the run is beyond it."""
    run = run_weight(model, head, ids, texts, places)
    not_beyond(run, bound, extreme, f"head {head}, places {list(places)[:8]} of {texts.length}")
    return Attained(int(ids[texts.place]), bound, ids, run)


def not_beyond(run: float, bound: float, extreme: Extreme, what: str) -> None:
    """Raise a ContradictionError if a run is below the proven least weight or above the most."""
    what = f"{what}, run in float64"
    held_to(run, what, least=bound) if extreme == "least" else held_to(run, what, most=bound)


def run_weight(model: Model, head: int, ids: Tokens, texts: Texts, places: Sequence[int]) -> float:
    """The weight that the model itself gives to places of a text, in float64."""
    return float(run_patterns(model, ids, texts)[head, [at in places for at in texts.seen]].sum())


def run_patterns(model: Model, ids: Tokens, texts: Texts) -> Float[np.ndarray, "heads seen"]:
    """What the heads of the model's first layer give to the places that the texts' place sees, in float64."""
    layer = run_in_float64(model, ids)
    _sees_what_is_taken(layer.scoring, texts)
    queries, keys = (numbers(array) for array in (layer.queries, layer.keys))
    seen = slice(texts.seen[0], texts.seen[-1] + 1)
    each = np.repeat(keys[:, seen], len(queries) // len(keys), axis=0)
    scores = np.einsum("hd,hkd->hk", queries[:, texts.place], each) * layer.scoring.scale
    pattern = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(pattern / pattern.sum(axis=1, keepdims=True))


def run_in_float64(model: Model, ids: Tokens) -> Layer:
    """The first layer of a model on a text: every number of it float64, from the weights as exact numbers."""
    layer = next(iter(getattr(model, "run_in_float64", model.run)(ids)))
    for name, array in (("queries", layer.queries), ("keys", layer.keys)):
        if numbers(array).dtype != np.float64:
            raise InputError(f"{model.name}: its {name} cannot be had in float64, and nothing can be held against them")
    if layer.scoring.softcap is not None or layer.scoring.sinks is not None or layer.scoring.key_mask is not None:
        raise InputError(f"{model.name}: its first layer caps scores, has sinks or masks keys, which is not covered "
                         "for every text")  # fmt: skip
    return layer


def random_texts(layer: FirstLayer, texts: Texts, count: int = RANDOM, queries: Sequence[int] = ()) -> Iterator[Tokens]:
    """Some texts of a length, always the same ones, as token ids; at the texts' place one of the queries, if given."""
    rng, free = np.random.default_rng(0), layer.tokens[: len(layer.tokens) - layer.only_held]
    for _ in range(count):
        ids = rng.choice(free, texts.length)
        ids[texts.place] = rng.choice(queries) if len(queries) else ids[texts.place]
        for at, token in texts.held.items():
            ids[at] = layer.tokens[token]
        yield ids


def held_against(model: Model, layer: FirstLayer, length: int, near: float = NEAR) -> FirstLayer:
    """The layer, if the model agrees with it on texts of a length; else an InputError that says what differs."""
    texts = texts_of(layer, length)
    for ids in random_texts(layer, texts, 2):
        wide = run_in_float64(model, ids)
        for run, within in ((next(iter(model.run(ids))), near + length * TURNED), (wide, CLOSE)):
            if abs(run.scoring.scale - layer.scale) > 1e-6 * abs(layer.scale):
                raise InputError(f"its first layer scales scores by {run.scoring.scale:.6g}, and {layer.scale:.6g} "
                                 "was read off")  # fmt: skip
            _sees_what_is_taken(run.scoring, texts)
            _same_scores(run, layer, ids, texts, within)
        _same_attention(model, ids, texts)
    return layer


def _same_attention(model: Model, ids: Tokens, texts: Texts) -> None:
    """Raise an InputError if the network's own attention gives another pattern; skipped where it cannot be run."""
    own = getattr(model, "own_pattern", None)
    if own is None or model.heads * len(ids) ** 2 > OWN:
        return
    theirs, mine = own(ids)[:, texts.place], np.zeros((model.heads, len(ids)))
    mine[:, texts.seen[0] : texts.seen[-1] + 1] = run_patterns(model, ids, texts)
    if not (off := float(np.abs(theirs - mine).max())) <= TOLERANCE:
        raise InputError(f"its own attention gives patterns up to {off:.3g} from those of its queries and keys, on a "
                         f"text of {texts.length} tokens")  # fmt: skip


def _sees_what_is_taken(scoring: Scoring, texts: Texts) -> None:
    """Raise an InputError unless the model's row at the texts' place sees the places that it was assumed to see."""
    first, after = scoring.seen(texts.place)
    if (first, after) != (texts.seen[0], texts.seen[-1] + 1):
        raise InputError(f"place {texts.place} of {texts.length} sees places {first} to {after - 1} in the model, and "
                         f"{texts.seen[0]} to {texts.seen[-1]} was taken for granted")  # fmt: skip


def _same_scores(run: Layer, layer: FirstLayer, ids: Tokens, texts: Texts, near: float) -> None:
    queries, keys = (numbers(array).astype(np.float64) for array in (run.queries, run.keys))
    if (len(queries), len(keys)) != (len(layer.queries), len(layer.keys)):
        raise InputError(f"its first layer has {len(queries)} heads and {len(keys)} of keys, and {len(layer.queries)} "
                         f"and {len(layer.keys)} were read off")  # fmt: skip
    if not (np.isfinite(queries).all() and np.isfinite(keys).all()):
        raise InputError("its own queries and keys are not finite on a text: nothing can be held against them")
    at = {int(token): index for index, token in enumerate(layer.tokens)}
    tokens, where = np.unique(ids, return_inverse=True)
    few = replace(layer, tokens=tokens, embedding=layer.embedding[[at[int(token)] for token in tokens]], only_held=0)
    last, seen = texts.place, texts.seen
    places = sorted({seen[int(i)] for i in np.linspace(0, len(seen) - 1, min(LOOKED_AT, len(seen)))} | {last})
    for number, own in enumerate(queries):
        mine = keys[number * len(keys) // len(queries)]
        head = head_of(few, number)
        read: Float[np.ndarray, " places"] = np.array(
            [head.queries(last, j, where[last : last + 1]).rows[0] @ head.keys(j).rows[where[j]] for j in places]
        )
        given = mine[places] @ own[last] * run.scoring.scale
        size = np.linalg.norm(own[last]) * np.linalg.norm(mine[places], axis=1).max() * abs(run.scoring.scale)
        off = float(np.abs(read - given).max())
        if off > near * size:
            raise InputError(f"head {number} of its first layer has scores up to {off:.3g} from those that were read "
                             f"off its weights (|q| |k| is {size:.3g}), on a text of {texts.length} tokens: it rounds "
                             "too much, or does more than its family is known for")  # fmt: skip
