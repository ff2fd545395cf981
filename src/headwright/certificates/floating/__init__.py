"""The floating-point checker of certificates about keys: the second of two, with independent mathematics.

    exact_numbers  Arb for the few numbers that decide, and rationals where nothing may be lost
    key_products   products with all keys: scores, plain and sharp, and weighted sums of keys
    score_bounds   what the keys may be, and bounds on their scores for one query
    targets_met        checks that every target gets its weight
    distractors    where a bound puts the keys that are no targets, and their sum
    parts          what one part of a bound comes to in a scenario
    bound          checks that no shorter query is possible, or none at all
    checker        verify; also whether the claim is certainly false

Balls and the exponential function with proven roundings are those of `numerics`.

It shares `certificate`, `values`, `keys`, `words` and `cost` with the exact checker, and asks it nothing. Vectors in
the evidence are rounded to doubles before anything is computed with them. What it cannot represent or decide, it does
not accept.

What is assumed of the arithmetic: sums, differences, products, quotients and square roots of single doubles are
IEEE, rounded to nearest; a sum of products may be added up in any order, with or without fused multiply-adds; numbers
below 2^-1022 may be lost. Nothing is assumed of the exponential function of any library. Arb (python-flint) is trusted.
"""

from headwright.certificates.floating.checker import FloatVerdict, verify

__all__ = ["FloatVerdict", "verify"]
