"""Numbers with proven errors, shared by everything that proves in floating-point or ball arithmetic.

balls            arrays of numbers known up to a radius: +, *, max, roots, sums and products, with proven roundings
exponential      exp made of +, * and rounding to whole numbers, with a proven error; sums with a proven error
enclosure        an interval from below and above; bounds as text; an instance against what was proved
spectral_norm    upper bounds of norms of matrices that trust no eigenvalue and no Cholesky routine
singular_values  all singular values of a matrix or a product, enclosed; what the first terms miss
float_formats    number types, as far as rounding needs them
exact_linear     linear equations in exact rationals
quantiles        of the beta distribution and Student's t, in floating point: for confidence intervals of samples
"""
