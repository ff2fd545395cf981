"""From a wish to the shortest query that grants it, or to the proof that none does.

wish         what should be attended to: copy, average, lower bounds
statement    the question, written exactly; sizes refuses what floats cannot be computed with
guard        random keys: how many deviations to withstand
program      the same as arrays for the solver
solving      the shortest query in floating point (untrusted)
proving      evidence for bounds: that no query is shorter, or that there is none
certify      statement and evidence as data, in the form that the checker reads; checking asks the checker
answer       one query: solve, certify, and let the checker decide
longer       none of any use: every query that grants the wish is longer than this
least        an impossible wish: what can be granted instead
heads        several heads that share the targets out; descend improves them
chance       how often a wish is granted when keys are random
instances    a design that was verified, tried out in floating point
designer     all of it, behind one function; phases tell how far it is
plane        two dimensions: the region of all queries that grant a wish
drawing      a design as a picture

The public names are those of __init__.pyi; each loads its module on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
