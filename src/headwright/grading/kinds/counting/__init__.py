"""[counting]: parameters, bytes and operations as polynomials in the sizes of a model.

kind         what the rest of grading asks
counts       the table, and what is counted, piece by piece
units        1.5 GB, 2 GiB, 350 GFLOPs as numbers
conventions  words that change what is counted: 'with biases', 'per layer'
prover       two counts compared
mistakes     which mistake a wrong count is
"""

from headwright.grading.kinds.counting.kind import CountingKind

__all__ = ["KIND"]

KIND = CountingKind
