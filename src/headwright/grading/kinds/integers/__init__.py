"""Position embeddings at integer places.

kind is what the rest of grading asks; prover decides statements with z3;
recheck is the second look; notation is how rows and positions are written; table is [integers] in an exercise file.
"""

from headwright.grading.kinds.integers.kind import IntegersKind

__all__ = ["KIND"]

KIND = IntegersKind
