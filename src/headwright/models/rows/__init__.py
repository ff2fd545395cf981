"""Statistics of the rows of a pattern, without the pattern.

statistics   what is known of a row
scoring      how scores come about: scale, mask, window, softcap, sinks
reference    one row after the other in float64: slow, short, and what the others are held against
blocked      `row_statistics`, for all rows of all heads, in blocks of rows and keys: memory O(T), never T x T
epilogue     what becomes of a block, in NumPy; compiled: the same by Numba, where that is installed
kernel       the same on a GPU, in one Triton kernel
"""

from headwright.models.rows.blocked import row_statistics
from headwright.models.rows.scoring import Scoring
from headwright.models.rows.statistics import RowStatistics

__all__ = ["RowStatistics", "Scoring", "row_statistics"]
