"""Row statistics on a GPU: Triton kernels that read Q and K and write a few numbers a row.

`_sum_rows` is an online softmax without the values: over tiles of keys, the largest score, the mass and the energy
sum e s. What costs is the exponential of every score, so nothing else may cost much. Which key won, and the runner-up,
would: instead the maxima of groups of scores, which a thread holds anyway on the way to the row's maximum, compete for
first and second place, and `_score_winners` scores the keys of the winning group again. A group's number is written
into the last bits of its maximum, so that one maximum finds both. The runner-up is known up to 2^-18 of its size, where
it lies in another group than the winner; all else up to float32.

`_sum_columns` and `_sum_cells` are second passes, which need the rows' lse: what each key receives, and the map of a
pattern. All of them honour scale, causal masks, windows, softcap, sinks and key masks, queries and keys of different
lengths, and heads that share keys. Tiles that every row sees whole take a shorter way than those at an edge.

A score that is NaN or +inf makes the mass of its row NaN or +inf: then lse is NaN, and all else follows it. A score of
-inf is that of a key that is not seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
import triton
import triton.language as tl

# Rows, keys, warps and stages of a tile, by the bytes of a key; of those tried on an H200 the fastest.
TILES = {
    64: (64, 128, 4, 3),
    128: (64, 128, 4, 3),
    256: (64, 128, 4, 3),
    512: (64, 64, 4, 2),
}
WIDEST = (32, 32, 4, 2)
GROUPS = 32  # of the scores of a row in a tile
AGAIN = 16  # rows of a program that scores the winning groups again
NARROWEST = 16
WIDEST_HEAD = 256
# The least float32: -inf would be NaN with a group's number in its bits.
UNSEEN = tl.constexpr(-3.4028234663852886e38)
# UNSEEN, whatever group's number it holds, is below this.
BELOW_ALL = tl.constexpr(-3.4028e38)
# 2^-1000 is 0 in float32; finite, so that 0 times it is 0.
FARTHEST = tl.constexpr(-1000.0)
LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def _capped(s, scale, softcap):
    x = s * (scale / softcap)
    square = x * x
    # Where 2 sigmoid - 1 loses digits.
    near = x * (1 - square * (1 / 3 - square * (2 / 15 - square * (17 / 315))))
    return softcap * tl.where(tl.abs(x) < 0.1, near, 2 * tl.sigmoid(2 * x) - 1)


@triton.jit
def _scores(
    a,
    b,
    row,
    column,
    allowed,
    keys,
    shift,
    window,
    scale,
    softcap,
    CAUSAL: tl.constexpr,
    WINDOW: tl.constexpr,
    SOFTCAP: tl.constexpr,
    EDGE: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """The products a b^T (before the scale; or after it, if there is a softcap); UNSEEN where a key is not seen."""
    s = tl.dot(a, tl.trans(b), input_precision=PRECISION)
    if SOFTCAP:
        s = _capped(s, scale, softcap)
    if EDGE:
        seen = allowed & (column < keys)
        apart = row + shift - column
        if CAUSAL:
            seen = seen & (apart >= 0)
        if WINDOW:
            seen = seen & (apart < window) & (apart > -window)
        s = tl.where(seen, s, UNSEEN)
    return s


@triton.jit
def _folded(x, A: tl.constexpr, B: tl.constexpr):
    """Sums over the columns 8 a + 2 l + c with the same l: a thread holds all of them, and no other thread is asked."""
    return tl.sum(tl.sum(tl.reshape(x, (A, B // 8, 4, 2)), axis=3), axis=1)


@triton.jit
def _range(
    block,
    rows,
    keys,
    shift,
    window,
    BM: tl.constexpr,
    BN: tl.constexpr,
    CAUSAL: tl.constexpr,
    WINDOW: tl.constexpr,
    MASK: tl.constexpr,
):
    """The tiles of a block of rows: where they begin, from where to where every row sees them whole, where they end."""
    top = block * BM + shift
    bottom = tl.minimum(top + BM, rows + shift) - 1
    begin = 0
    whole = 0
    last = keys
    until = keys // BN * BN
    if WINDOW:
        begin = tl.maximum(0, top - window + 1) // BN * BN
        whole = (tl.maximum(0, bottom - window + 1) + BN - 1) // BN * BN
        last = tl.minimum(keys, bottom + window)
        until = tl.minimum(keys, top + window) // BN * BN
    if CAUSAL:
        last = tl.minimum(keys, bottom + 1)
        until = (top + 1) // BN * BN
    if MASK:
        until = begin
    whole = tl.minimum(whole, last)
    return begin, whole, tl.maximum(whole, tl.minimum(until, last)), last


@triton.jit
def _sum_rows(
    Q,
    K,
    SINKS,
    ALLOWED,
    START,
    LSE,
    ENTROPY,
    FIRST,
    BEST,
    SECOND,
    TILE,
    DISTANCE,
    rows,
    keys,
    heads,
    scale,
    softcap,
    window,
    group: tl.constexpr,
    D: tl.constexpr,
    DP: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    CAUSAL: tl.constexpr,
    WINDOW: tl.constexpr,
    SOFTCAP: tl.constexpr,
    SINK: tl.constexpr,
    MASK: tl.constexpr,
    TRACK: tl.constexpr,
    GROUPS: tl.constexpr,
    PRECISION: tl.constexpr,
):
    block = tl.num_programs(0) - 1 - tl.program_id(0)  # the longest rows first
    head = tl.program_id(1)
    batch = head // heads
    row = block * BM + tl.arange(0, BM)
    within = tl.arange(0, BN)
    depth = tl.arange(0, DP)
    deep = depth[None, :] < D
    base = head.to(tl.int64) * rows
    shift = keys - rows
    q = tl.load(
        Q + (base + row[:, None]) * D + depth[None, :],
        mask=(row[:, None] < rows) & deep,
        other=0.0,
    )
    head_keys = K + (head // group).to(tl.int64) * keys * D
    unit = scale
    if SOFTCAP:
        unit = 1.0
    step = unit * LOG2E
    farthest = FARTHEST / step
    start = 0
    if MASK:
        start = tl.load(START + batch)
    key = tl.load(head_keys + start * D + depth, mask=depth < D, other=0.0).to(
        tl.float32
    )
    initial = tl.sum(q.to(tl.float32) * key[None, :], axis=1)  # of the first key
    if SOFTCAP:
        initial = _capped(initial, scale, softcap)
    m = tl.full((BM,), UNSEEN, tl.float32)  # of the products; the scale is above 0
    mass = tl.zeros((BM,), tl.float32)
    energy = tl.zeros((BM,), tl.float32)
    place = tl.zeros((BM,), tl.float32)
    if SINK:
        sink = tl.load(SINKS + head % heads)
        none = sink == float("-inf")
        m = tl.full((BM,), 0.0, tl.float32) + tl.where(none, UNSEEN, sink / unit)
        mass = tl.full((BM,), 0.0, tl.float32) + tl.where(none, 0.0, 1.0)
    first = tl.full((BM,), UNSEEN, tl.float32)
    second = tl.full((BM,), UNSEEN, tl.float32)
    tile = tl.zeros((BM,), tl.int32)
    begin, whole, until, last = _range(
        block, rows, keys, shift, window, BM, BN, CAUSAL, WINDOW, MASK
    )
    # An edge (of a window, or of what is masked), what is seen whole, an edge.
    for part in tl.static_range(3):
        if part != 0 or WINDOW:
            low = begin if part == 0 else (whole if part == 1 else until)
            high = whole if part == 0 else (until if part == 1 else last)
            for at in range(low, high, BN):
                column = at + within
                if part == 1 and D == DP:
                    k = tl.load(head_keys + column[:, None] * D + depth[None, :])
                else:
                    k = tl.load(
                        head_keys + column[:, None] * D + depth[None, :],
                        mask=(column[:, None] < keys) & deep,
                        other=0.0,
                    )
                allowed = column[None, :] >= 0
                if MASK:
                    allowed = (
                        tl.load(
                            ALLOWED + batch * keys + column, mask=column < keys, other=0
                        )[None, :]
                        != 0
                    )
                s = _scores(
                    q,
                    k,
                    row[:, None],
                    column[None, :],
                    allowed,
                    keys,
                    shift,
                    window,
                    scale,
                    softcap,
                    CAUSAL,
                    WINDOW,
                    SOFTCAP,
                    part != 1,
                    PRECISION,
                )
                if TRACK:
                    # Column 8 a + 2 l + c of a part of the tile is in the group l of that part: a thread has all of it.
                    parts = tl.reshape(s, (BM, GROUPS // 4, BN // GROUPS // 2, 4, 2))
                    maxima = tl.reshape(
                        tl.max(tl.max(parts, axis=4), axis=2), (BM, GROUPS)
                    )
                    highest = tl.max(maxima, axis=1)
                    bits = (maxima.to(tl.int32, bitcast=True) & -GROUPS) | tl.arange(
                        0, GROUPS
                    )[None, :]
                    maxima = bits.to(tl.float32, bitcast=True)
                    high1 = tl.max(maxima, axis=1)
                    high2 = tl.max(
                        tl.where(maxima == high1[:, None], UNSEEN, maxima), axis=1
                    )
                    tile = tl.where(high1 > first, at, tile)
                    second = tl.maximum(
                        tl.minimum(first, high1), tl.maximum(second, high2)
                    )
                    first = tl.maximum(first, high1)
                else:
                    highest = tl.max(s, axis=1)
                    first = tl.maximum(first, highest)
                new = tl.maximum(m, highest)
                # Rows that have seen nothing yet are subtracted 0, so that what they do not see has weight 0.
                less = tl.where(new < BELOW_ALL, 0.0, new)
                x = (
                    tl.maximum(
                        s - less[:, None], farthest, propagate_nan=tl.PropagateNan.ALL
                    )
                    * step
                )
                p = tl.math.exp2(x)
                drop = (
                    tl.maximum(m - new, farthest, propagate_nan=tl.PropagateNan.ALL)
                    * step
                )
                shrink = tl.math.exp2(drop)
                here = tl.sum(p, axis=1)
                energy = (energy + mass * drop) * shrink + tl.sum(p * x, axis=1)
                mass = mass * shrink + here
                if TRACK:
                    place = place * shrink + (
                        at * here + tl.sum(p * within.to(tl.float32)[None, :], axis=1)
                    )
                m = new
    inside = row < rows
    at = base + row
    sees = first > BELOW_ALL
    spoilt = (
        (mass != mass) | (mass == float("inf")) | (m != m) | (tl.abs(m) == float("inf"))
    )
    some = mass > 0.0  # of a key or of the sink
    mass = tl.where(some, mass, 1.0)
    reference = tl.where(some, m, 0.0) * unit
    lse = tl.where(
        spoilt, float("nan"), tl.where(some, reference + tl.log(mass), float("-inf"))
    )
    apart = row + shift - start
    known = sees & (start < keys)
    if CAUSAL:
        known = known & (apart >= 0)
    if WINDOW:
        known = known & (apart < window) & (apart > -window)
    keys_mass = mass
    if SINK:
        keys_mass = mass - tl.exp(sink - reference)
    entropy = tl.log(mass) - energy / mass / LOG2E
    weight = tl.where(known, tl.exp(tl.minimum(initial * unit - lse, 0.0)), 0.0)
    tl.store(LSE + at, lse, mask=inside)
    tl.store(
        ENTROPY + at,
        tl.where(spoilt, float("nan"), tl.where(some, entropy, 0.0)),
        mask=inside,
    )
    tl.store(FIRST + at, tl.where(spoilt, float("nan"), weight), mask=inside)
    if TRACK:
        tl.store(BEST + at, first, mask=inside)
        tl.store(SECOND + at, second, mask=inside)
        tl.store(TILE + at, tile, mask=inside)
        distance = ((row + shift) * keys_mass - place) / mass
        tl.store(
            DISTANCE + at,
            tl.where(spoilt, float("nan"), tl.where(sees, distance, 0.0)),
            mask=inside,
        )
    else:
        largest = tl.where(sees, tl.exp(first * unit - lse), 0.0)
        tl.store(BEST + at, tl.where(spoilt, float("nan"), largest), mask=inside)


@triton.jit
def _one_key(
    q,
    K,
    ALLOWED,
    row,
    column,
    inside,
    keys,
    shift,
    window,
    scale,
    softcap,
    D: tl.constexpr,
    DP: tl.constexpr,
    CAUSAL: tl.constexpr,
    WINDOW: tl.constexpr,
    SOFTCAP: tl.constexpr,
    MASK: tl.constexpr,
):
    """The score of one key for each row, as in `_scores`."""
    apart = row + shift - column
    seen = inside & (column >= 0) & (column < keys)
    if CAUSAL:
        seen = seen & (apart >= 0)
    if WINDOW:
        seen = seen & (apart < window) & (apart > -window)
    if MASK:
        seen = seen & (tl.load(ALLOWED + column, mask=seen, other=0) != 0)
    depth = tl.arange(0, DP)
    k = tl.load(
        K + column[:, None] * D + depth[None, :],
        mask=seen[:, None] & (depth[None, :] < D),
        other=0.0,
    )
    s = tl.sum(q * k.to(tl.float32), axis=1)
    if SOFTCAP:
        s = _capped(s, scale, softcap)
    return tl.where(seen, s, UNSEEN)


@triton.jit
def _score_winners(
    Q,
    K,
    ALLOWED,
    LSE,
    BEST,
    SECOND,
    TILE,
    LARGEST,
    MARGIN,
    WINNER,
    SCORE,
    SENSITIVITY,
    WEIGHTS,
    rows,
    keys,
    heads,
    scale,
    softcap,
    window,
    stride,
    group: tl.constexpr,
    D: tl.constexpr,
    DP: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    CAUSAL: tl.constexpr,
    WINDOW: tl.constexpr,
    SOFTCAP: tl.constexpr,
    MASK: tl.constexpr,
    GROUPS: tl.constexpr,
    OFFSETS: tl.constexpr,
):
    """The keys of the winning group, and those at known offsets, scored again: few products for each row."""
    head = tl.program_id(1)
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    inside = row < rows
    at = head.to(tl.int64) * rows + row
    shift = keys - rows
    depth = tl.arange(0, DP)
    q = tl.load(
        Q + at[:, None] * D + depth[None, :],
        mask=inside[:, None] & (depth[None, :] < D),
        other=0.0,
    )
    q = q.to(tl.float32)
    head_keys = K + (head // group).to(tl.int64) * keys * D
    mask = ALLOWED + head // heads * keys
    unit = scale
    if SOFTCAP:
        unit = 1.0
    best = tl.load(BEST + at, mask=inside, other=UNSEEN)
    lse = tl.load(LSE + at, mask=inside, other=0.0)
    second = tl.load(SECOND + at, mask=inside, other=UNSEEN)
    spoilt = lse != lse
    sees = (best > BELOW_ALL) & (lse == lse)
    number = best.to(tl.int32, bitcast=True) & (GROUPS - 1)
    start = (
        tl.load(TILE + at, mask=inside, other=0)
        + number // 4 * (4 * BN // GROUPS)
        + number % 4 * 2
    )
    high = tl.full((BM,), UNSEEN, tl.float32)
    winner = tl.full((BM,), -1, tl.int32)
    for j in tl.static_range(BN // GROUPS):
        column = start + (j // 2 * 8 + j % 2)
        s = _one_key(
            q,
            head_keys,
            mask,
            row,
            column,
            inside & sees,
            keys,
            shift,
            window,
            scale,
            softcap,
            D,
            DP,
            CAUSAL,
            WINDOW,
            SOFTCAP,
            MASK,
        )
        second = tl.maximum(second, tl.minimum(high, s))
        winner = tl.where(s > high, column, winner)
        high = tl.maximum(high, s)
    second = tl.minimum(second, high)  # it may have lost its last bits
    largest = tl.where(sees, tl.exp(tl.minimum(high * unit - lse, 0.0)), 0.0)
    high = tl.where(sees, high, 0.0)
    alone = second < BELOW_ALL
    second = tl.where(alone, high, second)
    slope = high * unit
    if SOFTCAP:
        part = tl.minimum(tl.maximum(high / softcap, -1 + 6e-8), 1 - 6e-8)
        slope = softcap * 0.5 * tl.log((1 + part) / (1 - part)) * (1 - part * part)
    margin = tl.where(alone, float("inf"), (high - second) * unit)
    sensitivity = tl.where(sees, largest * (1 - largest) * slope, 0.0)
    score = tl.where(sees, high * unit, float("-inf"))
    tl.store(WINNER + at, tl.where(sees, winner, -1), mask=inside)
    tl.store(LARGEST + at, tl.where(spoilt, float("nan"), largest), mask=inside)
    tl.store(
        MARGIN + at,
        tl.where(spoilt, float("nan"), tl.where(sees, margin, 0.0)),
        mask=inside,
    )
    tl.store(SCORE + at, tl.where(spoilt, float("nan"), score), mask=inside)
    tl.store(SENSITIVITY + at, tl.where(spoilt, float("nan"), sensitivity), mask=inside)
    for n in tl.static_range(len(OFFSETS)):
        s = _one_key(
            q,
            head_keys,
            mask,
            row,
            row + shift - OFFSETS[n],
            inside & sees,
            keys,
            shift,
            window,
            scale,
            softcap,
            D,
            DP,
            CAUSAL,
            WINDOW,
            SOFTCAP,
            MASK,
        )
        weight = tl.where(s > BELOW_ALL, tl.exp(tl.minimum(s * unit - lse, 0.0)), 0.0)
        tl.store(
            WEIGHTS + n * stride + at,
            tl.where(spoilt, float("nan"), weight),
            mask=inside,
        )


@triton.jit
def _sum_columns(
    Q,
    K,
    ALLOWED,
    LSE,
    SUM,
    LATE,
    MOST,
    rows,
    keys,
    heads,
    scale,
    softcap,
    window,
    late,
    group: tl.constexpr,
    D: tl.constexpr,
    DP: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    CAUSAL: tl.constexpr,
    WINDOW: tl.constexpr,
    SOFTCAP: tl.constexpr,
    MASK: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """What a tile of keys receives: over all rows, over those from `late` on, and at most. No two programs share it."""
    head = tl.program_id(1)
    column = tl.program_id(0) * BN + tl.arange(0, BN)
    depth = tl.arange(0, DP)
    deep = depth[None, :] < D
    base = head.to(tl.int64) * rows
    shift = keys - rows
    head_keys = K + (head // group).to(tl.int64) * keys * D
    k = tl.load(
        head_keys + column[:, None] * D + depth[None, :],
        mask=(column[:, None] < keys) & deep,
        other=0.0,
    )
    allowed = column[:, None] >= 0
    if MASK:
        allowed = (
            tl.load(
                ALLOWED + head // heads * keys + column, mask=column < keys, other=0
            )[:, None]
            != 0
        )
    unit = scale
    if SOFTCAP:
        unit = 1.0
    step = unit * LOG2E
    top = tl.program_id(0) * BN  # the first key, and the last
    bottom = top + BN - 1
    begin = 0
    whole = 0
    last = rows
    until = rows // BM * BM
    if WINDOW:
        begin = tl.maximum(0, top - shift - window + 1) // BM * BM
        whole = (tl.maximum(0, bottom - shift - window + 1) + BM - 1) // BM * BM
        last = tl.minimum(rows, bottom - shift + window)
        until = tl.maximum(0, tl.minimum(rows, top - shift + window)) // BM * BM
    if CAUSAL:
        begin = tl.maximum(0, top - shift) // BM * BM
        whole = (tl.maximum(0, bottom - shift) + BM - 1) // BM * BM
    if MASK or D != DP:
        until = begin
    whole = tl.minimum(whole, tl.maximum(last, begin))
    until = tl.maximum(
        whole, tl.minimum(tl.minimum(until, last), tl.maximum(0, late) // BM * BM)
    )
    total = tl.zeros((BN, 4), tl.float32)
    recent = tl.zeros((BN,), tl.float32)
    most = tl.zeros((BN, 4), tl.float32)
    for part in tl.static_range(3):
        low = begin if part == 0 else (whole if part == 1 else until)
        high = whole if part == 0 else (until if part == 1 else last)
        for at in range(low, high, BM):
            row = at + tl.arange(0, BM)
            if part == 1:
                q = tl.load(Q + (base + row[:, None]) * D + depth[None, :])
                lse = tl.load(LSE + base + row)
            else:
                q = tl.load(
                    Q + (base + row[:, None]) * D + depth[None, :],
                    mask=(row[:, None] < rows) & deep,
                    other=0.0,
                )
                lse = tl.load(LSE + base + row, mask=row < rows, other=float("inf"))
            lse = tl.where(lse == float("-inf"), float("inf"), lse * LOG2E)
            s = _scores(
                k,
                q,
                row[None, :],
                column[:, None],
                allowed,
                keys,
                shift,
                window,
                scale,
                softcap,
                CAUSAL,
                WINDOW,
                SOFTCAP,
                part != 1,
                PRECISION,
            )
            if part == 1:
                p = tl.math.exp2(s * step - lse[None, :])
            else:  # a row that is NaN gives NaN to the keys that it sees, and to no others
                unseen = s < BELOW_ALL
                p = tl.where(
                    unseen,
                    0.0,
                    tl.math.exp2(tl.where(unseen, 0.0, s) * step - lse[None, :]),
                )
            total += _folded(p, BN, BM)
            most = tl.maximum(
                most, tl.max(tl.max(tl.reshape(p, (BN, BM // 8, 4, 2)), axis=3), axis=1)
            )
            if part != 1:
                recent += tl.sum(tl.where(row[None, :] >= late, p, 0.0), axis=1)
    there = head.to(tl.int64) * keys + column
    received = tl.sum(total, axis=1)
    highest = tl.minimum(tl.max(most, axis=1), 1.0)
    tl.store(SUM + there, received, mask=column < keys)
    tl.store(LATE + there, recent, mask=column < keys)
    tl.store(
        MOST + there,
        tl.where(received != received, received, highest),
        mask=column < keys,
    )


@triton.jit
def _sum_cells(
    Q,
    K,
    ALLOWED,
    LSE,
    MAP,
    rows,
    keys,
    heads,
    scale,
    softcap,
    window,
    share,
    group: tl.constexpr,
    D: tl.constexpr,
    DP: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    CAUSAL: tl.constexpr,
    WINDOW: tl.constexpr,
    SOFTCAP: tl.constexpr,
    MASK: tl.constexpr,
    PRECISION: tl.constexpr,
    HIGH: tl.constexpr,
    WIDE: tl.constexpr,
):
    """Sums of the weights in cells of HIGH rows and WIDE keys, both powers of two, times `share`, in MAP."""
    block = tl.num_programs(0) - 1 - tl.program_id(0)
    head = tl.program_id(1)
    row = block * BM + tl.arange(0, BM)
    within = tl.arange(0, BN)
    depth = tl.arange(0, DP)
    deep = depth[None, :] < D
    base = head.to(tl.int64) * rows
    shift = keys - rows
    q = tl.load(
        Q + (base + row[:, None]) * D + depth[None, :],
        mask=(row[:, None] < rows) & deep,
        other=0.0,
    )
    lse = tl.load(LSE + base + row, mask=row < rows, other=float("inf"))
    lse = tl.where(lse == float("-inf"), float("inf"), lse * LOG2E)
    head_keys = K + (head // group).to(tl.int64) * keys * D
    unit = scale
    if SOFTCAP:
        unit = 1.0
    step = unit * LOG2E
    # A warp has 16 rows, and adds them up without the others.
    high: tl.constexpr = min(HIGH, 16)
    down = (block * BM + tl.arange(0, BM // high) * high) // HIGH
    # In a tile, column 8 a + 2 l + c is the key l BN / 4 + 2 a + c: a thread holds BN / 4 keys in a row, and adds up
    # cells of up to so many by itself.
    per: tl.constexpr = BN // 4
    within = within % 8 // 2 * per + within // 8 * 2 + within % 2
    wide: tl.constexpr = min(WIDE, per)
    begin, whole, until, last = _range(
        block, rows, keys, shift, window, BM, BN, CAUSAL, WINDOW, MASK
    )
    cells = MAP + head.to(tl.int64) * (rows // HIGH) * (keys // WIDE)
    sums = tl.zeros((BM, 4), tl.float32)
    for part in tl.static_range(3):
        if part != 0 or WINDOW:
            low = begin if part == 0 else (whole if part == 1 else until)
            end = whole if part == 0 else (until if part == 1 else last)
            for at in range(low, end, BN):
                column = at + within
                if part == 1 and D == DP:
                    k = tl.load(head_keys + column[:, None] * D + depth[None, :])
                else:
                    k = tl.load(
                        head_keys + column[:, None] * D + depth[None, :],
                        mask=(column[:, None] < keys) & deep,
                        other=0.0,
                    )
                allowed = column[None, :] >= 0
                if MASK:
                    allowed = (
                        tl.load(
                            ALLOWED + head // heads * keys + column,
                            mask=column < keys,
                            other=0,
                        )[None, :]
                        != 0
                    )
                s = _scores(
                    q,
                    k,
                    row[:, None],
                    column[None, :],
                    allowed,
                    keys,
                    shift,
                    window,
                    scale,
                    softcap,
                    CAUSAL,
                    WINDOW,
                    SOFTCAP,
                    part != 1,
                    PRECISION,
                )
                if part == 1:
                    p = tl.math.exp2(s * step - lse[:, None])
                else:
                    unseen = s < BELOW_ALL
                    p = tl.where(
                        unseen,
                        0.0,
                        tl.math.exp2(tl.where(unseen, 0.0, s) * step - lse[:, None]),
                    )
                if WIDE >= BN:
                    sums += _folded(p, BM, BN)
                    if WIDE == BN or (at + BN) % WIDE == 0 or at + BN >= last:
                        of_cells = (
                            tl.sum(
                                tl.reshape(tl.sum(sums, axis=1), (BM // high, high)),
                                axis=1,
                            )
                            * share
                        )
                        tl.atomic_add(
                            cells + down * (keys // WIDE) + at // WIDE,
                            of_cells,
                            mask=down < rows // HIGH,
                        )
                        sums = tl.zeros((BM, 4), tl.float32)
                else:
                    if WIDE == 1:
                        line = tl.permute(
                            tl.reshape(p, (BM, per // 2, 4, 2)), (0, 2, 1, 3)
                        )
                    else:
                        line = tl.reshape(p, (BM, per // wide, wide // 2, 4, 2))
                        # l, then the cell in it.
                        line = tl.permute(
                            tl.sum(tl.sum(line, axis=4), axis=2), (0, 2, 1)
                        )
                    if per < WIDE:
                        line = tl.sum(
                            tl.reshape(line, (BM, BN // WIDE, WIDE // per)), axis=2
                        )
                    line = tl.reshape(line, (BM // high, high, BN // WIDE))
                    of_cells = tl.sum(line, axis=1) * share
                    across = at // WIDE + tl.arange(0, BN // WIDE)
                    there = (down[:, None] < rows // HIGH) & (
                        across[None, :] < keys // WIDE
                    )
                    where = cells + down[:, None] * (keys // WIDE) + across[None, :]
                    if high >= HIGH:  # no other program adds to it
                        tl.store(where, of_cells, mask=there)
                    else:
                        tl.atomic_add(where, of_cells, mask=there)


@dataclass(frozen=True, eq=False)
class LaunchPlan:
    """What a launch needs that follows from shapes, types and scoring: chosen once, for all calls that are alike."""

    batch: tuple[int, ...]
    heads: int
    rows: int
    keys: int
    programs: int  # one for each head of each text
    factor: float  # of the queries, so that the scale is above 0
    tile_rows: int
    tile_keys: int
    # What every kernel gets: numbers that change from call to call. Settings that it is compiled for follow.
    numbers: tuple[Any, ...]
    # And what those get that go over tiles.
    of_tiles: dict[str, Any]
    # Of `_sum_rows`, which may have to tell the winners.
    of_rows: dict[str, Any]
    of_rows_tracked: dict[str, Any]
    of_winners: dict[str, Any]  # of `_score_winners`

    def grid(self, count: int, step: int) -> tuple[int, int]:
        """A program for each so many rows or keys of each head."""
        return -(-count // step), self.programs

    def new(self, count: int, wide: int, like: torch.Tensor) -> torch.Tensor:
        """So many arrays of float32 of the batch and the heads, in one."""
        return torch.empty(
            (count, *self.batch, self.heads, wide),
            device=like.device,
            dtype=torch.float32,
        )


@lru_cache(maxsize=256)
def launch_plan(
    queries: tuple[int, ...],
    keys: tuple[int, ...],
    dtype: torch.dtype,
    scale: float,
    causal: bool,
    window: int | None,
    softcap: float | None,
    has_sinks: bool,
    has_mask: bool,
    tile: tuple[int, int, int, int] | None = None,
) -> LaunchPlan:
    """For queries and keys of these shapes; rows, keys, warps and stages of a tile are chosen here."""
    *batch, heads, rows, d = queries
    # The kernels divide by the scale, and take the largest product for the largest score.
    factor = 1.0
    if scale < 0:
        factor = -1.0
        scale = -scale
    elif scale == 0:
        factor = 0.0
        scale = 1.0
    # Heads are padded to a power of two; rows and keys of a tile depend on how many bytes that is.
    wide = max(NARROWEST, triton.next_power_of_2(d))
    bytes_of_a_key = max(64, wide * dtype.itemsize)
    tile_rows, tile_keys, warps, stages = tile or TILES.get(bytes_of_a_key, WIDEST)
    settings = {
        "group": heads // keys[-3],
        "D": d,
        "DP": wide,
        "CAUSAL": causal,
        "WINDOW": window is not None,
        "SOFTCAP": softcap is not None,
        "MASK": has_mask,
    }
    of_tiles = {
        **settings,
        "BM": tile_rows,
        "BN": tile_keys,
        "PRECISION": "tf32x3" if dtype == torch.float32 else "tf32",
        "num_warps": warps,
        "num_stages": stages,
    }
    of_rows = {
        **of_tiles,
        "SINK": has_sinks,
        "TRACK": False,
        "GROUPS": min(GROUPS, tile_keys // 2),
    }
    return LaunchPlan(
        batch=tuple(batch),
        heads=heads,
        rows=rows,
        keys=keys[-2],
        programs=math.prod(batch) * heads,
        factor=factor,
        tile_rows=tile_rows,
        tile_keys=tile_keys,
        numbers=(
            rows,
            keys[-2],
            heads,
            float(scale),
            float(softcap or 1.0),
            int(window or 0),
        ),
        of_tiles=of_tiles,
        of_rows=of_rows,
        of_rows_tracked={**of_rows, "TRACK": True},
        of_winners={
            **settings,
            "BM": AGAIN,
            "BN": tile_keys,
            "GROUPS": of_rows["GROUPS"],
        },
    )


@dataclass(frozen=True, eq=False)
class KernelInputs:
    """Queries (..., heads, rows, d) and keys (..., key heads, keys, d) made ready for the kernels."""

    plan: LaunchPlan
    q: torch.Tensor
    k: torch.Tensor
    sinks: torch.Tensor | None
    allowed: torch.Tensor | None  # which keys are seen, text by text
    start: torch.Tensor | None  # and the first of them

    @classmethod
    def of(
        cls,
        queries: torch.Tensor,
        keys: torch.Tensor,
        *,
        scale: float,
        causal: bool = True,
        window: int | None = None,
        softcap: float | None = None,
        sinks: torch.Tensor | None = None,
        key_mask: torch.Tensor | None = None,
        tile: tuple[int, int, int, int] | None = None,
    ) -> KernelInputs:
        """The scoring is that of `row_statistics`."""
        plan = launch_plan(
            queries.shape,
            keys.shape,
            queries.dtype,
            scale,
            causal,
            window,
            softcap,
            sinks is not None,
            key_mask is not None,
            tile,
        )
        if plan.factor != 1.0:
            queries = plan.factor * queries
        if keys.dtype != queries.dtype:
            keys = keys.to(queries.dtype)
        device = queries.device
        if sinks is not None:
            sinks = torch.as_tensor(sinks, device=device).float().contiguous()
        allowed = None
        start = None
        if key_mask is not None:
            mask = torch.as_tensor(key_mask, device=device).bool()
            mask = mask.expand(plan.programs // plan.heads, plan.keys).contiguous()
            allowed = mask.to(torch.int8)
            start = mask.int().argmax(-1).int()
        return cls(plan, queries.contiguous(), keys.contiguous(), sinks, allowed, start)


# What `sum_rows` and `score_winners` write, in this order. The weights at offsets follow.
OF_ROWS = ("lse", "entropy", "first", "largest")
OF_TRACKED_ROWS = (
    "lse",
    "entropy",
    "first",
    "distance",
    "largest",
    "margin",
    "largest_score",
    "sensitivity",
    "winner",
)
OF_KEYS = ("received", "received_last", "received_most")


def whole_numbers(array: torch.Tensor) -> torch.Tensor:
    """The numbers of int32 whose bits an array of float32 holds."""
    return array.view(torch.int32)


def of_calls(arrays: list[torch.Tensor]) -> torch.Tensor:
    """What several calls have written, with an axis of calls behind the first one."""
    return torch.stack(arrays, dim=1)


def sum_rows(inputs: KernelInputs) -> torch.Tensor:
    """The statistics OF_ROWS in one array, by one launch."""
    plan = inputs.plan
    written = plan.new(len(OF_ROWS), plan.rows, inputs.q)
    lse, entropy, first, largest = written.unbind(0)
    _launch_rows(inputs, (lse, entropy, first, largest, lse, lse, lse), plan.of_rows)
    return written


def score_winners(inputs: KernelInputs, offsets: tuple[int, ...] = ()) -> torch.Tensor:
    """The statistics OF_TRACKED_ROWS and the weights at the offsets in one array; `winner` holds the bits of int32."""
    plan = inputs.plan
    count = len(OF_TRACKED_ROWS) + len(offsets)
    written = plan.new(count, plan.rows, inputs.q)
    lse, entropy, first, distance, *of_winners = written.unbind(0)
    best, second, tile = plan.new(3, plan.rows, inputs.q).unbind(0)
    tile = tile.view(torch.int32)
    _launch_rows(
        inputs,
        (lse, entropy, first, best, second, tile, distance),
        plan.of_rows_tracked,
    )
    largest, margin, score, sensitivity, winner, *weights = of_winners
    arguments = (
        inputs.q,
        inputs.k,
        lse if inputs.allowed is None else inputs.allowed,
        lse,
        best,
        second,
        tile,
        largest,
        margin,
        winner.view(torch.int32),
        score,
        sensitivity,
        weights[0] if weights else lse,
        *plan.numbers,
        lse.numel(),
    )
    options = {**plan.of_winners, "OFFSETS": offsets}
    _launch(_score_winners, plan.grid(plan.rows, AGAIN), arguments, options)
    return written


def _launch_rows(
    inputs: KernelInputs, written: tuple[torch.Tensor, ...], options: dict[str, Any]
) -> None:
    plan = inputs.plan
    # Stands for arrays that are not there, and of which nothing is read.
    nothing = written[0]
    arguments = (
        inputs.q,
        inputs.k,
        nothing if inputs.sinks is None else inputs.sinks,
        nothing if inputs.allowed is None else inputs.allowed,
        nothing if inputs.start is None else inputs.start,
        *written,
        *plan.numbers,
    )
    _launch(_sum_rows, plan.grid(plan.rows, plan.tile_rows), arguments, options)


def sum_columns(
    inputs: KernelInputs, lse: torch.Tensor, last_rows: int
) -> torch.Tensor:
    """The statistics OF_KEYS in one array; rows whose lse is infinite give nothing."""
    plan = inputs.plan
    written = plan.new(len(OF_KEYS), plan.keys, inputs.q)
    arguments = (
        inputs.q,
        inputs.k,
        lse if inputs.allowed is None else inputs.allowed,
        lse,
        *written.unbind(0),
        *plan.numbers,
        plan.rows - last_rows,
    )
    grid = plan.grid(plan.keys, plan.tile_keys)
    _launch(_sum_columns, grid, arguments, plan.of_tiles)
    return written


def _launch(
    kernel: Any, grid: tuple[int, int], arguments: tuple[Any, ...], options: Any
) -> None:
    """On the GPU that the queries are on: a model may lie on several."""
    device = arguments[0].device
    if device.type == "cuda" and device.index != torch.cuda.current_device():
        with torch.cuda.device(device):
            kernel[grid](*arguments, **options)
    else:
        kernel[grid](*arguments, **options)


def statistics(
    queries: torch.Tensor,
    keys: torch.Tensor,
    *,
    track: bool = True,
    offsets: tuple[int, ...] = (),
    received: bool = False,
    last_rows: int = 64,
    **scoring: Any,
) -> dict[str, torch.Tensor]:
    """lse, entropy, largest, first; with `track` also winner, margin, distance and others. float32, (..., heads, rows).

    Queries are (..., heads, rows, d), keys (..., key heads, keys, d), on one device and of one type, d at most 256;
    the scoring is that of `row_statistics`, with a key mask for all texts or one for each. With `track` come the
    largest score, the sensitivity, and the weights at the offsets, under "offset N"; with `received` what keys receive.
    """
    inputs = KernelInputs.of(queries, keys, **scoring)
    if track:
        written = score_winners(inputs, offsets)
        names = (*OF_TRACKED_ROWS, *(f"offset {offset}" for offset in offsets))
    else:
        written = sum_rows(inputs)
        names = OF_ROWS
    computed = dict(zip(names, written.unbind(0), strict=True))
    if track:
        computed["winner"] = whole_numbers(computed["winner"])
    if received:
        of_keys = sum_columns(inputs, computed["lse"], last_rows)
        computed |= dict(zip(OF_KEYS, of_keys.unbind(0), strict=True))
    return computed


def received(
    queries: torch.Tensor,
    keys: torch.Tensor,
    lse: torch.Tensor,
    *,
    last_rows: int = 64,
    **scoring: Any,
) -> dict[str, torch.Tensor]:
    """What each key receives from all rows, from the last ones, and at most."""
    inputs = KernelInputs.of(queries, keys, **scoring)
    of_keys = sum_columns(inputs, lse.float().contiguous(), last_rows)
    return dict(zip(OF_KEYS, of_keys.unbind(0), strict=True))


def cells(
    queries: torch.Tensor,
    keys: torch.Tensor,
    high: int,
    wide: int,
    lse: torch.Tensor | None = None,
    **scoring: Any,
) -> torch.Tensor:
    """The mean weight in each cell of `high` rows and `wide` keys: powers of two that divide rows and keys."""
    inputs = KernelInputs.of(queries, keys, **scoring)
    if lse is None:
        lse = sum_rows(inputs)[0]
    lse = lse.float().contiguous()
    plan = inputs.plan
    means = torch.zeros(
        (*plan.batch, plan.heads, plan.rows // high, plan.keys // wide),
        device=lse.device,
    )
    arguments = (
        inputs.q,
        inputs.k,
        lse if inputs.allowed is None else inputs.allowed,
        lse,
        means,
        *plan.numbers,
        1 / (high * wide),
    )
    options = {**plan.of_tiles, "HIGH": high, "WIDE": wide}
    _launch(_sum_cells, plan.grid(plan.rows, plan.tile_rows), arguments, options)
    return means
