"""Find the shortest query that meets an attention target, or prove that there is none.

targets        what should be attended to: copy, average, lower bounds
statement      the question, written exactly
certify        the certificate: statement and evidence as data; guards for random keys; the checkers' verdict
program        the question as arrays for the solver
solving        the shortest query in floating point (untrusted)
proving        evidence for bounds: that no query is shorter, or that there is none
single_query   one query: solve, certify, check; else a lower bound on every query, or the smallest tolerance
several_heads  several heads that divide the targets among them
designer       all of it, behind one function
result         what is found, as data
rendering      the result as text, as a card, as JSON
picture        a design as a picture

The public names are those of __init__.pyi; each loads its module on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
