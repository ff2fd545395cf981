from .cache_scales import cache_scales, write_scales
from .measure import ranges
from .result import Ranges
from .verdicts import verdicts

__all__ = ["Ranges", "cache_scales", "ranges", "verdicts", "write_scales"]
