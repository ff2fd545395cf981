"""Uncertain keys: what they may be, and what then becomes of a pattern.

scales      the kinds of scale: normal, between, one of several
spreads     the kinds of spread: isotropic, of a covariance, in a ball, in an ellipsoid
world       what the keys may be, as data
toml        the same as a file
sampling    scores in many draws of a world, without ever drawing a key
proven      probabilities and moments from both sides, where one random number (or none) decides
onescale    that one number: the pattern as a function of it, and its law, in ball arithmetic
granted     how often a wish is granted: sampled, and proven where possible
simulation  all of it, summed up for the targets of a head
intervals   what a sample says, and how surely

The public names are those of __init__.pyi; each loads its module on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
