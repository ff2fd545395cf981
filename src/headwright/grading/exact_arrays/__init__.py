"""Formulas as arrays of exact scalars: numbers, vectors and matrices of small, known sizes.

array    the arrays and what is done with them
angles   sines and cosines of sums, written out
reader   the value of a formula, where the exercise and the answer say what its names are
scales   words beside a number that scale it
written  what answers with numbers are written like
prover   a comparison of two such values, entry by entry, exactly or within a tolerance
"""

from headwright.grading.exact_arrays.array import ExactArray, MisshapenError
from headwright.grading.exact_arrays.reader import ArrayReader

__all__ = ["ArrayReader", "ExactArray", "MisshapenError"]
