"""The statistics of attention, in a table: what each is, and how it is computed from a block of whole rows.

Each is written once, for every library of arrays (`arrays`). To add one is to write its function and its entry: then
`row_statistics(extra=...)` and `watch` know it by its name, with batches, masks, caches, running means and summaries.
On a GPU, Triton's kernels compute those that `triton_backend` lists; what they do not know is computed by torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from headwright.statistics.arrays import Array
from headwright.statistics.row_block import RowBlock


class PerWhat(Enum):
    """What a statistic has a number for; the axes behind those of the batch and the heads."""

    ROW = "row"
    TOP_KEYS = "each of the top keys of a row"
    KEY = "key"


class OverBlocks(Enum):
    """How what keys receive is added up over blocks of rows. A row lies in one block, and needs no such rule."""

    SUM = "sum"
    LARGEST = "largest"


class OverRows(Enum):
    """How the rows of all runs become one number of a head."""

    MEAN = "mean"
    LARGEST = "largest"
    NOTHING = "no number of a head"


@dataclass(frozen=True)
class Statistic:
    """One statistic of a row with scores s and weights alpha = softmax(s), or of what a key receives."""

    name: str
    meaning: str
    unit: str
    compute: Callable[[RowBlock], Array]
    per: PerWhat = PerWhat.ROW
    over_blocks: OverBlocks = OverBlocks.SUM
    over_rows: OverRows = OverRows.MEAN
    without_keys: float | None = 0.0  # of a row that sees no key; None: as computed
    is_position: bool = False  # a whole number: the position of a key, or -1 for none
    in_one_text: bool = False  # of no meaning if rows and keys are of two texts


def lse(block: RowBlock) -> Array:
    """The logarithm of the sum of all exponentials."""
    return block.lse


def largest(block: RowBlock) -> Array:
    """By logarithms, so that it does not underflow beside a large sink."""
    return block.xp.exp((block.best - block.lse).clip(max=0.0))


def winner(block: RowBlock) -> Array:
    """The position of the key with the largest score."""
    return block.winner + block.first_key_position


def margin(block: RowBlock) -> Array:
    """The largest score less the second; infinite if there is no second."""
    alone = block.runner_up <= block.lowest / 2
    return block.xp.where(alone, block.xp.inf, -block.runner_up)


def entropy(block: RowBlock) -> Array:
    """Of the keys; with a sink, that of keys or sink comes first, by the chain rule of entropy."""
    # Over the keys alone, alpha = e^x / mass: H = ln(mass) - sum x e^x / mass
    mean = block.backend.dot(block.exponentials, block.shifted)
    mass = block.xp.where(block.sees, block.mass, 1.0)
    of_keys = block.xp.log(mass) - block.backend.precise(mean) / mass
    if block.sink_weight is None:
        return of_keys
    # H = share H(keys) - share ln(share) - sink ln(sink), where share + sink = 1
    share = block.xp.where(block.share > 0, block.share, 1.0)
    sink = block.sink_weight
    sink_log = block.xp.where(sink > 0, block.sink_score - block.lse, 0.0)
    return block.share * (of_keys - block.xp.log(share)) - sink * sink_log


def first(block: RowBlock) -> Array:
    """The weight of the first token of the text."""
    if block.call.first is None:
        return block.weight_at(0 * block.row_positions[None])
    return block.weight_at(block.call.first[block.place.texts, None])


def distance(block: RowBlock) -> Array:
    """Counted from the block's last key: small numbers, whose sums lose few digits."""
    # sum alpha (position - key) = sum alpha (last - key) - (last - position) sum alpha
    count = block.place.shape[3]
    behind = block.backend.arange(1 - count, 1)
    behind = block.backend.cast(-behind, block.exponentials)
    mean = block.backend.precise(block.exponentials @ behind) * block.unit
    last_key = block.first_key_position + count - 1
    return mean + (block.row_positions - last_key) * block.share


def sensitivity(block: RowBlock) -> Array:
    """With a softcap, its slope is a factor more."""
    weight = largest(block)
    # d ln(alpha) = (1 - alpha) ds, and ds / d ln |key| is the score before the softcap times the cap's slope.
    slope = block.xp.where(block.sees, block.best, 0.0)
    cap = block.call.softcap
    if cap is not None:
        capped = (slope / cap).clip(-1 + 1e-16, 1 - 1e-16)
        slope = cap * block.xp.arctanh(capped) * (1 - capped * capped)
    return weight * (1 - weight) * slope


def largest_score(block: RowBlock) -> Array:
    """After scale and softcap."""
    return block.best


def top(block: RowBlock) -> Array:
    """The sum of the largest weights."""
    return block.top[0].sum(-1)


def top_keys(block: RowBlock) -> Array:
    """The positions of their keys."""
    return block.top[1]


def top_weights(block: RowBlock) -> Array:
    """Each of them."""
    return block.top[0]


def start(block: RowBlock) -> Array:
    """The weight on the first keys."""
    return block.ends[0]


