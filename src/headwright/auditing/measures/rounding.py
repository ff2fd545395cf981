"""The change of a pattern when keys are rounded to few bits, as in a key cache: measured, and bounded.

Theorem. Let alpha be the softmax of scores s, and alpha' that of s + e. If all e_i lie in an interval of length
2 delta, then the total variation TV = 1/2 sum |alpha_i - alpha'_i| is at most tanh(delta / 2).
Proof. alpha'_i = alpha_i g_i / G with g_i = exp(e_i) and G = sum alpha_i g_i. Let A be the set of i with g_i > G, where
alpha' is the larger, and p = alpha(A). With a the mean of g over A and b that over the rest, a / b <= exp(2 delta) = t,
and TV = alpha'(A) - p = p a / (p a + (1 - p) b) - p, which grows with a / b. For a / b = t it is largest at
p = 1 / (1 + sqrt t), where it is (sqrt t - 1) / (sqrt t + 1) = tanh(delta / 2), since sqrt t = exp(delta). QED
Two keys with e = +delta and -delta reach it, so no smaller bound holds for all patterns.

delta is taken from the errors e_i = scale <q, k'_i - k_i> themselves, with what float64 may lose added; a softcap only
shrinks errors towards 0, and a sink has error 0, so in these cases 0 counts as one of the errors.

Large arrays (rows x keys) are used again for every format and head, see `Buffers`: where the allocator gives freed
memory back at once, as under Dask's nanny, arrays that come and go cost more in page faults than in arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import ml_dtypes
import numpy as np
from jaxtyping import Bool, Float, Int

from headwright.auditing.measures.first_token import AwayFromFirst, capped
from headwright.auditing.measures.summary import Mean
from headwright.numerics.enclosure import assert_within

Keys = Float[np.ndarray, "keys d"]
Pattern = Float[np.ndarray, "rows keys"]

# The largest number of e4m3; what is larger would become nan, and caches saturate instead.
LARGEST_FP8 = 448.0
SLACK = 2.0**-52  # of a float64 operation, twice what it may lose
EQUAL = 1e-9  # weights within this, relatively, are a tie
ROWS = 64  # of a document that are sampled, spread evenly
TV, BOUND, FLIP = range(3)  # what `rounding` gives for each row


def _to_bf16(keys: Keys) -> Keys:
    """Each number to bfloat16."""
    rounded = keys.astype(np.float32).astype(ml_dtypes.bfloat16)
    result: Keys = rounded.astype(np.float64)
    return result


def _to_fp8(keys: Keys) -> Keys:
    """Each number to float8 e4m3, without a scale; beyond 448 to 448."""
    saturated = np.clip(keys, -LARGEST_FP8, LARGEST_FP8).astype(np.float32)
    result: Keys = saturated.astype(ml_dtypes.float8_e4m3fn).astype(np.float64)
    return result


def _to_symmetric_levels(keys: Keys, levels: int, axis: int) -> Keys:
    """Whole multiples, from -levels to levels, of the largest number of each key (axis 1) or channel (axis 0)."""
    highest = keys.max(axis=axis, keepdims=True)
    lowest = keys.min(axis=axis, keepdims=True)
    step = np.maximum(highest, -lowest) / levels
    step = np.where(step > 0, step, 1.0)
    rounded: Keys = keys / step
    np.round(rounded, out=rounded)
    rounded *= step
    return rounded


def _to_even_steps(keys: Keys, levels: int, axis: int) -> Keys:
    """Even steps, so many, from the smallest to the largest number of each key (axis 1) or channel (axis 0)."""
    lowest = keys.min(axis=axis, keepdims=True)
    step = (keys.max(axis=axis, keepdims=True) - lowest) / (levels - 1)
    step = np.where(step > 0, step, 1.0)
    rounded: Keys = keys - lowest
    rounded /= step
    np.round(rounded, out=rounded)
    rounded *= step
    rounded += lowest
    return rounded


FORMATS: dict[str, Callable[[Keys], Keys]] = {
    "bf16": _to_bf16,
    "int8 per token": partial(_to_symmetric_levels, levels=127, axis=1),
    "fp8 e4m3": _to_fp8,
    "int4 per channel": partial(_to_even_steps, levels=16, axis=0),
    "int4 per token": partial(_to_even_steps, levels=16, axis=1),
}


@dataclass(frozen=True)
class RoundingEffect:
    """What one format of the keys does to the patterns of a head."""

    tv: Mean  # the total variation
    bound: float  # the mean of its proven bounds
    worst: float  # the largest total variation
    flips: float  # the part of rows that another key wins

    @property
    def value(self) -> float:
        """The mean total variation."""
        return self.tv.value


class Buffers:
    """Arrays by name that are used again: each holds what was written into it last.

    >>> buffers = Buffers()
    >>> buffers.array("scores", (2, 3)) is buffers.array("scores", (2, 3))
    True
    """

    def __init__(self) -> None:
        """None yet."""
        self._arrays: dict[str, np.ndarray] = {}

    def array(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """The array of float64 of that name, with anything in it."""
        array = self._arrays.get(name)
        if array is None or array.shape != shape:
            array = np.empty(shape)
            self._arrays[name] = array
        return array


@dataclass(frozen=True, eq=False)
class RowSample:
    """Some rows of one head in full: scores and pattern in float64, for rounding and for what the head writes.

    Its arrays are those of the buffers that it was made with, and hold until the next head is sampled with these.
    """

    positions: Int[np.ndarray, " rows"]
    queries: Float[np.ndarray, "rows d"]
    keys: Keys
    seen: Bool[np.ndarray, "rows keys"]
    scores: Pattern
    pattern: Pattern
    # the weight of the head's own sink, of no key; 0 if it has none
    sink_weight: Float[np.ndarray, " rows"]


def sample_rows(
    rows: AwayFromFirst,
    head: int,
    chosen: Sequence[int] | None = None,
    buffers: Buffers | None = None,
) -> RowSample:
    """These rows of a head, or some spread evenly; memory is proportional to their number times that of the keys."""
    buffers = buffers or Buffers()
    scoring = rows.scoring
    if chosen is None:
        evenly = np.linspace(0, len(rows.positions) - 1, ROWS)
        chosen = np.unique(evenly.astype(int)).tolist()
    # In float64, into arrays that are used again.
    q = rows.queries[head, chosen].astype(np.float64)
    narrow_keys = rows.keys[rows.key_head[head]]
    keys = buffers.array("keys", narrow_keys.shape)
    np.copyto(keys, narrow_keys)
    positions = rows.positions[chosen]
    seen = scoring.sees(positions[:, None], np.arange(len(keys)))
    shape = (len(q), len(keys))
    s = _write_scores(q, keys, scoring.scale, buffers.array("scores", shape))
    s = capped(s, scoring)
    sink = None if scoring.sinks is None else float(scoring.sinks[head])
    alpha, sink_weight = softmax(s, seen, sink, buffers.array("pattern", shape))
    return RowSample(positions, q, keys, seen, s, alpha, sink_weight)


def _write_scores(
    q: Float[np.ndarray, "rows d"], keys: Keys, scale: float, out: Pattern
) -> Pattern:
    """scale <q_i, k_j>, written into `out`."""
    np.matmul(q, keys.T, out=out)
    out *= scale
    return out


def softmax(
    s: Pattern,
    seen: Bool[np.ndarray, "rows keys"],
    sink: float | None,
    out: Pattern | None = None,
) -> tuple[Pattern, Float[np.ndarray, " rows"]]:
    """The pattern over the keys that are seen, in `out` if there is such an array; and the weight of the sink."""
    # Scores less the largest, so that no exponential overflows; keys that are not seen get exp(-inf) = 0.
    e = np.empty_like(s) if out is None else out
    e.fill(-np.inf)
    np.copyto(e, s, where=seen)
    high = e.max(axis=1, keepdims=True)
    if sink is not None:
        high = np.maximum(high, sink)
    e -= high
    np.exp(e, out=e)
    # The sink is one more term of the sum, and no key.
    extra = np.zeros(len(s)) if sink is None else np.exp(sink - high[:, 0])
    total = e.sum(axis=1) + extra
    e /= total[:, None]
    return e, extra / total


def rounding(
    rows: AwayFromFirst, head: int, sample: RowSample, buffers: Buffers | None = None
) -> Float[np.ndarray, "formats 3 rows"]:
    """For each format and each row sampled: the total variation, its bound, and whether another key wins."""
    buffers = buffers or Buffers()
    effects = np.stack(
        [
            _effect_on_rows(rows, head, sample, round_keys, buffers)
            for round_keys in FORMATS.values()
        ]
    )
    for name, effect in zip(FORMATS, effects, strict=True):
        excess = float((effect[TV] - effect[BOUND]).max())
        assert_within(excess, f"total variation less its bound, {name}", most=0.0)
    return effects


def _effect_on_rows(
    rows: AwayFromFirst,
    head: int,
    sample: RowSample,
    round_keys: Callable[[Keys], Keys],
    buffers: Buffers,
) -> Float[np.ndarray, "3 rows"]:
    """What one format does to the sampled rows of a head."""
    scoring = rows.scoring
    shape = sample.pattern.shape
    new_keys = round_keys(sample.keys)
    s = buffers.array("rounded scores", shape)
    s = _write_scores(sample.queries, new_keys, scoring.scale, s)
    s = capped(s, scoring)
    sink = None if scoring.sinks is None else float(scoring.sinks[head])
    pattern = buffers.array("rounded pattern", shape)
    alpha, sink_weight = softmax(s, sample.seen, sink, pattern)
    # The total variation, over the keys and the sink.
    difference = buffers.array("difference", shape)
    np.subtract(alpha, sample.pattern, out=difference)
    np.abs(difference, out=difference)
    of_sink = np.abs(sink_weight - sample.sink_weight)
    tv = 0.5 * (difference.sum(axis=1) + of_sink)
    # Whether the key that won before has less than the largest weight now.
    winner = sample.pattern.argmax(axis=1)[:, None]
    winner_weight = np.take_along_axis(alpha, winner, axis=1)[:, 0]
    flips = winner_weight < alpha.max(axis=1) * (1 - EQUAL)
    # The bound is taken from the change of the keys, in place of the keys themselves.
    change = new_keys
    change -= sample.keys
    zero_error = scoring.sinks is not None or scoring.softcap is not None
    bound = tv_bound(
        sample.queries, change, scoring.scale, sample.seen, zero_error, buffers
    )
    return np.stack([tv, bound, flips.astype(np.float64)])


def tv_bound(
    queries: Float[np.ndarray, "rows d"],
    change: Keys,
    scale: float,
    seen: Bool[np.ndarray, "rows keys"],
    zero_error: bool,
    buffers: Buffers | None = None,
) -> Float[np.ndarray, " rows"]:
    """tanh(delta / 2) for each row, from above; with `zero_error`, 0 counts as one of the errors.

    Proven for the float64 numbers given, where sums of products are IEEE and the library's tanh errs by less than
    2^-40 of its value.
    """
    buffers = buffers or Buffers()
    # The errors of the scores that a row sees lie between `low` and `high`.
    e = _write_scores(queries, change, scale, buffers.array("errors", seen.shape))
    high = e.max(axis=1, where=seen, initial=-np.inf)
    low = e.min(axis=1, where=seen, initial=np.inf)
    if zero_error:
        high = np.maximum(high, 0.0)
        low = np.minimum(low, 0.0)
    # Each error has d products, d sums, a scale and a difference: at most (d + 4) units of |scale| |q| |change|.
    operations = change.shape[1] + 8
    longest_change = np.sqrt(np.einsum("jd,jd->j", change, change)).max(initial=0.0)
    lengths = np.sqrt((queries * queries).sum(axis=1))
    lost = operations * SLACK * abs(scale) * lengths * longest_change
    # Half the range of the errors, and what float64 may have lost at both of its ends.
    delta = (high - low) / 2 + 2 * lost
    # The theorem, with the error of the library's tanh; no total variation is above 1.
    bound: Float[np.ndarray, " rows"] = np.minimum(
        1.0, np.tanh(delta / 2) * (1 + 2.0**-40)
    )
    return bound
