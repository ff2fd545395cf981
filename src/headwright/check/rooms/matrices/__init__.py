"""Statements of matrix algebra, decided for all sizes at once.

given          what an exercise says about its names, and what is decided of a statement
known          those sayings, ready to be asked
forms          sums of coefficient x word: what every expression is brought to
algebra        sums, products, transposes, powers and traces of forms
words          products of matrices made shorter by what is known: P^T P = I, A^T B = 0, P ones = ones
images         softmax and relu, with permutations pulled out of them
sums           sums over columns and singular values
spectral       spectral norms and ranks of U D V^T
ranges         conditions of a sum as bounds of its index
signs          which numbers are never negative
integers       which of two sizes is smaller (z3)
normal         a formula into its form
inequalities   weighted sums of squared singular values: Abel's summation, for all sizes
instances      small matrices that satisfy what is given
trying         a statement on an instance, in balls
deciding       the proof, then the search for a counterexample
"""

from headwright.check.rooms.matrices.deciding import decide
from headwright.check.rooms.matrices.given import Decision, Given

__all__ = ["Decision", "Given", "decide"]
