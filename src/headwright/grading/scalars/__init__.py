"""Exact numbers made of parameters, exponentials, logarithms and roots, and proofs about them.

numbers        bounds on work, ranges of names, balls and intervals
forms          Scalar: an exact number in normal form
functions      exponentials, logarithms, powers, waves; substitution, derivatives, values
text           scalars as formulas, the shorter of two equal ways
assumptions    what is known of the names: a range for each, hypotheses, plain numbers to try
solver         all that is said to z3
limits         comparisons and limits for all large values of some names
proving        comparisons proved for all values of their names
instances      plain numbers for which a comparison certainly fails
"""

from headwright.grading.scalars.assumptions import (
    COMPARISONS,
    Comparison,
    Hypothesis,
    Where,
)
from headwright.grading.scalars.forms import Scalar, Thing, number, parameter, pi
from headwright.grading.scalars.functions import (
    absolute,
    cos,
    derivative,
    exp,
    ln,
    sin,
    sqrt,
)
from headwright.grading.scalars.instances import Instance, counterexample
from headwright.grading.scalars.limits import Eventually, eventually, limit, never
from headwright.grading.scalars.numbers import POSITIVE, REAL, Range, TooBig
from headwright.grading.scalars.proving import Proof, prove

__all__ = [
    "COMPARISONS",
    "POSITIVE",
    "REAL",
    "Comparison",
    "Eventually",
    "Hypothesis",
    "Instance",
    "Proof",
    "Range",
    "Scalar",
    "Thing",
    "TooBig",
    "Where",
    "absolute",
    "cos",
    "counterexample",
    "derivative",
    "eventually",
    "exp",
    "limit",
    "ln",
    "never",
    "number",
    "parameter",
    "pi",
    "prove",
    "sin",
    "sqrt",
]
