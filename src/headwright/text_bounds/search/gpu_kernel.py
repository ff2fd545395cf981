"""The extreme scores of rotated queries with all keys on a GPU, without storing queries x keys numbers. Torch only.

A program turns a tile of queries in float32, rounds it, and goes through all keys with a tile of running maxima and
minima, one for each column of its tile of scores, which it reduces once at the end: two operations a score, beside the
product itself. All places of a chunk are one launch, so that the last programs of one place leave no gap.

What the scores lose is not estimated from above but measured, query by query. With q the query, q' what was multiplied,
k and k' the keys alike, a score is wrong by at most

    |q - q'| |k| + |q'| |k - k'| + 2^-20 d |q'| |k'|,

where |q - q'| is at most what rounding lost, as the program found it, and 2^-20 |q| for turning in float32 (each part
of a pair is wrong by at most 2^-21.9 (|a| + |b|): two roundings of the query and of the sine, two of the sum); the last
term allows for a sum whose every step is cut off after 21 bits, which is coarser than any accumulator of a tensor core.
Factors are float16 after a common power of two (their products are exact, and 8 times finer than bfloat16's), without
the numbers that float16 holds in part only, or float32 in three passes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import triton
import triton.language as tl

# Rows, keys, warps and stages of a program, by the bytes of a key; of those tried on an H200 the fastest.
TILES = {128: (128, 64, 4, 4), 256: (64, 128, 4, 3)}
FLOAT32_TILES = {256: (128, 128, 8, 4)}
WIDEST = (64, 64, 4, 4)
AT_ONCE = 2**21  # queries times places of one launch
COARSE = 2.0**-20
LARGEST = 4096.0  # of an entry, after scaling: sums stay far below what float32 holds
WIDE = 1 + 2.0**-15  # for sums of squares in float32
NORMAL = tl.constexpr(2.0**-14)  # float16 has fewer bits below


@triton.jit
def _extremes(
    Q,
    K,
    COS,
    SIN,
    PARTNER,
    HIGH,
    LOW,
    LOST,
    rows,
    keys,
    D: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    PRECISION: tl.constexpr,
):
    place = tl.program_id(1).to(tl.int64)
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    depth = tl.arange(0, D)
    there = row[:, None] < rows
    partner = tl.load(PARTNER + depth)
    q = tl.load(Q + row[:, None] * D + depth[None, :], mask=there, other=0.0)
    p = tl.load(Q + row[:, None] * D + partner[None, :], mask=there, other=0.0)
    turned = (
        q * tl.load(COS + place * D + depth)[None, :]
        + p * tl.load(SIN + place * D + depth)[None, :]
    )
    if K.dtype.element_ty == tl.float16:
        short = tl.where(tl.abs(turned) < NORMAL, 0.0, turned).to(tl.float16)
        off = turned - short.to(tl.float32)
        tl.store(
            LOST + place * rows + row,
            tl.sqrt(tl.sum(off * off, axis=1)),
            mask=row < rows,
        )
    else:
        short = turned
        tl.store(
            LOST + place * rows + row, tl.zeros((BM,), tl.float32), mask=row < rows
        )
    high = tl.full((BM, BN), -3e38, tl.float32)
    low = tl.full((BM, BN), 3e38, tl.float32)
    for start in range(0, keys, BN):
        # The last key again changes no extreme.
        column = tl.minimum(start + tl.arange(0, BN), keys - 1)
        k = tl.load(K + column[:, None] * D + depth[None, :])
        s = tl.dot(short, tl.trans(k), input_precision=PRECISION)
        high = tl.maximum(high, s)
        low = tl.minimum(low, s)
    tl.store(HIGH + place * rows + row, tl.max(high, axis=1), mask=row < rows)
    tl.store(LOW + place * rows + row, tl.min(low, axis=1), mask=row < rows)


@dataclass(frozen=True, eq=False)
class Rotations:
    """How queries turn, place by place: q'[m] = q[m] cos[m] + q[partner[m]] sin[m], signs in the sines. Float64."""

    cos: torch.Tensor  # places, d
    sin: torch.Tensor  # places, d
    partner: torch.Tensor  # d

    @classmethod
    def none(cls, places: int, d: int, device: torch.device) -> Rotations:
        """Queries as they are."""
        ones = torch.ones((places, d), dtype=torch.float64, device=device)
        return cls(ones, torch.zeros_like(ones), torch.arange(d, device=device))


@dataclass(frozen=True, eq=False)
class Folded:
    """Sums of exp over places, as factor * exp(reference), in float64; and how far any score may be wrong."""

    high: tuple[torch.Tensor, torch.Tensor]
    low: tuple[torch.Tensor, torch.Tensor]
    slack: torch.Tensor


