"""Results as pictures: pure functions from a result to a chart. They draw; they neither compute nor touch files.

pattern     patterns as bars
head        the pattern of a head as a map, beside its queries and keys
plane       a wish in the plane: keys, the queries that grant it, the shortest of them; or the hull that forbids it
noise       the cloud of draws and the histogram of each target's weight
positions   how far apart neighbours are, and where they coincide
every_text  bounds of a head's weight over every text, by the length of the texts
conformance error divided by its bound, over the rows and columns of a head
curve       how an answer does as a parameter grows, against what was wanted
head_maps   maps of a model's layers and heads
spectrum    singular values with the bounds on what a truncation misses
labels      where names go, so that they do not cover one another
style       how pictures look; a chart as the bytes of an SVG, PNG or HTML file; what it shows in words
"""

from headwright.pictures.conformance import conformance_picture
from headwright.pictures.curve import curve_picture
from headwright.pictures.every_text import length_picture
from headwright.pictures.head import head_picture
from headwright.pictures.head_maps import head_map, maps_chart
from headwright.pictures.noise import noise_picture
from headwright.pictures.pattern import pattern_bars
from headwright.pictures.plane import plane_picture
from headwright.pictures.positions import position_picture
from headwright.pictures.spectrum import spectrum
from headwright.pictures.style import Chart, render, stacked, told

__all__ = [
    "Chart",
    "conformance_picture",
    "curve_picture",
    "head_map",
    "head_picture",
    "length_picture",
    "maps_chart",
    "noise_picture",
    "pattern_bars",
    "plane_picture",
    "position_picture",
    "render",
    "spectrum",
    "stacked",
    "told",
]
