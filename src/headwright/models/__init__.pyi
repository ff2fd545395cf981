from .auditor import Audit, audit
from .loading import load_model
from .rows import RowStatistics, row_statistics
from .texts.every_text import every_length, every_text
from .watching import seen, watch

__all__ = [
    "Audit",
    "RowStatistics",
    "audit",
    "every_length",
    "every_text",
    "load_model",
    "row_statistics",
    "seen",
    "watch",
]
