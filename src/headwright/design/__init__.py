"""From a wish to the shortest query that grants it, or to the proof that none does.

    wish         what should be attended to: copy, average, lower bounds
    statement    the question, written exactly
    program      the same as arrays for the solver
    problem      the convex program and what a solver says of it
    solver       the shortest query in floating point (untrusted): constraints and rows evaluate it, descent and step
                 improve it, sample starts it, bound says how good it is
    certify      evidence in the form that the checker reads
    impossible   exact proofs that there is no query
    answer       one query: solve, certify, and let the checker decide
    chance       how often a wish is granted when keys are random
    heads        several heads that share the targets out
    designer     all of it, behind one function
    plane        two dimensions: the region of all queries that grant a wish
    drawing      a design as a picture

The module can be called: headwright.design(keys, wish) is headwright.design.design(keys, wish).
"""

import sys
from types import ModuleType
from typing import Any

from headwright.design.designer import Design, design
from headwright.design.wish import Wish, at_least, average, copy

__all__ = ["Design", "Wish", "at_least", "average", "copy", "design"]


class _Verb(ModuleType):
    """A module that is also the verb it is named for."""

    def __call__(self, *arguments: Any, **options: Any) -> Design:
        return design(*arguments, **options)


sys.modules[__name__].__class__ = _Verb
