"""The distribution of the pattern when keys are uncertain.

sampling           scores in many draws of the keys, without drawing keys
exact_probability  probabilities and moments from both sides, where one random number (or none) decides
simulation         how often a target is met, and the weights of targets, with intervals
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
