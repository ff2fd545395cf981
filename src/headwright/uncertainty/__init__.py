"""What uncertain keys may be: the input of robust design and of simulation.

scales      kinds of random scale: normal, between, one of several
spreads     kinds of spread: isotropic, of a covariance, in a ball, in an ellipsoid
random_scale  one random scale: the pattern as a function of it, and its law, in ball arithmetic
uncertainty       what the keys may be, as data
uncertainty_file  the same as a TOML file
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
