"""Upper bounds on the highest score of each query with any of the keys: one matrix product, and its error.

Queries q and keys k are known up to their `off`, and are rounded to float32 or float64, x -> x', of which u is the unit
(2^-24 or 2^-53). Let l(x) bound the length of x - x', by the computed |x - x'| + off, and |x'| the length of x'. Then

    |fl(<q', k'>) - <q, k>| <= gamma |q'| |k'| + |q'| l(k) + l(q) |k'| + l(q) l(k) + 4 d tiny,

with gamma = d u / (1 - d u). *Proof.* <q, k> - <q', k'> = <q', k - k'> + <q - q', k'> + <q - q', k - k'>: Cauchy and
Schwarz, three times. A sum of d rounded products, added in any order, with or without fused steps, errs by gamma times
the sum of |q'_i k'_i|, which is at most |q'| |k'|; each of its 2 d steps loses less than the smallest normal number
where results are below it, and later steps do not double that. Nothing overflows: every part of the sum is below
(1 + gamma) |q'| |k'|, which is looked at. What is taken for granted is that a matrix product is computed as sums of
products of this precision (no Strassen, no shorter numbers inside).

Over the keys of a chunk the largest computed score, plus the bound with the largest |k'| and l(k) of the chunk, is not
below any exact score there. In float32 the bound is near 1e-4 nats for a trained head, in float64 1e-12. `entries`
bounds every score by its own entries, sum_i |q_i| off(k_i) + off(q_i) |k_i| + ..., at three times the cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from jaxtyping import Float

from headwright.models.texts.checker.error_bounds import LOST, UNIT, Array, Known

CHUNK = 2048  # keys at once: with a block of queries, scores that stay near the processor
BELOW = {"float32": 2.0**100, "float64": 2.0**1000}  # |q'| |k'|: nothing overflows

How = Literal["float32", "float64", "entries"]
HOWS: tuple[How, ...] = ("float32", "float64", "entries")  # each slower, and closer
Numbers = Float[np.ndarray, " vectors"]


@dataclass(frozen=True, eq=False)
class Rounded:
    """Vectors rounded to a type; the length of each, and that of all it may be off."""

    rows: Array
    length: Numbers
    lost: Numbers

    @classmethod
    def of(cls, vectors: Known, how: Literal["float32", "float64"]) -> Rounded:
        """The lengths are rounded up: they take fewer than d + 8 roundings, of numbers that are not negative."""
        with np.errstate(over="ignore"):  # a length that is not finite is found by `fits`
            rows = vectors.mid.astype(how)
            near = rows.astype(np.float64)
            off = np.abs(near - vectors.mid) + vectors.off + float(np.finfo(rows.dtype).tiny)
            up = 1 + 4 * (rows.shape[1] + 8) * UNIT
            length, lost = (np.sqrt(np.einsum("ij,ij->i", each, each)) * up + LOST for each in (near, off))
        return cls(rows, length, lost)


@dataclass(frozen=True, eq=False)
class Keys:
    """Keys that are met again and again, rounded once for each way of looking."""

    known: Known
    rounded: dict[str, Rounded] = field(default_factory=dict)

    def make_ready(self, how: How) -> None:
        """Before threads look at them."""
        if how != "entries":
            self.as_(how)

    def as_(self, how: Literal["float32", "float64"]) -> Rounded:
        """Rounded to this type."""
        if how not in self.rounded:
            self.rounded[how] = Rounded.of(self.known, how)
        return self.rounded[how]


def highest(query: Known, keys: Keys, how: How) -> Numbers:
    """For each query: not below its score with any of the keys, before the scale."""
    if how == "entries":
        return _by_entries(query, keys.known)
    mine, theirs = Rounded.of(query, how), keys.as_(how)
    if not _fits(mine, theirs, how):  # too large for float32: queries and keys are made so that float64 has room
        how, mine, theirs = "float64", Rounded.of(query, "float64"), keys.as_("float64")
    best, d = np.full(len(mine.rows), -np.inf), mine.rows.shape[1]
    unit = float(np.finfo(how).eps) / 2
    gamma, tiny = d * unit / (1 - d * unit), 4 * d * float(np.finfo(how).tiny)
    for some in _chunks(len(theirs.rows)):
        scores = mine.rows @ theirs.rows[some].T
        long, far = float(theirs.length[some].max()), float(theirs.lost[some].max())
        slack = gamma * mine.length * long + mine.length * far + mine.lost * long + mine.lost * far + tiny
        best = np.maximum(best, scores.max(axis=1).astype(np.float64) + slack * (1 + 16 * UNIT))
    return best


def _fits(mine: Rounded, theirs: Rounded, how: How) -> bool:
    few = mine.rows.shape[1] * float(np.finfo(mine.rows.dtype).eps) < 2.0**-8
    return few and bool(mine.length.max(initial=0.0) * theirs.length.max(initial=0.0) < BELOW[how])


def _by_entries(query: Known, key: Known) -> Numbers:
    d = query.mid.shape[1]
    size, best = np.abs(query.mid) + query.off, np.full(len(query.mid), -np.inf)
    left = np.hstack([query.off, size])
    for some in _chunks(len(key.mid)):
        mid, off = np.abs(key.mid[some]), key.off[some]
        right = np.hstack([mid, off + (d + 2) * UNIT * (mid + off)])
        off = (left @ right.T) * (1 + 8 * (d + 2) * UNIT) + LOST
        best = np.maximum(best, (query.mid @ key.mid[some].T + off).max(axis=1))
    return best


def _chunks(count: int) -> Sequence[slice]:
    return [slice(start, start + CHUNK) for start in range(0, count, CHUNK)]
