"""Blocks of whole rows of the pattern: a few rows of some heads, with every key that they may see.

Each score costs its product, one exponential and a few passes over memory that the processor's cache holds. As in any
softmax, exponentials are of scores less the largest of their row. What is known of a row is then exact up to rounding:
nothing has to be added up over blocks of keys. Memory is that of a block: O(keys).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from headwright.statistics.arrays import Array, ArrayBackend
from headwright.statistics.attention_rows import (
    AttentionRows,
    BlockPlace,
    hidden,
    hidden_parts,
    holds_booleans,
    key_range,
    mask_part,
)

BOUND = (
    1e30  # scores below it, and their differences, are far inside the range of float32
)
# A score less the row's largest that is below this is of a key that is hidden.
NO_KEY = -1e38


@dataclass(frozen=True)
class StatisticsParameters:
    """The numbers that some statistics depend on."""

    top: int = 8  # how many keys `top`, `top_keys` and `top_weights` have
    ends: tuple[int, int] = (4, 64)  # how many keys `start` and `recent` have
    last_rows: int = 64  # how many rows `received_last` has


@dataclass(frozen=True)
class BlockSize:
    """How many scores a block has, and how many rows it has at least and at most."""

    scores: int
    least_rows: int = 1
    most_rows: int = 2**31


@dataclass(frozen=True)
class Workspace:
    """Memory for the scores of a block and for their exponentials."""

    scores: Array
    exponentials: Array


class RowBlock:
    """Some whole rows: (texts, heads, rows) of each number of a row, (texts, heads, rows, keys) of scores.

    `shifted` are scores less the row's largest, `exponentials` are exp(shifted), and alpha = unit * exponentials.
    Numbers of rows are in float64. Keys that are hidden have the lowest number as their score, and alpha 0. A row is
    `spoilt` if its scores or its sink hold NaN or +inf; it `sees` keys if it has some and is not spoilt; else its unit
    is 0.
    """

    def __init__(
        self,
        call: AttentionRows,
        parameters: StatisticsParameters,
        place: BlockPlace,
        backend: ArrayBackend,
        workspace: Workspace,
        bounded: bool,
    ) -> None:
        """Scores, and the softmax without its division; `bounded` if scores are known to be below BOUND."""
        self.call = call
        self.parameters = parameters
        self.place = place
        self.backend = backend
        self.xp = backend.xp
        xp = self.xp
        scores = self._scores(workspace.scores)
        self.lowest = backend.lowest(scores)
        # A score of -inf is that of a key that is hidden. NaN stays.
        if not bounded:
            backend.clip_below(scores, self.lowest)
        # The largest score of each row: the reference of its exponentials.
        self.winner = backend.argmax(scores)
        best = backend.take(scores, self.winner)
        self.best = backend.precise(best)
        # A comparison with NaN is false, so that these are the rows with NaN or +inf.
        self.spoilt = ~(best < xp.inf)
        sinks = self._sinks()
        if sinks is not None:
            self.spoilt = self.spoilt | ~(sinks < xp.inf)
        self.has_keys = ~(best <= self.lowest)
        self.sees = self.has_keys & ~self.spoilt
        # Rows that see nothing are subtracted 0, so that their exponentials are 0.
        scores -= xp.where(self.sees, best, xp.zeros_like(best))[..., None]
        # A difference that overflows would be -inf, and 0 times it NaN.
        if not bounded:
            backend.clip_below(scores, self.lowest)
        # NaN would spread from a row to what its keys receive.
        if bool(self.spoilt.any()):
            backend.fill(scores, self.spoilt[..., None], self.lowest)
        self.shifted = scores
        # The largest exponential of a row that sees keys is 1, so that its mass is at least 1.
        out = workspace.exponentials[: _size(place)].reshape(place.shape)
        self.exponentials = backend.exp(scores, out)
        self.mass = backend.precise(self.exponentials @ self._ones())
        # lse of the keys; the sink, which is no key, takes the rest of the row's weight.
        keys_lse = xp.where(self.sees, self.best, 0.0) + xp.log(self.mass)
        self.lse = keys_lse if sinks is None else xp.logaddexp(keys_lse, sinks)
        self.sink_weight = None if sinks is None else xp.exp(sinks - self.lse)
        self.sink_score = sinks
        self.share = xp.where(self.sees, xp.exp(keys_lse - self.lse), 0.0)
        self.unit = self.share / xp.where(self.sees, self.mass, 1.0)

    def _scores(self, buffer: Array) -> Array:
        """Products, softcap, biases; the lowest number where a key is hidden."""
        call = self.call
        place = self.place
        texts, heads, rows, keys = place.shape
        # Rows of heads that share keys are multiplied as rows of one head.
        shared = call.heads_of_a_key
        key_heads = slice(
            place.heads.start // shared, (place.heads.stop - 1) // shared + 1
        )
        groups = key_heads.stop - key_heads.start
        key = call.key[place.texts, key_heads, place.keys]
        query = call.query[place.texts, place.heads, place.rows]
        query = self.backend.cast(query, key) * call.scale
        query = query.reshape(texts, groups, heads // groups * rows, -1)
        scores = buffer[: _size(place)]
        self.backend.product(
            query, key, scores.reshape(texts, groups, heads // groups * rows, keys)
        )
        scores = scores.reshape(place.shape)
        # What models make of products, in their order: softcap, biases, masks.
        if call.softcap is not None:
            scores /= call.softcap
            self.xp.tanh(scores, out=scores)
            scores *= call.softcap
        for mask in (call.mask, call.bias):
            if mask is not None and not holds_booleans(mask):
                scores += self.backend.cast(mask_part(mask, place), scores)
        lowest = self.backend.lowest(scores)
        for columns, mask in hidden_parts(call, place, self.backend):
            self.backend.fill(scores[..., columns], mask, lowest)
        return scores

    def _sinks(self) -> Array | None:
        if self.call.sinks is None:
            return None
        return self.backend.precise(self.call.sinks[self.place.heads])[None, :, None]

    def _ones(self) -> Array:
        return self.xp.ones_like(self.exponentials[0, 0, 0])

    @cached_property
    def row_positions(self) -> Array:
        """The position of each row."""
        rows = self.place.rows
        start = self.call.row_position
        return self.backend.arange(start + rows.start, start + rows.stop)

    @cached_property
    def first_key_position(self) -> int:
        """The position of the block's first key."""
        start: int = self.place.keys.start
        return self.call.key_position + start

    @cached_property
    def all_see(self) -> bool:
        """Whether every row sees keys, and none is spoilt."""
        return bool(self.sees.all())

    @cached_property
    def visible(self) -> Array:
        """Which keys each row sees."""
        return ~hidden(self.call, self.place, self.backend)

    @cached_property
    def runner_up(self) -> Array:
        """The second-largest score less the largest."""
        # The winner is hidden, and put back.
        largest = self.backend.take(self.shifted, self.winner)
        self.backend.put(self.shifted, self.winner, self.lowest)
        second = self.backend.max(self.shifted, -1)
        self.backend.put(self.shifted, self.winner, largest)
        return self.backend.precise(second)

    @cached_property
    def top(self) -> tuple[Array, Array]:
        """The largest scores of each row, less the largest, and the positions of their keys, -1 for none."""
        count = min(self.parameters.top, self.place.shape[3])
        scores, index = self.backend.largest(self.shifted, count)
        seen = (scores > NO_KEY) & self.sees[..., None]
        weights = self.xp.exp(self.backend.precise(scores)) * self.unit[..., None]
        return (
            self.xp.where(seen, weights, 0.0),
            self.xp.where(seen, index + self.first_key_position, -1),
        )

    @cached_property
    def ends(self) -> tuple[Array, Array]:
        """The weight on the first keys that a row sees, and on the last of the others."""
        first, last = self.parameters.ends
        number = self.visible.cumsum(-1)  # from 1
        count = number[..., -1:]
        at_start = number <= first
        recent = ~at_start & (number > count - last)
        return self.weight_on(at_start), self.weight_on(recent)

    def weight_on(self, members: Array) -> Array:
        """The weight on keys of which this is 1 or True: (texts, heads, rows, keys), or broadcast to it."""
        members = self.backend.cast(members, self.exponentials)
        return (
            self.backend.precise(self.backend.dot(self.exponentials, members))
            * self.unit
        )

    def weight_at(self, positions: Array) -> Array:
        """The weight of one key for each row, by its position (texts or 1, rows or 1); 0 if it is none of the keys."""
        # Keys outside of the block are seen by none of its rows, or are not there.
        index = positions - self.first_key_position
        inside = (index >= 0) & (index < self.place.shape[3])
        index = self.xp.where(inside, index, 0)[:, None]
        exponentials = self.backend.take(self.exponentials, index)
        weights = self.backend.precise(exponentials) * self.unit
        return self.xp.where(inside[:, None], weights, 0.0)

    def received_from(self, rows: Array) -> Array:
        """The weight that keys receive from rows of which this is True: (texts, heads, keys)."""
        # A product of the rows' units with the block: weights themselves are not needed.
        unit = self.backend.cast(self.unit * rows, self.exponentials)
        total = (unit[..., None, :] @ self.exponentials)[..., 0, :]
        return self.nan_if_seen_by(self.spoilt & rows, self.backend.precise(total))

    def largest_received(self) -> Array:
        """The largest weight that keys receive: (texts, heads, keys)."""
        unit = self.backend.cast(self.unit, self.exponentials)
        weights = self.exponentials * unit[..., None]
        most = self.backend.precise(self.backend.max(weights, -2))
        return self.nan_if_seen_by(self.spoilt, most)

    def nan_if_seen_by(self, spoilt: Array, received: Array) -> Array:
        """A row that is NaN gives NaN to the keys that it sees, and to no others."""
        if not bool(spoilt.any()):
            return received
        seen = (spoilt[..., None] & self.visible).any(-2)
        return self.xp.where(seen, self.xp.nan, received)


