"""Statistics of the rows of a pattern, without the pattern.

attention_config  how scores are made: scale, mask, window, softcap, sinks
attention_rows    rows whose statistics are computed, with masks of any kind
row_block         whole rows of the pattern, block after block: memory O(T), never T x T
table             the statistics: what each is, and how it is computed from a block
request           which of them are computed
compute           the loop over blocks, where the arrays are
arrays            the operations that blocks are made of, by NumPy; torch_arrays: by torch
gpu_kernel        Triton's kernels; triton_backend: which calls they know
rows              `row_statistics`; results: what it returns
map               `attention_map`, the pattern averaged over a grid of bins
"""

from headwright.statistics.attention_config import AttentionConfig
from headwright.statistics.map import AttentionMap, attention_map
from headwright.statistics.results import RowStatistics
from headwright.statistics.rows import row_statistics

__all__ = [
    "AttentionConfig",
    "AttentionMap",
    "RowStatistics",
    "attention_map",
    "row_statistics",
]
