from .auditor import Audit, audit
from .models import load_model
from .rows import RowStatistics, row_statistics

__all__ = ["Audit", "RowStatistics", "audit", "load_model", "row_statistics"]
