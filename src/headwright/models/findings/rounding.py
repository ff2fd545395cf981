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

import ml_dtypes
import numpy as np
from jaxtyping import Bool, Float, Int

from headwright.enclosure import held_to
from headwright.models.findings.first_token import AwayFromFirst, capped
from headwright.models.findings.summary import Layered, ratio_sums

Keys = Float[np.ndarray, "keys d"]
Pattern = Float[np.ndarray, "rows keys"]

LARGEST_FP8 = 448.0  # of e4m3; what is larger would become nan, and caches saturate instead
SLACK = 2.0**-52  # of a float64 operation, twice what it may lose
EQUAL = 1e-9  # weights within this, relatively, are a tie
ROWS = 64  # of a document that are looked at in full, spread evenly


def _bf16(keys: Keys) -> Keys:
    """Each number to bfloat16."""
    rounded: Keys = keys.astype(np.float32).astype(ml_dtypes.bfloat16).astype(np.float64)
    return rounded


def _fp8(keys: Keys) -> Keys:
    """Each number to float8 e4m3, without a scale; beyond 448 to 448."""
    held = np.clip(keys, -LARGEST_FP8, LARGEST_FP8).astype(np.float32)
    rounded: Keys = held.astype(ml_dtypes.float8_e4m3fn).astype(np.float64)
    return rounded


def _whole(keys: Keys, levels: int, axis: int) -> Keys:
    """Whole multiples, from -levels to levels, of the largest number of each key (axis 1) or channel (axis 0)."""
    largest = np.maximum(keys.max(axis=axis, keepdims=True), -keys.min(axis=axis, keepdims=True))
    step = largest / levels
    step = np.where(step > 0, step, 1.0)
    rounded: Keys = keys / step
    np.round(rounded, out=rounded)
    rounded *= step
    return rounded


def _stepped(keys: Keys, levels: int, axis: int) -> Keys:
    """Even steps, so many, from the smallest to the largest number of each key (axis 1) or channel (axis 0)."""
    least = keys.min(axis=axis, keepdims=True)
    step = (keys.max(axis=axis, keepdims=True) - least) / (levels - 1)
    step = np.where(step > 0, step, 1.0)
    rounded: Keys = keys - least
    rounded /= step
    np.round(rounded, out=rounded)
    rounded *= step
    rounded += least
    return rounded


FORMATS: dict[str, Callable[[Keys], Keys]] = {
    "bf16": _bf16,
    "int8 a token": lambda keys: _whole(keys, 127, 1),
    "fp8 e4m3": _fp8,
    "int4 a channel": lambda keys: _stepped(keys, 16, 0),
    "int4 a token": lambda keys: _stepped(keys, 16, 1),
}


