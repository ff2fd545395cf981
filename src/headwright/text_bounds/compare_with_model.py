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

from headwright.errors import InputError
from headwright.models.model import LayerActivations, Model, Tokens, layer_at, numbers
from headwright.numerics.enclosure import TOLERANCE, assert_within
from headwright.statistics.attention_config import AttentionConfig
from headwright.text_bounds.first_layer import FirstLayer
from headwright.text_bounds.search.head_vectors import head_of
from headwright.text_bounds.search.sweep import Extreme
from headwright.text_bounds.search.texts import TextFamily, texts_of

# How far scores may differ, in parts of |q| |k|. In float64: far more than it rounds, far less than what is misread.
NEAR_FLOAT64 = 1e-8
NEAR_FLOAT32 = 1e-3
NEAR_HALF = 0.1  # bfloat16 and float16
NEAR_PER_PLACE = 2.0**-22  # what angles in float32 are off by
SCALES_DIFFER = 1e-6  # relatively
# Places whose scores are compared one by one, evenly spread; weights are compared over all.
PLACES_COMPARED = 256
RANDOM_TEXTS = 4
TEXTS_COMPARED = 2
LARGEST_PATTERN = 2**24  # numbers that the network's own attention makes


@dataclass(frozen=True, eq=False)
class Attained:
    """An extreme over every text: a proven bound, the text that attains it, and what the model itself does there."""

    query: int  # a token's id
    bound: float  # not above the least, not below the most
    text: Tokens
    run: float  # the model's number on that text, in float64


def attained(
    model: Model,
    head: int,
    ids: Tokens,
    texts: TextFamily,
    places: Sequence[int],
    extreme: Extreme,
    bound: float,
) -> Attained:
    """A bound of the weight on places beside the model's own run; a ContradictionError if the run is beyond it."""
    run = run_weight(model, head, ids, texts, places)
    what = f"head {head}, places {list(places)[:8]} of {texts.length}"
    assert_run_within(run, bound, extreme, what)
    return Attained(int(ids[texts.place]), bound, ids, run)


def assert_run_within(run: float, bound: float, extreme: Extreme, what: str) -> None:
    """Raise a ContradictionError if a run is below the proven least weight or above the most."""
    what = f"{what}, run in float64"
    if extreme == "least":
        assert_within(run, what, least=bound)
    else:
        assert_within(run, what, most=bound)


def run_weight(
    model: Model, head: int, ids: Tokens, texts: TextFamily, places: Sequence[int]
) -> float:
    """The weight that the model itself gives to places of a text, in float64."""
    pattern = run_patterns(model, ids, texts)[head]
    return float(pattern[[at in places for at in texts.seen]].sum())


