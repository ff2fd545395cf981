"""The floating-point checker of certificates about keys: the second of two, with independent mathematics.

    balls          arrays of numbers known up to a radius: +, *, max, square root with proven roundings
    exponential    exp made of +, * and rounding to whole numbers, with a proven error; sums with a proven error
    exact_numbers  Arb for the few numbers that decide, and rationals where nothing may be lost
    key_products   products with all keys: scores, plain and sharp, and weighted sums of keys
    score_bounds   what the keys may be, and bounds on their scores for one query
    granted        checks that every target gets its weight
    distractors    where a bound puts the keys that are no targets, and their sum
    bound          checks that no shorter query is possible, or none at all
    checker        verify; also whether the claim is certainly false

It shares `certificate`, `keys`, `words` and `cost` with the exact checker, and asks it nothing. Vectors in the evidence
are rounded to doubles before anything is computed with them. What it cannot represent or decide, it does not accept.

What is assumed of the arithmetic: sums, differences, products, quotients and square roots of single doubles are
IEEE, rounded to nearest; a sum of products may be added up in any order, with or without fused multiply-adds; numbers
below 2^-1022 may be lost. Nothing is assumed of the exponential function of any library. Arb (python-flint) is trusted.
"""

from headwright.fast.checker import Verdict, verify

__all__ = ["Verdict", "verify"]
