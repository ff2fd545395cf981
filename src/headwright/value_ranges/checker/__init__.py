"""The checker of certificates about ranges: it bounds every head again, and shares the reader and the arithmetic alone.

allowances   what rounding may change, in exact fractions
vectors      the numbers of a head, in ball arithmetic
verify       a statement against the weights
"""
