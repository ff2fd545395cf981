"""What the heads of a trained model do, on a text and by what margin.

rows     statistics of the rows of a pattern, at any length, without the pattern
models   where queries, keys and values come from: the model that is built in, and trained ones
"""

from headwright.audit.rows import RowStatistics, row_statistics

__all__ = ["RowStatistics", "row_statistics"]
