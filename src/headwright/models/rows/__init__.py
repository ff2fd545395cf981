"""Statistics of the rows of a pattern, without the pattern.

scoring       how scores are made: scale, mask, window, softcap, sinks; and the statistics of a row
blocked       `row_statistics`, for all rows of all heads, in blocks of rows and keys: memory O(T), never T x T
accumulate    a block of scores added to the statistics, in NumPy; numba_kernel: the same compiled
products      the product of a block, by NumPy or by torch
gpu_kernel    the same on a GPU, in Triton kernels; on_gpu: their results as `row_statistics` gives them
map           `attention_map`, the pattern averaged over a grid of bins
"""

from headwright.models.rows.blocked import row_statistics
from headwright.models.rows.map import AttentionMap, attention_map
from headwright.models.rows.scoring import RowStatistics, Scoring

__all__ = ["AttentionMap", "RowStatistics", "Scoring", "attention_map", "row_statistics"]