def run_patterns(
    model: Model, ids: Tokens, texts: TextFamily
) -> Float[np.ndarray, "heads seen"]:
    """What the heads of the model's first layer give to the places that the texts' place sees, in float64."""
    layer = run_in_float64(model, ids)
    _check_seen_places(layer.scoring, texts)
    queries = numbers(layer.queries)
    keys = numbers(layer.keys)
    seen = slice(texts.seen[0], texts.seen[-1] + 1)
    keys_by_head = np.repeat(keys[:, seen], len(queries) // len(keys), axis=0)
    products = np.einsum("hd,hkd->hk", queries[:, texts.place], keys_by_head)
    scores = products * layer.scoring.scale
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def run_in_float64(model: Model, ids: Tokens) -> LayerActivations:
    """The first layer of a model on a text: every number of it float64, from the weights as exact numbers."""
    in_float64 = getattr(model, "first_layer_in_float64", None)
    layer: LayerActivations = (
        layer_at(model, ids, 0) if in_float64 is None else in_float64(ids)
    )
    for name, array in (("queries", layer.queries), ("keys", layer.keys)):
        if numbers(array).dtype != np.float64:
            raise InputError(
                f"its {name} cannot be had in float64, and nothing can be held against them"
            )
    scoring = layer.scoring
    beyond = (scoring.softcap, scoring.sinks, scoring.key_mask)
    if any(part is not None for part in beyond):
        raise InputError(
            "its first layer caps scores, has sinks or masks keys, which is not covered for every text"
        )
    return layer


def random_texts(
    layer: FirstLayer,
    texts: TextFamily,
    count: int = RANDOM_TEXTS,
    queries: Sequence[int] = (),
) -> Iterator[Tokens]:
    """Some texts of a length, always the same ones, as token ids; at the texts' place one of the queries, if given."""
    rng = np.random.default_rng(0)
    free = layer.tokens[: layer.free]
    for _ in range(count):
        ids = rng.choice(free, texts.length)
        if len(queries):
            ids[texts.place] = rng.choice(queries)
        for at, token in texts.held.items():
            ids[at] = layer.tokens[token]
        yield ids


def check_layer(
    model: Model, layer: FirstLayer, length: int, tolerance: float = NEAR_FLOAT32
) -> None:
    """Raise an InputError that says what differs unless the model agrees with a layer on texts of a length."""
    texts = texts_of(layer, length)
    for ids in random_texts(layer, texts, TEXTS_COMPARED):
        exact_run = run_in_float64(model, ids)
        own_run = layer_at(model, ids, 0)
        own_tolerance = tolerance + length * NEAR_PER_PLACE
        for run, near in ((own_run, own_tolerance), (exact_run, NEAR_FLOAT64)):
            _check_scale(run.scoring, layer)
            _check_seen_places(run.scoring, texts)
            _check_scores(run, layer, ids, texts, near)
        _check_pattern(model, ids, texts)


def _check_scale(scoring: AttentionConfig, layer: FirstLayer) -> None:
    if abs(scoring.scale - layer.scale) > SCALES_DIFFER * abs(layer.scale):
        raise InputError(
            f"its first layer scales scores by {scoring.scale:.6g}, and {layer.scale:.6g} was read off"
        )


def _check_pattern(model: Model, ids: Tokens, texts: TextFamily) -> None:
    """Raise an InputError if the network's own attention gives another pattern; skipped where it cannot be run."""
    own_pattern = getattr(model, "own_pattern", None)
    if own_pattern is None or model.heads * len(ids) ** 2 > LARGEST_PATTERN:
        return
    theirs = own_pattern(ids)[:, texts.place]
    computed = np.zeros((model.heads, len(ids)))
    computed[:, texts.seen[0] : texts.seen[-1] + 1] = run_patterns(model, ids, texts)
    difference = float(np.abs(theirs - computed).max())
    if not difference <= TOLERANCE:
        raise InputError(
            f"its own attention gives patterns up to {difference:.3g} from those of its queries and keys, on a "
            f"text of {texts.length} tokens"
        )


def _check_seen_places(scoring: AttentionConfig, texts: TextFamily) -> None:
    """Raise an InputError unless the model's row at the texts' place sees the places that it was assumed to see."""
    first, after = scoring.seen(texts.place)
    if (first, after) != (texts.seen[0], texts.seen[-1] + 1):
        raise InputError(
            f"place {texts.place} of {texts.length} sees places {first} to {after - 1} in the model, and "
            f"{texts.seen[0]} to {texts.seen[-1]} was taken for granted"
        )


def _check_scores(
    run: LayerActivations,
    layer: FirstLayer,
    ids: Tokens,
    texts: TextFamily,
    near: float,
) -> None:
    """Raise an InputError if scores from the layer as read are further from the run's than `near` of |q| |k|."""
    queries = numbers(run.queries).astype(np.float64)
    keys = numbers(run.keys).astype(np.float64)
    if (len(queries), len(keys)) != (len(layer.queries), len(layer.keys)):
        raise InputError(
            f"its first layer has {len(queries)} heads and {len(keys)} of keys, and {len(layer.queries)} "
            f"and {len(layer.keys)} were read off"
        )
    if not (np.isfinite(queries).all() and np.isfinite(keys).all()):
        raise InputError(
            "its own queries and keys are not finite on a text: nothing can be held against them"
        )
    places = _compared_places(texts)
    text_layer, text = _layer_of_text(layer, ids)
    for head, head_queries in enumerate(queries):
        query = head_queries[texts.place]
        head_keys = keys[head * len(keys) // len(queries)][places]
        from_run = head_keys @ query * run.scoring.scale
        from_layer = _scores_read(text_layer, head, text, texts, places)
        lengths = np.linalg.norm(head_keys, axis=1)
        size = np.linalg.norm(query) * lengths.max() * abs(run.scoring.scale)
        difference = float(np.abs(from_layer - from_run).max())
        if difference > near * size:
            raise InputError(
                f"head {head} of its first layer has scores up to {difference:.3g} from those that were read "
                f"off its weights (|q| |k| is {size:.3g}), on a text of {texts.length} tokens: it rounds "
                "too much, or does more than its family is known for"
            )


def _compared_places(texts: TextFamily) -> list[int]:
    """Evenly spread over those that are seen, and the query's own."""
    seen = texts.seen
    count = min(PLACES_COMPARED, len(seen))
    spread = {seen[int(at)] for at in np.linspace(0, len(seen) - 1, count)}
    return sorted(spread | {texts.place})


def _layer_of_text(layer: FirstLayer, ids: Tokens) -> tuple[FirstLayer, Tokens]:
    """The layer with the tokens of one text only, and the text as it counts them."""
    index = {int(token): at for at, token in enumerate(layer.tokens)}
    tokens, text = np.unique(ids, return_inverse=True)
    rows = [index[int(token)] for token in tokens]
    embedding = layer.embedding[rows]
    return replace(layer, tokens=tokens, embedding=embedding, only_held=0), text


def _scores_read(
    layer: FirstLayer, head: int, text: Tokens, texts: TextFamily, places: Sequence[int]
) -> Float[np.ndarray, " places"]:
    """The scores of the query at the texts' place with the keys at some places, from the layer as read."""
    vectors = head_of(layer, head)
    query_token = text[texts.place : texts.place + 1]
    scores = []
    for place in places:
        query = vectors.queries(texts.place, place, query_token).rows[0]
        key = vectors.keys(place).rows[text[place]]
        scores.append(query @ key)
    return np.array(scores)
