"""The names of the exercises, with their ranges."""

from __future__ import annotations

from headwright.grading.scalars import POSITIVE, Range, Where, ln

UNIT = Range(0, 1, lower_open=True, upper_open=True)
WHERE = Where(
    {
        "n": Range(2, integer=True),
        "epsilon": UNIT,
        "lambda": POSITIVE,
        "beta": POSITIVE,
        "t": POSITIVE,
        "s": POSITIVE,
    }
)
n, eps, lam, beta, t, s, g, c = (
    WHERE.name(name) for name in ("n", "epsilon", "lambda", "beta", "t", "s", "g", "c")
)
LOG = ln(n / eps)
