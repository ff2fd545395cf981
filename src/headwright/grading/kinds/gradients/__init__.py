"""[gradients]: derivatives of functions of open variables, compared with what an answer writes for them.

kind       what the rest of grading asks
table      variables, functions, and which derivatives are asked for
reader     formulas with derivatives, differentiated entry by entry
spellings  partial L / partial z, nabla_z L, dL/dz and their entries, by one name
prover     two arrays compared; the slip that gives a wrong one
"""

from headwright.grading.kinds.gradients.kind import GradientsKind

__all__ = ["KIND"]

KIND = GradientsKind
