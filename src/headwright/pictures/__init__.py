"""Results as pictures: pure functions from a result to a chart. They draw; they neither compute nor touch files.

pattern     the pattern as bars
head        the pattern of a head as a map, beside its queries and keys
noise       the cloud of draws and the histogram of each target's weight
positions   the rows of a position scheme, and how far apart two positions are
curve       how an answer does as a parameter grows, against what was wanted
audit       maps of a model's layers and heads
spectrum    singular values with the bounds on what a truncation misses
style       colours that everyone can tell apart; a chart as the bytes of an SVG, PNG or HTML file
"""

from headwright.pictures.audit import head_map, heads_chart
from headwright.pictures.curve import curve_picture
from headwright.pictures.head import head_picture
from headwright.pictures.noise import noise_picture
from headwright.pictures.pattern import pattern_bars
from headwright.pictures.plane import plane_picture
from headwright.pictures.positions import position_picture
from headwright.pictures.spectrum import spectrum
from headwright.pictures.style import Chart, render
from headwright.pictures.texts import band_picture, length_picture

__all__ = [
    "Chart",
    "band_picture",
    "curve_picture",
    "head_map",
    "head_picture",
    "heads_chart",
    "length_picture",
    "noise_picture",
    "pattern_bars",
    "plane_picture",
    "position_picture",
    "render",
    "spectrum",
]
