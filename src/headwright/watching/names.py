"""Which statistics a watched model is asked for."""

from __future__ import annotations

SPOILT = "spoilt"  # beside the statistics: which rows of text have scores that are NaN or +inf
DEFAULT = ("largest", "winner", "entropy", "first", "largest_score")
