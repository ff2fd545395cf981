"""Rank 20 of a 20,000 x 2,000 matrix: certified here; floating-point, or without any error, elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bench.measure import Contender

ROWS, COLUMNS, RANK = 20_000, 2_000, 20

TITLE = f"Rank {RANK} of a {ROWS:,} x {COLUMNS:,} matrix whose singular values fall like i^-1/2"

OURS = "headwright, error certified"
CONTENDERS = [
    Contender(OURS, "certified"),
    Contender("numpy, full SVD", "full_svd", repeats=1, peer_of=OURS),
    Contender("scikit-learn, randomized_svd", "randomised", peer_of=OURS),
    Contender(
        "the same, then numpy's norm of the rest",
        "randomised_with_norm",
        repeats=1,
        peer_of=OURS,
    ),
    Contender("scipy, svds", "lanczos", repeats=1, peer_of=OURS),
]


@dataclass(frozen=True)
class Outcome:
    """The true error is computed when the outcome is printed, which is after the clock was stopped."""

    matrix: np.ndarray
    left: np.ndarray
    right: np.ndarray
    says: str

    def __str__(self) -> str:
        rest = self.matrix - self.left @ self.right
        return (
            f"error {np.sqrt(np.linalg.eigvalsh(rest.T @ rest)[-1]):.9f}; {self.says}"
        )


def certified() -> Callable[[], Outcome]:
    from headwright.lowrank import truncate

    A = _matrix()

    def work() -> Outcome:
        result = truncate(A, rank=RANK)
        shown = (
            math.ceil(result.error_upper_bound * 1e9) / 1e9
        )  # a bound is rounded up, on screen too
        return Outcome(A, result.left, result.right, f"proven <= {shown:.9f}")

    return work


def full_svd() -> Callable[[], Outcome]:
    A = _matrix()

    def work() -> Outcome:
        U, s, Vt = np.linalg.svd(A, full_matrices=False)
        return Outcome(A, U[:, :RANK] * s[:RANK], Vt[:RANK], f"says {s[RANK]:.9f}")

    return work


def randomised() -> Callable[[], Outcome]:
    from sklearn.utils.extmath import randomized_svd

    A = _matrix()

    def work() -> Outcome:
        U, s, Vt = randomized_svd(A, RANK, random_state=0)
        return Outcome(A, U * s, Vt, "says nothing of it")

    return work


def randomised_with_norm() -> Callable[[], Outcome]:
    from sklearn.utils.extmath import randomized_svd

    A = _matrix()

    def work() -> Outcome:
        U, s, Vt = randomized_svd(A, RANK, random_state=0)
        norm = np.linalg.norm(A - (U * s) @ Vt, 2)
        return Outcome(A, U * s, Vt, f"says {norm:.9f}")

    return work


def lanczos() -> Callable[[], Outcome]:
    from scipy.sparse.linalg import svds

    A = _matrix()

    def work() -> Outcome:
        U, s, Vt = svds(A, RANK, random_state=0)
        return Outcome(A, U * s, Vt, "says nothing of it")

    return work


def _matrix() -> np.ndarray:
    rng = np.random.default_rng(0)
    left = rng.standard_normal((ROWS, COLUMNS)) / np.sqrt(
        ROWS
    )  # nearly orthonormal columns
    left *= np.arange(1, COLUMNS + 1) ** -0.5
    return np.asarray(left @ np.linalg.qr(rng.standard_normal((COLUMNS, COLUMNS))).Q)