def row_blocks(
    call: AttentionRows,
    parameters: StatisticsParameters,
    backend: ArrayBackend,
    size: BlockSize,
) -> Iterator[RowBlock]:
    """All rows, block after block; a block's arrays are overwritten by the next."""
    # Memory is asked for once: the system hands out new memory page by page, which shows.
    places = list(block_places(call, size))
    most = max(_size(place) for place in places)
    workspace = Workspace(
        backend.buffer(most, call.key), backend.buffer(most, call.key)
    )
    bounded = _bounded(call, backend)
    for place in places:
        yield RowBlock(call, parameters, place, backend, workspace, bounded)


def block_places(call: AttentionRows, size: BlockSize) -> Iterator[BlockPlace]:
    """Blocks of about so many scores: some rows of a head, or all rows of some heads, or all heads of some texts."""
    batch, heads, rows, _ = call.query.shape
    # First some rows of one head; if those are all, some heads; if those are all, some texts.
    step = size.scores // call.keys
    step = min(max(step, size.least_rows), size.most_rows, rows)
    heads_at_once = size.scores // (step * call.keys)
    if heads_at_once < heads:  # those that share a key stay together, or are alone
        shared = call.heads_of_a_key
        heads_at_once = max(1, heads_at_once // shared * shared)
    texts_at_once = max(1, heads_at_once // heads)
    for texts in _steps(batch, texts_at_once):
        for some_heads in _steps(heads, heads_at_once):
            for some_rows in _steps(rows, step):
                keys = key_range(call, some_rows)
                yield BlockPlace(texts, some_heads, some_rows, keys)


def _steps(count: int, step: int) -> Iterator[slice]:
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))


def _size(place: BlockPlace) -> int:
    texts, heads, rows, keys = place.shape
    return texts * heads * rows * keys


def _bounded(call: AttentionRows, backend: ArrayBackend) -> bool:
    """Whether no score can be infinite or NaN, nor any sum on the way to one."""
    adds = any(
        mask is not None and not holds_booleans(mask) for mask in (call.mask, call.bias)
    )
    factor = call.query.shape[3] * max(1.0, abs(call.scale))
    return not adds and backend.bounded(call.query, call.key, BOUND / factor)
