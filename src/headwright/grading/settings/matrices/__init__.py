"""Statements of matrix algebra, decided for all sizes at once.

known          what an exercise says about its names, ready to be asked
written        what a formula says as it is written: restated goals
forms          sums of scalar x word: what every expression is brought to, and the algebra of such forms
normal         a formula into its form: sums over columns, spectral norms, ranks; inequalities of singular values
instances      small matrices that satisfy what is given, and statements tried on them in balls
deciding       the proof, then the search for a counterexample; the court
derivations    whether steps lead from one side to the other
"""

from headwright.grading.settings.matrices.deciding import decide
from headwright.grading.settings.matrices.known import Given

__all__ = ["Given", "decide"]
