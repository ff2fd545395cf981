"""Statements of matrix algebra, decided for all sizes at once.

known          what an exercise says about its names, ready to be asked
forms          sums of coefficient x word: what every expression is brought to, and the algebra of such forms
normal         a formula into its form: sums over columns, spectral norms, ranks
inequalities   weighted sums of squared singular values: Abel's summation, for all sizes
instances      small matrices that satisfy what is given, and statements tried on them in balls
deciding       the proof, then the search for a counterexample; derivations
court          claims decided, with their words
"""

from headwright.check.settings.matrices.deciding import decide
from headwright.check.settings.matrices.known import Decision, Given

__all__ = ["Decision", "Given", "decide"]
