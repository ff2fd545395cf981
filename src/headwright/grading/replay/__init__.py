"""Every verdict looked at twice: the formulas as they were written, evaluated on explicit instances.

    worlds    explicit keys, tokens, rows of position embeddings; whether a statement holds there: certain, or not known
    matrices  explicit matrices, and formulas evaluated on them entry by entry, in fractions and floating-point numbers
    trying    proofs at random admissible instances, refutations at theirs, limits along a growing sequence

It shares no code with what proves: no exact algebra, no classes of keys, no z3. What it finds against a decision makes
that undecided.
"""

from headwright.grading.replay.trying import looked_at_twice, rules_out, says_something

__all__ = ["looked_at_twice", "rules_out", "says_something"]
