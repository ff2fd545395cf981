"""What the heads of a trained model do, from statistics of the rows of their patterns.

statistics   what is known of a row, and `row_statistics`, which computes it for all rows of all heads
scoring      how scores come about: scale, mask, window, softcap, sinks
reference    one row after the other in float64: slow, short, and what the others are held against
blocked      blocks of rows and keys in NumPy: memory O(T), never T x T
"""

from headwright.audit.statistics import RowStatistics, row_statistics

__all__ = ["RowStatistics", "row_statistics"]
