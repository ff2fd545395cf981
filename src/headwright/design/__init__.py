"""From a wish to the shortest query that grants it, or to the proof that none does.

    wish         what should be attended to: copy, average, lower bounds
    statement    the question, written exactly
    guard        random keys: how many deviations to withstand
    program      the same as arrays for the solver
    problem      the convex program and what a solver says of it
    solver       the shortest query in floating point (untrusted); search, sample, descent, step and equal find it,
                 constraints, cloud and rows evaluate it, bound says how good it is
    certify      evidence as data, in the form that the checker reads
    places       where uncertain keys stand in a bound
    anyquery     bounds about any query where keys are random; pushing moves them
    answer       one query: solve, certify, and let the checker decide
    impossible   proofs that there is no query, from the nearest one; cancel makes them exact
    longer       proofs that there is none of any use; least: what can be granted instead
    heads        several heads that share the targets out; descend improves them, oneworld bounds them
    chance       how often a wish is granted when keys are random
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