def middle(block: RowBlock) -> Array:
    """What is left of the weight on keys."""
    return (block.share - block.ends[0] - block.ends[1]).clip(min=0.0)


def recent(block: RowBlock) -> Array:
    """The weight on the last of the other keys."""
    return block.ends[1]


def received(block: RowBlock) -> Array:
    """From all rows of the block."""
    return block.received_from(block.sees | block.spoilt)


def received_last(block: RowBlock) -> Array:
    """From those rows of the block that are among the last of their text."""
    return block.received_from(_among_last(block)[:, None])


def _among_last(block: RowBlock) -> Array:
    """Which rows are among the last of their text, without padding: (texts or 1, rows)."""
    counted = block.call.counted
    count = block.parameters.last_rows
    if counted is None:
        rows = block.backend.arange(block.place.rows.start, block.place.rows.stop)
        return (rows >= block.call.rows - count)[None]
    # Of n rows that count, row number r is among the last m if r > n - m.
    so_far = counted[block.place.texts].cumsum(-1)
    among_last = counted[block.place.texts] & (so_far > so_far[:, -1:] - count)
    return among_last[:, block.place.rows]


def received_most(block: RowBlock) -> Array:
    """From one row of the block."""
    return block.largest_received()


def back(offset: int, name: str | None = None) -> Statistic:
    """The weight of the key so many places back."""

    def weight(block: RowBlock) -> Array:
        return block.weight_at(block.row_positions[None] - offset)

    name = offset_name(offset) if name is None else name
    meaning = f"the weight of the key {offset} places back"
    return Statistic(name, meaning, "weight", weight, in_one_text=True)


def of_set(set_name: str, name: str | None = None) -> Statistic:
    """The weight on one of the sets of keys."""

    def weight(block: RowBlock) -> Array:
        members = block.call.sets[set_name]
        members = members[block.place.texts, None, None, block.place.keys]
        return block.weight_on(members)

    name = f"set {set_name}" if name is None else name
    return Statistic(name, f"the weight on {set_name}", "weight", weight)


def offset_name(offset: int) -> str:
    """The name under which the weight at an offset is found.

    >>> offset_name(2)
    'offset 2'
    """
    return f"offset {offset}"


_ENTRIES = (
    Statistic("lse", "ln sum exp(s)", "score", lse, without_keys=None),
    Statistic("largest", "the largest weight", "weight", largest),
    Statistic(
        "winner",
        "the key with the largest weight",
        "position",
        winner,
        over_rows=OverRows.NOTHING,
        is_position=True,
    ),
    Statistic("margin", "the largest score less the second", "score", margin),
    Statistic("entropy", "-sum alpha ln alpha", "nat", entropy),
    Statistic("first", "the weight of the first token", "weight", first),
    Statistic(
        "distance",
        "sum alpha (position - key)",
        "positions",
        distance,
        in_one_text=True,
    ),
    Statistic(
        "sensitivity",
        "the derivative of the largest weight by the logarithm of its key's length",
        "weight",
        sensitivity,
    ),
    Statistic(
        "largest_score",
        "the largest score",
        "score",
        largest_score,
        over_rows=OverRows.LARGEST,
        without_keys=-float("inf"),
    ),
    back(0, "self"),
    back(1, "previous"),
    Statistic("top", "the sum of the largest weights", "weight", top),
    Statistic(
        "top_keys",
        "the keys with the largest weights",
        "position",
        top_keys,
        per=PerWhat.TOP_KEYS,
        over_rows=OverRows.NOTHING,
        is_position=True,
    ),
    Statistic(
        "top_weights",
        "the largest weights",
        "weight",
        top_weights,
        per=PerWhat.TOP_KEYS,
        over_rows=OverRows.NOTHING,
    ),
    Statistic("start", "the weight on the first keys", "weight", start),
    Statistic("middle", "the weight between both ends", "weight", middle),
    Statistic("recent", "the weight on the last of the others", "weight", recent),
    of_set("special", "special"),
    of_set("keys", "keys"),
    Statistic(
        "received",
        "what a key receives from all rows",
        "weight",
        received,
        per=PerWhat.KEY,
        over_rows=OverRows.NOTHING,
    ),
    Statistic(
        "received_last",
        "what a key receives from the last rows",
        "weight",
        received_last,
        per=PerWhat.KEY,
        over_rows=OverRows.NOTHING,
    ),
    Statistic(
        "received_most",
        "the most that a key receives from one row",
        "weight",
        received_most,
        per=PerWhat.KEY,
        over_blocks=OverBlocks.LARGEST,
        over_rows=OverRows.NOTHING,
    ),
)

TABLE: Mapping[str, Statistic] = MappingProxyType(
    {entry.name: entry for entry in _ENTRIES}
)
OF_KEYS = tuple(name for name, entry in TABLE.items() if entry.per is PerWhat.KEY)
# What arguments of `row_statistics` ask for.
RECEIVED = ("received", "received_last", "received_most")
TOP = ("top", "top_keys", "top_weights")
ENDS = ("start", "middle", "recent")
SETS = ("special", "keys")
