"""A second checker of certificates: as strict as the trusted one, of other mathematics, and hundreds of times faster.

    reading       the keys as a view of the bytes, and their digest meanwhile
    balls         arrays of numbers known up to a radius: +, *, max, square root with proven roundings
    exponential   exp made of +, * and rounding to whole numbers, with a proven error; sums with a proven error
    passes        the two passes over the keys: scores, and weighted sums of keys
    exactly       Arb for the few numbers that decide
    groups        what the keys may be, through one query
    scene         one scenario through one query; the scores that matter are made sharp
    granted       does every target get its weight?
    places        where the bound puts the keys
    shorter       is no shorter query possible?
    impossible    do the keys cancel exactly?
    checker       verify

What is assumed of the arithmetic: sums, differences, products, quotients and square roots of single doubles are
IEEE, rounded to nearest; a sum of products may be added up in any order, with or without fused multiply-adds; numbers
below 2^-1022 may be lost. Nothing is assumed of the exponential function of any library. Arb (python-flint) is trusted.
"""

from headwright.fast.checker import verify

__all__ = ["verify"]