@dataclass(frozen=True, eq=False)
class GpuVectors:
    """Queries and keys of one head where the kernel finds them: made by `of`."""

    query: torch.Tensor  # float32, scaled, rows x d, d a power of two
    key: torch.Tensor  # float16 or float32, scaled, keys x d
    precision: str
    length: torch.Tensor  # of the queries
    longest: float  # of the keys
    lost: float  # the furthest that rounding moved a key
    scale: float  # scores of these are those of the given ones, times this

    @classmethod
    def of(
        cls, query: torch.Tensor, key: torch.Tensor, products: str = "float16"
    ) -> GpuVectors:
        """Of vectors in float64; `products` are of float16, or of float32 in three passes (tf32x3)."""
        query = _padded(query)
        key = _padded(key)
        is_half = products == "float16"
        query_scale = _power(query, LARGEST) if is_half else 1.0
        key_scale = _power(key, LARGEST) if is_half else 1.0
        query = query * query_scale
        key = key * key_scale
        short = key.float()
        if is_half:
            short = torch.where(key.abs() < NORMAL.value, 0.0, key).half()
        length = query.norm(dim=1) * (1 + 1e-9)
        longest = float(key.norm(dim=1).max()) * (1 + 1e-9)
        lost = float((key - short.double()).norm(dim=1).max()) * (1 + 1e-9)
        return cls(
            query.float().contiguous(),
            short.contiguous(),
            "ieee" if is_half else products,
            length,
            longest,
            lost,
            query_scale * key_scale,
        )

    def extremes(
        self, turns: Rotations, tiles: tuple[int, int, int, int] | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """For each place and query the largest and smallest score with any key, and how far they may be wrong."""
        rows, d = self.query.shape
        keys = len(self.key)
        places = len(turns.cos)
        key_bytes = d * self.key.element_size()
        bm, bn, warps, stages = tiles or _tiles(key_bytes, self.key.dtype)
        high, low, lost = torch.empty((3, places, rows), device=self.query.device)
        _extremes[(triton.cdiv(rows, bm), places)](
            self.query,
            self.key,
            turns.cos.float(),
            turns.sin.float(),
            turns.partner,
            high,
            low,
            lost,
            rows,
            keys,
            D=d,
            BM=bm,
            BN=bn,
            PRECISION=self.precision,
            num_warps=warps,
            num_stages=stages,
        )
        # The bound of the module's docstring: |q - q'|, then |q'|, then all of it.
        moved = lost.double() * WIDE + self.length * COARSE + 2.0**-100
        size = self.length + moved
        rounding = COARSE * d * (self.longest + self.lost)
        wrong = moved * self.longest + size * (self.lost + rounding)
        high = high.double() / self.scale
        low = low.double() / self.scale
        return high, low, wrong * (WIDE / self.scale)

    def folded(
        self, turns: Rotations, progress: Callable[[float], None] | None = None
    ) -> Folded:
        """The extremes of all places, summed."""
        rows = len(self.query)
        places = len(turns.cos)
        device = self.query.device
        nothing = torch.full((rows,), -torch.inf, dtype=torch.float64, device=device)
        slack = torch.zeros_like(nothing)
        high_sums = low_sums = (nothing, torch.zeros_like(nothing))
        chunk = max(1, AT_ONCE // rows)
        for start in range(0, places, chunk):
            part = slice(start, start + chunk)
            some = Rotations(turns.cos[part], turns.sin[part], turns.partner)
            high, low, wrong = self.extremes(some)
            high_sums = _plus(high_sums, high)
            low_sums = _plus(low_sums, low)
            slack = torch.maximum(slack, wrong.amax(dim=0))
            if progress is not None:
                progress(min(1.0, (start + chunk) / places))
        return Folded(high_sums, low_sums, slack)


def turns_of(cos: torch.Tensor, sin: torch.Tensor, d: int) -> Rotations:
    """Of pairs (m, m + half), from the cosines and sines of the angle of each pair: places x half."""
    half = cos.shape[1]
    wide = _width(d)
    rest = torch.ones((len(cos), wide - 2 * half), dtype=cos.dtype, device=cos.device)
    partner = torch.arange(wide, device=cos.device)
    partner[: 2 * half] = partner[: 2 * half].roll(half)
    return Rotations(
        torch.cat([cos, cos, rest], dim=1),
        torch.cat([-sin, sin, 0 * rest], dim=1),
        partner,
    )


def _plus(
    sums: tuple[torch.Tensor, torch.Tensor], scores: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    reference, factor = sums
    new = torch.maximum(reference, scores.amax(dim=0))
    return new, factor * (reference - new).exp() + (scores - new).exp().sum(dim=0)


def _tiles(size: int, kind: torch.dtype) -> tuple[int, int, int, int]:
    table = TILES if kind is torch.float16 else TILES | FLOAT32_TILES
    for most, tiles in sorted(table.items()):
        if size <= most:
            return tiles
    return WIDEST


def _width(d: int) -> int:
    return max(16, 1 << (d - 1).bit_length())


def _padded(vectors: torch.Tensor) -> torch.Tensor:
    """To a power of two with zeros, which no product notices."""
    return torch.nn.functional.pad(
        vectors, (0, _width(vectors.shape[1]) - vectors.shape[1])
    )


def _power(vectors: torch.Tensor, bound: float) -> float:
    """The power of two that brings the largest entry just below a bound; with turning it may be 1.5 times as large."""
    largest = vectors.abs().max().clamp(min=2.0**-200)
    return float(2.0 ** torch.floor(torch.log2(bound / largest)))
