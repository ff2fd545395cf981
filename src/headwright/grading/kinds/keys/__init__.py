"""Exercises about keys, queries, patterns and outputs.

kind         what the rest of grading asks
table        [keys] in an exercise file
notation     how keys are written
scene        keys, queries and patterns by classes of keys that share a score
names        what a name stands for
meaning      what formulas mean
conditions   what an answer says of its own names
laws         what chance does
weights      what holds for weights only
deciding     proofs and counterexamples
prover       claims, and their words
advice       thresholds, a length that would do, a curve
recheck      the second look, on keys written out
"""

from headwright.grading.kinds.keys.kind import KeysKind

__all__ = ["KIND"]

KIND = KeysKind
