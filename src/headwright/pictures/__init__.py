"""Results as pictures: pure functions from a result to a chart. They draw; they neither compute nor touch files.

pattern     patterns as bars
head        the pattern of a head as a map, beside its queries and keys
plane       a target in the plane: keys, the queries that meet it, the shortest of them; or the hull that forbids it
noise       the cloud of draws and the histogram of each target's weight
positions   how far apart neighbours are, and where they coincide
ranges      the largest numbers of each layer, proved and shown
every_text  bounds of a head's weight over every text, by the length of the texts
conformance error divided by its bound, over the rows and columns of a head
cells       few cells of a large map, each of which is the worst of its elements
curve       how an answer does as a parameter grows, against what was wanted
head_maps   maps of a model's layers and heads
tokens      the weights of a row over the tokens of a text, or over an image
heads       a number of every head over time
png         pixels as a PNG file
spectrum    singular values with the bounds on what a truncation misses
labels      where names go, so that they do not cover one another
style       how pictures look; a chart as the bytes of an SVG, PNG or HTML file; what it shows in words
"""

from typing import Any

import lazy_loader

from headwright.extras import require

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    """A picture by its name, which needs the extra `plots`."""
    if name in __all__:
        require("plots", "a picture")
    return _load(name)
