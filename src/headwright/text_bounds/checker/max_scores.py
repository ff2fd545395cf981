"""Upper bounds on the highest score of each query with any of the keys: one matrix product, and its error.

Queries q and keys k are balls, and are rounded to float32 or float64, x -> x', of which u is the unit (2^-24 or 2^-53).
Let l(x) bound the length of x - x', by the computed |x - x'| + rad, and |x'| the length of x'. Then

    |fl(<q', k'>) - <q, k>| <= gamma |q'| |k'| + |q'| l(k) + l(q) |k'| + l(q) l(k) + 4 d tiny,

with gamma = d u / (1 - d u). *Proof.* <q, k> - <q', k'> = <q', k - k'> + <q - q', k'> + <q - q', k - k'>: Cauchy and
Schwarz, three times. A sum of d rounded products, added in any order, with or without fused steps, errs by gamma times
the sum of |q'_i k'_i|, which is at most |q'| |k'|; each of its 2 d steps loses less than the smallest normal number
where results are below it, and later steps do not double that. Nothing overflows: every part of the sum is below
(1 + gamma) |q'| |k'|, which is looked at. What is taken for granted is that a matrix product is computed as sums of
products of this precision (no Strassen, no shorter numbers inside).

Over the keys of a chunk the largest computed score, plus the bound with the largest |k'| and l(k) of the chunk, is not
below any exact score there. In float32 the bound is near 1e-4 nats for a trained head, in float64 1e-12. `entries`
bounds every score by its own entries (`Balls.products`), at three times the cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from jaxtyping import Float

from headwright.numerics.balls import Array, Balls, U, gamma

# Keys at once: with a block of queries, scores that stay near the processor.
CHUNK = 2048
# Of |q'| |k'|: below it nothing overflows.
LARGEST_PRODUCT = {"float32": 2.0**100, "float64": 2.0**1000}

FloatType = Literal["float32", "float64"]
Precision = Literal["float32", "float64", "entries"]
PRECISIONS: tuple[Precision, ...] = ("float32", "float64", "entries")  # slower, closer
Numbers = Float[np.ndarray, " vectors"]


@dataclass(frozen=True, eq=False)
class RoundedVectors:
    """Vectors rounded to a type: x', the length |x'| of each, and the bound l(x) of its distance from the exact one."""

    rows: Array
    length: Numbers
    distance: Numbers

    @classmethod
    def of(cls, vectors: Balls, float_type: FloatType) -> RoundedVectors:
        """Rounded, with lengths that are rounded up."""
        # A length that is not finite is found by `_is_safe`.
        with np.errstate(over="ignore"):
            rows = vectors.mid.astype(float_type)
            rounded = rows.astype(np.float64)
            smallest = float(np.finfo(rows.dtype).tiny)
            distance = np.abs(rounded - vectors.mid) + vectors.rad + smallest
            return cls(rows, _lengths(rounded), _lengths(distance))


def _lengths(rows: Array) -> Numbers:
    """Not below the lengths of rows: d products and sums, a root and a few more roundings of non-negative numbers."""
    with np.errstate(over="ignore"):
        computed = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        # Squares below 2^-1022 may be lost: then the length is off by less than 2^-500.
        lengths: Numbers = computed * (1 + 2 * gamma(rows.shape[1] + 12)) + 2.0**-500
    return lengths


@dataclass(frozen=True, eq=False)
class RoundedKeys:
    """Keys that are met again and again, rounded once for each type."""

    exact: Balls
    rounded: dict[str, RoundedVectors] = field(default_factory=dict)

    def make_ready(self, precision: Precision) -> None:
        """Before threads look at them."""
        if precision != "entries":
            self.round_to(precision)

    def round_to(self, float_type: FloatType) -> RoundedVectors:
        """Rounded to this type."""
        if float_type not in self.rounded:
            self.rounded[float_type] = RoundedVectors.of(self.exact, float_type)
        return self.rounded[float_type]


def highest_scores(queries: Balls, keys: RoundedKeys, precision: Precision) -> Numbers:
    """For each query: not below its score with any of the keys, before the scale."""
    if precision == "entries":
        return _highest_by_entries(queries, keys.exact)
    rounded_queries = RoundedVectors.of(queries, precision)
    rounded_keys = keys.round_to(precision)
    if not _is_safe(rounded_queries, rounded_keys, precision):
        # Too large for float32: queries and keys are made so that float64 has room.
        precision = "float64"
        rounded_queries = RoundedVectors.of(queries, precision)
        rounded_keys = keys.round_to(precision)
    return _highest_by_lengths(rounded_queries, rounded_keys, precision)


def _highest_by_lengths(
    queries: RoundedVectors, keys: RoundedVectors, float_type: FloatType
) -> Numbers:
    """The theorem above, chunk by chunk."""
    d = queries.rows.shape[1]
    unit = float(np.finfo(float_type).eps) / 2
    relative = d * unit / (1 - d * unit)
    underflow = 4 * d * float(np.finfo(float_type).tiny)
    highest = np.full(len(queries.rows), -np.inf)
    for chunk in _chunks(len(keys.rows)):
        scores = queries.rows @ keys.rows[chunk].T
        length = float(keys.length[chunk].max())
        distance = float(keys.distance[chunk].max())
        error = (
            relative * queries.length * length
            + queries.length * distance
            + queries.distance * length
            + queries.distance * distance
            + underflow
        )
        # The error has fewer than 16 roundings of non-negative numbers.
        bound = scores.max(axis=1).astype(np.float64) + error * (1 + 32 * U)
        highest = np.maximum(highest, np.nextafter(bound, np.inf))
    return highest


def _is_safe(
    queries: RoundedVectors, keys: RoundedVectors, float_type: FloatType
) -> bool:
    """Whether no sum overflows, and d u is small."""
    d = queries.rows.shape[1]
    if d * float(np.finfo(float_type).eps) >= 2.0**-8:
        return False
    longest = queries.length.max(initial=0.0) * keys.length.max(initial=0.0)
    return bool(longest < LARGEST_PRODUCT[float_type])


def _highest_by_entries(queries: Balls, keys: Balls) -> Numbers:
    highest = np.full(len(queries.mid), -np.inf)
    for chunk in _chunks(len(keys.mid)):
        scores = queries.products(keys[chunk])
        bound = (scores.mid + scores.rad).max(axis=1)
        highest = np.maximum(highest, np.nextafter(bound, np.inf))
    return highest


def _chunks(count: int) -> Sequence[slice]:
    return [slice(start, start + CHUNK) for start in range(0, count, CHUNK)]
