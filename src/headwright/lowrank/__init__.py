"""Matrices of small rank, with a certified error.

matrix       the scale of a matrix as a power of two; row blocks
norm_bounds  upper bounds of spectral norms that trust no SVD, no eigenvalue and no Cholesky routine
svd          the untrusted part: full and randomised singular value decompositions
truncation   the public functions: a matrix of small rank, and its distance from the given one
"""

from headwright.lowrank.norm_bounds import error_upper_bound, spectral_norm_upper_bound
from headwright.lowrank.svd import singular_values
from headwright.lowrank.truncation import LowRank, energy, truncate

__all__ = [
    "LowRank",
    "energy",
    "error_upper_bound",
    "singular_values",
    "spectral_norm_upper_bound",
    "truncate",
]
