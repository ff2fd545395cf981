"""Exact numbers made of parameters, exponentials, logarithms and roots, and proofs about them."""

from headwright.check.scalars.eventual import Eventually, eventually
from headwright.check.scalars.functions import absolute, exp, ln, parameter, pi, sqrt
from headwright.check.scalars.instances import Instance, counterexample
from headwright.check.scalars.limits import limit
from headwright.check.scalars.never import Never, never
from headwright.check.scalars.proving import Proof, prove
from headwright.check.scalars.ranges import POSITIVE, REAL, Range
from headwright.check.scalars.scalar import Scalar, number
from headwright.check.scalars.sizes import TooBig
from headwright.check.scalars.smallest import smallest
from headwright.check.scalars.waves import cos, sin
from headwright.check.scalars.where import COMPARISONS, Comparison, Hypothesis, Where

__all__ = [
    "COMPARISONS",
    "POSITIVE",
    "REAL",
    "Comparison",
    "Eventually",
    "Hypothesis",
    "Instance",
    "Never",
    "Proof",
    "Range",
    "Scalar",
    "TooBig",
    "Where",
    "absolute",
    "cos",
    "counterexample",
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
    "smallest",
    "sqrt",
]
