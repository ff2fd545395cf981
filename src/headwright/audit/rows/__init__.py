"""Statistics of the rows of a pattern, without the pattern.

statistics   what is known of a row, and `row_statistics`, which computes it for all rows of all heads
scoring      how scores come about: scale, mask, window, softcap, sinks
reference    one row after the other in float64: slow, short, and what the others are held against
blocked      blocks of rows and keys: memory O(T), never T x T
epilogue     what becomes of a block, in NumPy; compiled: the same by Numba, where that is installed
kernel       the same on a GPU, in one Triton kernel
"""

from headwright.audit.rows.scoring import Scoring
from headwright.audit.rows.statistics import RowStatistics, row_statistics

__all__ = ["RowStatistics", "Scoring", "row_statistics"]
