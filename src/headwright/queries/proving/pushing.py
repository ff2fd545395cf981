"""The shortest vector that random keys can be pushed to: V + sum_c lambda_c C_c p_c with p_c^T C_c p_c <= z^2.

It is y = -q at the minimum of |q|^2 / 2 + <V, q> + z sum_c lambda_c sqrt(q^T C_c q), with p_c = z q / sqrt(q^T C_c q).
For one C that is (I + theta C)^-1 V with the theta that uses up z; for several, Newton's method with smoothed roots.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

Vector = Float[np.ndarray, " d"]
Matrix = Float[np.ndarray, "d d"]
SMOOTHINGS = (1e-1, 1e-3, 1e-5, 1e-7)  # of the roots, next to their size
MOST_STEPS, SHORTEST, CLOSE = 20, 1e-3, 1e-12


def shortest(
    V: Vector, C: Sequence[Matrix], multipliers: Float[np.ndarray, " c"], z: float
) -> tuple[Vector, Float[np.ndarray, "c d"]]:
    """The vector and the pushes that make it.

    >>> shortest(np.array([3.0, 4.0]), [np.diag([4.0, 0.0])], np.ones(1), 9.0)
    (array([0., 4.]), array([[-0.75,  0.  ]]))
    """
    if len(C) == 1:
        y, p = _by_one(V, C[0], z)
        return y, p[None]
    if z == 0 or not any(one.any() for one in C):
        return V, np.zeros((len(C), len(V)))
    return _by_several(V, np.stack(C), multipliers, z)


def _by_one(V: Vector, C: Matrix, z: float) -> tuple[Vector, Vector]:
    from scipy.optimize import brentq

    c, axes = np.linalg.eigh(C)
    c = np.where(c > 1e-15 * max(float(c.max()), 0.0), c, 0.0)
    v = axes.T @ V
    moving = c > 0
    if z == 0 or not moving.any():
        return V, np.zeros_like(V)
    inside, spread = v[moving], c[moving]
    if float((inside**2 / spread).sum()) <= z * z:
        y, p = np.where(moving, 0.0, v), np.zeros_like(v)
        p[moving] = -inside / spread
        return axes @ y, axes @ p

    def beyond(log_theta: float) -> float:
        share = spread * math.exp(log_theta)
        return float(((share / (1 + share)) ** 2 * (inside**2 / spread)).sum()) - z * z

    low, high = -math.log(float(spread.max())) - 60, -math.log(float(spread.min())) + 60
    if beyond(low) > 0 or beyond(high) < 0:  # beyond what floats can tell
        theta = math.exp(low if beyond(low) > 0 else high)
    else:
        theta = math.exp(float(brentq(beyond, low, high, xtol=1e-14, rtol=1e-15)))
    y = v / (1 + theta * c)
    used = float((theta * theta * c * y * y).sum())
    p = -theta * y * min(1.0, z / math.sqrt(used)) if used > 0 else np.zeros_like(v)
    return axes @ y, axes @ p


def _by_several(
    V: Vector, C: Float[np.ndarray, "c d d"], multipliers: Float[np.ndarray, " c"], z: float
) -> tuple[Vector, Float[np.ndarray, "c d"]]:
    length = float(np.linalg.norm(V)) or 1.0
    size, tau, q = math.sqrt(float(np.trace(C, axis1=1, axis2=2).max())) * length, math.inf, -V
    price = z * multipliers

    def roots(x: Vector) -> Float[np.ndarray, " c"]:
        found: Float[np.ndarray, " c"] = np.sqrt(np.maximum(C @ x @ x, 0.0) + tau * tau)
        return found

    def height(x: Vector) -> float:
        return float(x @ x) / 2 + float(V @ x) + float(price @ roots(x))

    for smoothing in SMOOTHINGS:
        before, tau = tau, smoothing * size
        q = min(q, q * min(1.0, tau / before), key=height)  # where V can be pushed to 0, q goes down with tau
        for _ in range(MOST_STEPS):
            images, root = C @ q, roots(q)
            slope = q + V + (price / root) @ images
            if float(np.linalg.norm(slope)) <= CLOSE * length:
                break
            bent = images * np.sqrt(price / root**3)[:, None]
            curvature = np.eye(len(V)) + np.tensordot(price / root, C, axes=1) - bent.T @ bent
            step, here, length = np.linalg.solve(curvature, -slope), height(q), 1.0
            while length > SHORTEST and height(q + length * step) > here:
                length /= 2
            q = q + length * step
    pushes = z * q / roots(q)[:, None]
    y = V + np.einsum("c,cij,cj->i", multipliers, C, pushes)
    return y, pushes
