"""Positional encodings: how far apart positions are, and which coincide after rounding.

schemes     Sinusoidal, Rotary, Alibi, Learned: what a layer does with a position
distances   the distance of two positions and the closest pair, enclosed from both sides
rounding    float32, float16, bfloat16; the rows of a scheme after every rounding
equal_rows  which of many positions have equal rows
collisions  which positions have equal rows after rounding, and how close the others come
result      what rounding does to positions, as data; rendering: as lines of text and as JSON
preview     a few rows and distances, for a picture
"""

from headwright.numerics.enclosure import Enclosure
from headwright.positions.collisions import Report, report
from headwright.positions.distances import Closest, closest_pair, separation
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
