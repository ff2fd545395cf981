"""Matrices that hurt, and judges that do not round."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

Exact = list[list[Fraction]]

SHAPES = hnp.array_shapes(min_dims=2, max_dims=2, max_side=5)


@st.composite
def nasty_matrices(draw: st.DrawFn) -> np.ndarray:
    """Small integers (ties, exact rank deficiency), perhaps perturbed by a rounding error or two, at any scale;
    or arbitrary doubles, huge beside subnormal."""
    shape = draw(SHAPES)
    if draw(st.booleans()):
        doubles = st.floats(-1e300, 1e300, allow_subnormal=True)
        return np.asarray(draw(hnp.arrays(np.float64, shape, elements=doubles)))
    whole = draw(hnp.arrays(np.int8, shape, elements=st.integers(-2, 2))).astype(float)
    nudge = draw(hnp.arrays(np.int8, shape, elements=st.integers(-3, 3))).astype(float)
    nudged = whole + nudge * draw(st.sampled_from([0.0, 2.0**-52, 1e-13, 1e-8]))
    scale = 2.0 ** draw(st.sampled_from([-1070, -1000, -500, -63, 0, 1, 66, 500, 1000]))
    return np.asarray(nudged * scale)


@st.composite
def ordinary_matrices(draw: st.DrawFn) -> np.ndarray:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, d = draw(st.integers(2, 12)), draw(st.integers(2, 12))
    return np.asarray(rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-3, 3))


def exact(X: np.ndarray) -> Exact:
    return [[Fraction(x) for x in row] for row in X.tolist()]


def remainder(A: np.ndarray, left: np.ndarray, right: np.ndarray) -> Exact:
    """A - left right, without any rounding."""
    columns = list(zip(*exact(right), strict=True))
    return [
        [
            a - sum(x * y for x, y in zip(row, column, strict=True))
            for a, column in zip(of_A, columns, strict=True)
        ]
        for of_A, row in zip(exact(A), exact(left), strict=True)
    ]


def bounds_norm(bound: float, R: Exact) -> bool:
    """Is |R|_2 <= bound? Exactly: has bound^2 I - R^T R no negative eigenvalue? By rational elimination."""
    columns = list(zip(*R, strict=True))
    M = [
        [-sum(x * y for x, y in zip(p, q, strict=True)) for q in columns]
        for p in columns
    ]
    for i in range(len(M)):
        M[i][i] += Fraction(bound) ** 2
    for k in range(len(M)):
        if M[k][k] < 0 or (M[k][k] == 0 and any(M[k][k:])):
            return False
        for i in range(k + 1, len(M)):
            for j in range(i, len(M)) if M[k][k] else ():
                M[i][j] -= M[k][i] * M[k][j] / M[k][k]
                M[j][i] = M[i][j]
    return True


def true_singular_values(A: np.ndarray) -> list[mpmath.mpf]:
    with mpmath.workdps(60):
        X = mpmath.matrix(A.tolist())
        values = mpmath.svd_r(X if A.shape[0] >= A.shape[1] else X.T, compute_uv=False)
        return sorted(values, reverse=True)
