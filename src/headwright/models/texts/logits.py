"""A head's direct effect on a logit over every text: its output along the direction of a token in the unembedding.

What head h writes at the query's place is sum_j w_j x_j W_V W_O, with x_j what enters the layer there. Along u, the
column of the unembedding for a token, that is its direct effect on the token's logit, before the final norm scales it.
Values depend on their token (and place) alone, as keys do. Models with biases in their values or outputs, norms after
the attention, or an unembedding that is not at hand are refused.

The output along u of a query token is sum_j e^(s_j) x_j / sum_j e^(s_j) with x_j = <u, v> of the token at place j. The
largest such ratio r is where sum_j max_b e^(s_j(b)) (x_j(b) - r) = 0, each place for itself (Dinkelbach): from any text
one goes to the text that maximises the sum at its ratio, and the ratio only rises, until the text stays. No text has
more than R if sum_j max_b e^(s_j(b)) (x_j(b) - R) is certainly not above 0: that is tested with the worst-case errors
of scores and x, for R a little above r, and further up until it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from headwright.errors import InputError
from headwright.fast.balls import UP, U, gamma
from headwright.fast.exponential import EXP_RANGE, exp_near
from headwright.models.loading.induction import InductionModel
from headwright.models.loading.model import Circuits, Model, Tokens, numbers
from headwright.models.texts.check_against_model import Attained, not_beyond, run_in_float64
from headwright.models.texts.every_text import FEW, counted
from headwright.models.texts.first_layer import FirstLayer, head_of, stream, texts_of
from headwright.models.texts.head import Head, Texts
from headwright.models.texts.read_layer import first_layer
from headwright.models.texts.sweep import Extreme, Progress, doubt_of, scores_along

MOST_STEPS = 100
HIGHEST = 300.0  # of exponents: a product with a gain is then still finite
DOUBLINGS = 80  # from 1e-13 of what tokens are worth to more than all of it

Table = Float[np.ndarray, "seen tokens"]
May = Bool[np.ndarray, "seen tokens"]  # what each place may hold
Chosen = Int[np.ndarray, " seen"]  # a token for each place
NORMED_AFTER = ("gemma3_text",)  # families that norm what attention writes
Direction = Float[np.ndarray, " width"]


@dataclass(frozen=True, eq=False)
class Largest:
    """The largest value over every text, in floating point, with a text that attains it; and proved: none has more."""

    value: float
    bound: float
    text: Int[np.ndarray, " length"]


def largest_output(head: Head, texts: Texts, query: int, along: Table, wrong: float = 0.0) -> Largest:
    """The largest output of a query token, where along[j, b], off by at most `wrong`, is what b at place j is worth."""
    table = np.array([scores for _, scores in scores_along(head, texts, query)])
    if not (np.isfinite(table).all() and np.isfinite(along).all()):
        raise InputError("scores or outputs that are not finite: nothing is proved of them")
    free = np.array([at in texts.free for at in texts.seen])
    fixed = np.array([texts.held.get(at, query) for at in texts.seen])
    places = np.arange(len(texts.seen))
    may = np.zeros(table.shape, dtype=bool)
    may[:, : head.free] = free[:, None]
    may[places[~free], fixed[~free]] = True
    value, chosen = _climb(table, along, may, fixed)
    text = np.full(texts.length, query)
    text[list(texts.seen)] = chosen
    asking = np.array([query])
    slack = max(head.queries(texts.place, at, asking).slack(head.keys(at)) for at in texts.seen)
    return Largest(value, _above(value, table, along, may, slack, wrong), text)


def _climb(table: Table, along: Table, may: May, start: Chosen) -> tuple[float, Chosen]:
    """The largest output that was found and its tokens: Dinkelbach's steps, from a text on (in floating point)."""
    places = np.arange(len(table))
    best, best_tokens, chosen = -np.inf, start, start
    for _ in range(MOST_STEPS):
        # The largest score of this text is taken away, so that its largest weight is 1: the sum cannot underflow.
        scores, worth = table[places, chosen], along[places, chosen]
        apart = scores - scores.max()
        weights = np.exp(apart)
        # The output is that of the heaviest place and `beyond`. Where scores lie far apart `beyond` is too small for a
        # float, and still decides whether the heaviest token is better than another: so its logarithm is kept.
        heaviest = worth[weights.argmax()]
        sign, log_beyond = _signed_sum(apart, worth - heaviest)
        log_beyond -= float(np.log(weights.sum()))
        beyond = sign * float(np.exp(log_beyond))
        value = float(heaviest + beyond)
        if value < best:  # steps only rise, but for rounding
            break
        best, best_tokens = value, chosen
        gain = (along - heaviest) - beyond
        size = table + _log_size(gain)
        same = along == heaviest
        better = _best_tokens(np.where(same, table + log_beyond, size), np.where(same, -sign, gain) > 0, may)
        if np.array_equal(better, chosen):
            break
        chosen = better
    return best, best_tokens


