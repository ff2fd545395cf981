"""Statements of matrix algebra, decided for all sizes at once.

kind           what the rest of grading asks
known          what an exercise says about its names, ready to be asked
written        what a formula says as it is written: restated goals
forms          sums of scalar x word: what every expression is brought to, and the algebra of such forms
normal         a formula into its form: sums over columns, spectral norms, ranks; inequalities of singular values
instances      small matrices that satisfy what is given, and statements at them, in balls
prover         the proof, then a counterexample among the instances; claims
derivations    whether steps lead from one side to the other; derivation_part: what that makes of an answer
table          [matrices] in an exercise file
"""

from headwright.grading.kinds.matrices.kind import MatricesKind

__all__ = ["KIND"]

KIND = MatricesKind