class Buffers:
    """Arrays by name that are used again: each holds what was written into it last.

    >>> buffers = Buffers()
    >>> buffers.array("scores", (2, 3)) is buffers.array("scores", (2, 3))
    True
    """

    def __init__(self) -> None:
        """None yet."""
        self._held: dict[str, np.ndarray] = {}

    def array(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """The array of float64 of that name, with anything in it."""
        held = self._held.get(name)
        if held is None or held.shape != shape:
            held = np.empty(shape)
            self._held[name] = held
        return held


@dataclass(frozen=True, eq=False)
class RowSample:
    """Some rows of one head in full: scores and pattern in float64, for rounding and for what the head writes.

    Its arrays are those of the buffers that it was made with, and hold until the next head is looked at with these.
    """

    positions: Int[np.ndarray, " rows"]
    queries: Float[np.ndarray, "rows d"]
    keys: Keys
    seen: Bool[np.ndarray, "rows keys"]
    scores: Pattern
    pattern: Pattern
    nowhere: Float[np.ndarray, " rows"]  # the weight of the head's own sink, of no key; 0 if it has none


def sample_rows(
    rows: AwayFromFirst, head: int, chosen: Sequence[int] | None = None, buffers: Buffers | None = None
) -> RowSample:
    """These rows of a head, or some spread evenly; memory is proportional to their number times that of the keys."""
    buffers = buffers or Buffers()
    scoring = rows.scoring
    if chosen is None:
        chosen = np.unique(np.linspace(0, len(rows.positions) - 1, ROWS).astype(int)).tolist()
    q = rows.queries[head, chosen].astype(np.float64)
    narrow = rows.keys[rows.key_head[head]]
    keys = buffers.array("keys", narrow.shape)
    np.copyto(keys, narrow)
    positions = rows.positions[chosen]
    seen = scoring.sees(positions[:, None], np.arange(len(keys)))
    shape = (len(q), len(keys))
    s = _scores(q, keys, scoring.scale, buffers.array("scores", shape))
    s = capped(s, scoring)
    sink = None if scoring.sinks is None else float(scoring.sinks[head])
    alpha, nowhere = softmax(s, seen, sink, buffers.array("pattern", shape))
    return RowSample(positions, q, keys, seen, s, alpha, nowhere)


def _scores(q: Float[np.ndarray, "rows d"], keys: Keys, scale: float, out: Pattern) -> Pattern:
    """scale <q_i, k_j>, written into `out`."""
    np.matmul(q, keys.T, out=out)
    out *= scale
    return out


def softmax(
    s: Pattern, seen: Bool[np.ndarray, "rows keys"], sink: float | None, out: Pattern | None = None
) -> tuple[Pattern, Float[np.ndarray, " rows"]]:
    """The pattern over the keys that are seen, in `out` if there is such an array; and the weight of the sink."""
    e = np.empty_like(s) if out is None else out
    e.fill(-np.inf)
    np.copyto(e, s, where=seen)
    high = e.max(axis=1, keepdims=True)
    if sink is not None:
        high = np.maximum(high, sink)
    e -= high
    np.exp(e, out=e)
    extra = np.zeros(len(s)) if sink is None else np.exp(sink - high[:, 0])
    total = e.sum(axis=1) + extra
    e /= total[:, None]
    return e, extra / total


def rounding(
    rows: AwayFromFirst, head: int, looked: RowSample, buffers: Buffers | None = None
) -> Float[np.ndarray, "formats 3 rows"]:
    """For each format and each row looked at: the total variation, its bound, and whether another key wins."""
    buffers = buffers or Buffers()
    found = np.stack([_one(rows, head, looked, rounded, buffers) for rounded in FORMATS.values()])
    for name, (tv, bound, _) in zip(FORMATS, found, strict=True):
        held_to(float((tv - bound).max()), f"total variation less its bound, {name}", most=0.0)
    return found


def keep_rounding(kept: Layered, layer: int, found: Float[np.ndarray, "heads formats 3 rows"]) -> None:
    """Keep what `rounding` found in the heads of a layer."""
    for at, name in enumerate(FORMATS):
        mine = found[:, at]
        for k, what in enumerate(("tv", "bound", "flips")):
            kept.add(layer, f"{what}/{name}", ratio_sums(mine[:, k], np.ones_like(mine[:, k])))
        kept.peak(layer, f"tv/{name}", mine[:, 0].max(axis=1))


def _one(
    rows: AwayFromFirst, head: int, one: RowSample, rounded: Callable[[Keys], Keys], buffers: Buffers
) -> Float[np.ndarray, "3 rows"]:
    scoring = rows.scoring
    shape = one.pattern.shape
    new = rounded(one.keys)
    s = _scores(one.queries, new, scoring.scale, buffers.array("rounded scores", shape))
    s = capped(s, scoring)
    sink = None if scoring.sinks is None else float(scoring.sinks[head])
    alpha, nowhere = softmax(s, one.seen, sink, buffers.array("rounded pattern", shape))
    moved = buffers.array("moved", shape)
    np.subtract(alpha, one.pattern, out=moved)
    np.abs(moved, out=moved)
    tv = 0.5 * (moved.sum(axis=1) + np.abs(nowhere - one.nowhere))
    former = np.take_along_axis(alpha, one.pattern.argmax(axis=1)[:, None], axis=1)[:, 0]
    flips = former < alpha.max(axis=1) * (1 - EQUAL)
    new -= one.keys  # from here on the change of the keys
    still = scoring.sinks is not None or scoring.softcap is not None
    bound = tv_bound(one.queries, new, scoring.scale, one.seen, still, buffers)
    return np.stack([tv, bound, flips.astype(np.float64)])


def tv_bound(
    queries: Float[np.ndarray, "rows d"], change: Keys, scale: float, seen: Bool[np.ndarray, "rows keys"], still: bool,
    buffers: Buffers | None = None,
) -> Float[np.ndarray, " rows"]:  # fmt: skip
    """tanh(delta / 2) for each row, from above; `still` counts 0 as one of the errors.

    Proven for the float64 numbers given, where sums of products are IEEE and the library's tanh errs by less than
    2^-40 of its value.
    """
    e = _scores(queries, change, scale, (buffers or Buffers()).array("errors", seen.shape))
    high = e.max(axis=1, where=seen, initial=-np.inf)
    low = e.min(axis=1, where=seen, initial=np.inf)
    if still:
        high, low = np.maximum(high, 0.0), np.minimum(low, 0.0)
    # Each error has d products, d sums, a scale and a difference: at most (d + 4) units of |scale| |q| |change|.
    longest = np.sqrt(np.einsum("jd,jd->j", change, change)).max(initial=0.0)
    lost = (change.shape[1] + 8) * SLACK * abs(scale) * np.sqrt((queries * queries).sum(axis=1)) * longest
    delta = (high - low) / 2 + 2 * lost
    result: Float[np.ndarray, " rows"] = np.minimum(1.0, np.tanh(delta / 2) * (1 + 2.0**-40))
    return result
