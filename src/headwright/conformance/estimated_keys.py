"""Keys that were left out, counted twice or seen by mistake: which ones, is estimated.

Let o be the exact output of a row, alpha its weights, and r what the output differs by.
If a set of keys with weight w and weighted values u is left out, the output becomes
(o - u) / (1 - w); if a key with weight a (relative to the others) is added, it becomes
(o + a v) / (1 + a). So each choice of keys predicts r. The one that predicts it best is
a candidate, which the bound then has to confirm.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headwright.conformance.arrays import like, to_numpy
from headwright.conformance.candidates import (
    Explanation,
    WrongOutput,
    change_spec,
)
from headwright.conformance.description import (
    query_heads,
    row_positions,
    visible_block,
)
from headwright.conformance.reference import (
    ExactRows,
    blocks,
    exact_rows,
    take_rows,
)

ROWS_OF_AN_ESTIMATE = 16
TILES = (16, 32, 64, 128, 256)
# Numbers of an array that is made for one candidate; larger problems are left out.
LARGEST_ARRAY = 2**24


@dataclass(frozen=True, eq=False)
class Gains:
    """By how much the squared error shrinks, (batch, heads, rows, keys or tiles)."""

    lost: np.ndarray
    twice: np.ndarray
    seen: np.ndarray
    tiles: dict[int, np.ndarray]


@dataclass(frozen=True, eq=False)
class Scope:
    """Where a mistake was made: everywhere, or only where something is outside."""

    where: np.ndarray  # (batch or 1, heads or 1, rows or 1)
    words: str


def estimated_keys(case: WrongOutput) -> Iterator[Explanation]:
    """Keys, tiles of keys, or keys at one distance that were not treated right."""
    shape = case.problem.shape
    rows = _rows_of_estimate(case)
    numbers = shape.batch * shape.heads * shape.keys * max(len(rows), shape.value_dim)
    if len(rows) == 0 or numbers > LARGEST_ARRAY:
        return
    gains = _find_gains(case, rows)
    positions = row_positions(case.spec, shape, rows)
    for scope in _scopes(case):
        size = math.prod(scope.where.shape[:2]) * shape.rows * shape.keys
        if size > LARGEST_ARRAY:
            continue
        inside = np.broadcast_to(scope.where, case.outside.shape)[:, :, rows]
        yield from _single_keys(case, scope, gains, inside)
        yield from _distances(case, scope, gains, inside, positions)
        yield from _tiles(case, scope, gains, inside)


def _rows_of_estimate(case: WrongOutput) -> np.ndarray:
    outside = np.asarray(case.outside.any(axis=(0, 1)))[case.rows]
    rows = case.rows[outside]
    chosen = np.linspace(0, len(rows) - 1, min(len(rows), ROWS_OF_AN_ESTIMATE))
    return np.asarray(rows[chosen.astype(int)])


def _find_gains(case: WrongOutput, rows: np.ndarray) -> Gains:
    shape = case.problem.shape
    size = (shape.batch, shape.heads, len(rows), shape.keys)
    gains = Gains(np.zeros(size), np.zeros(size), np.zeros(size), {})
    for tile in TILES:
        if tile < shape.keys:
            count = -(-shape.keys // tile)
            gains.tiles[tile] = np.zeros((*size[:3], count))
    place_of_row = {int(row): place for place, row in enumerate(rows)}
    for block in blocks(case.problem, rows):
        # All keys: also those that no row of the block sees.
        block = replace(block, keys=slice(0, shape.keys))
        exact = exact_rows(case.problem, block)
        texts = (block.pairs // shape.key_heads)[:, None, None]
        heads = query_heads(case.spec, shape, block.pairs)[:, :, None]
        places = np.array([place_of_row[int(row)] for row in block.rows])
        actual = to_numpy(take_rows(case.problem, block, case.out))
        _add_gains(exact, actual, gains, (texts, heads, places[None, None]))
    return gains


def _add_gains(
    exact: ExactRows,
    actual: np.ndarray,
    gains: Gains,
    place: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    """The gains of one block, in the terms of the module's first lines."""
    output = to_numpy(exact.output)
    residual = np.where(np.isfinite(actual), actual, 0.0) - output
    values = to_numpy(exact.values)
    weights = to_numpy(exact.weights)
    visible = to_numpy(exact.visible)

    # Adding the share c of key j predicts c (v_j - o): with x = r . (v_j - o) and
    # y = |v_j - o|^2, the squared error shrinks by 2 c x - c^2 y.
    values_by_column = np.swapaxes(values, -1, -2)
    own = (residual * output).sum(-1, keepdims=True)
    along = residual @ values_by_column - own
    squares = (values * values).sum(-1)[:, :, None, :]
    square = squares - 2 * output @ values_by_column
    square = square + (output * output).sum(-1, keepdims=True)

    def gain(share: np.ndarray) -> np.ndarray:
        return np.asarray(2 * share * along - share * share * square)

    left = np.maximum(1 - weights, 1e-9)
    lost = np.where(visible, gain(-weights / left), 0.0)
    # Beside the key with the most weight, 1 - weight has few digits or none.
    heaviest = weights.argmax(axis=-1)[..., None]
    without = _gain_without(exact, residual, np.arange(weights.shape[-1]) == heaviest)
    np.put_along_axis(lost, heaviest, without, axis=-1)
    gains.lost[place] = lost
    gains.twice[place] = np.where(visible, gain(weights / (1 + weights)), 0.0)
    scores = to_numpy(exact.capped)
    if exact.added is not None:
        scores = scores + to_numpy(exact.added.total)
    relative = np.exp(np.minimum(scores - to_numpy(exact.log_sum_exp), 300.0))
    gains.seen[place] = np.where(visible, 0.0, gain(relative / (1 + relative)))
    for tile, gains_of_tiles in gains.tiles.items():
        by_tile = _gains_of_tiles(tile, weights, values[:, 0], output, residual)
        tile_of_key = np.arange(weights.shape[-1]) // tile
        heaviest_tile = heaviest // tile
        without = _gain_without(exact, residual, tile_of_key == heaviest_tile)
        np.put_along_axis(by_tile, heaviest_tile, without, axis=-1)
        gains_of_tiles[place] = by_tile


