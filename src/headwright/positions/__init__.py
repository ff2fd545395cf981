"""Positional encodings: how far apart positions are, and which coincide after rounding.

schemes       Sinusoidal, Rotary, Alibi, Learned: what a layer does with a position
separation    the distance of two positions and the closest pair, enclosed from both sides
rounding      float32, float16, bfloat16; the rows of a scheme after every rounding
collisions    which positions have equal rows after rounding, and the closest two of the others
compare_rows  equal rows and closest rows among many
preview       a few rows and distances, for a picture
"""

from headwright.numerics.enclosure import Enclosure
from headwright.positions.collisions import Report, report
from headwright.positions.preview import Preview, preview
from headwright.positions.rounding import Precision, round_to
from headwright.positions.schemes import (
    Alibi,
    Learned,
    Rotary,
    Scheme,
    Sinusoidal,
    Waves,
)
from headwright.positions.separation import Closest, closest_pair, separation

__all__ = [
    "Alibi",
    "Closest",
    "Enclosure",
    "Learned",
    "Precision",
    "Preview",
    "Report",
    "Rotary",
    "Scheme",
    "Sinusoidal",
    "Waves",
    "closest_pair",
    "preview",
    "report",
    "round_to",
    "separation",
]
