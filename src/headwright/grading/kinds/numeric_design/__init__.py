"""[numeric_design]: keys and values are numbers, and an answer gives a query, queries or a key.

kind      what the rest of grading asks
table     given arrays, what is computed from them and from the answer
prover    'there is none', proved or refuted
possible  the shortest query that there is, or that there is none: certificates of query_design
"""

from headwright.grading.kinds.numeric_design.kind import NumericDesignKind

__all__ = ["KIND"]

KIND = NumericDesignKind
