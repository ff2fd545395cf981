"""Factors of the matrix of scores and W_V rounded to a number type, so that the rules still hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import ml_dtypes
import numpy as np
from jaxtyping import Float

from headwright.head_design.attention_plan import (
    AttentionPlan,
    error,
    pattern_below,
    weight_above,
)
from headwright.head_design.head import Head
from headwright.head_design.rules import Rules

TYPES = {"float64": np.float64, "float32": np.float32, "bfloat16": ml_dtypes.bfloat16}
TRIES = 48  # other factors of the same M, which are rounded otherwise
MOST_MOVES = 200  # of entries of a row of W_V
MOST_COLUMNS = 64  # whose entries are moved


@dataclass(frozen=True, eq=False)
class _EntryMove:
    """An entry of a row moved to the next number of the type, and the error that the row then has."""

    column: int
    value: float
    error: Float[np.ndarray, " k"]


def rounded(matrix: Float[np.ndarray, "n d"], dtype: str) -> Float[np.ndarray, "n d"]:
    """The nearest numbers of a type, as float64."""
    return matrix.astype(TYPES[dtype]).astype(np.float64)


def factors(
    M: Float[np.ndarray, "D D"], head_dim: int | None = None
) -> tuple[Float[np.ndarray, "r D"], Float[np.ndarray, "r D"]]:
    """W_Q and W_K with W_K^T W_Q = M, of equal size, with as many rows as M has rank (one at least)."""
    U, sizes, V = np.linalg.svd(M)  # M = U diag(sizes) V
    rank = max(1, int((sizes > 1e-11 * sizes[0]).sum()))
    if head_dim is not None:
        rank = min(rank, head_dim)
    # Each factor gets the root of each singular value; M stays if both change a sign. The signs are a choice, so
    # that results do not flicker.
    row_sums = V[:rank].sum(axis=1, keepdims=True)
    signs = np.where(row_sums < 0, -1.0, 1.0)
    signed_roots = signs * np.sqrt(sizes[:rank, None])
    W_Q = _clean(V[:rank] * signed_roots)
    W_K = _clean(U[:, :rank].T * signed_roots)
    return W_Q, W_K


def deployed(
    rules: Rules,
    plans: tuple[AttentionPlan, ...],
    M: Float[np.ndarray, "D D"],
    W_V: Float[np.ndarray, "m D"],
    dtype: str,
    head_dim: int | None,
) -> Head | None:
    """The head in numbers of the type, if it still keeps the rules in floating point; W_V is of the type already."""
    for W_Q, W_K in _ways(M, dtype, head_dim):
        Q = rounded(W_Q, dtype)
        K = rounded(W_K, dtype)
        if (
            np.isfinite(Q).all()
            and np.isfinite(K).all()
            and _keeps(rules, plans, K.T @ Q, W_V)
        ):
            return _head(rules, Q, K, W_V)
    return None


def _head(
    rules: Rules,
    Q: Float[np.ndarray, "r k"],
    K: Float[np.ndarray, "r D"],
    W_V: Float[np.ndarray, "m k"],
) -> Head:
    """A head of matrices whose last column is the bias, where heads have biases."""
    D = rules.dimension
    b_Q = None
    b_V = None
    if rules.biases:
        b_Q = Q[:, D]
        b_V = W_V[:, D]
    W_Q = np.ascontiguousarray(Q[:, :D])
    return Head(W_Q, K, np.ascontiguousarray(W_V[:, :D]), b_Q, b_V)


def _keeps(
    rules: Rules,
    plans: tuple[AttentionPlan, ...],
    M: Float[np.ndarray, "D D"],
    W_V: Float[np.ndarray, "m D"],
) -> bool:
    """All floors and tolerances are kept, as far as floating point can tell."""
    for plan in plans:
        rule = plan.rule
        below = pattern_below(rules, rule, M)
        for token, floor in plan.floors.items():
            if below[token] < float(floor) * (1 - 1e-14):
                return False
        for token, most in (rule.at_most or {}).items():
            if weight_above(rules, rule, M, token) > float(most):
                return False
        # 0 where the rule wants no output.
        if error(rules, rule, M, W_V) > float(rule.tolerance):
            return False
    return True


def _ways(
    M: Float[np.ndarray, "D D"], dtype: str, head_dim: int | None
) -> Iterator[tuple[Float[np.ndarray, "r D"], Float[np.ndarray, "r D"]]]:
    """QueryKeyFactors of M: the balanced ones; turned and stretched; and, with room for more rows, in two parts each.

    Two parts, what rounding keeps and what it loses, hold twice as many digits: M = K1'Q1 + K2'Q1 + K1'Q2, nearly.
    """
    Q, K = factors(M, head_dim)
    yield Q, K
    if dtype == "float64":
        return
    rng = np.random.default_rng(0)
    for _ in range(TRIES):
        turn = np.linalg.qr(rng.normal(size=(len(Q), len(Q))))[0]
        stretch = 2.0 ** rng.uniform(-0.5, 0.5)
        yield turn @ Q * stretch, turn @ K / stretch
    # (Q1 + (Q - Q1)) and (K1 + (K - K1)) multiplied out, but for the product of what both lose.
    if head_dim is None or head_dim >= 3 * len(Q):
        Q1 = rounded(Q, dtype)
        K1 = rounded(K, dtype)
        yield np.vstack([Q1, Q1, Q - Q1]), np.vstack([K1, K - K1, K1])


def nearest_values(
    W: Float[np.ndarray, "m D"],
    Y: Float[np.ndarray, "k D"],
    wanted: Float[np.ndarray, "k m"],
    dtype: str,
) -> Float[np.ndarray, "m D"]:
    """W in numbers of the type, with W y near what is wanted: single entries are moved by a unit while that helps."""
    nearest = rounded(W, dtype)
    if dtype == "float64" or not len(Y):
        return nearest
    # The columns whose entries matter most: those where some y is largest.
    sizes = np.abs(Y).max(axis=0)
    nonzero = np.flatnonzero(sizes)
    by_size = np.argsort(-sizes[nonzero])
    columns = nonzero[by_size][:MOST_COLUMNS]
    for row, goal in zip(nearest, wanted.T, strict=True):
        _nearer(row, Y, goal, columns, dtype)
    return nearest


def _nearer(
    row: Float[np.ndarray, " D"],
    Y: Float[np.ndarray, "k D"],
    goal: Float[np.ndarray, " k"],
    columns: np.ndarray,
    dtype: str,
) -> None:
    """Move one entry of the row by a unit, or two, whichever brings Y row nearest to the goal; while that helps."""
    kind = TYPES[dtype]
    for _ in range(MOST_MOVES):
        error = Y @ row - goal
        # What the error would be after each single move.
        moves = []
        for j in columns:
            for side in (-np.inf, np.inf):
                value = float(np.nextafter(kind(row[j]), kind(side)))
                moved_error = error + Y[:, j] * (value - row[j])
                moves.append(_EntryMove(int(j), value, moved_error))
        least = float(error @ error) * (1 - 1e-12)
        best: list[_EntryMove] = []
        for number, move in enumerate(moves):
            squared = float(move.error @ move.error)
            if squared < least:
                least = squared
                best = [move]
            for other in moves[number + 1 :]:
                if other.column == move.column:
                    continue
                # The error is linear in the row, so that two moves add up.
                both = move.error + other.error - error
                squared = float(both @ both)
                if squared < least:
                    least = squared
                    best = [move, other]
        if not best:
            return
        for move in best:
            row[move.column] = move.value


def _clean(matrix: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
    """Without the dust that a decomposition leaves where there is nothing."""
    return np.where(
        np.abs(matrix) > 1e-15 * np.abs(matrix).max(initial=0.0), matrix, 0.0
    )
