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
from headwright.models.induction import InductionModel
from headwright.models.model import Circuits, Model, Tokens, numbers
from headwright.numerics.balls import UP, U, gamma
from headwright.numerics.exponential import EXP_RANGE, exp_near
from headwright.text_bounds.compare_with_model import (
    Attained,
    assert_run_within,
    run_in_float64,
)
from headwright.text_bounds.every_text import FEW_QUERIES
from headwright.text_bounds.first_layer import FirstLayer, token_indices
from headwright.text_bounds.progress import Progress
from headwright.text_bounds.read_layer import first_layer
from headwright.text_bounds.search.head_vectors import head_of, stream
from headwright.text_bounds.search.heads import FirstLayerHead
from headwright.text_bounds.search.sweep import Extreme, doubt_of, scores_along
from headwright.text_bounds.search.texts import TextFamily, texts_of

MOST_STEPS = 100
HIGHEST = 300.0  # of exponents: a product with a gain is then still finite
DOUBLINGS = 80  # from FIRST_MARGIN of what tokens are worth to more than all of it
FIRST_MARGIN = 1e-13

Table = Float[np.ndarray, "seen tokens"]
Allowed = Bool[np.ndarray, "seen tokens"]  # what each place may hold
Chosen = Int[np.ndarray, " seen"]  # a token for each place
NORMED_AFTER = ("gemma3_text",)  # families that norm what attention writes
Direction = Float[np.ndarray, " width"]


@dataclass(frozen=True, eq=False)
class LargestOutput:
    """The largest value over every text, in floating point, with a text that attains it; and proved: none has more."""

    value: float
    bound: float
    text: Int[np.ndarray, " length"]


def largest_output(
    head: FirstLayerHead,
    texts: TextFamily,
    query: int,
    along: Table,
    error: float = 0.0,
) -> LargestOutput:
    """The largest output of a query token, where along[j, b], off by at most `error`, is what b at place j is worth."""
    table = np.array([scores for _, scores in scores_along(head, texts, query)])
    if not (np.isfinite(table).all() and np.isfinite(along).all()):
        raise InputError(
            "scores or outputs that are not finite: nothing is proved of them"
        )
    allowed = np.zeros(table.shape, dtype=bool)
    # Where a place is free, any token will do to begin with.
    start = np.array([texts.held.get(at, query) for at in texts.seen])
    for line, at in enumerate(texts.seen):
        if at in texts.free:
            allowed[line, : head.free] = True
        else:
            allowed[line, start[line]] = True
    value, chosen = _climb(table, along, allowed, start)
    text = np.full(texts.length, query)
    text[list(texts.seen)] = chosen
    row = np.array([query])
    slacks = [
        head.queries(texts.place, at, row).slack(head.keys(at)) for at in texts.seen
    ]
    bound = _upper_bound(value, table, along, allowed, max(slacks), error)
    return LargestOutput(value, bound, text)


def _climb(
    table: Table, along: Table, allowed: Allowed, start: Chosen
) -> tuple[float, Chosen]:
    """The largest output that was found and its tokens: Dinkelbach's steps, from a text on (in floating point)."""
    places = np.arange(len(table))
    best = -np.inf
    best_tokens = start
    chosen = start
    for _ in range(MOST_STEPS):
        # The largest score of this text is taken away, so that its largest weight is 1: the sum cannot underflow.
        scores = table[places, chosen]
        worth = along[places, chosen]
        less = scores - scores.max()
        weights = np.exp(less)
        # The output is that of the heaviest place and `beyond`. Where scores lie far apart `beyond` is too small for a
        # float, and still decides whether the heaviest token is better than another: so its logarithm is kept.
        heaviest = worth[weights.argmax()]
        sign, log_beyond = _signed_sum(less, worth - heaviest)
        log_beyond -= float(np.log(weights.sum()))
        beyond = sign * float(np.exp(log_beyond))
        value = float(heaviest + beyond)
        if value < best:  # steps only rise, but for rounding
            break
        best = value
        best_tokens = chosen
        # The gain of each token is e^score (worth - value): its sign, and the logarithm of its size.
        gain = (along - heaviest) - beyond
        is_heaviest = along == heaviest
        log_size = np.where(is_heaviest, table + log_beyond, table + _log_size(gain))
        is_gain = np.where(is_heaviest, -sign, gain) > 0
        better = _best_tokens(log_size, is_gain, allowed)
        if np.array_equal(better, chosen):
            break
        chosen = better
    return best, best_tokens