def _gain_without(
    exact: ExactRows, residual: np.ndarray, left_out: np.ndarray
) -> np.ndarray:
    """The same gain where the keys left out have nearly all weight: (..., rows, 1).

    Nothing is gained if no other key is seen.
    """
    others = np.where(left_out, 0.0, to_numpy(exact.weights))
    left = others.sum(-1, keepdims=True)
    if exact.sink_scores is not None:
        left = left + np.exp(to_numpy(exact.sink_scores - exact.log_sum_exp))
    something = left > 0
    mean = others @ to_numpy(exact.values) / np.where(something, left, 1.0)
    error = to_numpy(exact.output) + residual - mean
    before = (residual * residual).sum(-1, keepdims=True)
    gain = before - (error * error).sum(-1, keepdims=True)
    return np.where(something, gain, 0.0)


def _gains_of_tiles(
    tile: int,
    weights: np.ndarray,
    values: np.ndarray,
    output: np.ndarray,
    residual: np.ndarray,
) -> np.ndarray:
    """By how much the squared error shrinks if a tile of keys is left out."""
    pairs, keys, columns = values.shape
    count = -(-keys // tile)
    filled_up = count * tile - keys
    by_tile = np.pad(weights, ((0, 0), (0, 0), (0, 0), (0, filled_up)))
    by_tile = by_tile.reshape(*weights.shape[:3], count, tile)
    values_by_tile = np.pad(values, ((0, 0), (0, filled_up), (0, 0)))
    values_by_tile = values_by_tile.reshape(pairs, count, tile, columns)
    weight = by_tile.sum(-1)[..., None]
    weighted = np.einsum("pgrnt,pntd->pgrnd", by_tile, values_by_tile)
    left = np.maximum(1 - weight, 1e-9)
    predicted = (weight * output[..., None, :] - weighted) / left
    error = residual[..., None, :] - predicted
    before = (residual * residual).sum(-1, keepdims=True)
    return np.asarray(before - (error * error).sum(-1))


def _scopes(case: WrongOutput) -> Iterator[Scope]:
    """Everywhere; where something is outside: these heads, these rows, or both."""
    outside = case.outside
    yield Scope(np.ones((1, 1, 1), dtype=bool), "")
    heads = np.asarray(outside.any(axis=2, keepdims=True))
    rows = np.asarray(outside.any(axis=(0, 1), keepdims=True))
    if not heads.all():
        yield Scope(heads, f" {_name_heads(heads[:, :, 0])}")
    if not rows.all():
        yield Scope(rows, f" {_name_rows(rows[0, 0])}")
    if not heads.all() and not rows.all():
        words = f" {_name_heads(heads[:, :, 0])}, {_name_rows(rows[0, 0])}"
        yield Scope(outside, words)


def _name_heads(outside: np.ndarray) -> str:
    """Some of the heads of a batch, (batch, heads), in words."""
    batch, heads = outside.shape
    batches = np.flatnonzero(outside.any(axis=1))
    numbers = np.flatnonzero(outside.any(axis=0))
    in_batch = f"in batch {batches[0]}" if len(batches) == 1 and batch > 1 else ""
    in_head = f"in head {numbers[0]}" if len(numbers) == 1 else ""
    if in_batch and len(numbers) == heads:
        return in_batch
    if in_head and len(batches) == batch:
        return in_head
    if in_batch and in_head:
        return f"in batch {batches[0]}, head {numbers[0]}"
    return f"in {np.count_nonzero(outside)} of {outside.size} heads"


def _name_rows(rows: np.ndarray) -> str:
    numbers = np.flatnonzero(rows)
    if len(numbers) == 1:
        return f"in row {numbers[0]}"
    if numbers[-1] - numbers[0] + 1 == len(numbers):
        return f"in rows {numbers[0]} to {numbers[-1]}"
    return f"in {len(numbers)} rows"


def _single_keys(
    case: WrongOutput, scope: Scope, gains: Gains, inside: np.ndarray
) -> Iterator[Explanation]:
    """One key, the same for all rows."""
    keys = np.arange(case.problem.shape.keys)
    for effect, gain in (
        ("lost", gains.lost),
        ("counted twice", gains.twice),
        ("seen", gains.seen),
    ):
        total = (gain * inside[..., None]).sum(axis=(0, 1, 2))
        best = int(total.argmax())
        if total[best] > 0:
            chosen = (keys == best)[None, None, None, :]
            yield from _treated(case, scope, effect, f"key {best}", chosen)


def _distances(
    case: WrongOutput,
    scope: Scope,
    gains: Gains,
    inside: np.ndarray,
    positions: np.ndarray,
) -> Iterator[Explanation]:
    """The key at one distance from each row's own."""
    by_row = np.asarray(scope.where.any(axis=(0, 1)))
    if len(by_row) > 1 and np.count_nonzero(by_row) == 1:
        return  # in one row that is a single key
    shape = case.problem.shape
    keys = np.arange(shape.keys)
    all_positions = row_positions(case.spec, shape, np.arange(shape.rows))
    all_distances = all_positions[:, None] - keys
    least = int(all_distances.min())
    for effect, gain in (("lost", gains.lost), ("seen", gains.seen)):
        gain_by_row = (gain * inside[..., None]).sum(axis=(0, 1))
        total = np.zeros(int(all_distances.max()) - least + 1)
        for row, position in enumerate(positions.tolist()):
            total[position - keys - least] += gain_by_row[row]
        distance = int(total.argmax()) + least
        if total.max() <= 0:
            continue
        side = "before" if distance > 0 else "after"
        name = f"the key {abs(distance)} {side} each row's own"
        if distance == 0:
            name = "each row's own key"
        chosen = (all_distances == distance)[None, None]
        yield from _treated(case, scope, effect, name, chosen)


def _tiles(
    case: WrongOutput, scope: Scope, gains: Gains, inside: np.ndarray
) -> Iterator[Explanation]:
    """A tile of keys that is left out, the same for all rows."""
    keys = np.arange(case.problem.shape.keys)
    for tile, gain in gains.tiles.items():
        total = (gain * inside[..., None]).sum(axis=(0, 1, 2))
        best = int(total.argmax())
        if total[best] <= 0:
            continue
        last = min(best * tile + tile, len(keys)) - 1
        name = f"keys {best * tile} to {last}"
        chosen = (keys // tile == best)[None, None, None, :]
        yield from _treated(case, scope, "lost", name, chosen)


def _treated(
    case: WrongOutput, scope: Scope, effect: str, keys: str, chosen: np.ndarray
) -> Iterator[Explanation]:
    """The candidate in which some keys, `chosen` (1, 1, rows or 1, keys), are treated so."""
    affected = scope.where[..., None] & chosen
    name = f"{keys} {effect}{scope.words}"
    changes: dict[str, Any]
    if effect == "lost":
        shown = like(~affected, case.problem.q)
        if case.spec.mask is not None:
            shown = shown & like(case.spec.mask, case.problem.q)
        changes = {"mask": shown}
        sentence = f"{keys} left out{scope.words}"
    elif effect == "counted twice":
        added = like(np.where(affected, math.log(2), 0.0), case.problem.q)
        if case.spec.bias is not None:
            added = added + like(case.spec.bias, case.problem.q)
        changes = {"bias": added}
        sentence = f"{keys} counted twice{scope.words}"
    else:
        visible = _whole_mask(case)
        if visible is None:
            return
        changes = {
            "mask": like(visible | affected, case.problem.q),
            "causal": False,
            "keys_before": None,
            "keys_after": None,
            "documents": None,
            "key_padding": None,
        }
        sentence = f"{keys} seen{scope.words}, where hidden"
    family = f"{keys} {effect}"
    yield change_spec(case, name, sentence, family, **changes)


def _whole_mask(case: WrongOutput) -> np.ndarray | None:
    """Which keys are seen, (batch, heads or 1, rows, keys); None if that is too large."""
    shape = case.problem.shape
    if shape.batch * shape.heads * shape.rows * shape.keys > LARGEST_ARRAY:
        return None
    pairs = np.arange(shape.batch * shape.key_heads)
    rows = np.arange(shape.rows)
    keys = slice(0, shape.keys)
    seen = visible_block(case.spec, shape, pairs, rows, keys, case.problem.q)
    by_pair = to_numpy(seen)
    full = (len(pairs), shape.group, shape.rows, shape.keys)
    by_pair = np.broadcast_to(by_pair, full)
    return by_pair.reshape(shape.batch, shape.heads, shape.rows, shape.keys)
