from .conformance import conformance_picture
from .curve import curve_picture
from .every_text import length_picture
from .head import head_picture
from .head_maps import head_map, maps_chart
from .heads import heads_over_time
from .noise import noise_picture
from .pattern import pattern_bars
from .plane import plane_picture
from .positions import position_picture
from .ranges import ranges_picture
from .spectrum import spectrum
from .style import Chart, render, stacked, told
from .tokens import image_picture, token_picture

__all__ = [
    "Chart",
    "conformance_picture",
    "curve_picture",
    "head_map",
    "head_picture",
    "heads_over_time",
    "image_picture",
    "length_picture",
    "maps_chart",
    "noise_picture",
    "pattern_bars",
    "plane_picture",
    "position_picture",
    "ranges_picture",
    "render",
    "spectrum",
    "stacked",
    "token_picture",
    "told",
]