def _signed_sum(
    exponents: Float[np.ndarray, " n"], factors: Float[np.ndarray, " n"]
) -> tuple[float, float]:
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
        log_size: Float[np.ndarray, "*shape"] = np.log(np.abs(numbers))
    return log_size


def _best_tokens(log_size: Table, is_gain: Allowed, allowed: Allowed) -> Chosen:
    """At each place, the token with the largest term: above 0 where it is a gain, and of the size e^log_size."""
    gains = allowed & is_gain
    most_gain = np.where(gains, log_size, -np.inf).argmax(axis=1)
    # Where there is no gain, the loss nearest to 0.
    least_loss = np.where(allowed & ~is_gain, log_size, np.inf).argmin(axis=1)
    chosen: Chosen = np.where(gains.any(axis=1), most_gain, least_loss)
    return chosen


def _upper_bound(
    value: float,
    table: Table,
    along: Table,
    allowed: Allowed,
    slack: float,
    error: float,
) -> float:
    """A number that no text exceeds: the first of some above the value for which that is certain."""
    doubt = float(doubt_of(np.array([slack]), 8)[0])
    size = max(float(np.abs(along[allowed]).max()) + error, 1e-300)
    for step in range(DOUBLINGS):
        bound = value + size * FIRST_MARGIN * 2.0**step
        # Not below x - bound, for the exact x.
        gain = (along - bound) + (error + 4 * U * (size + abs(bound)))
        if _none_exceeds(table, gain, allowed, doubt, size):
            return bound
        if bound > 2 * size:
            break
    # An average of numbers that are none above this.
    return float(np.nextafter(size * (1 + 2.0**-50), np.inf))


def _none_exceeds(
    table: Table, gain: Table, allowed: Allowed, doubt: float, unit: float
) -> bool:
    """Whether sum_j max_b e^(s_j(b)) gain_j(b) is certainly not above 0, where exp of a score is off by 1 + doubt.

    The sum is taken times e^(-shift). That changes its size and not its sign, so any shift is sound; the one here
    makes the largest of its terms about as large as the unit.
    """
    places = np.arange(len(table))
    log_size = table + _log_size(gain / unit)
    chosen = _best_tokens(log_size, gain > 0, allowed)
    shift = float(log_size[places, chosen].max())
    if not np.isfinite(shift):  # every term is 0
        return bool((gain[places, chosen] <= 0).all())
    exponent = table - shift
    power = exp_near(np.clip(exponent, -EXP_RANGE, HIGHEST))
    # Where there is something to gain, weights must not come out too small, and where there is not, not too large:
    # beyond the range of exp they count as its end, as 0, or as without bound.
    heavy = np.where(exponent > HIGHEST, np.inf, power * (1 + doubt))
    light = np.where(exponent < -EXP_RANGE, 0.0, power / (1 + doubt))
    with np.errstate(over="ignore", invalid="ignore"):
        # 0 times infinity is no number only where nothing is gained, and is not taken there.
        terms = np.where(gain > 0, heavy * gain, light * gain)
    largest = np.where(allowed, terms, -np.inf).max(axis=1)
    rounding = (len(largest) + 8) * U * float(np.abs(largest).sum()) * 2
    return bool(float(largest.sum()) + rounding <= 0)


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
    layer = first_layer(model, length)
    direction = unembedding(model, token)
    circuits = model.circuits(0)
    if any("biases" in note for note in circuits.notes):
        raise InputError(
            f"{model.name}: its attention has biases, which effects on logits do not cover"
        )
    if queries is None and layer.free > FEW_QUERIES:
        raise InputError(
            f"effects on a logit over all {layer.free} query tokens take hours: expected a few, --query TOKEN"
        )
    rows = np.arange(layer.free) if queries is None else token_indices(layer, queries)
    texts = texts_of(layer, length)
    chosen = range(len(layer.queries)) if heads is None else heads
    results = []
    for turn, number in enumerate(chosen):
        effect = _Effect(model, layer, texts, circuits, direction, token, number)
        least, most = effect.bounds(rows)
        results.append(OnLogit(number, token, len(rows), least, most))
        if progress is not None:
            progress((turn + 1) / len(chosen))
    return results


