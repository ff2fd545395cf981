"""Exercises about keys, queries, patterns and outputs.

kind is what the rest of grading asks; prover decides claims; conditions is what an answer says of its own names;
deciding proves and refutes; laws is what chance does; scene and meaning say what names and formulas mean; table is
[keys] in an exercise file.
"""

from headwright.grading.kinds.keys.kind import KeysKind

__all__ = ["KIND"]

KIND = KeysKind
