"""headwright audit MODEL --every-text T.

asked      what the options ask, in the tokens of a model
first      the first layer on every text: who sweeps, and what is asked of the sweeps
beyond     a pair that repeats, through two layers; deeper layers, on the keys of a text
telling    what was found, in words, as data and as a picture
certifying the strongest of it, as a certificate
"""

from headwright.cli.every_text.asked import Asked
from headwright.cli.every_text.first import show

__all__ = ["Asked", "show"]
