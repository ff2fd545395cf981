"""The distribution of the pattern when keys are uncertain.

sampling           scores in many draws of the keys, without drawing keys
exact_probability  probabilities and moments from both sides, where one random number (or none) decides
intervals          confidence intervals, and samples held against what was proved
targets_met        how often every target gets its least weight
simulation         all of it, and the weights of targets
result             what a simulation found, as data; rendering: as text, as a card, as JSON
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
