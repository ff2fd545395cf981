"""Positions: how they enter a layer, how far apart they are, and which coincide after rounding.

    schemes       Sinusoidal, Rotary, Alibi, Learned: what a layer does with a position
    separation    the distance of two positions and the closest pair, enclosed from both sides
    collisions    which positions are the same once their numbers are rounded
    glimpse       a few rows and distances, for a picture

and what these stand on:

    differences   the distances of all differences in one matrix product, with an error bound
    shortlist     the candidates for a smallest number that is known up to an error
    pairs         the closest two of many rows, all pairs considered
    rounding      float32, float16, bfloat16
    rounded       the rows after every rounding, and how far it moves them
    nearest       the closest two rounded rows, few pairs considered
    twins         which rows are equal
    balls         exact rationals in, enclosures out
    blocks        long loops, on every core
"""

from headwright.enclosure import Enclosure
from headwright.positions.collisions import Report, report
from headwright.positions.glimpse import Preview, preview
from headwright.positions.rounding import Precision, round_to
from headwright.positions.schemes import Alibi, Learned, Rotary, Scheme, Sinusoidal, Waves
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
