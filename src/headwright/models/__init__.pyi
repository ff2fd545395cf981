from .auditor import Audit, audit
from .loading import load_model
from .rows import AttentionMap, RowStatistics, attention_map, row_statistics
from .texts.every_text import every_length, every_text
from .watching import seen, watch

__all__ = [
    "AttentionMap",
    "Audit",
    "RowStatistics",
    "attention_map",
    "audit",
    "every_length",
    "every_text",
    "load_model",
    "row_statistics",
    "seen",
    "watch",
]