def _signed_sum(exponents: Float[np.ndarray, " n"], factors: Float[np.ndarray, " n"]) -> tuple[float, float]:
    """The sign of sum e^x f, and the logarithm of its size."""
    sizes = exponents + _log_size(factors)
    largest = float(sizes.max())
    if largest == -np.inf:
        return 0.0, -np.inf
    total = float((np.sign(factors) * np.exp(sizes - largest)).sum())
    return float(np.sign(total)), largest + float(_log_size(np.array([total]))[0])


def _log_size(numbers: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """ln |x|; -inf for 0."""
    with np.errstate(divide="ignore"):
        found: Float[np.ndarray, "*shape"] = np.log(np.abs(numbers))
    return found


def _best_tokens(size: Table, rising: May, may: May) -> Chosen:
    """At each place, the token with the largest term: above 0 where it is rising, and of which the size is e^size."""
    # The largest of the terms above 0; where there is none, that nearest to 0.
    most = np.where(may & rising, size, -np.inf).argmax(axis=1)
    least_harm = np.where(may & ~rising, size, np.inf).argmin(axis=1)
    chosen: Chosen = np.where((may & rising).any(axis=1), most, least_harm)
    return chosen


def _above(value: float, table: Table, along: Table, may: May, slack: float, wrong: float) -> float:
    """A number that no text exceeds: the first of some above the value for which that is certain."""
    doubt, size = float(doubt_of(np.array([slack]), 8)[0]), float(np.abs(along[may]).max()) + wrong
    size = max(size, 1e-300)
    for step in range(DOUBLINGS):
        bound = value + size * 1e-13 * 2.0**step
        # Not below x - bound, for the exact x.
        gain = (along - bound) + (wrong + 4 * U * (size + abs(bound)))
        if _none_exceeds(table, gain, may, doubt, size):
            return bound
        if bound > 2 * size:
            break
    return float(np.nextafter(size * (1 + 2.0**-50), np.inf))  # an average of numbers that are none above this


def _none_exceeds(table: Table, gain: Table, may: May, doubt: float, unit: float) -> bool:
    """Whether sum_j max_b e^(s_j(b)) gain_j(b) is certainly not above 0, where exp of a score is off by 1 + doubt.

    The sum is taken times e^(-shift). That changes its size and not its sign, so any shift is sound; the one here
    makes the largest of its terms about as large as the unit.
    """
    places = np.arange(len(table))
    size = table + _log_size(gain / unit)
    chosen = _best_tokens(size, gain > 0, may)
    shift = float(size[places, chosen].max())
    if not np.isfinite(shift):  # every term is 0
        return bool((gain[places, chosen] <= 0).all())
    apart = table - shift
    near = exp_near(np.clip(apart, -EXP_RANGE, HIGHEST))
    # Where there is something to gain, weights must not come out too small, and where there is not, not too large:
    # beyond the range of exp they count as its end, as 0, or as without bound.
    heavy = np.where(apart > HIGHEST, np.inf, near * (1 + doubt))
    light = np.where(apart < -EXP_RANGE, 0.0, near / (1 + doubt))
    with np.errstate(over="ignore", invalid="ignore"):  # 0 times infinity, where nothing is gained
        terms = np.where(gain > 0, heavy * gain, light * gain)
    best = np.where(may, terms, -np.inf).max(axis=1)
    rounding = (len(best) + 8) * U * float(np.abs(best).sum()) * 2
    return bool(float(best.sum()) + rounding <= 0)


@dataclass(frozen=True, eq=False)
class OnLogit:
    """The direct effect of one head on the logit of a token: least and most, whatever the text and the query token."""

    head: int
    token: int
    queries: int
    least: Attained
    most: Attained


def on_logit(
    model: Model,
    length: int,
    token: int,
    *,
    heads: Sequence[int] | None = None,
    queries: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> list[OnLogit]:
    """For each head of the first layer, over every text of a length, seen from its last place."""
    layer, direction, circuits = first_layer(model, length), unembedding(model, token), model.circuits(0)
    if any("biases" in note for note in circuits.notes):
        raise InputError(f"{model.name}: its attention has biases, which effects on logits do not cover")
    texts = texts_of(layer, length)
    free = len(layer.tokens) - layer.only_held
    if queries is None and free > FEW:
        raise InputError(f"effects on a logit over all {free} query tokens take hours: expected a few, --query TOKEN")
    rows = np.arange(free) if queries is None else counted(layer, queries)
    found, chosen = [], range(len(layer.queries)) if heads is None else heads
    for turn, number in enumerate(chosen):
        head, (along, wrong) = head_of(layer, number), _along(layer, texts, circuits, number, direction)
        ends = {}
        sides: tuple[tuple[Extreme, float], ...] = (("least", -1.0), ("most", 1.0))
        for side, sign in sides:
            each = [largest_output(head, texts, int(row), sign * along, wrong) for row in rows]
            best = max(each, key=lambda one: one.bound)
            ids = layer.tokens[best.text]
            run = _run(model, number, ids, texts, circuits, direction)
            not_beyond(run, sign * best.bound, side, f"head {number}, effect on the logit of token {token}")
            ends[side] = Attained(int(ids[texts.place]), sign * best.bound, ids, run)
        found.append(OnLogit(number, token, len(rows), ends["least"], ends["most"]))
        if progress is not None:
            progress((turn + 1) / len(chosen))
    return found


def unembedding(model: Model, token: int) -> Direction:
    """The direction that the logit of a token is read from, before the final norm; refused where it is not at hand."""
    if isinstance(model, InductionModel):
        table = model.unembed.T
    else:
        network = getattr(model, "network", None)
        config: Any = getattr(network, "config", None)
        if network is None or not getattr(config, "tie_word_embeddings", False):
            raise InputError(f"{model.name}: its logits are not read from its embeddings, and what reads them is not "
                             "loaded: effects on logits are not covered")  # fmt: skip
        if config.model_type in NORMED_AFTER:
            raise InputError(f"{model.name}: its family ({config.model_type}) norms what attention writes, which "
                             "effects on logits do not cover")  # fmt: skip
        table = network.get_input_embeddings().weight
    if not 0 <= token < len(table):
        raise InputError(f"token {token}: expected 0 to {len(table) - 1}")
    return np.asarray(numbers(table[token]), dtype=np.float64)


def _along(
    layer: FirstLayer, texts: Texts, circuits: Circuits, head: int, direction: Direction
) -> tuple[Float[np.ndarray, "seen tokens"], float]:
    """What each token is worth at each place, and how far that may be off."""
    value = circuits.value[head * len(circuits.value) // len(circuits.output)].astype(np.float64)
    output = circuits.output[head].astype(np.float64)
    reads = value @ (output @ direction)
    size = float(np.linalg.norm(value) * np.linalg.norm(output) * np.linalg.norm(direction)) * (1 + 1e-9)
    rows, wrong = [], 0.0
    for at in texts.seen:
        x = stream(layer, None if layer.places is None else at)
        rows.append(x.rows @ reads)
        wrong = max(wrong, (x.error * size + gamma(3 * sum(value.shape) + 16) * x.longest * size) * UP)
    return np.array(rows), wrong


def _run(model: Model, head: int, ids: Tokens, texts: Texts, circuits: Circuits, direction: Direction) -> float:
    """The effect that the model itself has on a text, from its own queries, keys and values."""
    layer = run_in_float64(model, ids)
    queries, keys, values = (numbers(each).astype(np.float64) for each in (layer.queries, layer.keys, layer.values))
    group, seen = head * len(keys) // len(queries), list(texts.seen)
    scores = keys[group, seen] @ queries[head, texts.place] * layer.scoring.scale
    pattern = np.exp(scores - scores.max())
    return float(pattern / pattern.sum() @ values[group, seen] @ (circuits.output[head].astype(np.float64) @ direction))
