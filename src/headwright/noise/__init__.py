"""Uncertain keys: what they may be (a world), and the distribution of the pattern that follows.

scales             the kinds of scale: normal, between, one of several
spreads            the kinds of spread: isotropic, of a covariance, in a ball, in an ellipsoid
world              what the keys may be, as data; world_file: as a TOML file
sampling           scores in many draws of a world, without drawing keys
exact_probability  probabilities and moments from both sides, where one random number (or none) decides
random_scale       that one number: the pattern as a function of it, and its law, in ball arithmetic
simulation         how often a wish is met, and the weights of targets, with intervals

The public names are those of __init__.pyi; each loads its module on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
