from .designer import Design, design
from .wish import Wish, at_least, average, copy

__all__ = ["Design", "Wish", "at_least", "average", "copy", "design"]
