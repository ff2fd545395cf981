"""Attention statistics in the user's own loop: a model is watched while it runs.

api               `watch`, `seen`, `register`, `attention_with_statistics`
attention_function one call of torch's attention with its statistics
hook              which models of transformers can be watched, and from when until when
recorder          which run a call of attention in such a model belongs to
module_hook       the same for any other PyTorch module
module_recorder   its layers: the modules that call attention
attention_modules which modules are of attention, by their names
memory            whether what is asked for fits into memory
statistics_queue  statistics of calls: at once, or of decode steps many together
statistics        the statistics of one call, for any mask, in blocks of whole rows
rows_request      which rows have their weights kept
weights           the weights of these rows
spans             these weights, summed over named spans of keys
recorded          what was seen: by layer, by run, by head
training          a callback of transformers' Trainer
serving           running means as lines of JSON, while a model serves requests
qk_clip           W_Q and W_K of heads with large scores, scaled down
exports           files that other programs read
names             the names of statistics
"""

from headwright.watching.api import (
    attention_with_statistics,
    register,
    seen,
    watch,
)
from headwright.watching.rows_request import rows

__all__ = ["attention_with_statistics", "register", "rows", "seen", "watch"]
