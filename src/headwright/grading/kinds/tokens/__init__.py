"""Self-attention on tokens made of orthogonal directions.

kind is what the rest of grading asks; names says what a name stands for; prover decides claims; recheck is the
second look; table is [tokens] in an exercise file.
"""

from headwright.grading.kinds.tokens.kind import TokensKind

__all__ = ["KIND"]

KIND = TokensKind
