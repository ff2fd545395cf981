"""Self-attention on tokens made of orthogonal directions.

prover decides claims; table is [tokens] in an exercise file.
"""

from headwright.grading.kinds.tokens.kind import TokensKind

__all__ = ["KIND"]

KIND = TokensKind
