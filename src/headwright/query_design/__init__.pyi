from .designer import Design, design
from .targets import Targets, at_least, average, copy

__all__ = ["Design", "Targets", "at_least", "average", "copy", "design"]
