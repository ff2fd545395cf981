"""[by_hand]: numbers are given; scores, weights and outputs are worked out.

kind      what the rest of grading asks
table     given arrays, the steps of the computation, the tolerance
prover    values compared with what the steps give
mistakes  which slip gives a wrong value: the scale forgotten, the wrong axis, a transpose
"""

from headwright.grading.kinds.by_hand.kind import ByHandKind

__all__ = ["KIND"]

KIND = ByHandKind
