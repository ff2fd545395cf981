"""The closest pair of sinusoidal positions: enclosed and certain here; floating-point elsewhere."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import pdist

from bench.measure import Contender
from headwright.positions import Precision, Sinusoidal, closest_pair, report

DIM, FEW, MANY = 512, 8_000, 1_000_000

TITLE = f"The closest pair of sinusoidal positions, dimension {DIM}"

OURS, OURS_MANY = f"headwright, {FEW:,} positions", f"headwright, {MANY:,} positions"
CONTENDERS = [
    Contender(OURS, "ours", {"length": FEW}),
    Contender("all pairs, NumPy, matrix products in blocks", "all_pairs", peer_of=OURS),
    Contender("all pairs, scipy's pdist", "scipy_pairs", repeats=1, peer_of=OURS),
    Contender(OURS_MANY, "ours", {"length": MANY}),
    Contender(
        "a cosine for each difference and wave, NumPy",
        "cosines",
        repeats=1,
        peer_of=OURS_MANY,
    ),
    Contender(
        f"headwright, {MANY:,} positions rounded to bfloat16", "rounded", repeats=1
    ),
]


def ours(length: int) -> Callable[[], str]:
    def work() -> str:
        found = closest_pair(Sinusoidal(DIM), length)
        return f"{found.pair}, {found.distance.lower:.12f}, certain: {found.certain}"

    return work


def rounded() -> Callable[[], str]:
    def work() -> str:
        found = report(Sinusoidal(DIM), MANY, Precision(rows="bfloat16"))
        return f"{found.closest_pair}, {found.min_distance:.12f}, {found.collisions} coincide"

    return work


def all_pairs() -> Callable[[], str]:
    rows, block = Sinusoidal(DIM).rows(np.arange(float(FEW))), 1000

    def work() -> str:
        best, pair = np.inf, (0, 0)
        norms = np.einsum("td,td->t", rows, rows)
        for i in range(
            0, FEW, block
        ):  # each pair once: only blocks on and above the diagonal
            for j in range(i, FEW, block):
                squares = rows[i : i + block] @ rows[j : j + block].T
                squares *= -2
                squares += norms[i : i + block, None]
                squares += norms[j : j + block]
                if i == j:
                    squares[np.tril_indices(len(squares))] = np.inf
                k = int(squares.argmin())
                if squares.flat[k] < best:
                    best, pair = (
                        squares.flat[k],
                        (i + k // squares.shape[1], j + k % squares.shape[1]),
                    )
        return f"{pair}, {np.sqrt(best):.12f}"

    return work


def scipy_pairs() -> Callable[[], str]:
    rows = Sinusoidal(DIM).rows(np.arange(float(FEW)))

    def work() -> str:
        distances = pdist(rows)
        k = int(distances.argmin())
        t = int(np.searchsorted(np.cumsum(np.arange(FEW - 1, 0, -1)), k, side="right"))
        return f"{(t, k - t * (2 * FEW - t - 1) // 2 + t + 1)}, {distances[k]:.12f}"

    return work


def cosines() -> Callable[[], str]:
    frequencies, block = (
        Sinusoidal(DIM).frequencies,
        256,
    )  # rows of a block stay in the cache

    def work() -> str:
        best, nearest = -np.inf, 0
        for start in range(1, MANY, block):
            angles = np.arange(start, min(MANY, start + block))[:, None] * frequencies
            total = np.cos(angles, out=angles).sum(axis=1)
            k = int(total.argmax())
            if total[k] > best:
                best, nearest = total[k], start + k
        return f"{(0, nearest)}, {np.sqrt(DIM - 2 * best):.12f}"

    return work
