"""Row statistics on a GPU: one Triton kernel that reads Q and K once and writes a few numbers a row.

The loop over tiles of keys is an online softmax without the values: the largest score, the mass and the energy
sum e s. What costs is the exponential of every score, so nothing else may cost much. Which key won, and the
runner-up, would: instead the maxima of groups of 16 scores, which a thread holds anyway on the way to the row's
maximum, compete for first and second place, and a second kernel scores the 16 keys of the winning group again.

A group's number is written into the last three bits of its maximum, so that one maximum finds both. The runner-up is
known up to 2^-20 of its size, where it lies in another group than the winner; all else up to float32.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

BM, BN, WARPS, STAGES = 64, 128, 4, 3  # the fastest on an H200 for d = 64 and 128


@triton.jit
def _pass(
    Q, K, LSE, ENTROPY, FIRST, BEST, SECOND, TILE, DISTANCE, rows, keys, scale, group: tl.constexpr, D: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr, TRACK: tl.constexpr,
):  # fmt: skip
    block = tl.num_programs(0) - 1 - tl.program_id(0)  # the longest rows first
    head = tl.program_id(1)
    offsets_m = block * BM + tl.arange(0, BM)
    offsets_n = tl.arange(0, BN)
    offsets_d = tl.arange(0, D)
    base = head.to(tl.int64) * rows
    q = tl.load(Q + (base + offsets_m[:, None]) * D + offsets_d[None, :], mask=offsets_m[:, None] < rows, other=0.0)
    mine = K + (head // group).to(tl.int64) * keys * D
    shift = keys - rows
    start_k = tl.load(mine + offsets_d).to(tl.float32)
    sink = tl.sum(q.to(tl.float32) * start_k[None, :], axis=1)  # the score of key 0
    within = offsets_n.to(tl.float32)
    step = scale * 1.4426950408889634
    m = tl.full((BM,), -1e30, tl.float32)  # of the raw products; the scale is above 0
    mass = tl.zeros((BM,), tl.float32)
    energy = tl.zeros((BM,), tl.float32)
    place = tl.zeros((BM,), tl.float32)
    first = tl.full((BM,), -1e30, tl.float32)
    second = tl.full((BM,), -1e30, tl.float32)
    tile = tl.zeros((BM,), tl.int32)
    if CAUSAL:
        whole = (block * BM + shift + 1) // BN * BN
        last = tl.minimum(keys, (block + 1) * BM + shift)
    else:
        whole = keys // BN * BN
        last = keys
    for part in tl.static_range(2):  # the tiles that every row sees whole; then those at the edge
        low = 0 if part == 0 else whole
        high = whole if part == 0 else last
        for start in range(low, high, BN):
            columns = start + offsets_n
            if part == 0:
                k = tl.load(mine + columns[:, None] * D + offsets_d[None, :])
            else:
                k = tl.load(mine + columns[:, None] * D + offsets_d[None, :], mask=columns[:, None] < keys, other=0.0)
            s = tl.dot(q, tl.trans(k))
            if part == 1:
                seen = columns[None, :] < keys
                if CAUSAL:
                    seen = seen & (columns[None, :] <= offsets_m[:, None] + shift)
                s = tl.where(seen, s, -1e30)
            if TRACK:
                parts = tl.reshape(s, (BM, 2, BN // 16, 4, 2))
                maxima = tl.reshape(tl.max(tl.max(parts, axis=4), axis=2), (BM, 8))
                bits = (maxima.to(tl.int32, bitcast=True) & -8) | tl.arange(0, 8)[None, :]
                maxima = bits.to(tl.float32, bitcast=True)
                high1 = tl.max(maxima, axis=1)
                high2 = tl.max(tl.where(maxima == high1[:, None], -3e38, maxima), axis=1)
                tile = tl.where(high1 > first, start, tile)
                second = tl.maximum(tl.minimum(first, high1), tl.maximum(second, high2))
                first = tl.maximum(first, high1)
                new = tl.maximum(m, high1)
            else:
                new = tl.maximum(m, tl.max(s, axis=1))
            p = tl.math.exp2(s * step - (new * step)[:, None])
            shrink = tl.math.exp2((m - new) * step)
            here = tl.sum(p, axis=1)
            mass = mass * shrink + here
            energy = energy * shrink + tl.sum(p * s, axis=1)
            if TRACK:
                place = place * shrink + (start * here + tl.sum(p * within[None, :], axis=1))
            m = new
    inside = offsets_m < rows
    at = base + offsets_m
    lse = m * scale + tl.log(mass)
    tl.store(LSE + at, lse, mask=inside)
    tl.store(ENTROPY + at, lse - energy / mass * scale, mask=inside)
    tl.store(FIRST + at, tl.exp(sink * scale - lse), mask=inside)
    if TRACK:
        tl.store(BEST + at, first, mask=inside)
        tl.store(SECOND + at, second, mask=inside)
        tl.store(TILE + at, tile, mask=inside)
        tl.store(DISTANCE + at, offsets_m + shift - place / mass, mask=inside)
    else:
        tl.store(BEST + at, tl.exp(m * scale - lse), mask=inside)


@triton.jit
def _again(
    Q, K, LSE, BEST, SECOND, TILE, rows, keys, scale, group: tl.constexpr, D: tl.constexpr, BM: tl.constexpr,
    BN: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1)
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    inside = row < rows
    at = head.to(tl.int64) * rows + row
    best = tl.load(BEST + at, mask=inside, other=0.0)
    number = best.to(tl.int32, bitcast=True) & 7
    start = tl.load(TILE + at, mask=inside, other=0) + number // 4 * (BN // 2) + number % 4 * 2
    few = tl.arange(0, 16)
    columns = start[:, None] + few[None, :] // 2 * 8 + few[None, :] % 2
    seen = columns < keys
    if CAUSAL:
        seen = seen & (columns <= row[:, None] + keys - rows)
    mine = K + (head // group).to(tl.int64) * keys * D
    s = tl.zeros((BM, 16), tl.float32)
    for start_d in tl.static_range(0, D, 32):
        depth = start_d + tl.arange(0, 32)
        q = tl.load(Q + at[:, None] * D + depth[None, :], mask=inside[:, None], other=0.0).to(tl.float32)
        k = tl.load(mine + columns[:, :, None] * D + depth[None, None, :], mask=seen[:, :, None], other=0.0)
        s += tl.sum(q[:, None, :] * k.to(tl.float32), axis=2)
    s = tl.where(seen, s, -1e30)
    high = tl.max(s, axis=1)
    winner = tl.min(tl.where(s == high[:, None], columns, 2147483647), axis=1)
    other = tl.max(tl.where(columns == winner[:, None], -1e30, s), axis=1)
    second = tl.maximum(other, tl.load(SECOND + at, mask=inside, other=0.0))
    tl.store(TILE + at, winner, mask=inside)
    tl.store(BEST + at, tl.exp(high * scale - tl.load(LSE + at, mask=inside, other=0.0)), mask=inside)
    tl.store(SECOND + at, tl.where(second > -1e29, (high - second) * scale, float("inf")), mask=inside)


def statistics(
    queries: torch.Tensor, keys: torch.Tensor, *, scale: float, causal: bool, track: bool = True
) -> dict[str, torch.Tensor]:
    """lse, entropy, largest, first; with `track` also winner, margin and distance. Tensors (heads, rows) of float32.

    Queries are (heads, rows, d), keys (key heads, keys, d), on one device and of one type; d is a power of two.
    """
    heads, rows, d = queries.shape
    key_heads, count, _ = keys.shape
    queries, keys = queries.contiguous(), keys.contiguous()
    lse, entropy, first, best, second, distance = torch.empty((6, heads, rows), device=queries.device)
    tile = torch.empty((heads, rows), device=queries.device, dtype=torch.int32)
    group = heads // key_heads
    _pass[(triton.cdiv(rows, BM), heads)](
        queries, keys, lse, entropy, first, best, second, tile, distance, rows, count, scale, group=group, D=d, BM=BM,
        BN=BN, CAUSAL=causal, TRACK=track, num_warps=WARPS, num_stages=STAGES,
    )  # fmt: skip
    found = {"lse": lse, "entropy": entropy, "first": first, "largest": best}
    if not track:
        return found
    _again[(triton.cdiv(rows, 16), heads)](
        queries, keys, lse, best, second, tile, rows, count, scale, group=group, D=d, BM=16, BN=BN, CAUSAL=causal,
    )  # fmt: skip
    return found | {"winner": tile, "margin": second, "distance": distance}