@dataclass(frozen=True, eq=False)
class _Effect:
    """The direct effect of one head along the direction of a logit."""

    model: Model
    layer: FirstLayer
    texts: TextFamily
    circuits: Circuits
    direction: Direction
    token: int
    head: int

    def bounds(self, rows: Int[np.ndarray, " queries"]) -> tuple[Attained, Attained]:
        """Least and most over some query tokens and every text, run in the model."""
        head = head_of(self.layer, self.head)
        along, error = self._along()
        # The least is the largest along the opposite direction.
        least = self._largest(head, rows, -along, error)
        most = self._largest(head, rows, along, error)
        return self._attained(least, -1.0, "least"), self._attained(most, 1.0, "most")

    def _largest(
        self,
        head: FirstLayerHead,
        rows: Int[np.ndarray, " queries"],
        along: Table,
        error: float,
    ) -> LargestOutput:
        outputs = [
            largest_output(head, self.texts, int(row), along, error) for row in rows
        ]
        return max(outputs, key=lambda output: output.bound)

    def _attained(
        self, output: LargestOutput, sign: float, extreme: Extreme
    ) -> Attained:
        ids = self.layer.tokens[output.text]
        run = self._run(ids)
        bound = sign * output.bound
        what = f"head {self.head}, effect on the logit of token {self.token}"
        assert_run_within(run, bound, extreme, what)
        return Attained(int(ids[self.texts.place]), bound, ids, run)

    def _along(self) -> tuple[Table, float]:
        """What each token is worth at each place, and how far that may be off."""
        values = self.circuits.value
        outputs = self.circuits.output
        value = values[self.head * len(values) // len(outputs)].astype(np.float64)
        output = outputs[self.head].astype(np.float64)
        reads = value @ (output @ self.direction)
        norms = [np.linalg.norm(part) for part in (value, output, self.direction)]
        size = float(np.prod(norms)) * (1 + 1e-9)
        rows = []
        error = 0.0
        for at in self.texts.seen:
            x = stream(self.layer, None if self.layer.places is None else at)
            rows.append(x.rows @ reads)
            rounding = gamma(3 * sum(value.shape) + 16) * x.longest * size
            error = max(error, (x.error * size + rounding) * UP)
        return np.array(rows), error

    def _run(self, ids: Tokens) -> float:
        """The effect that the model itself has on a text, from its own queries, keys and values."""
        layer = run_in_float64(self.model, ids)
        queries = numbers(layer.queries).astype(np.float64)
        keys = numbers(layer.keys).astype(np.float64)
        values = numbers(layer.values).astype(np.float64)
        group = self.head * len(keys) // len(queries)
        seen = list(self.texts.seen)
        query = queries[self.head, self.texts.place]
        scores = keys[group, seen] @ query * layer.scoring.scale
        powers = np.exp(scores - scores.max())
        pattern = powers / powers.sum()
        reads = self.circuits.output[self.head].astype(np.float64) @ self.direction
        return float(pattern @ values[group, seen] @ reads)


def unembedding(model: Model, token: int) -> Direction:
    """The direction that the logit of a token is read from, before the final norm; refused where it is not at hand."""
    table = model.unembed.T if isinstance(model, InductionModel) else _tied(model)
    if not 0 <= token < len(table):
        raise InputError(f"token {token}: expected 0 to {len(table) - 1}")
    return np.asarray(numbers(table[token]), dtype=np.float64)


def _tied(model: Model) -> Any:
    """The embeddings of a network, where its logits are read from them."""
    network = getattr(model, "network", None)
    config: Any = getattr(network, "config", None)
    if network is None or not getattr(config, "tie_word_embeddings", False):
        raise InputError(
            f"{model.name}: its logits are not read from its embeddings, and what reads them is not "
            "loaded: effects on logits are not covered"
        )
    if config.model_type in NORMED_AFTER:
        raise InputError(
            f"{model.name}: its family ({config.model_type}) norms what attention writes, which "
            "effects on logits do not cover"
        )
    return network.get_input_embeddings().weight
